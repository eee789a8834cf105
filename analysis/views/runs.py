"""Asking for an analysis and watching it."""

from django.http import HttpResponseBase
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import SignedInRequest
from analysis import access, examples
from analysis.selectors.runs import runs_of
from analysis.serializers import AnalyzeSerializer, RunSerializer, run_page
from analysis.services.runs import request_run
from config.api.pagination import answer_of_page
from config.api.schema import PAGE, describe, page


class RepositoryRunViewSet(ViewSet):
    """The runs of one repository."""

    @describe(
        "Start an analysis",
        description="For every member. While a run of the repository is queued, that run is answered.",
        response=AnalyzeSerializer,
        example=examples.ANALYZE,
        errors={404: access.UnknownRepository.message},
    )
    def create(self, request: SignedInRequest, repository_id: str) -> Response:
        repository = access.repository_for(request.user, repository_id)

        run = request_run(repository=repository, requested_by=request.user)

        answer = {
            "runId": run.pk,
            "status": run.status,
            "message": "The analysis is queued; watch it at /api/runs/:runId",
        }
        return Response(AnalyzeSerializer(answer).data)

    @describe(
        "List the runs of a repository",
        description="The newest first.",
        response=page(RunSerializer),
        parameters=PAGE,
        example=examples.a_page(examples.RUN),
        errors={400: "page: must be a whole number of at least 1", 404: access.UnknownRepository.message},
    )
    def list(self, request: SignedInRequest, repository_id: str) -> HttpResponseBase:
        repository = access.repository_for(request.user, repository_id)
        return answer_of_page(request, runs_of(repository), run_page)


class RunViewSet(ViewSet):
    """Any run of the caller's organizations."""

    @describe(
        "Read a run",
        description="Live: `progress` goes from 0 to 100, `phase` says what is going on. A final status stays.",
        response=RunSerializer,
        example=examples.RUN,
        errors={404: access.UnknownRun.message},
    )
    def retrieve(self, request: SignedInRequest, run_id: str) -> Response:
        return Response(RunSerializer(access.run_for(request.user, run_id)).data)
