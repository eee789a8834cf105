"""Cyclomatic numbers agree with lizard on real Python: this repository's own."""

from pathlib import Path

import lizard

from analysis.engine.extract import extract

ROOT = Path(__file__).resolve().parents[3] / "analysis" / "engine"
AGREEMENT = 0.95


def test_nearly_all_functions_have_the_number_that_lizard_gives_them():
    same = total = 0
    for path in sorted(ROOT.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        ours = {each.line: each.cyclomatic for each in extract(text.encode(), "python").functions[1:]}
        for peer in lizard.analyze_file.analyze_source_code(str(path), text).function_list:
            if peer.start_line in ours:
                total += 1
                same += ours[peer.start_line] == peer.cyclomatic_complexity
    assert total > 200
    assert same / total > AGREEMENT
