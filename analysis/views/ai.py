"""Asking a language model about a repository, for credits."""

from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import SignedInRequest
from analysis import access, examples_ai
from analysis.ai import client
from analysis.selectors.ai import ai_offer
from analysis.serializers_ai import (
    AiOfferSerializer,
    CrossFileRequestSerializer,
    CrossFileSerializer,
    FixSerializer,
    ScanSummarySerializer,
)
from analysis.services import ai
from config.api.schema import describe

FREE = "An answer that is late, broken or nonsensical costs nothing and says 502. Every member may ask."
ERRORS = {
    403: "This needs 5 AI credits and 2 are left; the plan Team grants more",
    404: access.UnknownRepository.message,
    409: ai.NotScannedYet.message,
    502: client.AiFailed.message,
    503: client.AiOff.message,
}


class AiViewSet(ViewSet):
    """The AI operations on one repository."""

    @describe(
        "Read which AI operations can be used now",
        description="For a front end that offers only what would not be refused. Every member may ask.",
        response=AiOfferSerializer,
        example=examples_ai.OFFER,
        errors={404: access.UnknownRepository.message},
    )
    def offer(self, request: SignedInRequest, repository_id: str) -> Response:
        repository = access.repository_for(request.user, repository_id, with_plan=True)
        return Response(AiOfferSerializer(ai_offer(repository)).data)

    @describe(
        "Summarize the last scan",
        description=f"What state the code is in and what to repair first, in words. Takes 5 credits. {FREE}",
        response=ScanSummarySerializer,
        example=examples_ai.SCAN_SUMMARY,
        errors=ERRORS,
    )
    def scan_summary(self, request: SignedInRequest, repository_id: str) -> Response:
        repository = access.repository_for(request.user, repository_id, with_plan=True)
        return Response(ScanSummarySerializer(ai.summarize_scan(repository=repository)).data)

    @describe(
        "Look for debt across files",
        description="Findings that show only when several files are read together; without `files` the twenty files "
        "of the highest risk are read. For the plan pro and above. Takes 10 credits up to 20 files and one more for "
        f"each further four, at most 15. The findings count in no score, list or gate. {FREE}",
        request=CrossFileRequestSerializer,
        response=CrossFileSerializer,
        request_example=examples_ai.CROSS_FILE_REQUEST,
        example=examples_ai.CROSS_FILE,
        errors={
            **ERRORS,
            400: "files: shop/missing.py is no source file of the last scan",
            403: "The plan Solo does not include aiCrossFile; the plan Pro has it",
        },
    )
    def cross_file(self, request: SignedInRequest, repository_id: str) -> Response:
        repository = access.repository_for(request.user, repository_id, with_plan=True)
        body = CrossFileRequestSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return Response(CrossFileSerializer(ai.analyze_across_files(repository=repository, **body.validated_data)).data)

    @describe(
        "Suggest a fix for a violation",
        description="An explanation and, where the model gave one that applies to the scanned commit, a patch of the "
        f"one file; otherwise `patch` is null. Takes 3 credits. {FREE}",
        response=FixSerializer,
        example=examples_ai.FIX,
        errors={**ERRORS, 404: access.UnknownViolation.message, 409: ai.AlreadyResolved.message},
    )
    def fix(self, request: SignedInRequest, repository_id: str, violation_id: str) -> Response:
        repository = access.repository_for(request.user, repository_id, with_plan=True)
        violation = access.violation_in(repository, violation_id)
        return Response(FixSerializer(ai.suggest_fix(repository=repository, violation=violation)).data)
