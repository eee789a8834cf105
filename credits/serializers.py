"""The wire shapes of the credit endpoints."""

from rest_framework import serializers

from config.api.fields import TimestampField
from config.api.plain import PlainSerializer
from credits.models import CreditEntry, EntryType, Operation

UNLIMITED = -1


class CreditBalanceSerializer(serializers.Serializer):
    balance = serializers.IntegerField()
    monthlyAllocation = serializers.IntegerField(source="allocation")
    used = serializers.IntegerField()
    resetsAt = TimestampField(source="resets_at", allow_null=True)


class CreditTransactionSerializer(PlainSerializer):
    id = serializers.CharField()
    type = serializers.ChoiceField(choices=EntryType.choices)
    operation = serializers.ChoiceField(choices=Operation.choices)
    amount = serializers.SerializerMethodField()
    balance = serializers.SerializerMethodField()
    description = serializers.CharField()
    createdAt = TimestampField(source="created_at")

    def get_amount(self, entry: CreditEntry) -> int:
        """What was used, also where nothing is taken from an unlimited balance."""
        return -entry.cost if entry.unlimited and entry.cost else entry.amount

    def get_balance(self, entry: CreditEntry) -> int:
        return UNLIMITED if entry.unlimited else entry.balance


class CreditTransactionsSerializer(serializers.Serializer):
    transactions = CreditTransactionSerializer(many=True)
    total = serializers.IntegerField()


class OperationUsageSerializer(serializers.Serializer):
    operation = serializers.CharField()
    creditsUsed = serializers.IntegerField(source="used")
    count = serializers.IntegerField()


class UsageByOperationSerializer(serializers.Serializer):
    operations = OperationUsageSerializer(many=True)
    totalUsed = serializers.IntegerField(source="total")
    period = serializers.CharField()
