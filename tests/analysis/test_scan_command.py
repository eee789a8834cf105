"""`manage.py scan`: the engine in a terminal, on repositories, folders and bad input, without a database."""

import json
import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.analysis.conftest import TODAY
from tests.analysis.repositories import SHOP, GitRepository
from tests.operations.services import wait_until

CHECKOUT = Path(__file__).resolve().parent.parent.parent


def scan(
    *arguments: str, tmp_path: Path, stdout: Any = subprocess.PIPE, closed: str = "", **env: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "manage.py", "scan", *arguments],
        cwd=CHECKOUT,
        env={
            **os.environ,
            "VAR_DIR": str(tmp_path / "var"),
            "DATABASE_URL": "sqlite:////nowhere/at/all",
            "LOG_LEVEL": "ERROR",
            **env,
        },
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )


def as_json(*arguments: str, tmp_path: Path) -> dict[str, Any]:
    done = scan(*arguments, "--json", tmp_path=tmp_path)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_repository_gives_one_object_in_the_shape_of_the_api(shop: GitRepository, tmp_path: Path) -> None:
    found = as_json(str(shop.folder), tmp_path=tmp_path)

    assert found["commitSha"] == shop.head
    assert 0 <= found["healthScore"] <= 100
    assert found["totalViolations"] == len(found["violations"]) > 0
    assert found["filesAnalyzed"] == 3
    assert found["languages"]["Python"] > 10
    assert ("risk-http-no-timeout", "shop/client.py", 8) in {
        (each["ruleId"], each["file"], each["line"]) for each in found["violations"]
    }
    assert {each["file"]: each["churnCount"] for each in found["hotspots"]}["shop/orders.py"] == 2


def test_the_same_commit_gives_the_same_bytes(shop: GitRepository, tmp_path: Path) -> None:
    first = scan(str(shop.folder), "--json", tmp_path=tmp_path)

    assert scan(str(shop.folder), "--json", tmp_path=tmp_path).stdout == first.stdout


def test_a_scan_loads_no_app_of_the_service(shop: GitRepository, tmp_path: Path) -> None:
    scanned = ["manage.py", "scan", str(shop.folder), "--json"]
    script = f"import sys, manage; manage.scan({scanned}); sys.exit(int('rest_framework' in sys.modules))"
    settings = {"DJANGO_SETTINGS_MODULE": "config.settings", "VAR_DIR": str(tmp_path / "var")}

    assert subprocess.run([sys.executable, "-c", script], cwd=CHECKOUT, env={**os.environ, **settings}).returncode == 0


def test_what_is_not_committed_does_not_count(shop: GitRepository, tmp_path: Path) -> None:
    (shop.folder / "shop/new.py").write_text("def work(items=[]):\n    return items\n")

    assert as_json(str(shop.folder), tmp_path=tmp_path)["filesAnalyzed"] == 3


def test_an_older_revision_can_be_scanned(shop: GitRepository, tmp_path: Path) -> None:
    found = as_json(str(shop.folder), "--revision", "HEAD~2", tmp_path=tmp_path)

    assert found["totalViolations"] == 0
    assert found["filesAnalyzed"] == 1


def test_a_plain_folder_is_scanned_without_history(tmp_path: Path) -> None:
    for name, content in SHOP.items():
        (tmp_path / "plain" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "plain" / name).write_text(content)

    found = as_json(str(tmp_path / "plain"), tmp_path=tmp_path)

    assert found["commitSha"] is None
    assert found["totalViolations"] > 0


def test_the_report_fits_eighty_columns_and_names_the_worst(shop: GitRepository, tmp_path: Path) -> None:
    done = scan(str(shop.folder), tmp_path=tmp_path)

    assert done.returncode == 0
    assert "Health" in done.stdout
    assert "shop/client.py:8" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 80


