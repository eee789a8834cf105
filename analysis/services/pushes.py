"""What a push at a code host leads to."""

from django.db import transaction

from analysis.codehosts.facts import PushFact
from analysis.services.hosted_repositories import followed
from analysis.services.runs import request_run


@transaction.atomic
def apply_push(fact: PushFact) -> None:
    """Scan a repository whose default branch has moved. Other branches, tags and deleted branches change nothing.

    The scan takes the branch as it finds it, so the order of pushes does not matter.
    """
    for repository in followed(fact.repository, fact.occurred_at):
        if fact.head_sha and fact.branch and fact.branch == repository.default_branch:
            request_run(repository=repository)
