"""Reading and changing a policy over the API, what it does to the results, and the way back."""

from datetime import timedelta
from typing import Any

import pytest

from analysis.models import Repository, RunStatus, StoredPolicy
from analysis.services import rejudging
from organizations.models import AuditEntry
from tests.analysis.conftest import TODAY
from tests.analysis.repositories import GitRepository

pytestmark = pytest.mark.django_db

EMPTY = {
    "stack": {"framework": "", "orm": "", "language": "", "runtime": ""},
    "architecture": "",
    "layers": [],
    "gates": {"block_merge": [], "warn": []},
    "exceptions": [],
    "data_volumes": {},
}
LAYERS = [{"name": "views", "path": "views*"}, {"name": "services", "path": "services*"}]
EXEMPTION = {
    "rule": "risk-http-no-timeout",
    "file": "shop/**",
    "expires": (TODAY + timedelta(days=60)).isoformat(),
    "reason": "The gateway is replaced in spring",
}


def url_of(repository: Repository, tail: str = "policy") -> str:
    return f"/v1/api/repos/{repository.pk}/{tail}"


def rules_of(client: Any, repository: Repository) -> dict[str, str]:
    found = client.get(url_of(repository, "violations?perPage=100")).json()["data"]
    return {each["ruleId"]: each["severity"] for each in found}


class TestRead:
    def test_the_defaults_of_the_detected_stack(self, as_member: Any, judged_shop: Repository) -> None:
        read = as_member.get(url_of(judged_shop)).json()

        assert read["source"] == "default"
        assert read["stack"] == {"framework": "django", "orm": "django", "language": "python", "runtime": "python"}
        assert read["gates"]["block_merge"][0] == {"metric": "new_critical", "operator": ">", "value": 0}
        assert (read["packs"], read["updatedAt"], read["updatedBy"]) == ([], None, None)

    def test_the_file_of_the_repository(
        self, as_member: Any, shop: GitRepository, connect: Any, scan_here: Any
    ) -> None:
        shop.commit({".techdebt.yml": "data_volumes:\n  shop_order: XL\n"}, on=TODAY)
        repository = connect(shop)
        scan_here(repository)

        read = as_member.get(url_of(repository)).json()

        assert read["source"] == "repository"
        assert read["data_volumes"] == {"shop_order": "XL"}

    def test_before_the_first_scan(self, as_member: Any, shop: GitRepository, connect: Any) -> None:
        read = as_member.get(url_of(connect(shop))).json()

        assert read["source"] == "default"
        assert read["gates"]["block_merge"]
        assert set(read) == {*EMPTY, "source", "packs", "updatedAt", "updatedBy", "notices"}

    def test_it_takes_few_queries(
        self, as_member: Any, judged_shop: Repository, django_assert_max_num_queries: Any
    ) -> None:
        with django_assert_max_num_queries(6):
            as_member.get(url_of(judged_shop))


