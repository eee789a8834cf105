"""Organizations, memberships and the rule of one owner, invitations, the audit trail, farewells.

The order matters: an organization's owner is a foreign key to a column that the database computes from the membership's
organization, so the tables come first, then that column, then the key (see organizations/models.py).
"""

import django.db.models.functions
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import config.models
import organizations.models


def base():
    return [
        ("id", models.UUIDField(default=config.models.new_id, editable=False, primary_key=True, serialize=False)),
        ("created_at", models.DateTimeField(auto_now_add=True)),
        ("updated_at", models.DateTimeField(auto_now=True)),
    ]


def of_organization(related_name):
    return models.ForeignKey(
        on_delete=models.deletion.CASCADE, related_name=related_name, to="organizations.organization"
    )


def person():
    return models.ForeignKey(
        null=True, on_delete=models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
    )


class Migration(migrations.Migration):
    initial = True
    dependencies = [
        ("billing", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.CreateModel(
            name="Organization",
            fields=[
                *base(),
                ("name", models.CharField(max_length=100)),
                ("slug", models.SlugField(max_length=48, unique=True)),
                (
                    "plan",
                    models.ForeignKey(
                        default="free",
                        on_delete=models.deletion.PROTECT,
                        related_name="+",
                        to="billing.plan",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                *base(),
                ("organization", of_organization("memberships")),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[("owner", "Owner"), ("admin", "Admin"), ("member", "Member")], max_length=8
                    ),
                ),
                (
                    "owner_of",
                    organizations.models.ComputedKey(
                        db_persist=True,
                        expression=models.Case(
                            models.When(role="owner", then=models.F("organization_id")), default=None
                        ),
                        null=True,
                        output_field=models.UUIDField(null=True),
                        unique=True,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "user"), name="membership_once_per_person"),
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["owner", "admin", "member"])),
                        name="membership_role_is_known",
                    ),
                ],
            },
        ),
        migrations.AddField(
            model_name="organization",
            name="owner",
            field=models.ForeignKey(
                editable=False,
                on_delete=models.deletion.RESTRICT,
                related_name="+",
                to="organizations.membership",
                to_field="owner_of",
            ),
        ),
        migrations.AddConstraint(
            model_name="organization",
            constraint=models.CheckConstraint(
                condition=models.Q(("owner", models.F("id"))), name="organization_owner_is_its_own"
            ),
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                *base(),
                ("organization", of_organization("invitations")),
                ("email", models.EmailField(max_length=254)),
                ("role", models.CharField(choices=[("admin", "Admin"), ("member", "Member")], max_length=8)),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("pending", "Pending"),
                            ("accepted", "Accepted"),
                            ("cancelled", "Cancelled"),
                            ("expired", "Expired"),
                        ],
                        default="pending",
                        max_length=9,
                    ),
                ),
                ("expires_at", models.DateTimeField()),
                ("token_hash", models.CharField(editable=False, max_length=64, null=True, unique=True)),
                ("invited_by", person()),
                ("accepted_by", person()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("status", "pending")),
                        fields=("organization", "email"),
                        name="invitation_pending_once_per_address",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("email", django.db.models.functions.Lower("email"))),
                        name="invitation_email_is_lower_case",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["admin", "member"])),
                        name="invitation_role_is_grantable",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                *base(),
                ("organization", of_organization("audit_entries")),
                ("actor", person()),
                ("action", models.CharField(max_length=60)),
                ("subject", models.CharField(blank=True, max_length=300)),
                ("details", models.JSONField(default=dict)),
            ],
            options={
                "verbose_name_plural": "audit entries",
                "ordering": ["-created_at", "-id"],
                "indexes": [
                    models.Index(fields=["organization", "-created_at", "-id"], name="audit_newest_first"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Farewell",
            fields=[
                *base(),
                ("kind", models.CharField(max_length=60)),
                ("organization_id", models.UUIDField()),
                ("notes", models.JSONField()),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("next_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("last_error", models.CharField(blank=True, max_length=300)),
            ],
            options={"indexes": [models.Index(fields=["next_at"], name="farewell_due")]},
        ),
    ]
