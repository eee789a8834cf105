"""Connecting, listing and disconnecting repositories."""

from typing import Any

from django.http import HttpResponseBase
from django.utils import timezone
from rest_framework import status
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import SignedInRequest
from analysis import access, examples
from analysis.selectors import results
from analysis.selectors.health import health_courses
from analysis.serializers import (
    ConnectRepositorySerializer,
    ListedRepositorySerializer,
    RepositoryQuerySerializer,
    RepositorySerializer,
)
from analysis.services import repositories
from config.api.conditional import answer_of_version
from config.api.schema import describe, query
from organizations.access import organization_for
from organizations.models import Role


class RepositoryViewSet(ViewSet):
    """The repositories of the caller's organizations."""

    @describe(
        "List repositories",
        description="Every repository of the caller's organizations, by name. With `include=trend` each one tells its "
        "health score on every day of the last 30 that changed it.",
        response=ListedRepositorySerializer(many=True),
        parameters=[query("include", about="What to add to each repository.", enum=["trend"])],
        example=[examples.REPOSITORY],
        errors={400: "include: must be one of trend"},
    )
    def list(self, request: SignedInRequest) -> HttpResponseBase:
        asked = RepositoryQuerySerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        with_trend = "include" in asked.validated_data
        today = timezone.now().date()

        def make() -> Any:
            listed = results.repositories_of(request.user)
            if not with_trend:
                return listed
            courses = health_courses((each["id"] for each in listed), today=today)
            return [{**each, "trend": courses.get(each["id"], [])} for each in listed]

        versions = results.versions_of_repositories(request.user)
        return answer_of_version(request, with_trend, today, *versions, make=make, keep=True)

    @describe(
        "Connect a repository",
        description="For admins and the owner. The first scan is queued at once. Without `cloneUrl` the repository is "
        "cloned from the code host of the platform; the platform `git` needs one.",
        request=ConnectRepositorySerializer,
        response=RepositorySerializer,
        status=201,
        request_example=examples.CONNECT,
        example=examples.CONNECTED,
        errors={
            400: "cloneUrl: this clone address is not allowed; use the https address that the code host shows",
            403: "The plan Free is full: it allows 2 repositories; the plan Solo allows more",
            404: "There is no such organization among yours",
            409: "This repository is already connected to the organization",
            503: "codehost1 is not set up here; give a cloneUrl",
        },
    )
    def create(self, request: SignedInRequest) -> Response:
        body = ConnectRepositorySerializer(data=request.data)
        body.is_valid(raise_exception=True)
        facts = dict(body.validated_data)
        organization = organization_for(request.user, facts.pop("orgId"), at_least=Role.ADMIN)

        repository = repositories.connect_repository(organization=organization, connected_by=request.user, **facts)

        return Response(RepositorySerializer(repository).data, status=status.HTTP_201_CREATED)

    @describe(
        "Read a repository",
        response=RepositorySerializer,
        example=examples.REPOSITORY,
        errors={404: access.UnknownRepository.message},
    )
    def retrieve(self, request: SignedInRequest, repository_id: str) -> Response:
        repository = access.repository_for(request.user, repository_id)
        return Response(RepositorySerializer(repository).data)

    @describe(
        "Disconnect a repository",
        description="For admins and the owner. Deletes its results and its clone.",
        status=204,
        errors={
            403: "This needs the role admin or above in the organization",
            404: access.UnknownRepository.message,
        },
    )
    def destroy(self, request: SignedInRequest, repository_id: str) -> Response:
        repository = access.repository_for(request.user, repository_id, at_least=Role.ADMIN)

        repositories.disconnect_repository(repository=repository, disconnected_by=request.user)

        return Response(status=status.HTTP_204_NO_CONTENT)
