"""One violation, and the code that it is about."""

from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import SignedInRequest
from analysis import access, examples
from analysis.selectors.sources import CloneGone, source_around
from analysis.serializers import SourceLinesSerializer, ViolationSerializer
from config.api.pagination import whole_number
from config.api.schema import describe, query

DEFAULT_CONTEXT, MOST_CONTEXT = 8, 50  # lines on each side
UNKNOWN = {404: access.UnknownViolation.message}


class ViolationViewSet(ViewSet):
    """Reads of one violation."""

    @describe(
        "Read a violation",
        description="Also one that is resolved or suppressed by now.",
        response=ViolationSerializer,
        example=examples.VIOLATION,
        errors=UNKNOWN,
    )
    def retrieve(self, request: SignedInRequest, repository_id: str, violation_id: str) -> Response:
        repository = access.repository_for(request.user, repository_id)
        return Response(ViolationSerializer(access.violation_in(repository, violation_id)).data)

    @describe(
        "Read the code around a violation",
        description="Lines of the file at the commit of the last scan, `highlight` being the violation's own. Bytes "
        "that are no UTF-8 and characters that would deceive the reader are replaced; lines are cut at 500 characters.",
        response=SourceLinesSerializer,
        parameters=[
            query("context", int, f"Lines on each side, at most {MOST_CONTEXT}.", default=DEFAULT_CONTEXT),
        ],
        example=examples.SOURCE_LINES,
        errors={400: "context: must be a whole number of at least 0", **UNKNOWN, 409: CloneGone.message},
    )
    def source(self, request: SignedInRequest, repository_id: str, violation_id: str) -> Response:
        repository = access.repository_for(request.user, repository_id)
        violation = access.violation_in(repository, violation_id)
        context = whole_number(request, "context", default=DEFAULT_CONTEXT, at_least=0, at_most=MOST_CONTEXT)
        return Response(SourceLinesSerializer(source_around(repository, violation, context=context)).data)
