"""Why the scores changed."""

from typing import Any

from django.http import HttpResponseBase
from rest_framework.viewsets import ViewSet

from accounts.authentication import SignedInRequest
from analysis import access, examples
from analysis.selectors.score_history import score_change
from analysis.serializers_scores import ScoreHistoryQuerySerializer, ScoreHistorySerializer
from config.api.conditional import answer_of_version
from config.api.pagination import limit_of
from config.api.schema import count, describe, query

ENTRIES = 50


class ScoreHistoryViewSet(ViewSet):
    """The way from one snapshot to another."""

    @describe(
        "Explain a change of the scores",
        description="Signed entries that add up exactly to the change of health and of debt score between two "
        "snapshots, the largest first: findings added, fixed and changed, exceptions that expired, changes of the "
        "policy, upgrades of the engine, the size of the code, hotspots, the caps on health. What is beyond `limit` "
        "stands in one entry `other`, and `rounding` tells what whole numbers hide. Nulls and no entries while there "
        "are no two snapshots. A snapshot counts for as long as the findings of its day are kept, 120 days unless the "
        "operator says otherwise.",
        response=ScoreHistorySerializer,
        parameters=[
            query(
                "from", about="A day (YYYY-MM-DD); its snapshot or the last one before. Default: the one before `to`."
            ),
            query("to", about="A day (YYYY-MM-DD); its snapshot or the last one before. Default: the last one."),
            count("limit", "Entries that are listed, 1 to 100.", default=ENTRIES),
        ],
        example=examples.SCORE_HISTORY,
        errors={400: "from: must not be after to", 404: access.UnknownRepository.message},
    )
    def retrieve(self, request: SignedInRequest, repository_id: str) -> HttpResponseBase:
        repository = access.repository_for(request.user, repository_id)
        asked = ScoreHistoryQuerySerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        wanted = asked.validated_data
        limit = limit_of(request, default=ENTRIES)

        def make() -> Any:
            change = score_change(repository, since=wanted["from"], until=wanted["to"], limit=limit)
            return ScoreHistorySerializer(change, context={"ids": change.ids}).data

        is_usual = wanted["from"] is None and wanted["to"] is None and limit == ENTRIES
        return answer_of_version(request, repository.updated_at, limit, make=make, keep=is_usual)
