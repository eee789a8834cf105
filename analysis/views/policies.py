"""Reading, changing, previewing and undoing a repository's policy, by hand or by a rule pack."""

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import SignedInRequest
from analysis import access
from analysis import examples_policy as examples
from analysis.models import Repository
from analysis.selectors.policies import policy_read, policy_version
from analysis.serializers_policy import (
    ApplyPackSerializer,
    BacktestRequestSerializer,
    BacktestSerializer,
    PolicyReadSerializer,
    PolicySerializer,
    PreviewSerializer,
)
from analysis.services import packs, policy_changes
from analysis.services.backtests import BacktestUnderWay, backtest_policy
from analysis.services.previews import FactsTooOld, preview_policy
from analysis.services.rejudging import StateBusy
from config.api.schema import describe
from organizations.entitlements import Feature, require_feature
from organizations.models import Role

UNKNOWN = {404: access.UnknownRepository.message}
INVALID = {400: "gates.block_merge[0].operator: must be one of >, >=, <, <=, ==, !="}
NEEDS_EDITOR = {403: "The plan Solo does not include policyEditor; the plan Pro has it"}
IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="The `ETag` of the read that the change was made from"
)
AT_ONCE = (
    "The last scan's facts are judged again: the results have changed when the answer arrives. Of a large repository, "
    "or while a scan is at work, the results follow through a queued run."
)


class PolicyViewSet(ViewSet):
    """The policy of one repository."""

    @describe(
        "Read the policy",
        description="What judges the repository: the policy set through the API, else the repository's own file, else "
        "the defaults of its stack.",
        response=PolicyReadSerializer,
        example=examples.POLICY_READ,
        errors=UNKNOWN,
    )
    def retrieve(self, request: SignedInRequest, repository_id: str) -> Response:
        return _policy_of(access.repository_for(request.user, repository_id))

    @describe(
        "Change the policy",
        description="For admins and the owner, on Pro and above. Replaces the whole policy. With the `ETag` of the "
        f"read as `If-Match`, a change that somebody else made meanwhile is not lost: 412. {AT_ONCE}",
        request=PolicySerializer,
        response=PolicyReadSerializer,
        request_example=examples.POLICY,
        example=examples.POLICY_READ,
        errors={**INVALID, **NEEDS_EDITOR, **UNKNOWN, 412: policy_changes.PolicyChanged.message},
        parameters=[IF_MATCH],
    )
    def update(self, request: SignedInRequest, repository_id: str) -> Response:
        repository = access.repository_for(request.user, repository_id, at_least=Role.ADMIN, with_plan=True)
        require_feature(repository.organization, Feature.POLICY_EDITOR)
        policy = policy_changes.policy_of_body(request.data)

        policy_changes.set_policy(
            repository=repository, policy=policy, changed_by=request.user, based_on=_version_seen(request)
        )

        return _policy_of(repository)

    @describe(
        "Preview a policy",
        description="What the last scan would have found under the present policy with this part of one over it: each "
        "field given replaces the present one, of `stack` and `gates` each entry given. Persists nothing. Recent pull "
        "requests are judged by the new gates on what was measured then.",
        request=PolicySerializer,
        response=PreviewSerializer,
        request_example=examples.POLICY_PART,
        example=examples.PREVIEW,
        errors={**INVALID, **UNKNOWN, 409: FactsTooOld.message, 503: StateBusy.message},
    )
    def preview(self, request: SignedInRequest, repository_id: str) -> Response:
        repository = access.repository_for(request.user, repository_id)
        outcome = preview_policy(repository=repository, body=request.data, today=timezone.now().date())
        return Response(PreviewSerializer(outcome).data)

    @describe(
        "Back-test a policy",
        description="Which of the last merged pull requests would have failed under the present policy with this part "
        "of one over it, and why. They are read from the history of the scanned branch: merge commits, and commits "
        "that name their pull request; a branch with neither counts each commit. Each is judged as it was merged, by "
        "today's churn and day. Persists nothing. A call takes about ten seconds at most; `notEvaluated` says how many "
        "were left, and the next call goes on from there. Other gates on the same pull requests cost no time.",
        request=BacktestRequestSerializer,
        response=BacktestSerializer,
        request_example={"policy": examples.POLICY_PART, "limit": 50},
        example=examples.BACKTEST,
        errors={**INVALID, **UNKNOWN, 409: FactsTooOld.message, 503: BacktestUnderWay.message},
    )
    def backtest(self, request: SignedInRequest, repository_id: str) -> Response:
        repository = access.repository_for(request.user, repository_id)
        body = BacktestRequestSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        asked = body.validated_data

        outcome = backtest_policy(
            repository=repository, body=asked["policy"], limit=asked["limit"], today=timezone.now().date()
        )

        return Response(BacktestSerializer(outcome).data)

    @describe(
        "Undo the last change of the policy",
        description="For admins and the owner, on Pro and above. Goes back to the policy before the last change or "
        f"applied pack; a second call takes that back again, unless the policy before was not set here. {AT_ONCE}",
        response=PolicyReadSerializer,
        example=examples.POLICY_READ,
        errors={**NEEDS_EDITOR, **UNKNOWN, 409: policy_changes.NothingToUndo.message},
    )
    def undo(self, request: SignedInRequest, repository_id: str) -> Response:
        repository = access.repository_for(request.user, repository_id, at_least=Role.ADMIN, with_plan=True)
        require_feature(repository.organization, Feature.POLICY_EDITOR)

        policy_changes.undo_policy_change(repository=repository, changed_by=request.user)

        return _policy_of(repository)

    @describe(
        "Apply a rule pack",
        description="For admins and the owner, on Pro and above. The pack's stack, architecture and layers replace the "
        "present ones, its gates those on the same metric; exceptions and declared sizes stay. What was there before "
        f"is kept for `policy/undo`. {AT_ONCE}",
        request=ApplyPackSerializer,
        response=PolicyReadSerializer,
        request_example={"packName": "django-drf"},
        example=examples.POLICY_READ,
        errors={
            400: "packName: this field is required",
            403: "The plan Solo does not include rulePacks; the plan Pro has it",
            404: packs.UnknownPack.message,
        },
    )
    def apply_pack(self, request: SignedInRequest, repository_id: str) -> Response:
        repository = access.repository_for(request.user, repository_id, at_least=Role.ADMIN, with_plan=True)
        require_feature(repository.organization, Feature.RULE_PACKS)
        body = ApplyPackSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        pack = packs.pack_named(body.validated_data["packName"])

        policy_changes.apply_pack(repository=repository, pack=pack, changed_by=request.user)

        return _policy_of(repository)


def _policy_of(repository: Repository) -> Response:
    """The policy under an ETag of its version and of the day, from which its notices follow."""
    today = timezone.now().date()
    policy = policy_read(repository, today=today)
    etag = f'"{policy_version(policy)}.{today:%Y%m%d}"'
    return Response(PolicyReadSerializer(policy).data, headers={"ETag": etag})


def _version_seen(request: SignedInRequest) -> str | None:
    """The version in `If-Match`, on whatever day it was read; None when the caller names none."""
    given = request.headers.get("If-Match", "*").strip()
    return None if given == "*" else given.removeprefix("W/").strip('"').partition(".")[0]