class TestChange:
    def test_it_is_answered_as_it_is_read(self, as_admin: Any, admin: Any, judged_shop: Repository) -> None:
        answer = as_admin.put(url_of(judged_shop), {"data_volumes": {"shop_order": "XL"}})

        assert answer.status_code == 200
        changed = answer.json()
        assert {name: changed[name] for name in EMPTY} == {**EMPTY, "data_volumes": {"shop_order": "XL"}}
        assert (changed["source"], changed["updatedBy"]) == ("api", str(admin.pk))
        assert changed["updatedAt"].endswith("Z")
        assert as_admin.get(url_of(judged_shop)).json() == changed

    def test_what_was_read_may_be_sent_back(self, as_admin: Any, judged_shop: Repository) -> None:
        read = as_admin.get(url_of(judged_shop)).json()

        assert as_admin.put(url_of(judged_shop), read).status_code == 200

    def test_a_large_table_makes_its_finding_critical(self, as_admin: Any, judged_shop: Repository) -> None:
        before = rules_of(as_admin, judged_shop)
        health = judged_shop.health_score

        as_admin.put(url_of(judged_shop), {"data_volumes": {"shop_order": "XXL"}})

        after = rules_of(as_admin, judged_shop)
        assert (before["perf-n-plus-one-query"], after["perf-n-plus-one-query"]) == ("warning", "critical")
        judged_shop.refresh_from_db()
        assert judged_shop.health_score < health
        overview = as_admin.get(f"/v1/api/repos/{judged_shop.pk}/overview").json()
        listed = overview["categories"]["performance"]["critical"]
        assert [(each["table"], each["volume"]) for each in listed] == [("shop_order", "XXL")]

    def test_an_exception_takes_its_findings_away_and_keeps_their_ids(
        self, as_admin: Any, judged_shop: Repository
    ) -> None:
        finding = judged_shop.violations.get(rule_id="risk-http-no-timeout")

        as_admin.put(url_of(judged_shop), {"exceptions": [EXEMPTION]})
        assert "risk-http-no-timeout" not in rules_of(as_admin, judged_shop)
        as_admin.put(url_of(judged_shop), {})

        again = judged_shop.violations.get(rule_id="risk-http-no-timeout")
        assert (again.pk, again.status) == (finding.pk, "open")

    def test_layers_show_in_violations_and_graph(self, as_admin: Any, judged_shop: Repository) -> None:
        as_admin.put(url_of(judged_shop), {"layers": LAYERS})

        assert "arch-layer-violation" in rules_of(as_admin, judged_shop)
        graph = as_admin.get(url_of(judged_shop, "architecture-graph")).json()
        assert [layer["name"] for layer in graph["layers"]] == ["views", "services"]
        assert graph["stats"]["violationEdges"] >= 1

    def test_it_is_no_scan(self, as_admin: Any, judged_shop: Repository) -> None:
        before = as_admin.get(url_of(judged_shop, "")[:-1]).json()
        as_admin.put(url_of(judged_shop), {"data_volumes": {"shop_order": "XL"}})
        after = as_admin.get(url_of(judged_shop, "")[:-1]).json()

        assert after["productionRisk"] != before["productionRisk"] or after["healthScore"] != before["healthScore"]
        assert after["lastScanAt"] == before["lastScanAt"]

    def test_no_file_is_parsed_and_the_clone_is_not_needed(
        self, as_admin: Any, judged_shop: Repository, shop: GitRepository
    ) -> None:
        shop.folder.rename(shop.folder.with_name("gone"))
        judged_shop.folder.rename(judged_shop.folder.with_name("gone"))

        as_admin.put(url_of(judged_shop), {"data_volumes": {"shop_order": "XL"}})

        run = judged_shop.runs.latest("queued_at")
        assert (run.kind, run.status, run.progress) == ("scan", RunStatus.SUCCEEDED, 100)
        assert run.files_from_cache == run.files_analyzed > 0
        assert run.commit_sha == judged_shop.runs.earliest("queued_at").commit_sha

    def test_the_next_scan_finds_the_same(self, as_admin: Any, judged_shop: Repository, scan_here: Any) -> None:
        as_admin.put(url_of(judged_shop), {"data_volumes": {"shop_order": "XL"}, "layers": LAYERS})
        judged = list(judged_shop.violations.order_by("pk").values_list("pk", "status", "severity", "debt_points"))
        judged_shop.refresh_from_db()
        score = judged_shop.health_score

        as_admin.post(url_of(judged_shop, "analyze"))
        scan_here(judged_shop)

        scanned = list(judged_shop.violations.order_by("pk").values_list("pk", "status", "severity", "debt_points"))
        assert (scanned, judged_shop.health_score) == (judged, score)

    def test_before_the_first_scan_it_only_waits(
        self, as_admin: Any, shop: GitRepository, connect: Any, scan_here: Any
    ) -> None:
        repository = connect(shop)

        as_admin.put(url_of(repository), {"exceptions": [EXEMPTION]})

        assert repository.runs.count() == 1
        scan_here(repository)
        assert "risk-http-no-timeout" not in rules_of(as_admin, repository)

    def test_while_a_scan_is_at_work_another_one_follows(self, as_admin: Any, judged_shop: Repository) -> None:
        judged_shop.runs.update(status=RunStatus.RUNNING)

        as_admin.put(url_of(judged_shop), {"exceptions": [EXEMPTION]})

        assert sorted(judged_shop.runs.values_list("status", flat=True)) == ["queued", "running"]

    def test_a_large_repository_is_judged_by_a_worker(
        self, as_admin: Any, judged_shop: Repository, scan_here: Any
    ) -> None:
        judged_shop.reports.update(lines_of_code=rejudging.LINES_AT_ONCE + 1)

        as_admin.put(url_of(judged_shop), {"exceptions": [EXEMPTION]})

        assert judged_shop.runs.latest("queued_at").status == RunStatus.QUEUED
        scan_here(judged_shop)
        assert "risk-http-no-timeout" not in rules_of(as_admin, judged_shop)

    def test_facts_of_an_older_engine_are_left_to_a_worker(
        self, as_admin: Any, judged_shop: Repository, scan_here: Any
    ) -> None:
        judged_shop.scan_inputs.facts_version = "0.old"
        judged_shop.scan_inputs.save()

        assert as_admin.put(url_of(judged_shop), {"exceptions": [EXEMPTION]}).status_code == 200

        run = judged_shop.runs.latest("queued_at")
        assert run.status == RunStatus.RUNNING
        scan_here(judged_shop)  # the lease has ended: a worker takes the run over
        assert "risk-http-no-timeout" not in rules_of(as_admin, judged_shop)

    def test_a_fault_while_judging_is_left_to_a_worker(
        self, as_admin: Any, judged_shop: Repository, scan_here: Any
    ) -> None:
        judged_shop.scan_inputs.tree = b"torn"
        judged_shop.scan_inputs.save()

        assert as_admin.put(url_of(judged_shop), {"exceptions": [EXEMPTION]}).status_code == 200
        assert "risk-http-no-timeout" in rules_of(as_admin, judged_shop)

        assert scan_here(judged_shop).attempts == 2
        assert "risk-http-no-timeout" not in rules_of(as_admin, judged_shop)

    def test_a_large_policy_is_not_copied_into_the_audit_trail_by_each_change(
        self, as_admin: Any, organization: Any, judged_shop: Repository
    ) -> None:
        for size in ("M", "XL"):
            tables = {f"table_{number:0100}": size for number in range(1000)}
            assert as_admin.put(url_of(judged_shop), {"data_volumes": tables}).status_code == 200

        (entry, *_) = as_admin.get(f"/v1/orgs/{organization.pk}/audit-log").json()["data"]

        assert entry["details"] == {"changed": ["data_volumes"], "beforeLeftOut": True}

    def test_it_is_in_the_audit_trail(self, as_admin: Any, admin: Any, judged_shop: Repository) -> None:
        as_admin.put(url_of(judged_shop), {"exceptions": [EXEMPTION]})
        as_admin.put(url_of(judged_shop), {"exceptions": [EXEMPTION], "architecture": "layered"})

        entry = AuditEntry.objects.filter(action="policy.changed").latest("created_at")
        assert (entry.actor, entry.subject) == (admin, "acme/shop")
        assert entry.details["changed"] == ["architecture"]
        assert entry.details["before"]["architecture"] == ""


