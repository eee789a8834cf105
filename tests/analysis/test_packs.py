"""Rule packs: what they hold, how they are found, and what applying one changes."""

from typing import Any

import pytest

from analysis.engine.gate_metrics import METRICS
from analysis.engine.globs import glob
from analysis.engine.packs import Pack, all_packs, applied, read_pack
from analysis.engine.policy import Gate, Policy
from analysis.engine.policy_file import parse_policy, to_mapping
from analysis.engine.rules import all_rules
from analysis.models import Repository, StoredPolicy
from organizations.models import AuditEntry
from tests.analysis.test_policy import EXEMPTION, rules_of, url_of

PACKS = list(all_packs().values())
EXPECTED = {
    "celery-workers", "django-drf", "express-typeorm", "fastapi-sqlalchemy", "flask", "go-services",
    "hexagonal-architecture", "high-volume-data", "layered-architecture", "nestjs-prisma", "nextjs", "spring-boot-jpa",
}  # fmt: skip
# Where real projects of that kind keep things: pack, path, layer.
PLACES = [
    ("django-drf", "shop/orders/views.py", "views"),
    ("django-drf", "shop/orders/viewsets.py", "views"),
    ("django-drf", "orders/api/serializers/order.py", "serializers"),
    ("django-drf", "orders/models/order.py", "data"),
    ("fastapi-sqlalchemy", "backend/app/api/routes/items.py", "routes"),
    ("fastapi-sqlalchemy", "app/routers/users.py", "routes"),
    ("fastapi-sqlalchemy", "src/auth/router.py", "routes"),
    ("fastapi-sqlalchemy", "backend/app/crud.py", "crud"),
    ("fastapi-sqlalchemy", "app/models/user.py", "data"),
    ("flask", "app/auth/routes.py", "routes"),
    ("flask", "app/models.py", "data"),
    ("nestjs-prisma", "src/users/users.controller.ts", "controllers"),
    ("nestjs-prisma", "src/users/users.service.ts", "services"),
    ("nestjs-prisma", "src/prisma/prisma.service.ts", "persistence"),
    ("express-typeorm", "src/controllers/UserController.ts", "controllers"),
    ("express-typeorm", "src/entity/User.ts", "data"),
    ("express-typeorm", "src/entities/user.entity.ts", "data"),
    ("nextjs", "src/app/dashboard/page.tsx", "pages"),
    ("nextjs", "app/api/orders/route.ts", "handlers"),
    ("nextjs", "src/components/ui/button.tsx", "components"),
    ("spring-boot-jpa", "src/main/java/org/shop/owner/OwnerController.java", "controllers"),
    ("spring-boot-jpa", "src/main/java/org/shop/service/OrderServiceImpl.java", "services"),
    ("spring-boot-jpa", "src/main/java/org/shop/OrderRepository.java", "repositories"),
    ("go-services", "cmd/server/main.go", "cmd"),
    ("go-services", "internal/handlers/order.go", "handlers"),
    ("go-services", "internal/store/order.go", "stores"),
    ("layered-architecture", "src/controllers/order.js", "controllers"),
    ("hexagonal-architecture", "src/adapters/http/order.py", "adapters"),
    ("hexagonal-architecture", "internal/domain/order.go", "domain"),
]


class TestContents:
    def test_the_twelve_packs_are_there(self) -> None:
        assert set(all_packs()) == EXPECTED

    @pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
    def test_every_pack_is_whole(self, pack: Pack) -> None:
        known = {module.RULE.id for module in all_rules()}
        assert pack.rules
        assert {rule.id for rule in pack.rules} <= known
        assert len(pack.description) > 60
        assert pack.tags
        assert pack.languages
        assert pack.policy.block_merge
        assert pack.policy.warn
        assert parse_policy(to_mapping(pack.policy), known_rules=known) == pack.policy
        assert {gate.metric for gate in (*pack.policy.block_merge, *pack.policy.warn)} <= set(METRICS)

    @pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
    def test_every_rule_speaks_a_language_of_the_pack(self, pack: Pack) -> None:
        assert all(not rule.languages or set(rule.languages) & set(pack.languages) for rule in pack.rules)

    def test_a_rule_that_does_not_exist_is_refused(self) -> None:
        source = b"{title: t, description: d, framework: any, languages: [go], version: 1.0.0, tags: [], rules: [x-*]}"
        with pytest.raises(ValueError, match="rules that do not exist for its languages: x-"):
            read_pack("broken", source)

    @pytest.mark.parametrize(("name", "path", "layer"), PLACES)
    def test_layers_fit_where_projects_keep_things(self, name: str, path: str, layer: str) -> None:
        matching = [entry for entry in all_packs()[name].policy.layers if glob(entry.path).matches(path)]

        best = max(matching, key=lambda entry: sum(letter not in "*?[]!/" for letter in entry.path))
        assert best.name == layer

    def test_a_second_application_changes_nothing(self) -> None:
        for pack in PACKS:
            once = applied(pack, Policy())
            assert applied(pack, once) == once

    def test_gates_on_other_metrics_stay(self) -> None:
        present = Policy(warn=(Gate("changed_lines", ">", 800), Gate("debt_delta_score", ">", 5)))

        gates = applied(all_packs()["flask"], present).warn

        assert Gate("changed_lines", ">", 800) in gates
        assert [gate.value for gate in gates if gate.metric == "debt_delta_score"] == [20]


