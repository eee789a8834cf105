"""The architecture graph, served as it was stored."""

import gzip
import re

from django.http import HttpResponse, HttpResponseBase
from django.utils.cache import patch_vary_headers
from rest_framework.viewsets import ViewSet

from accounts.authentication import SignedInRequest
from analysis import access
from analysis import examples_policy as examples
from analysis.selectors.policies import compressed_graph
from analysis.serializers_policy import ArchitectureGraphSerializer
from config.api.conditional import etag_of, unless_held
from config.api.schema import describe
from organizations.entitlements import Feature, require_feature

# RFC 9110, section 12.5.3: a weight of zero means that the coding is not welcome.
_ACCEPTS_GZIP = re.compile(r"(?:^|,)\s*(?:gzip|x-gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[\d.]+\s*)?(?:,|$)", re.I)


class ArchitectureGraphViewSet(ViewSet):
    """Thousands of nodes: the bytes go out as the scan stored them, and not at all to who has them already."""

    @describe(
        "Read the architecture graph",
        description="Files, imports, modules, layers and figures of the last scan. Test files and the findings in them "
        "are left out of all of it, generated files are in. On Pro and above. Without nodes before the first scan.",
        response=ArchitectureGraphSerializer,
        example=examples.GRAPH,
        errors={
            403: "The plan Solo does not include architectureGraph; the plan Pro has it",
            404: access.UnknownRepository.message,
        },
    )
    def retrieve(self, request: SignedInRequest, repository_id: str) -> HttpResponseBase:
        repository = access.repository_for(request.user, repository_id, with_plan=True)
        require_feature(repository.organization, Feature.ARCHITECTURE_GRAPH)
        as_gzip = bool(_ACCEPTS_GZIP.search(request.headers.get("Accept-Encoding", "")))
        etag = etag_of(repository.updated_at, as_gzip)

        def graph() -> HttpResponse:
            content = compressed_graph(repository)
            response = HttpResponse(content if as_gzip else gzip.decompress(content), content_type="application/json")
            if as_gzip:
                response["Content-Encoding"] = "gzip"
            return response

        response = unless_held(request, etag, graph)
        patch_vary_headers(response, ["Accept-Encoding"])
        return response
