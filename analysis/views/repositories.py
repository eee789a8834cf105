"""Connecting, listing and disconnecting repositories."""

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from analysis import access
from analysis.selectors import results
from analysis.serializers import ConnectRepositorySerializer, RepositorySerializer
from analysis.services import repositories
from organizations.access import organization_for
from organizations.models import Role


class RepositoryViewSet(ViewSet):
    """The repositories of the caller's organizations."""

    def list(self, request: Request) -> Response:
        """Every repository of the caller's organizations, by name."""
        return Response(RepositorySerializer(results.repositories_of(request.user), many=True).data)

    def create(self, request: Request) -> Response:
        """Connect a repository; its first scan is queued at once."""
        body = ConnectRepositorySerializer(data=request.data)
        body.is_valid(raise_exception=True)
        facts = dict(body.validated_data)
        organization = organization_for(request.user, facts.pop("orgId"), at_least=Role.ADMIN)

        repository = repositories.connect_repository(organization=organization, connected_by=request.user, **facts)

        return Response(RepositorySerializer(repository).data, status=status.HTTP_201_CREATED)

    def retrieve(self, request: Request, repository_id: str) -> Response:
        """One repository."""
        repository = access.repository_for(request.user, repository_id)
        return Response(RepositorySerializer(repository).data)

    def destroy(self, request: Request, repository_id: str) -> Response:
        """Disconnect a repository and delete its results and its clone."""
        repository = access.repository_for(request.user, repository_id, at_least=Role.ADMIN)

        repositories.disconnect_repository(repository=repository, disconnected_by=request.user)

        return Response(status=status.HTTP_204_NO_CONTENT)
