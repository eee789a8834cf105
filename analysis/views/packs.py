"""Rule packs to choose from; applying one is an action on a repository's policy."""

from django.http import HttpResponseBase
from rest_framework.viewsets import ViewSet

from accounts.authentication import SignedInRequest
from analysis import examples_policy as examples
from analysis.engine.packs import search
from analysis.serializers_policy import PackDetailSerializer, PackQuerySerializer, PackSerializer
from analysis.services.packs import UnknownPack, pack_named
from config.api.conditional import answer_of_version
from config.api.schema import describe, query


class PackViewSet(ViewSet):
    """The rule packs that come with the service: the same for everybody, and until the next release."""

    @describe(
        "List rule packs",
        response=PackSerializer(many=True),
        parameters=[
            query(
                "q",
                about="Beginnings of words in name, title, description, framework, languages or tags; all must occur.",
            ),
            query("framework", about="The framework that a pack is made for; `any` for those that fit every one."),
        ],
        example=[examples.PACK],
        errors={400: "q: ensure this field has no more than 200 characters"},
    )
    def list(self, request: SignedInRequest) -> HttpResponseBase:
        asked = PackQuerySerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        wanted = asked.validated_data["q"], asked.validated_data["framework"]
        return answer_of_version(request, *wanted, make=lambda: PackSerializer(search(*wanted), many=True).data)

    @describe(
        "Read a rule pack",
        description="With its rules and the policy that applying it puts in place.",
        response=PackDetailSerializer,
        example=examples.PACK_DETAIL,
        errors={404: UnknownPack.message},
    )
    def retrieve(self, request: SignedInRequest, name: str) -> HttpResponseBase:
        pack = pack_named(name)
        return answer_of_version(request, pack.name, make=lambda: PackDetailSerializer(pack).data)
