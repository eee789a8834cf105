"""The wire shapes of the organization endpoints."""

from typing import Any

from rest_framework import serializers

from accounts.serializers import EmailField
from config.api.fields import ChoiceField, NameField, TextField, TimestampField
from config.api.plain import PlainSerializer
from organizations.models import GRANTABLE_ROLES, PLAN_IDS, InvitationStatus, Role
from organizations.services.organizations import SLUG


class SlugField(TextField):
    """2 to 48 of a-z, 0-9 and hyphens, no hyphen first or last."""

    def to_internal_value(self, data: Any) -> str:
        slug = super().to_internal_value(data)
        if not SLUG.fullmatch(slug):
            raise serializers.ValidationError("must be 2 to 48 of a-z, 0-9 and hyphens, with no hyphen first or last")
        return slug


class CreateOrganizationSerializer(serializers.Serializer):
    name = NameField()
    slug = SlugField(required=False)


class UpdateOrganizationSerializer(serializers.Serializer):
    name = NameField(required=False)
    slug = SlugField(required=False)


class NewOrganizationSerializer(serializers.Serializer):
    id = serializers.CharField()
    name = serializers.CharField()
    slug = serializers.CharField()
    ownerId = serializers.CharField(source="owner.user_id")
    planId = serializers.ChoiceField(PLAN_IDS, source="plan_id")
    createdAt = TimestampField(source="created_at")


class OrganizationListItemSerializer(PlainSerializer):
    id = serializers.CharField()
    name = serializers.CharField()
    slug = serializers.CharField()
    role = serializers.ChoiceField(choices=Role.choices)
    planId = serializers.ChoiceField(PLAN_IDS, source="plan_id")
    memberCount = serializers.IntegerField(source="member_count")
    repoCount = serializers.IntegerField(source="repo_count")


class OrganizationSerializer(PlainSerializer):
    id = serializers.CharField()
    name = serializers.CharField()
    slug = serializers.CharField()
    ownerId = serializers.CharField(source="owner.user_id")
    planId = serializers.ChoiceField(PLAN_IDS, source="plan_id")
    memberCount = serializers.IntegerField(source="member_count")
    repoCount = serializers.IntegerField(source="repo_count")
    createdAt = TimestampField(source="created_at")
    updatedAt = TimestampField(source="updated_at")


class MemberSerializer(PlainSerializer):
    userId = serializers.CharField(source="user_id")
    name = serializers.CharField(source="user.name")
    email = serializers.EmailField(source="user.email")
    role = serializers.ChoiceField(choices=Role.choices)
    joinedAt = TimestampField(source="created_at")


class ChangeRoleSerializer(serializers.Serializer):
    role = ChoiceField(choices=GRANTABLE_ROLES)


class InviteMemberSerializer(serializers.Serializer):
    email = EmailField(max_length=254)
    role = ChoiceField(choices=GRANTABLE_ROLES, required=False)


class InvitationSerializer(PlainSerializer):
    id = serializers.CharField()
    email = serializers.EmailField()
    role = serializers.ChoiceField(choices=GRANTABLE_ROLES)
    status = serializers.ChoiceField(InvitationStatus.choices)
    expiresAt = TimestampField(source="expires_at")
    createdAt = TimestampField(source="created_at")


class InviterSerializer(PlainSerializer):
    userId = serializers.CharField(source="id")
    name = serializers.CharField()
    email = serializers.EmailField()


class ListedInvitationSerializer(InvitationSerializer):
    """An invitation stays when whoever sent it goes: admins see whose it was."""

    invitedBy = InviterSerializer(source="invited_by", allow_null=True, help_text="null when that account is deleted.")


class JoinedSerializer(serializers.Serializer):
    orgId = serializers.CharField(source="organization_id")
    orgName = serializers.CharField(source="organization.name")
    role = serializers.ChoiceField(choices=GRANTABLE_ROLES)


class TransferOwnershipSerializer(serializers.Serializer):
    newOwnerId = TextField()


class ActorSerializer(PlainSerializer):
    userId = serializers.CharField(source="actor_id")
    name = serializers.CharField(source="actor__name")
    email = serializers.EmailField(source="actor__email")


class AuditEntrySerializer(PlainSerializer):
    id = serializers.CharField()
    action = serializers.CharField(help_text="`<noun>.<what happened>`, such as `member.role_changed`.")
    actor = ActorSerializer(allow_null=True, help_text="null when the service itself acted.")
    subject = serializers.CharField()
    details = serializers.DictField()
    createdAt = TimestampField(source="created_at")


def audit_entries(rows: list[dict[str, Any]]) -> list[Any]:
    """A page of the audit trail, of its columns."""
    entries = [{**row, "actor": row if row["actor_id"] else None} for row in rows]
    return list(AuditEntrySerializer(entries, many=True).data)