@pytest.mark.django_db
class TestReads:
    def test_the_list_shows_no_rules(self, as_stranger: Any) -> None:
        packs = as_stranger.get("/v1/api/packs").json()

        assert [pack["name"] for pack in packs] == sorted(EXPECTED)
        assert set(packs[0]) == {
            "name", "title", "description", "framework", "languages", "version", "ruleCount", "tags",
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ("q=PRISMA", {"nestjs-prisma"}),
            ("q=orm+python", {"django-drf", "fastapi-sqlalchemy"}),
            ("q=next.js", {"nextjs"}),
            ("q=spring-boot-jpa", {"spring-boot-jpa"}),
            ("framework=Flask", {"flask"}),
            ("framework=any&q=ports", {"hexagonal-architecture"}),
            ("q=cobol", set()),
            ("q=d%C3%A9ploiement", set()),
            ("q=%25", set()),
            ("framework=fla", set()),
            ("q=&framework=", EXPECTED),
        ],
    )
    def test_search_and_filter(self, as_member: Any, query: str, names: set[str]) -> None:
        found = {pack["name"] for pack in as_member.get(f"/v1/api/packs?{query}").json()}

        assert found == names

    def test_one_pack_shows_rules_and_policy(self, as_member: Any) -> None:
        pack = as_member.get("/v1/api/packs/django-drf").json()

        assert pack["ruleCount"] == len(pack["rules"]) > 10
        assert set(pack["rules"][0]) == {"id", "category", "severity", "title"}
        assert parse_policy(pack["policy"]) == all_packs()["django-drf"].policy

    def test_an_unknown_pack(self, as_member: Any) -> None:
        answer = as_member.get("/v1/api/packs/cobol")

        assert (answer.status_code, answer.json()["message"]) == (404, "There is no such rule pack")

    def test_nobody_reads_them_without_signing_in(self, anonymous: Any) -> None:
        assert anonymous.get("/v1/api/packs").status_code == 401
        assert anonymous.get("/v1/api/packs/flask").status_code == 401

    def test_they_ask_the_database_nothing_of_their_own(
        self, as_member: Any, django_assert_max_num_queries: Any
    ) -> None:
        with django_assert_max_num_queries(2):
            as_member.get("/v1/api/packs")


@pytest.mark.django_db
class TestApply:
    def apply(self, client: Any, repository: Repository, name: Any) -> Any:
        return client.post(url_of(repository, "apply-pack"), {"packName": name})

    def test_it_is_answered_with_the_policy(self, as_admin: Any, judged_shop: Repository) -> None:
        answer = self.apply(as_admin, judged_shop, "django-drf")

        assert answer.status_code == 200
        policy = answer.json()
        assert (policy["source"], policy["packs"]) == ("api", ["django-drf"])
        assert policy["layers"] == to_mapping(all_packs()["django-drf"].policy)["layers"]
        assert as_admin.get(url_of(judged_shop)).json() == policy

    def test_its_layers_judge_the_last_scan(self, as_admin: Any, judged_shop: Repository) -> None:
        self.apply(as_admin, judged_shop, "django-drf")

        assert "arch-layer-violation" in rules_of(as_admin, judged_shop)

    def test_exceptions_and_declared_sizes_stay(self, as_admin: Any, judged_shop: Repository) -> None:
        as_admin.put(url_of(judged_shop), {"exceptions": [EXEMPTION], "data_volumes": {"events": "S", "carts": "XL"}})

        policy = self.apply(as_admin, judged_shop, "high-volume-data").json()

        assert policy["exceptions"] == [EXEMPTION]
        assert (policy["data_volumes"]["events"], policy["data_volumes"]["carts"]) == ("S", "XL")
        assert policy["data_volumes"]["page_views"] == "XXL"

    def test_packs_add_up_and_each_is_named_once(self, as_admin: Any, judged_shop: Repository) -> None:
        for name in ("django-drf", "celery-workers", "django-drf"):
            policy = self.apply(as_admin, judged_shop, name).json()

        assert policy["packs"] == ["celery-workers", "django-drf"]
        assert policy["stack"]["framework"] == "django"

    def test_there_is_a_way_back(self, as_admin: Any, judged_shop: Repository) -> None:
        before = as_admin.put(url_of(judged_shop), {"exceptions": [EXEMPTION]}).json()
        self.apply(as_admin, judged_shop, "django-drf")

        undone = as_admin.post(url_of(judged_shop, "policy/undo")).json()

        assert {**undone, "updatedAt": None} == {**before, "updatedAt": None}

    def test_it_is_in_the_audit_trail(self, as_admin: Any, judged_shop: Repository) -> None:
        self.apply(as_admin, judged_shop, "celery-workers")

        entry = AuditEntry.objects.get(action="policy.pack_applied")
        assert entry.details["pack"] == "celery-workers"
        assert "gates" in entry.details["changed"]

    def test_an_unknown_pack_changes_nothing(self, as_admin: Any, judged_shop: Repository) -> None:
        answer = self.apply(as_admin, judged_shop, "cobol")

        assert (answer.status_code, answer.json()["message"]) == (404, "There is no such rule pack")
        assert self.apply(as_admin, judged_shop, None).status_code == 400
        assert not StoredPolicy.objects.exists()
