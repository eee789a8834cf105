"""What the AI operations say and hear over the API."""

from rest_framework import serializers

from analysis.serializers import ViolationSerializer
from config.api.fields import TextField
from config.api.plain import PlainSerializer
from credits.models import AI_OPERATIONS

MOST_FILES = 100


class OfferSerializer(PlainSerializer):
    operation = serializers.ChoiceField(AI_OPERATIONS)
    credits = serializers.IntegerField(help_text="What it takes at least.")
    usable = serializers.BooleanField(source="is_usable", help_text="Set up, in the plan, and covered by the balance.")


class AiOfferSerializer(PlainSerializer):
    setUp = serializers.BooleanField(source="is_set_up")
    balance = serializers.IntegerField(help_text="-1: unlimited.")
    operations = OfferSerializer(many=True)


class CrossFileRequestSerializer(serializers.Serializer):
    files = serializers.ListField(
        child=TextField(max_length=1024, trim_whitespace=False),
        required=False,
        allow_empty=False,
        max_length=MOST_FILES,
    )


class ScanSummarySerializer(serializers.Serializer):
    summary = serializers.CharField()
    creditsUsed = serializers.IntegerField(source="credits_used")


class CrossFileSerializer(serializers.Serializer):
    findings = ViolationSerializer(many=True)
    creditsUsed = serializers.IntegerField(source="credits_used")


class FixSerializer(serializers.Serializer):
    explanation = serializers.CharField()
    patch = serializers.CharField(allow_null=True)
    creditsUsed = serializers.IntegerField(source="credits_used")
