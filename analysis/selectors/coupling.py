"""The coupling that the last scan found."""

from typing import Any

from analysis.engine.metrics.coupling import Coupling
from analysis.models import Repository, ScanReport
from analysis.shapes import coupling_shape


def stored_coupling(repository: Repository) -> dict[str, Any]:
    """The answer of the coupling endpoint; empty before the first scan. One query."""
    if not repository.current_report_id:
        return coupling_shape(Coupling())
    stored: dict[str, Any] = ScanReport.objects.values_list("coupling", flat=True).get(pk=repository.current_report_id)
    return stored
