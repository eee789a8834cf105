"""The words of a language model in a comment that stands already: for credits, and never in its way.

The plain comment was sent first. The model is asked outside any transaction, once for each set of findings: a push that
changes none of them keeps the words it has paid for.
"""

from uuid import UUID

import structlog
from django.db import transaction

from analysis.codehosts import words
from analysis.engine.model import Finding, Severity
from analysis.models import Publication, PublicationState, Run
from analysis.services.ai import enrich_pull_request_comment
from analysis.services.publishing import judged_of, replace_words

SECONDS = 45.0

log = structlog.get_logger("publications")


def enrich(publication_id: UUID) -> None:
    """Add the model's words to a comment that was sent. Where there are none, the comment stays as it is."""
    rows = Publication.objects.select_related("run__repository__organization", "run__pull_request")
    row = rows.get(pk=publication_id)
    run = row.run
    if row.state != PublicationState.SENT or run is None or run.pull_request is None or "advice" in row.payload:
        return
    judged = judged_of(run)
    said = enrich_pull_request_comment(
        run=run,
        title=run.pull_request.title,
        verdict=words.verdict_in_words(judged),
        findings=_findings(judged),
        seconds=SECONDS,
    )
    if said.note:
        log.info("comment not enriched", publication=str(row.pk), note=said.note)
        _note(run, said.note)
    if said.text:
        _add(row, said.text)


@transaction.atomic
def _add(row: Publication, advice: str) -> None:
    now = Publication.objects.select_for_update().get(pk=row.pk)
    if now.revision == row.revision:  # else other words stand there, about another commit
        replace_words(row.key, payload={**now.payload, "advice": advice})


@transaction.atomic
def _note(run: Run, note: str) -> None:
    notes = Run.objects.select_for_update(of=("self",)).get(pk=run.pk).notes
    if note not in notes:
        Run.objects.filter(pk=run.pk).update(notes=[*notes, note])


def _findings(judged: words.Judged) -> list[Finding]:
    return [
        Finding(
            rule_id=each["ruleId"],
            file=each["file"],
            line=each["line"],
            message=each["message"],
            function=each["function"],
            severity=Severity(each["severity"]),
        )
        for each in words.gravest(judged.listed("introduced"))
    ]
