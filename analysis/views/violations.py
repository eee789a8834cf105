"""One violation with the code that it is about, and all of them as files."""

from collections.abc import Iterator

from django.http import HttpResponseBase, StreamingHttpResponse
from django.utils import timezone
from django.utils.http import content_disposition_header
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import SignedInRequest
from analysis import access, examples
from analysis.engine.model import Category, Severity
from analysis.models import Repository
from analysis.selectors.exports import csv_of, sarif_of
from analysis.selectors.sources import CloneGone, source_around
from analysis.serializers import SourceLinesSerializer, ViolationDetailSerializer, ViolationQuerySerializer
from config.api.conditional import answer_of_version, etag_of, unless_held
from config.api.pagination import whole_number
from config.api.schema import count, describe, query

DEFAULT_CONTEXT, MOST_CONTEXT = 8, 50  # lines on each side
CSV, SARIF = "text/csv", "application/sarif+json"
UNKNOWN = {404: access.UnknownViolation.message}


FILTERS = [
    query("category", about="One of the five categories.", enum=[category.value for category in Category]),
    query("severity", about="One of the three severities.", enum=[severity.value for severity in Severity]),
    query("module", about="The name of a module of the architecture graph."),
    query("file", about="The path of a file."),
    query("ruleId", about="The id of a rule."),
]


class ViolationViewSet(ViewSet):
    """Reads of one violation."""

    @describe(
        "Read a violation",
        description="Also one that is resolved or suppressed by now: `status` says so.",
        response=ViolationDetailSerializer,
        example=examples.VIOLATION_DETAIL,
        errors=UNKNOWN,
    )
    def retrieve(self, request: SignedInRequest, repository_id: str, violation_id: str) -> Response:
        repository = access.repository_for(request.user, repository_id)
        return Response(ViolationDetailSerializer(access.violation_in(repository, violation_id)).data)

    @describe(
        "Read the code around a violation",
        description="Lines of the file at the commit of the last scan, `highlight` being the violation's own. Bytes "
        "that are no UTF-8 and characters that would deceive the reader are replaced; lines are cut at 500 characters.",
        response=SourceLinesSerializer,
        parameters=[
            count("context", f"Lines on each side, at most {MOST_CONTEXT}.", default=DEFAULT_CONTEXT, least=0),
        ],
        example=examples.SOURCE_LINES,
        errors={400: "context: must be a whole number of at least 0", **UNKNOWN, 409: CloneGone.message},
    )
    def source(self, request: SignedInRequest, repository_id: str, violation_id: str) -> HttpResponseBase:
        repository = access.repository_for(request.user, repository_id)
        violation = access.violation_in(repository, violation_id)
        context = whole_number(request, "context", default=DEFAULT_CONTEXT, at_least=0, at_most=MOST_CONTEXT)
        return answer_of_version(
            request, repository.updated_at, context,
            make=lambda: SourceLinesSerializer(source_around(repository, violation, context=context)).data,
            keep=context == DEFAULT_CONTEXT,
        )  # fmt: skip


class ViolationFileViewSet(ViewSet):
    """All violations of a repository in formats that other tools read, streamed."""

    @describe(
        "Download violations as CSV",
        description="Open violations, the gravest first, narrowed by the same filters as the list. Cells that a "
        "spreadsheet would take for a formula begin with an apostrophe.",
        response={"type": "string"},
        media_type=CSV,
        parameters=FILTERS,
        example=examples.CSV,
        errors={400: "severity: must be one of info, warning, critical", 404: access.UnknownRepository.message},
    )
    def csv(self, request: SignedInRequest, repository_id: str) -> HttpResponseBase:
        repository = access.repository_for(request.user, repository_id)
        query = ViolationQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        return unless_held(
            request,
            etag_of(repository.updated_at),
            lambda: _file(csv_of(repository, **query.validated_data), repository, CSV, "csv"),
        )

    @describe(
        "Download violations as SARIF",
        description="Open and suppressed violations as SARIF 2.1.0, with the rules' help, for code hosts and editors; "
        "at most the gravest 25,000.",
        response={"type": "object"},
        media_type=SARIF,
        example=examples.SARIF,
        errors={404: access.UnknownRepository.message},
    )
    def sarif(self, request: SignedInRequest, repository_id: str) -> HttpResponseBase:
        repository = access.repository_for(request.user, repository_id)
        today = timezone.now().date()
        return unless_held(
            request,
            etag_of(repository.updated_at, today),
            lambda: _file(sarif_of(repository, today=today), repository, SARIF, "sarif"),
        )


def _file(pieces: Iterator[bytes], repository: Repository, media_type: str, ending: str) -> StreamingHttpResponse:
    name = repository.full_name.replace("/", "-")
    response = StreamingHttpResponse(pieces, content_type=media_type)
    response["Content-Disposition"] = content_disposition_header(True, f"{name}.{ending}")
    return response
