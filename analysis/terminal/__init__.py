"""What `manage.py scan` prints for a person: fits 80 columns, the important things first."""

from analysis.terminal.report import print_report
from analysis.terminal.rules import print_rule, print_rules
from analysis.terminal.verdict import print_verdict

WIDTH = 80

__all__ = ["WIDTH", "print_report", "print_rule", "print_rules", "print_verdict"]
