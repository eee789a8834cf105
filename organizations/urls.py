"""Addresses below /v1 of organizations, their members, invitations and audit trail."""

from django.urls import path

from organizations.views import AuditLogViewSet, InvitationViewSet, MemberViewSet, OrganizationViewSet

urlpatterns = [
    path("orgs", OrganizationViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "orgs/<str:organization_id>",
        OrganizationViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path("orgs/<str:organization_id>/transfer-ownership", OrganizationViewSet.as_view({"post": "transfer_ownership"})),
    path("orgs/<str:organization_id>/leave", OrganizationViewSet.as_view({"post": "leave"})),
    path("orgs/<str:organization_id>/members", MemberViewSet.as_view({"get": "list"})),
    path(
        "orgs/<str:organization_id>/members/<str:user_id>",
        MemberViewSet.as_view({"put": "update", "delete": "destroy"}),
    ),
    # Before the invitations of an organization: a token may be any text, `invitations` too.
    path("orgs/invitations/<str:token>/accept", InvitationViewSet.as_view({"post": "accept"})),
    path("orgs/<str:organization_id>/invitations", InvitationViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "orgs/<str:organization_id>/invitations/<str:invitation_id>", InvitationViewSet.as_view({"delete": "destroy"})
    ),
    path("orgs/<str:organization_id>/audit-log", AuditLogViewSet.as_view({"get": "list"})),
]
