"""The table of plans and its seed: contract.md, section 5. Staff change prices and limits in the admin."""

from decimal import Decimal

from django.db import migrations, models
from django.db.models import Q

UNLIMITED = -1

# id, name, description, monthly, annual, repositories, members, credits a month, organizations
SEED = [
    ("free", "Free", "Command line scans and a dashboard for two repositories", 0, 0, 2, 1, 0, 1),
    ("solo", "Solo", "The pull-request gate and a badge for one developer", 12, 120, 10, 1, 50, 1),
    ("pro", "Pro", "Everything for a team: architecture graph, policies and AI", 29, 290, UNLIMITED, UNLIMITED, 500, 3),
    ("team", "Team", "More organizations and more AI credits", 99, 990, UNLIMITED, UNLIMITED, 2000, 10),
    ("enterprise", "Enterprise", "No limits", 399, 3990, UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED),
]
FROM_SOLO = ["pr_gate", "badge"]
FROM_PRO = ["architecture_graph", "ai_cross_file", "policy_editor", "rule_packs"]


def seed_plans(apps, schema_editor):
    Plan = apps.get_model("billing", "Plan")
    for rank, (key, name, description, monthly, annual, repos, members, credits, organizations) in enumerate(SEED):
        features = {feature: rank >= 1 for feature in FROM_SOLO} | {feature: rank >= 2 for feature in FROM_PRO}
        Plan.objects.using(schema_editor.connection.alias).create(
            id=key,
            name=name,
            description=description,
            rank=rank,
            price_monthly=Decimal(monthly),
            price_annual=Decimal(annual),
            max_repos=repos,
            max_members=members,
            ai_credits_per_month=credits,
            max_orgs=organizations,
            **features,
        )


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.CreateModel(
            name="Plan",
            fields=[
                ("id", models.CharField(max_length=16, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=40)),
                ("description", models.CharField(max_length=200)),
                ("rank", models.PositiveSmallIntegerField(unique=True)),
                ("price_monthly", models.DecimalField(decimal_places=2, max_digits=8)),
                ("price_annual", models.DecimalField(decimal_places=2, max_digits=8)),
                ("max_repos", models.IntegerField()),
                ("max_members", models.IntegerField()),
                ("max_orgs", models.IntegerField()),
                ("ai_credits_per_month", models.IntegerField()),
                ("cli_scan", models.BooleanField(default=True)),
                ("dashboard", models.BooleanField(default=True)),
                ("badge", models.BooleanField(default=False)),
                ("pr_gate", models.BooleanField(default=False)),
                ("architecture_graph", models.BooleanField(default=False)),
                ("ai_cross_file", models.BooleanField(default=False)),
                ("policy_editor", models.BooleanField(default=False)),
                ("rule_packs", models.BooleanField(default=False)),
            ],
            options={
                "ordering": ["rank"],
                "constraints": [
                    models.CheckConstraint(
                        condition=Q(price_monthly__gte=0, price_annual__gte=0),
                        name="plan_prices_not_below_zero",
                        violation_error_message="A price is never below zero.",
                    ),
                    models.CheckConstraint(
                        condition=Q(
                            max_repos__gte=-1, max_members__gte=-1, max_orgs__gte=-1, ai_credits_per_month__gte=-1
                        ),
                        name="plan_limits_count_or_are_none",
                        violation_error_message="A limit is a number from 0 up, or -1 for none.",
                    ),
                ],
            },
        ),
        migrations.RunPython(seed_plans, migrations.RunPython.noop),
    ]
