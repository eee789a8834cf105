"""Policies, previews, rule packs and the architecture graph over the API."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from analysis.engine.gate_metrics import METRICS, OPERATORS
from analysis.engine.policy_file import FIELDS
from analysis.serializers import (
    CATEGORIES,
    GATE_RESULTS,
    SEVERITIES,
    VOLUMES,
    NoticeSerializer,
    ViolationSerializer,
)
from analysis.services.backtests import MOST_PULL_REQUESTS
from config.api.fields import TextField, TimestampField, timestamp


class StackSerializer(serializers.Serializer):
    framework = serializers.CharField(required=False, allow_blank=True)
    orm = serializers.CharField(required=False, allow_blank=True)
    language = serializers.CharField(required=False, allow_blank=True)
    runtime = serializers.CharField(required=False, allow_blank=True)


class LayerSerializer(serializers.Serializer):
    name = serializers.CharField()
    path = serializers.CharField(help_text="A glob.")


class GateSerializer(serializers.Serializer):
    metric = serializers.ChoiceField(list(METRICS))
    operator = serializers.ChoiceField(list(OPERATORS))
    value = serializers.FloatField()


class GatesSerializer(serializers.Serializer):
    block_merge = GateSerializer(many=True, required=False)
    warn = GateSerializer(many=True, required=False)


class ExceptionSerializer(serializers.Serializer):
    rule = serializers.CharField()
    file = serializers.CharField(help_text="A glob.")
    expires = serializers.DateField()
    reason = serializers.CharField()


class PolicySerializer(serializers.Serializer):
    """What judges a repository. Whatever is left out has its default."""

    # It describes; `parse_policy` judges what somebody sends, since it names the place of a mistake.

    stack = StackSerializer(required=False)
    architecture = serializers.CharField(required=False, allow_blank=True)
    layers = LayerSerializer(many=True, required=False)
    gates = GatesSerializer(required=False)
    exceptions = ExceptionSerializer(many=True, required=False)
    data_volumes = serializers.DictField(child=serializers.ChoiceField(VOLUMES), required=False)


class PolicyReadSerializer(PolicySerializer):
    source = serializers.ChoiceField(["default", "repository", "api"])  # type: ignore[assignment]
    packs = serializers.ListField(child=serializers.CharField())
    updatedAt = TimestampField(source="updated_at", allow_null=True)
    updatedBy = serializers.CharField(source="updated_by_id", allow_null=True)
    notices = NoticeSerializer(many=True)

    def to_representation(self, policy: Any) -> dict[str, Any]:
        """The policy is stored in its wire shape; only what a read adds is translated."""
        shown = {name: policy[name] for name in (*FIELDS, "source", "packs", "notices")}
        editor = policy["updated_by_id"]
        return {**shown, "updatedAt": timestamp(policy["updated_at"]), "updatedBy": str(editor) if editor else None}


class PreviewTotalsSerializer(serializers.Serializer):
    totalViolations = serializers.IntegerField()
    critical = serializers.IntegerField()
    warning = serializers.IntegerField()
    healthScore = serializers.IntegerField(allow_null=True)


class PreviewedPullRequestSerializer(serializers.Serializer):
    prNumber = serializers.IntegerField()
    currentResult = serializers.ChoiceField(GATE_RESULTS)
    previewResult = serializers.ChoiceField(GATE_RESULTS)


class FiredGateSerializer(GateSerializer):
    actual = serializers.FloatField(help_text="What was measured.")
    action = serializers.ChoiceField(["block", "warn"])
    message = serializers.CharField(help_text="The gate and the figure in words.")


class AddedViolationSerializer(ViolationSerializer):
    """A violation that is not stored; its id is its fingerprint."""

    def to_representation(self, violation: Any) -> dict[str, Any]:
        return dict(violation)  # the engine says it in the wire shape already


class PreviewSerializer(serializers.Serializer):
    current = PreviewTotalsSerializer()
    preview = PreviewTotalsSerializer()
    added = AddedViolationSerializer(many=True)
    removed = ViolationSerializer(many=True)
    recentPRs = PreviewedPullRequestSerializer(many=True)


@extend_schema_field(PolicySerializer)
class PolicyPartField(serializers.Field):
    """A part of a policy as it was sent: the service judges it, since it names the place of a mistake."""

    def to_internal_value(self, data: Any) -> Any:
        return data


class BacktestRequestSerializer(serializers.Serializer):
    policy = PolicyPartField(help_text="Laid over the present policy, as in a preview.")
    limit = serializers.IntegerField(
        min_value=1, default=50, help_text="How many pull requests, the newest first; at most 200."
    )

    def validate_limit(self, limit: int) -> int:
        return min(limit, MOST_PULL_REQUESTS)


class BacktestedPullRequestSerializer(serializers.Serializer):
    prNumber = serializers.IntegerField(allow_null=True, help_text="Null where the history does not tell it.")
    title = serializers.CharField()
    commitSha = serializers.CharField()
    mergedAt = TimestampField()
    result = serializers.ChoiceField(GATE_RESULTS)
    currentResult = serializers.ChoiceField(
        GATE_RESULTS,
        allow_null=True,
        help_text="What the gate said while the pull request was open; null where it was not asked.",
    )
    score = serializers.FloatField()
    blockingCount = serializers.IntegerField()
    warningCount = serializers.IntegerField()
    gates = FiredGateSerializer(many=True, help_text="Those that would have fired.")
    violations = AddedViolationSerializer(many=True, help_text="The gravest that the gates object to, at most ten.")


class BacktestSerializer(serializers.Serializer):
    commitSha = serializers.CharField(
        allow_null=True, help_text="The last scanned commit, from which the walk goes back; null before the first scan."
    )
    evaluated = serializers.IntegerField()
    failed = serializers.IntegerField()
    warned = serializers.IntegerField(help_text="Passed with warnings.")
    notEvaluated = serializers.IntegerField(help_text="Left when the time was over; the next call goes on from there.")
    pullRequests = BacktestedPullRequestSerializer(many=True, help_text="The newest first.")


class PackSerializer(serializers.Serializer):
    name = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    framework = serializers.CharField()
    languages = serializers.ListField(child=serializers.CharField())
    version = serializers.CharField()
    ruleCount = serializers.IntegerField(source="rule_count")
    tags = serializers.ListField(child=serializers.CharField())


class PackRuleSerializer(serializers.Serializer):
    id = serializers.CharField()
    category = serializers.ChoiceField(CATEGORIES)
    severity = serializers.ChoiceField(SEVERITIES)
    title = serializers.CharField()


class PackDetailSerializer(PackSerializer):
    rules = PackRuleSerializer(many=True)
    policy = PolicySerializer(source="policy_body")


class PackQuerySerializer(serializers.Serializer):
    q = TextField(required=False, allow_blank=True, max_length=200, default="")
    framework = TextField(required=False, allow_blank=True, max_length=100, default="")


class ApplyPackSerializer(serializers.Serializer):
    packName = TextField(max_length=100)


class GraphNodeSerializer(serializers.Serializer):
    id = serializers.CharField(help_text="The file's path.")
    label = serializers.CharField()  # type: ignore[assignment]  # a field of this name, not the serializer's label
    module = serializers.CharField()
    layer = serializers.CharField(allow_null=True)
    type = serializers.ChoiceField(["file"])
    violations = serializers.IntegerField()
    complexity = serializers.IntegerField()
    linesOfCode = serializers.IntegerField()
    isHotspot = serializers.BooleanField(help_text="Risk score of 60 or more, with three commits or more in 90 days.")


class GraphEdgeSerializer(serializers.Serializer):
    source = serializers.CharField()  # type: ignore[assignment]  # a field of this name, not the field's source
    target = serializers.CharField()
    type = serializers.ChoiceField(["import"])
    isViolation = serializers.BooleanField()
    violationType = serializers.CharField(allow_null=True)
    message = serializers.CharField(allow_null=True)


class GraphModuleSerializer(serializers.Serializer):
    name = serializers.CharField()
    path = serializers.CharField()
    nodeCount = serializers.IntegerField()
    violations = serializers.IntegerField()


class GraphLayerSerializer(serializers.Serializer):
    name = serializers.CharField()
    color = serializers.CharField()


class GraphCutSerializer(serializers.Serializer):
    source = serializers.CharField()  # type: ignore[assignment]  # a field of this name, not the field's source
    target = serializers.CharField()
    line = serializers.IntegerField()


class GraphCycleSerializer(serializers.Serializer):
    files = serializers.ListField(child=serializers.CharField())
    modules = serializers.ListField(child=serializers.CharField())
    edges = serializers.IntegerField(help_text="How many imports lie in the circle.")
    deferred = serializers.BooleanField(help_text="It closes only through imports inside functions.")
    cut = GraphCutSerializer(many=True, help_text="The fewest imports whose removal breaks it.")


class GraphStatsSerializer(serializers.Serializer):
    totalNodes = serializers.IntegerField()
    totalEdges = serializers.IntegerField()
    violationEdges = serializers.IntegerField(help_text="Imports that an open finding stands for.")
    circularEdges = serializers.IntegerField(help_text="Imports in circles that are not deferred.")
    modules = serializers.IntegerField()
    layers = serializers.IntegerField()


class ArchitectureGraphSerializer(serializers.Serializer):
    nodes = GraphNodeSerializer(many=True)
    edges = GraphEdgeSerializer(many=True)
    modules = GraphModuleSerializer(many=True)
    layers = GraphLayerSerializer(many=True)
    cycles = GraphCycleSerializer(many=True)
    stats = GraphStatsSerializer()
