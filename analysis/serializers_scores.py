"""Why the scores of a repository changed, as the API tells it."""

from typing import Any

from rest_framework import serializers

from analysis.engine.score_change import Cause, Entry
from analysis.models import Snapshot
from analysis.selectors.score_history import ScoreChange
from analysis.serializers import SEVERITIES
from config.api.fields import BlankAsNullChoiceField, BlankAsNullField
from config.api.plain import PlainSerializer


class ScoreHistoryQuerySerializer(serializers.Serializer):
    """`from` is a word of Python, so the two fields are named when the class is there."""

    def get_fields(self) -> dict[str, Any]:
        bounds = {name: serializers.DateField(required=False, default=None) for name in ("from", "to")}
        return {**super().get_fields(), **bounds}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["from"] and attrs["to"] and attrs["from"] > attrs["to"]:
            raise serializers.ValidationError({"from": "must not be after to"})
        return attrs


class SnapshotPointSerializer(PlainSerializer):
    date = serializers.DateField(source="day")
    commitSha = serializers.CharField(source="commit_sha")
    healthScore = serializers.IntegerField(source="health_score")
    debtScore = serializers.FloatField(source="debt_score")
    linesOfCode = serializers.IntegerField(source="lines_of_code")


class ScoreEntrySerializer(PlainSerializer):
    cause = serializers.ChoiceField([cause.value for cause in Cause])
    health = serializers.FloatField()
    debtScore = serializers.FloatField(source="debt_score")
    message = serializers.CharField()
    ruleId = BlankAsNullField(source="rule")
    severity = BlankAsNullChoiceField(SEVERITIES)
    file = BlankAsNullField()
    line = serializers.IntegerField(allow_null=True)
    violationId = serializers.CharField(source="fingerprint", allow_null=True)
    count = serializers.IntegerField()

    def to_representation(self, entry: Entry) -> dict[str, Any]:
        ids: dict[str, str] = self.context["ids"]
        shown = super().to_representation(entry)
        return {**shown, "line": entry.line or None, "violationId": ids.get(entry.fingerprint)}


class ScoreHistorySerializer(serializers.Serializer):
    healthChange = serializers.SerializerMethodField()
    debtScoreChange = serializers.SerializerMethodField()
    entries = ScoreEntrySerializer(many=True)

    def get_fields(self) -> dict[str, Any]:
        ends = {
            "from": SnapshotPointSerializer(source="before", allow_null=True),
            "to": SnapshotPointSerializer(source="after", allow_null=True),
        }
        return {**ends, **super().get_fields()}

    def get_healthChange(self, change: ScoreChange) -> int | None:
        before, after = _ends(change)
        return after.health_score - before.health_score if before and after else None

    def get_debtScoreChange(self, change: ScoreChange) -> float | None:
        before, after = _ends(change)
        return round(after.debt_score - before.debt_score, 2) if before and after else None


def _ends(change: ScoreChange) -> tuple[Snapshot | None, Snapshot | None]:
    return change.before, change.after
