"""Asking for an analysis and watching it."""

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from analysis import access
from analysis.serializers import AnalyzeSerializer, RunSerializer
from analysis.services.runs import request_run
from config.api.pagination import page_of


class RepositoryRunViewSet(ViewSet):
    """The runs of one repository."""

    def create(self, request: Request, repository_id: str) -> Response:
        """Queue a scan of the default branch; while one is queued, that one is answered."""
        repository = access.repository_for(request.user, repository_id)

        run = request_run(repository=repository, requested_by=request.user)

        answer = {
            "runId": run.pk,
            "status": run.status,
            "message": "The analysis is queued; watch it at /api/runs/:runId",
        }
        return Response(AnalyzeSerializer(answer).data)

    def list(self, request: Request, repository_id: str) -> Response:
        """The runs, the newest first."""
        repository = access.repository_for(request.user, repository_id)
        rows = repository.runs.select_related("pull_request").order_by("-queued_at")
        return Response(page_of(request, rows, lambda runs: RunSerializer(runs, many=True).data))


class RunViewSet(ViewSet):
    """Any run of the caller's organizations."""

    def retrieve(self, request: Request, run_id: str) -> Response:
        """One run with its live progress and phase."""
        return Response(RunSerializer(access.run_for(request.user, run_id)).data)
