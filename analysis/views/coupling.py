"""What changes together, and whose it is."""

from django.http import HttpResponseBase
from rest_framework.viewsets import ViewSet

from accounts.authentication import SignedInRequest
from analysis import access, examples
from analysis.selectors.coupling import stored_coupling
from analysis.serializers_coupling import CouplingSerializer
from config.api.conditional import answer_of_version
from config.api.schema import describe


class CouplingViewSet(ViewSet):
    """What the history of a repository says about its files."""

    @describe(
        "Read change coupling and ownership",
        description="Files that keep changing together in the last 180 days, those of different modules first, and the "
        "main author of files and modules. Merges and mass commits are left out, renames followed, at most 200 of each "
        "are listed. Authors appear by the name in their commits, without addresses.",
        response=CouplingSerializer,
        example=examples.COUPLING,
        errors={404: access.UnknownRepository.message},
    )
    def retrieve(self, request: SignedInRequest, repository_id: str) -> HttpResponseBase:
        repository = access.repository_for(request.user, repository_id)
        return answer_of_version(
            request, repository.updated_at,
            make=lambda: CouplingSerializer(stored_coupling(repository)).data, keep=True,
        )  # fmt: skip
