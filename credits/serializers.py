"""The wire shapes of the credit endpoints."""

from typing import Any

from rest_framework import serializers

from config.api.fields import TimestampField
from config.api.plain import PlainSerializer
from credits.models import AI_OPERATIONS, EntryType, Operation

UNLIMITED = -1


class CreditBalanceSerializer(PlainSerializer):
    balance = serializers.IntegerField()
    monthlyAllocation = serializers.IntegerField(source="allocation")
    used = serializers.IntegerField()
    resetsAt = TimestampField(source="resets_at", allow_null=True)


class CreditTransactionSerializer(PlainSerializer):
    id = serializers.CharField()
    type = serializers.ChoiceField(choices=EntryType.choices)
    operation = serializers.ChoiceField(choices=Operation.choices)
    amount = serializers.IntegerField(
        read_only=True, help_text="What was used, also where nothing is taken from an unlimited balance."
    )
    balance = serializers.IntegerField(read_only=True)
    description = serializers.CharField()
    createdAt = TimestampField(source="created_at")

    def to_representation(self, entry: Any) -> dict[str, Any]:
        shown = super().to_representation(entry)
        if entry["unlimited"]:
            shown["balance"] = UNLIMITED
            shown["amount"] = -entry["cost"] if entry["cost"] else entry["amount"]
        return shown


class CreditTransactionsSerializer(serializers.Serializer):
    transactions = CreditTransactionSerializer(many=True)
    total = serializers.IntegerField()


class OperationUsageSerializer(PlainSerializer):
    operation = serializers.ChoiceField(AI_OPERATIONS)
    creditsUsed = serializers.IntegerField(source="used")
    count = serializers.IntegerField()


class UsageByOperationSerializer(PlainSerializer):
    operations = OperationUsageSerializer(many=True)
    totalUsed = serializers.IntegerField(source="total")
    period = serializers.CharField()