class TestHotspotsOfTheReport:
    def test_are_those_that_changed(self, shop: GitRepository, tmp_path: Path) -> None:
        assert "Hotspots" in scan(str(shop.folder), "--date", f"{TODAY}", tmp_path=tmp_path).stdout

    def test_none_are_told_of_a_folder_without_a_history(self, tmp_path: Path) -> None:
        (tmp_path / "plain").mkdir()
        (tmp_path / "plain" / "client.py").write_text(SHOP["shop/client.py"])

        assert "Hotspots" not in scan(str(tmp_path / "plain"), tmp_path=tmp_path).stdout

    def test_a_quiet_repository_has_none_and_is_told_the_day_of_its_last_commit(
        self, shop: GitRepository, tmp_path: Path
    ) -> None:
        done = scan(str(shop.folder), "--date", f"{TODAY + timedelta(days=200)}", tmp_path=tmp_path)

        assert "Hotspots" not in done.stdout
        assert f"--date {TODAY - timedelta(days=3)}" in " ".join(done.stdout.split())


class TestWhereTheOutputGoes:
    OUTPUTS: ClassVar = [(), ("--json",), ("--sarif",), ("--explain",)]

    @pytest.mark.parametrize("options", OUTPUTS)
    def test_a_full_disk_ends_with_a_sentence_and_is_no_verdict(
        self, options: tuple[str, ...], shop: GitRepository, tmp_path: Path
    ) -> None:
        with Path("/dev/full").open("wb") as full:
            done = scan(str(shop.folder), *options, tmp_path=tmp_path, stdout=full)

        assert done.returncode == 2
        assert done.stderr == "CommandError: The output cannot be written: No space left on device.\n"

    @pytest.mark.parametrize("options", OUTPUTS)
    def test_whoever_stops_reading_ends_it_without_a_word(
        self, options: tuple[str, ...], shop: GitRepository, tmp_path: Path
    ) -> None:
        reading, writing = os.pipe()
        os.close(reading)

        with os.fdopen(writing, "wb") as closed:
            done = scan(str(shop.folder), *options, tmp_path=tmp_path, stdout=closed)

        assert (done.returncode, done.stderr) == (-signal.SIGPIPE, "")

    @pytest.mark.parametrize("options", OUTPUTS)
    def test_no_output_at_all_ends_with_a_sentence_and_is_no_verdict(
        self, options: tuple[str, ...], shop: GitRepository, tmp_path: Path
    ) -> None:
        done = scan(str(shop.folder), *options, tmp_path=tmp_path, closed=">&-")

        assert done.returncode == 2
        assert done.stderr == "CommandError: The output cannot be written: standard output is closed.\n"

    def test_whoever_wants_no_messages_gets_the_report(self, shop: GitRepository, tmp_path: Path) -> None:
        done = scan(str(shop.folder), tmp_path=tmp_path, closed="2>&-")

        assert done.returncode == 0
        assert "risk-http-no-timeout" in done.stdout

    def test_a_terminal_of_few_letters_shows_what_it_can(self, shop: GitRepository, tmp_path: Path) -> None:
        done = scan(str(shop.folder), tmp_path=tmp_path, PYTHONIOENCODING="ascii")

        assert done.returncode == 0, done.stderr
        assert "risk-http-no-timeout" in done.stdout


def test_a_part_of_a_repository_stands_for_the_whole_and_its_name(shop: GitRepository, tmp_path: Path) -> None:
    done = scan(str(shop.folder / "shop" / "client.py"), tmp_path=tmp_path)

    assert done.stdout.startswith(f"\n{shop.folder.name} at {shop.head[:10]}\n")


def test_a_gate_without_a_base_says_that_it_judges_no_change(shop: GitRepository, tmp_path: Path) -> None:
    done = scan(str(shop.folder), "--gate", tmp_path=tmp_path)

    assert "Gate pass   the state as it is; --base BRANCH judges what a change adds" in done.stdout


def test_a_day_that_is_none_ends_with_a_sentence(tmp_path: Path) -> None:
    done = scan("--date", "yesterday", tmp_path=tmp_path)

    assert done.returncode == 2
    assert "'yesterday' is no day; write it as YYYY-MM-DD" in done.stderr


