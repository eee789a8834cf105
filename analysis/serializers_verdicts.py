"""A pull request with the whole verdict, as it was stored when the head was judged."""

from typing import Any

from rest_framework import serializers

from analysis.serializers import GATE_RESULTS, PullRequestSerializer
from analysis.serializers_policy import AddedViolationSerializer, FiredGateSerializer
from config.api.fields import BlankAsNullChoiceField, TimestampField


class UsedExceptionSerializer(serializers.Serializer):
    rule = serializers.CharField()
    file = serializers.CharField()
    reason = serializers.CharField()
    expires = serializers.DateField()
    expired = serializers.BooleanField()
    covered = serializers.IntegerField(help_text="How many findings it covers.")


class VerdictSerializer(serializers.Serializer):
    hash = serializers.CharField(help_text="The same for the same trees, engine, rules and policy.")
    mergeBase = serializers.CharField()
    evaluated = serializers.BooleanField()
    metrics = serializers.DictField(child=serializers.FloatField())
    gates = FiredGateSerializer(many=True, help_text="Those that fired.")
    introduced = AddedViolationSerializer(many=True)
    introducedTotal = serializers.IntegerField()
    resolved = AddedViolationSerializer(many=True)
    resolvedTotal = serializers.IntegerField()
    exceptions = UsedExceptionSerializer(many=True)
    notes = serializers.ListField(child=serializers.CharField())

    def to_representation(self, verdict: Any) -> Any:
        """It is stored in its wire shape."""
        return verdict


class PullRequestDetailSerializer(PullRequestSerializer):
    gateResult = BlankAsNullChoiceField(GATE_RESULTS, source="gate_result", help_text="Null before the first verdict.")
    date = TimestampField(source="judged_at", allow_null=True, help_text="When it was judged; null before that.")
    headSha = serializers.CharField(source="head_sha")
    judgedSha = serializers.CharField(
        source="judged_sha", help_text="The commit that the verdict speaks of; empty after a change of the base branch."
    )
    baseBranch = serializers.CharField(source="base_branch")
    isOpen = serializers.BooleanField(source="is_open")
    isDraft = serializers.BooleanField(source="is_draft")
    verdict = VerdictSerializer(allow_null=True)

    def to_representation(self, pull_request: Any) -> dict[str, Any]:
        """Before the first verdict there is none."""
        shown: dict[str, Any] = super().to_representation(pull_request)
        return shown | {"verdict": pull_request.verdict or None}