class TestRefusals:
    @pytest.mark.parametrize(
        ("body", "message"),
        [
            ({"gates": {"warn": [{"metric": "x", "operator": ">", "value": 1}]}}, "gates.warn[0].metric: must be one"),
            (
                {"gates": {"block_merge": [{"metric": "new_critical", "operator": "=>", "value": 1}]}},
                "gates.block_merge[0].operator: must be one of >, >=, <, <=, ==, !=",
            ),
            ({"data_volumes": {"orders": "L"}}, "data_volumes.orders: must be one of S, M, XL, XXL"),
            ({"exceptions": [{**EXEMPTION, "reason": None}]}, "exceptions[0].reason: is required"),
            ({"exceptions": [{**EXEMPTION, "rule": "no-such-rule"}]}, "exceptions[0].rule: there is no rule"),
            ({"layer": []}, "layer: is not a field of a policy; allowed: stack, architecture"),
            ([], "The body must be a JSON object"),
        ],
    )
    @pytest.mark.parametrize("call", ["put", "post"])
    def test_the_message_names_the_place_and_what_is_allowed(
        self, as_owner: Any, shop: GitRepository, connect: Any, call: str, body: Any, message: str
    ) -> None:
        url = url_of(connect(shop), "policy" if call == "put" else "policy/preview")

        answer = getattr(as_owner, call)(url, body)

        assert answer.status_code == 400
        assert answer.json()["message"].startswith(message)
        assert not StoredPolicy.objects.exists()

    @pytest.mark.parametrize(
        ("who", "plan", "status"),
        [
            ("owner", "pro", 200),
            ("admin", "team", 200),
            ("owner", "enterprise", 200),
            ("owner", "solo", 403),
            ("admin", "free", 403),
            ("member", "pro", 403),
            ("stranger", "pro", 404),
            ("anonymous", "pro", 401),
        ],
    )
    def test_who_may_change_it(
        self, request: Any, organization: Any, shop: GitRepository, connect: Any, who: str, plan: str, status: int
    ) -> None:
        repository = connect(shop)
        organization.plan_id = plan
        organization.save()
        client = request.getfixturevalue(who if who == "anonymous" else f"as_{who}")

        assert client.put(url_of(repository), {}).status_code == status
        assert client.post(url_of(repository, "apply-pack"), {"packName": "flask"}).status_code == status
        assert client.post(url_of(repository, "policy/undo")).status_code == status
        reads = {401: 401, 404: 404}.get(status, 200)
        assert client.get(url_of(repository)).status_code == reads
        assert client.post(url_of(repository, "policy/preview"), {}).status_code == reads

    def test_the_refusal_names_the_plan_that_has_it(
        self, as_owner: Any, organization: Any, shop: GitRepository, connect: Any
    ) -> None:
        repository = connect(shop)
        organization.plan_id = "solo"
        organization.save()

        message = as_owner.put(url_of(repository), {}).json()["message"]

        assert message == "The plan Solo does not include policyEditor; the plan Pro has it"


