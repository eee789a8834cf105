"""Change coupling and ownership, as the API tells it."""

from rest_framework import serializers

from config.api.plain import PlainSerializer


class CoupledPairSerializer(PlainSerializer):
    files = serializers.ListField(child=serializers.CharField(), min_length=2, max_length=2)
    modules = serializers.ListField(child=serializers.CharField(), min_length=2, max_length=2)
    acrossModules = serializers.BooleanField()
    support = serializers.IntegerField(help_text="Commits that touch both.")
    confidence = serializers.FloatField(help_text="Their share of the commits of the file that changed less often.")
    importsEachOther = serializers.BooleanField(help_text="One imports the other, which explains the coupling.")


class OwnerSerializer(PlainSerializer):
    commits = serializers.IntegerField()
    authors = serializers.IntegerField()
    mainAuthor = serializers.CharField()
    mainAuthorShare = serializers.FloatField()


class FileOwnerSerializer(OwnerSerializer):
    file = serializers.CharField()


class ModuleOwnerSerializer(OwnerSerializer):
    module = serializers.CharField()


class CouplingSerializer(serializers.Serializer):
    windowDays = serializers.IntegerField()
    commits = serializers.IntegerField()
    pairs = CoupledPairSerializer(many=True)
    files = FileOwnerSerializer(many=True)
    modules = ModuleOwnerSerializer(many=True)
