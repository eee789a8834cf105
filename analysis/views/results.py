"""What the last good scan found."""

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from analysis import access
from analysis.selectors import results
from analysis.serializers import (
    FirstScanSerializer,
    HotspotSerializer,
    OverviewSerializer,
    PullRequestSerializer,
    RuntimeRisksSerializer,
    TrendsQuerySerializer,
    TrendsSerializer,
    ViolationQuerySerializer,
    ViolationSerializer,
)
from config.api.pagination import page_of


class ResultViewSet(ViewSet):
    """Reads of one repository's results; all answer zeros, nulls and empty lists before the first scan."""

    def overview(self, request: Request, repository_id: str) -> Response:
        """Health, risk, trend, hotspots and findings at a glance."""
        repository = access.repository_for(request.user, repository_id)
        return Response(OverviewSerializer(results.overview(repository, today=timezone.now().date())).data)

    def violations(self, request: Request, repository_id: str) -> Response:
        """Open violations, the gravest first, by category, severity and module."""
        repository = access.repository_for(request.user, repository_id)
        query = ViolationQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        rows = results.filtered_violations(repository, **query.validated_data)
        return Response(page_of(request, rows, lambda page: ViolationSerializer(page, many=True).data))

    def trends(self, request: Request, repository_id: str) -> Response:
        """Violations, debt scores and categories by day."""
        repository = access.repository_for(request.user, repository_id)
        query = TrendsQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        series = results.trends(repository, days=query.days, today=timezone.now().date())
        return Response(TrendsSerializer(series).data)

    def hotspots(self, request: Request, repository_id: str) -> Response:
        """Files by risk score, the highest first."""
        report = access.repository_for(request.user, repository_id).current_report
        return Response(HotspotSerializer(report.hotspots if report else [], many=True).data)

    def pull_requests(self, request: Request, repository_id: str) -> Response:
        """Judged pull requests, the newest first."""
        repository = access.repository_for(request.user, repository_id)
        rows = results.judged_pull_requests(repository)
        return Response(page_of(request, rows, lambda page: PullRequestSerializer(page, many=True).data))

    def runtime_risks(self, request: Request, repository_id: str) -> Response:
        """What may fail in production, counted by type."""
        repository = access.repository_for(request.user, repository_id)
        return Response(RuntimeRisksSerializer(results.runtime_risks(repository)).data)

    def first_scan(self, request: Request, repository_id: str) -> Response:
        """The baseline that was taken when the repository was connected."""
        repository = access.repository_for(request.user, repository_id)
        return Response(FirstScanSerializer(results.first_scan(repository)).data)
