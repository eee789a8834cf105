"""The architecture graph over the API: who may, how it is sent, and that its figures agree with each other."""

import gzip
import time
import uuid
from typing import Any

import orjson
import pytest

from analysis.models import Repository
from tests.analysis.repositories import GitRepository
from tests.analysis.test_policy import LAYERS, url_of

pytestmark = pytest.mark.django_db


def graph_url(repository: Repository) -> str:
    return url_of(repository, "architecture-graph")


class TestWhoMay:
    @pytest.mark.parametrize(
        ("who", "plan", "status"),
        [
            ("member", "pro", 200),
            ("admin", "team", 200),
            ("owner", "enterprise", 200),
            ("owner", "solo", 403),
            ("member", "free", 403),
            ("stranger", "pro", 404),
            ("anonymous", "pro", 401),
        ],
    )
    def test_members_on_pro_and_above(
        self, request: Any, organization: Any, shop: GitRepository, connect: Any, who: str, plan: str, status: int
    ) -> None:
        repository = connect(shop)
        organization.plan_id = plan
        organization.save()
        client = request.getfixturevalue(who if who == "anonymous" else f"as_{who}")

        assert client.get(graph_url(repository)).status_code == status

    def test_the_refusal_names_the_plan_that_has_it(
        self, as_owner: Any, organization: Any, shop: GitRepository, connect: Any
    ) -> None:
        repository = connect(shop)
        organization.plan_id = "free"
        organization.save()

        message = as_owner.get(graph_url(repository)).json()["message"]

        assert message == "The plan Free does not include architectureGraph; the plan Pro has it"

    def test_an_unknown_repository(self, as_owner: Any) -> None:
        assert as_owner.get(f"/v1/api/repos/{uuid.uuid4()}/architecture-graph").status_code == 404


class TestContents:
    def test_figures_agree_with_each_other_and_with_the_violations(
        self, as_admin: Any, judged_shop: Repository
    ) -> None:
        as_admin.put(url_of(judged_shop), {"layers": LAYERS})

        graph = as_admin.get(graph_url(judged_shop)).json()

        stats = graph["stats"]
        assert stats["totalNodes"] == len(graph["nodes"]) == sum(each["nodeCount"] for each in graph["modules"])
        assert stats["totalEdges"] == len(graph["edges"])
        assert stats["violationEdges"] == sum(each["isViolation"] for each in graph["edges"])
        assert (stats["modules"], stats["layers"]) == (len(graph["modules"]), len(graph["layers"]))
        ids = {node["id"] for node in graph["nodes"]}
        assert all({edge["source"], edge["target"]} <= ids for edge in graph["edges"])
        found = as_admin.get(url_of(judged_shop, "violations?perPage=100")).json()["data"]
        per_file = {node["id"]: node["violations"] for node in graph["nodes"]}
        assert sum(per_file.values()) == len(found)
        assert all(per_file[each["file"]] > 0 for each in found)

    def test_before_the_first_scan_it_has_no_nodes(self, as_member: Any, shop: GitRepository, connect: Any) -> None:
        graph = as_member.get(graph_url(connect(shop))).json()

        assert (graph["nodes"], graph["edges"], graph["modules"], graph["layers"]) == ([], [], [], [])
        assert set(graph["stats"]) == {
            "totalNodes", "totalEdges", "violationEdges", "circularEdges", "modules", "layers",
        }  # fmt: skip
        assert set(graph["stats"].values()) == {0}


class TestDelivery:
    @pytest.mark.parametrize(
        ("accepted", "is_gzip"),
        [
            ("gzip", True),
            ("deflate, gzip;q=0.5, br", True),
            ("*", True),
            ("br, GZIP", True),
            ("gzip;q=0", False),
            ("gzip; q=0.000, br", False),
            ("identity", False),
            ("", False),
        ],
    )
    def test_stored_bytes_go_out_as_they_are_where_gzip_is_welcome(
        self, as_member: Any, judged_shop: Repository, accepted: str, is_gzip: bool
    ) -> None:
        answer = as_member.get(graph_url(judged_shop), headers={"Accept-Encoding": accepted})

        stored = bytes(judged_shop.current_report.graph)
        assert answer.get("Content-Encoding", "") == ("gzip" if is_gzip else "")
        assert answer.content == (stored if is_gzip else gzip.decompress(stored))
        assert answer["Content-Type"] == "application/json"
        assert "Accept-Encoding" in answer["Vary"]

    @pytest.mark.parametrize("accepted", ["gzip", "identity"])
    def test_who_has_it_already_is_answered_304(
        self, as_member: Any, judged_shop: Repository, accepted: str, django_assert_max_num_queries: Any
    ) -> None:
        url = graph_url(judged_shop)
        first = as_member.get(url, headers={"Accept-Encoding": accepted})

        with django_assert_max_num_queries(4):
            again = as_member.get(url, headers={"Accept-Encoding": accepted, "If-None-Match": first["ETag"]})

        assert (again.status_code, again.content) == (304, b"")
        assert again["ETag"] == first["ETag"]

    def test_a_changed_policy_is_another_version(self, as_admin: Any, judged_shop: Repository) -> None:
        first = as_admin.get(graph_url(judged_shop))
        as_admin.put(url_of(judged_shop), {"layers": LAYERS})

        again = as_admin.get(graph_url(judged_shop), headers={"If-None-Match": first["ETag"]})

        assert again.status_code == 200
        assert again["ETag"] != first["ETag"]

    def test_the_two_codings_are_different_versions(self, as_member: Any, judged_shop: Repository) -> None:
        tags = {
            as_member.get(graph_url(judged_shop), headers={"Accept-Encoding": coding})["ETag"]
            for coding in ("gzip", "identity")
        }

        assert len(tags) == 2

    def test_five_thousand_nodes_take_less_than_a_tenth_of_a_second(
        self, as_member: Any, judged_shop: Repository, django_assert_max_num_queries: Any
    ) -> None:
        graph = orjson.loads(gzip.decompress(judged_shop.current_report.graph))
        node, edge = graph["nodes"][0], graph["edges"][0]
        graph["nodes"] = [node | {"id": f"shop/part{number}/{uuid.uuid4()}.py"} for number in range(5000)]
        graph["edges"] = [edge | {"source": each["id"]} for each in graph["nodes"]] * 4
        judged_shop.reports.update(graph=gzip.compress(orjson.dumps(graph), 1))
        url = graph_url(judged_shop)
        as_member.get(url)

        with django_assert_max_num_queries(5):
            started = time.thread_time()
            answer = as_member.get(url, headers={"Accept-Encoding": "gzip"})
            spent = time.thread_time() - started

        assert len(orjson.loads(gzip.decompress(answer.content))["nodes"]) == 5000
        assert spent < 0.1