class TestChangedByTwo:
    """Two admins have read the same policy, and each sends it back with a change of their own."""

    def test_the_second_is_told_of_the_first_and_takes_nothing_away(
        self, as_admin: Any, as_owner: Any, judged_shop: Repository
    ) -> None:
        url = url_of(judged_shop)
        seen = [client.get(url)["ETag"] for client in (as_owner, as_admin)]
        first = as_owner.put(url, {"exceptions": [EXEMPTION]}, headers={"If-Match": seen[0]})

        second = as_admin.put(url, {"architecture": "layered"}, headers={"If-Match": seen[1]})

        assert (first.status_code, second.status_code) == (200, 412)
        assert second.json()["message"] == (
            "The policy was changed since you read it; read it again and make your change in what it says now"
        )
        assert as_admin.get(url).json()["exceptions"] == [EXEMPTION]

    def test_on_what_it_says_now_it_goes_through(self, as_admin: Any, judged_shop: Repository) -> None:
        url = url_of(judged_shop)
        first = as_admin.put(url, {"exceptions": [EXEMPTION]})

        second = as_admin.put(url, {"architecture": "layered"}, headers={"If-Match": first["ETag"]})

        assert second.status_code == 200
        assert second["ETag"] == as_admin.get(url)["ETag"] != first["ETag"]

    def test_a_version_of_another_day_is_still_that_version(self, as_admin: Any, judged_shop: Repository) -> None:
        url = url_of(judged_shop)
        version = as_admin.get(url)["ETag"].partition(".")[0]

        response = as_admin.put(url, {"architecture": "layered"}, headers={"If-Match": f'{version}.20200101"'})

        assert response.status_code == 200

    @pytest.mark.parametrize("headers", [{}, {"If-Match": "*"}])
    def test_whoever_names_no_version_replaces_it(
        self, as_admin: Any, judged_shop: Repository, headers: dict[str, str]
    ) -> None:
        as_admin.put(url_of(judged_shop), {"exceptions": [EXEMPTION]})

        response = as_admin.put(url_of(judged_shop), {"architecture": "layered"}, headers=headers)

        assert response.json()["exceptions"] == []


class TestUndo:
    def test_it_goes_back_to_the_policy_before(self, as_admin: Any, judged_shop: Repository) -> None:
        first = as_admin.put(url_of(judged_shop), {"exceptions": [EXEMPTION]}).json()
        as_admin.put(url_of(judged_shop), {"architecture": "layered"})

        undone = as_admin.post(url_of(judged_shop, "policy/undo")).json()

        assert undone["exceptions"] == first["exceptions"]
        assert undone["architecture"] == ""
        assert "risk-http-no-timeout" not in rules_of(as_admin, judged_shop)

    def test_a_second_time_takes_it_back_again(self, as_admin: Any, judged_shop: Repository) -> None:
        as_admin.put(url_of(judged_shop), {"architecture": "one"})
        as_admin.put(url_of(judged_shop), {"architecture": "two"})

        as_admin.post(url_of(judged_shop, "policy/undo"))

        assert as_admin.post(url_of(judged_shop, "policy/undo")).json()["architecture"] == "two"

    def test_a_change_that_is_sent_twice_is_undone_as_one(self, as_admin: Any, judged_shop: Repository) -> None:
        as_admin.put(url_of(judged_shop), {"architecture": "one"})
        for _ in range(2):
            as_admin.put(url_of(judged_shop), {"architecture": "two"})

        assert as_admin.post(url_of(judged_shop, "policy/undo")).json()["architecture"] == "one"

    def test_the_first_change_goes_back_to_what_the_repository_says(
        self, as_admin: Any, judged_shop: Repository
    ) -> None:
        before = as_admin.get(url_of(judged_shop)).json()
        as_admin.put(url_of(judged_shop), {"exceptions": [EXEMPTION]})

        undone = as_admin.post(url_of(judged_shop, "policy/undo")).json()

        assert undone == before
        assert "risk-http-no-timeout" in rules_of(as_admin, judged_shop)
        assert as_admin.post(url_of(judged_shop, "policy/undo")).status_code == 409
