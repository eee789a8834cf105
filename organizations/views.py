"""Views translate: load with permission, validate, make one call, respond."""

from django.http import HttpResponseBase
from rest_framework import status
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import SignedInRequest
from accounts.serializers import SuccessSerializer
from config.api.pagination import answer_of_page
from config.api.schema import PAGE, describe, page
from organizations import examples, selectors, services
from organizations.access import invitation_in, member_in, membership_for, organization_for
from organizations.models import Role
from organizations.serializers import (
    AuditEntrySerializer,
    ChangeRoleSerializer,
    CreateOrganizationSerializer,
    InvitationSerializer,
    InviteMemberSerializer,
    JoinedSerializer,
    ListedInvitationSerializer,
    MemberSerializer,
    NewOrganizationSerializer,
    OrganizationListItemSerializer,
    OrganizationSerializer,
    TransferOwnershipSerializer,
    UpdateOrganizationSerializer,
    audit_entries,
)

UNKNOWN = "There is no such organization among yours"
UNKNOWN_MEMBER = "There is no such member in this organization"
NEEDS_ADMIN = "This needs the role admin or above in the organization"
NEEDS_OWNER = "This needs the role owner in the organization"
OWNER_STAYS = services.members.OwnerStays.message


class OrganizationViewSet(ViewSet):
    """Organizations as a whole."""

    @describe(
        "List the caller's organizations",
        description="Every organization the caller is a member of, by name, with the caller's role in it.",
        response=OrganizationListItemSerializer(many=True),
        example=[examples.LIST_ITEM],
    )
    def list(self, request: SignedInRequest) -> Response:
        return Response(OrganizationListItemSerializer(selectors.organizations_of(request.user), many=True).data)

    @describe(
        "Found an organization",
        description="The caller becomes its owner; it starts on the plan free. Without a slug, the name gives one.",
        request=CreateOrganizationSerializer,
        response=NewOrganizationSerializer,
        status=201,
        request_example={"name": "Acme", "slug": "acme"},
        example=examples.CREATED,
        errors={
            400: "slug: must be 2 to 48 of a-z, 0-9 and hyphens, with no hyphen first or last",
            403: "The plan Free is full: it allows 1 organization; the plan Pro allows more",
            409: "This slug is already taken",
        },
    )
    def create(self, request: SignedInRequest) -> Response:
        body = CreateOrganizationSerializer(data=request.data)
        body.is_valid(raise_exception=True)

        organization = services.create_organization(owner=request.user, **body.validated_data)

        return Response(NewOrganizationSerializer(organization).data, status=status.HTTP_201_CREATED)

    @describe(
        "Read an organization",
        description="For every member.",
        response=OrganizationSerializer,
        example=examples.DETAIL,
        errors={404: UNKNOWN},
    )
    def retrieve(self, request: SignedInRequest, organization_id: str) -> Response:
        organization = organization_for(request.user, organization_id)
        return Response(OrganizationSerializer(selectors.organization_detail(organization)).data)

    @describe(
        "Change name or slug",
        description="For admins and the owner. What is left out stays as it is.",
        request=UpdateOrganizationSerializer,
        response=OrganizationSerializer,
        request_example={"name": "Acme Limited"},
        example=examples.DETAIL,
        errors={403: NEEDS_ADMIN, 404: UNKNOWN, 409: "This slug is already taken"},
    )
    def update(self, request: SignedInRequest, organization_id: str) -> Response:
        organization = organization_for(request.user, organization_id, at_least=Role.ADMIN)
        body = UpdateOrganizationSerializer(data=request.data)
        body.is_valid(raise_exception=True)

        organization = services.update_organization(
            organization=organization, actor=request.user, **body.validated_data
        )

        return Response(OrganizationSerializer(selectors.organization_detail(organization)).data)

    @describe(
        "Delete an organization",
        description="For the owner. Everything goes with it: members, repositories, results. Its subscription is "
        "cancelled at the provider and its clones are removed in the background, for as long as it takes.",
        status=204,
        errors={403: NEEDS_OWNER, 404: UNKNOWN},
    )
    def destroy(self, request: SignedInRequest, organization_id: str) -> Response:
        organization = organization_for(request.user, organization_id, at_least=Role.OWNER)

        services.delete_organization(organization=organization, actor=request.user)

        return Response(status=status.HTTP_204_NO_CONTENT)

    @describe(
        "Hand the organization to another member",
        description="For the owner, who becomes an admin.",
        request=TransferOwnershipSerializer,
        response=SuccessSerializer,
        request_example={"newOwnerId": examples.USER_ID},
        example={"success": True},
        errors={400: "newOwnerId: is the owner already", 403: NEEDS_OWNER, 404: UNKNOWN_MEMBER},
    )
    def transfer_ownership(self, request: SignedInRequest, organization_id: str) -> Response:
        organization = organization_for(request.user, organization_id, at_least=Role.OWNER)
        body = TransferOwnershipSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        heir = member_in(organization, body.validated_data["newOwnerId"])

        services.transfer_ownership(heir=heir, actor=request.user)

        return Response({"success": True})

    @describe(
        "Leave an organization",
        description="For everybody but the owner, who has to transfer ownership first.",
        response=SuccessSerializer,
        example={"success": True},
        errors={403: OWNER_STAYS, 404: UNKNOWN},
    )
    def leave(self, request: SignedInRequest, organization_id: str) -> Response:
        member = membership_for(request.user, organization_id)

        services.leave_organization(member=member)

        return Response({"success": True})