def test_sarif_lists_the_same_findings(shop: GitRepository, tmp_path: Path) -> None:
    done = scan(str(shop.folder), "--sarif", tmp_path=tmp_path)

    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)["runs"][0]["results"]
    listed = as_json(str(shop.folder), tmp_path=tmp_path)["violations"]
    assert [each["partialFingerprints"]["primaryLocationLineHash"] for each in results] == [
        each["id"] for each in listed
    ]


def test_a_rule_is_explained_without_a_scan(tmp_path: Path) -> None:
    done = scan("--explain", "risk-http-no-timeout", tmp_path=tmp_path)

    assert done.returncode == 0
    assert "HTTP call without a time limit" in done.stdout
    assert "debt: ignore[risk-http-no-timeout] reason" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 80


def test_a_rule_that_does_not_exist_brings_the_nearest(tmp_path: Path) -> None:
    done = scan("--explain", "risk-no-timeout", tmp_path=tmp_path)

    assert done.returncode == 2
    assert "did you mean risk-http-no-timeout" in done.stderr


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda folder: None, "no git repository here"),
        (lambda folder: GitRepository.create(folder), "no commits"),
    ],
)
def test_bad_input_ends_with_a_sentence(make: Any, sentence: str, tmp_path: Path) -> None:
    make(tmp_path / "bad")

    done = scan(str(tmp_path / "bad"), tmp_path=tmp_path)

    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("nowhere", "no git repository here"),
        pytest.param("x" * 5000, "no git repository here", id="a name too long"),
        ("git@example.org:acme/shop.git", "Only clone addresses of these kinds are allowed"),
        ("ssh://git@example.org/acme/shop.git", "Only clone addresses of these kinds are allowed"),
    ],
)
def test_a_path_that_is_not_there_is_not_the_repository_around_it(address: str, sentence: str, tmp_path: Path) -> None:
    done = scan(address, tmp_path=tmp_path)  # from within this checkout, which is one

    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_may_hold_names_of_any_bytes(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    for name in (b"plain.py", b"bad\xff.py", b"new\nline.py"):
        (tmp_path / "plain" / os.fsdecode(name)).write_text("def rates(region, seen=[]):\n    return seen\n")

    found = as_json(str(tmp_path / "plain"), tmp_path=tmp_path)

    assert found["filesAnalyzed"] == 3
    assert len({each["file"] for each in found["violations"]}) == 3


def test_a_scan_that_is_told_to_end_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    slow = GitRepository.create(tmp_path / "slow")
    body = "def work(items):\n    return [item for item in items if item]\n\n\n" * 500
    slow.commit({f"part_{n}.py": f"{body}\nN = {n}\n" for n in range(300)}, on=TODAY)
    running = subprocess.Popen(
        [sys.executable, "manage.py", "scan", str(slow.folder)],
        cwd=CHECKOUT,
        env={**os.environ, "VAR_DIR": str(tmp_path / "var"), "TMPDIR": str(tmp_path / "tmp")},
        stdout=subprocess.DEVNULL,
    )
    wait_until(lambda: any((tmp_path / "tmp").iterdir()), seconds=50)

    running.terminate()

    assert running.wait(timeout=20) == 128 + signal.SIGTERM
    assert not any((tmp_path / "tmp").iterdir())


def test_an_unknown_revision_ends_with_a_sentence(shop: GitRepository, tmp_path: Path) -> None:
    done = scan(str(shop.folder), "--revision", "nowhere", tmp_path=tmp_path)

    assert done.returncode == 2
    assert "no such branch or commit" in done.stderr


class TestPolicyFile:
    """`--policy` puts a file in the place of the repository's own policy."""

    GATES = "gates:\n  block_merge:\n    - {metric: total_violations, operator: '>', value: 0}\n"

    def test_the_file_decides(self, shop: GitRepository, tmp_path: Path) -> None:
        shop.commit({".techdebt.yml": "{}\n"}, on=TODAY)
        (tmp_path / "strict.yml").write_text(self.GATES)

        done = scan(str(shop.folder), "--gate", "--policy", str(tmp_path / "strict.yml"), tmp_path=tmp_path)

        assert done.returncode == 1, done.stderr

    @pytest.mark.parametrize(("text", "sentence"), [("layer: []", "layer: is not a field"), (None, "No such file")])
    def test_one_that_cannot_be_used_ends_with_a_sentence(
        self, text: str | None, sentence: str, shop: GitRepository, tmp_path: Path
    ) -> None:
        if text is not None:
            (tmp_path / "policy.yml").write_text(text)

        done = scan(str(shop.folder), "--policy", str(tmp_path / "policy.yml"), tmp_path=tmp_path)

        assert done.returncode == 2
        assert sentence in done.stderr


class TestChange:
    """`--base` shows what a change adds, judged by the policy of the base."""

    GATES = "gates:\n  block_merge:\n    - {metric: new_runtime_risk, operator: '>', value: 0}\n"

    @pytest.fixture
    def change(self, shop: GitRepository) -> GitRepository:
        """A branch that adds a call without a time limit and repairs nothing."""
        shop.commit({".techdebt.yml": self.GATES}, on=TODAY)
        shop.git("checkout", "-q", "-b", "feature")
        prices = "import requests\n\n\ndef price(url):\n    return requests.get(url)\n"
        shop.commit({"shop/prices.py": prices, ".techdebt.yml": "{}\n"}, on=TODAY)
        shop.git("mv", "shop/client.py", "shop/rates.py")
        shop.commit({}, on=TODAY)
        return shop

    def test_only_what_the_change_adds_is_shown(self, change: GitRepository, tmp_path: Path) -> None:
        found = as_json(str(change.folder), "--base", "main", tmp_path=tmp_path)

        assert [(each["ruleId"], each["file"]) for each in found["violations"]] == [
            ("risk-http-no-timeout", "shop/prices.py")
        ]

    def test_the_policy_of_the_base_decides(self, change: GitRepository, tmp_path: Path) -> None:
        done = scan(str(change.folder), "--base", "main", "--gate", "--json", tmp_path=tmp_path)

        gate = json.loads(done.stdout)["gate"]
        assert done.returncode == 1
        assert (gate["result"], gate["introducedTotal"], gate["resolvedTotal"]) == ("fail", 1, 0)
        assert gate["gates"][0]["metric"] == "new_runtime_risk"

    def test_a_change_cannot_call_its_own_files_foreign(self, change: GitRepository, tmp_path: Path) -> None:
        change.commit({".gitattributes": "shop/** linguist-vendored\n"}, on=TODAY)

        found = as_json(str(change.folder), "--base", "main", tmp_path=tmp_path)

        assert [each["file"] for each in found["violations"]] == ["shop/prices.py"]

    def test_without_gate_the_exit_status_is_zero(self, change: GitRepository, tmp_path: Path) -> None:
        done = scan(str(change.folder), "--base", "main", tmp_path=tmp_path)

        assert done.returncode == 0
        assert "Gate fail" in done.stdout
        assert "shop/prices.py:5" in done.stdout

    def test_a_change_that_repairs_passes(self, shop: GitRepository, tmp_path: Path) -> None:
        shop.commit({".techdebt.yml": self.GATES}, on=TODAY)
        client = (shop.folder / "shop/client.py").read_text().replace('{region}")', '{region}", timeout=5)')
        shop.commit({"shop/client.py": client}, on=TODAY)

        done = scan(str(shop.folder), "--base", "HEAD~1", "--gate", "--json", tmp_path=tmp_path)

        gate = json.loads(done.stdout)["gate"]
        assert done.returncode == 0
        assert (gate["result"], gate["introducedTotal"], gate["resolvedTotal"]) == ("pass", 0, 1)
        assert gate["score"] < 0

    def test_a_base_without_common_history_ends_with_a_sentence(self, shop: GitRepository, tmp_path: Path) -> None:
        shop.git("checkout", "-q", "--orphan", "other")
        shop.commit({}, on=TODAY)

        done = scan(str(shop.folder), "--base", "main", tmp_path=tmp_path)

        assert done.returncode == 2
        assert "share no history" in done.stderr
