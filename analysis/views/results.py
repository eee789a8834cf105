"""What the last good scan found."""

from typing import Any

from django.http import HttpResponseBase
from django.utils import timezone
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import SignedInRequest
from analysis import access, examples
from analysis.selectors import results
from analysis.serializers import (
    TRENDS_PERIODS,
    FirstScanSerializer,
    HotspotQuerySerializer,
    HotspotSerializer,
    OverviewSerializer,
    PullRequestSerializer,
    RuntimeRisksSerializer,
    SizedHotspotSerializer,
    TrendsQuerySerializer,
    TrendsSerializer,
    ViolationQuerySerializer,
    ViolationSerializer,
    violation_rows,
)
from analysis.serializers_verdicts import PullRequestDetailSerializer
from analysis.views.violations import FILTERS
from config.api.conditional import answer_of_version
from config.api.pagination import answer_of_page, page_of
from config.api.schema import PAGE, describe, page, query

UNKNOWN = {404: access.UnknownRepository.message}


class ResultViewSet(ViewSet):
    """Reads of one repository's results; all answer zeros, nulls and empty lists before the first scan."""

    @describe(
        "Read a repository's overview",
        description="Health, risk, trend, hotspots and findings at a glance. Of each category at most 50 critical and "
        "50 warning findings are listed; `count` counts all.",
        response=OverviewSerializer,
        example=examples.OVERVIEW,
        errors=UNKNOWN,
    )
    def overview(self, request: SignedInRequest, repository_id: str) -> HttpResponseBase:
        repository = access.repository_for(request.user, repository_id)
        today = timezone.now().date()
        return answer_of_version(
            request, repository.updated_at, today, results.version_of_recent_pull_requests(repository),
            make=lambda: OverviewSerializer(results.overview(repository, today=today)).data, keep=True,
        )  # fmt: skip

    @describe(
        "List violations",
        description="Open violations, the gravest first. A violation keeps its id while it is the same finding.",
        response=page(ViolationSerializer),
        parameters=[*FILTERS, *PAGE],
        example=examples.a_page(examples.VIOLATION),
        errors={400: "severity: must be one of info, warning, critical", **UNKNOWN},
    )
    def violations(self, request: SignedInRequest, repository_id: str) -> HttpResponseBase:
        repository = access.repository_for(request.user, repository_id)
        query = ViolationQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        filters = {name: text for name, text in query.validated_data.items() if text}
        total = None if filters else repository.total_violations
        return answer_of_version(
            request, repository.updated_at,
            make=lambda: page_of(
                request,
                results.listed_violations(repository, columns=ViolationSerializer.columns(), **filters),
                violation_rows,
                total=total,
            ),
        )  # fmt: skip

    @describe(
        "Read trends",
        description="One value a day; a day without a scan repeats the one before. The past comes from git.",
        response=TrendsSerializer,
        parameters=[query("period", about="How far back.", enum=TRENDS_PERIODS, default="30d")],
        example=examples.TRENDS,
        errors={400: "period: must be one of 7d, 14d, 30d, 60d, 90d", **UNKNOWN},
    )
    def trends(self, request: SignedInRequest, repository_id: str) -> HttpResponseBase:
        repository = access.repository_for(request.user, repository_id)
        query = TrendsQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        today = timezone.now().date()
        return answer_of_version(
            request, repository.updated_at, today, query.days,
            make=lambda: TrendsSerializer(results.trends(repository, days=query.days, today=today)).data, keep=True,
        )  # fmt: skip

    @describe(
        "List hotspots",
        description="Files by risk score, the highest first; at most 500. With `include=lines` each one tells its "
        "lines of code.",
        response=SizedHotspotSerializer(many=True),
        parameters=[query("include", about="What to add to each hotspot.", enum=["lines"])],
        example=[examples.HOTSPOT],
        errors={400: "include: must be one of lines", **UNKNOWN},
    )
    def hotspots(self, request: SignedInRequest, repository_id: str) -> HttpResponseBase:
        repository = access.repository_for(request.user, repository_id)
        asked = HotspotQuerySerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        shown = SizedHotspotSerializer if asked.validated_data.get("include") else HotspotSerializer
        return answer_of_version(
            request, repository.updated_at, shown.__name__,
            make=lambda: shown(results.stored_hotspots(repository), many=True).data, keep=True,
        )  # fmt: skip

    @describe(
        "List judged pull requests",
        description="The newest verdict first.",
        response=page(PullRequestSerializer),
        parameters=PAGE,
        example=examples.a_page(examples.PULL_REQUEST),
        errors={400: "page: must be a whole number of at least 1", **UNKNOWN},
    )
    def pull_requests(self, request: SignedInRequest, repository_id: str) -> HttpResponseBase:
        repository = access.repository_for(request.user, repository_id)
        rows = results.judged_pull_requests(repository)
        return answer_of_page(request, rows, lambda page: PullRequestSerializer(page, many=True).data)

    @describe(
        "Read a pull request's verdict",
        description="What the change adds and takes away, which gates fired on which figures, and the exceptions that "
        "were used. `introduced` and `resolved` list at most 200 findings each. `verdict` is null before the first. "
        "While `judgedSha` is not `headSha`, it is the verdict on an earlier state, and the newest has none yet.",
        response=PullRequestDetailSerializer,
        example=examples.PULL_REQUEST_DETAIL,
        errors={404: access.UnknownPullRequest.message},
    )
    def pull_request(self, request: SignedInRequest, repository_id: str, pull_request_number: str) -> Response:
        repository = access.repository_for(request.user, repository_id)
        return Response(PullRequestDetailSerializer(access.pull_request_in(repository, pull_request_number)).data)

    @describe(
        "Read runtime risks",
        description="Open findings of the category runtime_risk, counted by type; at most the gravest 500 are listed.",
        response=RuntimeRisksSerializer,
        example=examples.RUNTIME_RISKS,
        errors=UNKNOWN,
    )
    def runtime_risks(self, request: SignedInRequest, repository_id: str) -> HttpResponseBase:
        repository = access.repository_for(request.user, repository_id)

        def make() -> Any:
            found = results.runtime_risks(repository, columns=ViolationSerializer.columns())
            return {**found, "risks": violation_rows(found["risks"])}

        return answer_of_version(request, repository.updated_at, make=make, keep=True)

    @describe(
        "Read the first scan",
        description="The baseline from when the repository was connected; nulls until it has been taken.",
        response=FirstScanSerializer,
        example=examples.FIRST_SCAN,
        errors=UNKNOWN,
    )
    def first_scan(self, request: SignedInRequest, repository_id: str) -> HttpResponseBase:
        repository = access.repository_for(request.user, repository_id)
        run = results.first_run_of(repository)
        return answer_of_version(
            request, repository.updated_at, *([run.status, run.started_at, run.finished_at] if run else ()),
            make=lambda: FirstScanSerializer(results.first_scan(repository, run)).data, keep=True,
        )  # fmt: skip