class MemberViewSet(ViewSet):
    """The members of an organization."""

    @describe(
        "List the members",
        description="For every member; in the order in which they joined.",
        response=MemberSerializer(many=True),
        example=[examples.MEMBER],
        errors={404: UNKNOWN},
    )
    def list(self, request: SignedInRequest, organization_id: str) -> Response:
        organization = organization_for(request.user, organization_id)
        return Response(MemberSerializer(selectors.members_of(organization), many=True).data)

    @describe(
        "Change a member's role",
        description="For admins and the owner. The role owner is only ever transferred.",
        request=ChangeRoleSerializer,
        response=MemberSerializer,
        request_example={"role": "admin"},
        example={**examples.MEMBER, "role": "admin"},
        errors={400: "role: must be one of admin, member", 403: OWNER_STAYS, 404: UNKNOWN_MEMBER},
    )
    def update(self, request: SignedInRequest, organization_id: str, user_id: str) -> Response:
        organization = organization_for(request.user, organization_id, at_least=Role.ADMIN)
        body = ChangeRoleSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        member = member_in(organization, user_id)

        member = services.change_role(member=member, actor=request.user, **body.validated_data)

        return Response(MemberSerializer(member).data)

    @describe(
        "Remove a member",
        description="For admins and the owner. Access ends at once. The owner cannot be removed.",
        status=204,
        errors={403: OWNER_STAYS, 404: UNKNOWN_MEMBER},
    )
    def destroy(self, request: SignedInRequest, organization_id: str, user_id: str) -> Response:
        organization = organization_for(request.user, organization_id, at_least=Role.ADMIN)
        member = member_in(organization, user_id)

        services.remove_member(member=member, actor=request.user)

        return Response(status=status.HTTP_204_NO_CONTENT)


class InvitationViewSet(ViewSet):
    """Addresses that are asked to join."""

    @describe(
        "List the pending invitations",
        description="For admins and the owner; the oldest first. They stay when whoever sent them goes.",
        response=ListedInvitationSerializer(many=True),
        example=[examples.LISTED_INVITATION],
        errors={403: NEEDS_ADMIN, 404: UNKNOWN},
    )
    def list(self, request: SignedInRequest, organization_id: str) -> Response:
        organization = organization_for(request.user, organization_id, at_least=Role.ADMIN)
        return Response(ListedInvitationSerializer(selectors.pending_invitations_of(organization), many=True).data)

    @describe(
        "Invite somebody by e-mail",
        description="For admins and the owner. The letter with the link leaves at once; the link holds for 7 days. "
        "Members and pending invitations together count against the plan's maxMembers.",
        request=InviteMemberSerializer,
        response=InvitationSerializer,
        status=201,
        request_example={"email": "dana@example.org", "role": "member"},
        example=examples.INVITATION,
        errors={
            400: services.invitations.AlreadyMember.message,
            403: "The plan Free is full: it allows 1 member; the plan Pro allows more",
            404: UNKNOWN,
            409: "An invitation is already pending for this email",
        },
    )
    def create(self, request: SignedInRequest, organization_id: str) -> Response:
        organization = organization_for(request.user, organization_id, at_least=Role.ADMIN)
        body = InviteMemberSerializer(data=request.data)
        body.is_valid(raise_exception=True)

        invitation = services.invite_member(organization=organization, actor=request.user, **body.validated_data)

        return Response(InvitationSerializer(invitation).data, status=status.HTTP_201_CREATED)

    @describe(
        "Cancel an invitation",
        description="For admins and the owner. Its link is dead from then on.",
        status=204,
        errors={403: NEEDS_ADMIN, 404: "There is no such pending invitation in this organization"},
    )
    def destroy(self, request: SignedInRequest, organization_id: str, invitation_id: str) -> Response:
        organization = organization_for(request.user, organization_id, at_least=Role.ADMIN)
        invitation = invitation_in(organization, invitation_id)

        services.cancel_invitation(invitation=invitation, actor=request.user)

        return Response(status=status.HTTP_204_NO_CONTENT)

    @describe(
        "Accept an invitation",
        description="For whoever is signed in and holds the token of the letter. No body.",
        response=JoinedSerializer,
        example=examples.JOINED,
        errors={
            400: services.invitations.InvitationOver.message,
            403: "The plan Solo is full: it allows 1 member; the plan Pro allows more",
            404: services.invitations.UnknownToken.message,
        },
    )
    def accept(self, request: SignedInRequest, token: str) -> Response:
        membership = services.accept_invitation(token=token, user=request.user)

        return Response(JoinedSerializer(membership).data)


class AuditLogViewSet(ViewSet):
    """Who changed what."""

    @describe(
        "Read the audit trail",
        description="For admins and the owner: who changed what in the organization, the newest first.",
        response=page(AuditEntrySerializer),
        example=examples.AUDIT_PAGE,
        errors={400: "page: must be a whole number of at least 1", 403: NEEDS_ADMIN, 404: UNKNOWN},
        parameters=PAGE,
    )
    def list(self, request: SignedInRequest, organization_id: str) -> HttpResponseBase:
        organization = organization_for(request.user, organization_id, at_least=Role.ADMIN)
        return answer_of_page(request, selectors.audit_log_of(organization), audit_entries)
