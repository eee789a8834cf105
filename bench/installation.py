"""A large installation, made quickly: `python -m bench.installation [--scale 0.01]`.

By default 100 organizations, 2,000 repositories, 5,000,000 violations, 3,000,000 ledger entries, 500,000 events, a year
of daily snapshots, pull requests, runs, publications, facts, sessions and audit lines, in the empty database that
DATABASE_URL names. `--scale` shrinks every number of rows, never the largest report (a graph of 5,000 nodes).

Sizes are realistic: this checkout is scanned first (or the git directory that is named), and its stored report, inputs,
standings and facts are those of every repository but the largest. Few organizations and repositories have most of the
rows. Rows go in by COPY (on SQLite by executemany), indexes that no constraint needs are made afterwards.
"""

import argparse
import gzip
import itertools
import os
import random
import subprocess
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

CHECKOUT = Path(__file__).resolve().parent.parent
SEED = 20
ASKER = "bench@example.org"
CATEGORIES = ("architecture", "runtime_risk", "performance", "reliability", "maintainability")
MEMBERS_EACH = 12
ASKERS_FIRST = 20  # the person who asks belongs to the largest organization and to the ten from this rank on
PULL_REQUESTS_EACH = 100
SCANS_EACH = 100
STANDING_DAYS = 30
HOTSPOTS = 500
NODES, EDGES = 5_000, 15_000
BODY_DAYS, EVENT_DAYS = 30, 90
COSTS = {"ai_scan_summary": 5, "ai_cross_file": 12, "ai_fix_suggestion": 3, "ai_pr_comment": 5}
OPEN_SHARE, SUPPRESSED_SHARE = 0.55, 0.02
MOMENTS = 500  # at which the violations of a repository came and went
MOST_PRINTS = 20_000  # findings in the standings of the largest repository


@dataclass(frozen=True)
class Sizes:
    """How many rows of each kind; `snapshots` are days for each repository."""

    organizations: int = 100
    repositories: int = 2_000
    violations: int = 5_000_000
    entries: int = 3_000_000
    events: int = 500_000
    facts: int = 300_000
    snapshots: int = 365

    def scaled(self, by: float) -> "Sizes":
        """All of them times `by`, but for the days; a few organizations and repositories at least."""
        rows = {name: max(1, round(getattr(self, name) * by)) for name in ("violations", "entries", "events", "facts")}
        return Sizes(
            organizations=max(5, round(self.organizations * by)),
            repositories=max(20, round(self.repositories * by)),
            snapshots=self.snapshots,
            **rows,
        )


@dataclass
class Places:
    """Where to look: the address of a person, an organization and repositories with much in them, and one that was
    really scanned."""

    email: str
    organization: str
    largest: str
    scanned: str
    others: list[str] = field(default_factory=list)


def main() -> None:
    options = _options()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ["CLONE_ALLOWED_SCHEMES"] = "file"
    import django

    django.setup()
    fill(Sizes().scaled(options.scale), options.git_dir)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="times the default number of rows")
    parser.add_argument("--git-dir", type=Path, default=None, help="the repository whose scan is the pattern")
    return parser.parse_args()


def fill(sizes: Sizes, git_dir: Path | None = None) -> Places:
    """Make the installation in the database of the settings, which must be empty. Prints how long each part took."""
    from django.core.management import call_command

    from accounts.models import User

    call_command("migrate", verbosity=0)
    if User.objects.exists():
        raise SystemExit("DATABASE_URL must name an empty database")
    return _Maker(sizes, _scanned_pattern(git_dir or _own_history())).make()


def own_places() -> Places:
    """The places of the installation that the database of the settings holds."""
    from accounts.models import User
    from analysis.models import Repository
    from organizations.models import Organization

    user = User.objects.get(email=ASKER)
    organization = Organization.objects.get(slug="org-0")
    repositories = Repository.objects.filter(organization=organization).order_by("-total_violations")
    largest, *others = (str(pk) for pk in repositories.exclude(full_name="org-0/scanned").values_list("pk", flat=True))
    scanned = Repository.objects.get(full_name="org-0/scanned")
    return Places(str(user), str(organization.pk), largest, str(scanned.pk), others[:50])


def _own_history() -> Path:
    found = subprocess.check_output(["git", "rev-parse", "--path-format=absolute", "--git-common-dir"], cwd=CHECKOUT)
    return Path(found.decode().strip())


def _scanned_pattern(git_dir: Path) -> Any:
    """A repository of the first organization, scanned by the service itself."""
    from django.utils import timezone

    from accounts.models import User
    from analysis.models import Platform
    from analysis.services.execution import execute_next
    from analysis.services.repositories import connect_repository
    from organizations.services.organizations import create_organization

    user = User.objects.create_user(ASKER, "Bench-1234", name="Bench")
    organization = create_organization(owner=user, name="Organization 0", slug="org-0")
    type(organization).objects.filter(pk=organization.pk).update(plan="pro")
    organization.refresh_from_db()
    repository = connect_repository(
        organization=organization, full_name="org-0/scanned", platform=Platform.GIT, clone_url=git_dir.as_uri()
    )
    started = time.monotonic()
    execute_next(now=timezone.now())
    repository.refresh_from_db()
    if repository.current_report is None:
        raise SystemExit(f"the scan of {git_dir} has not succeeded: {repository.runs.get().error}")
    print(f"{'a real scan':24} {time.monotonic() - started:6.1f} s", flush=True)
    return repository


class _Ids:
    """UUIDv7 in hexadecimal: the moment, then a running number."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def at(self, moment: datetime) -> str:
        return f"{int(moment.timestamp() * 1000):012x}70008{next(self._numbers):015x}"


@dataclass
class _Repository:
    id: str
    organization: str
    name: str
    connected_at: datetime
    violations: int
    runs: list[str] = field(default_factory=list)
    open: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # by category, type and severity
    prints: list[str] = field(default_factory=list)


class _Maker:
    """Makes one table after the other."""

    def __init__(self, sizes: Sizes, pattern: Any) -> None:
        self.sizes, self.pattern = sizes, pattern
        self.chance = random.Random(SEED)
        self.ids = _Ids()
        self.now = datetime.now(UTC).replace(microsecond=0)
        self.users: list[str] = []
        self.organizations: list[str] = []
        self.repositories: list[_Repository] = []

    def make(self) -> Places:
        from django.db import connection

        on_postgres = connection.vendor == "postgresql"
        started = time.monotonic()
        with connection.cursor() as cursor:
            if on_postgres:
                # Foreign keys, and the triggers that number the ledger one by one, are not asked for each row.
                cursor.execute("SET session_replication_role = replica; SET synchronous_commit = off")
                cursor.execute("SET maintenance_work_mem = '512MB'; SET statement_timeout = 0; SET timezone = 'UTC'")
            else:
                cursor.execute("PRAGMA foreign_keys = OFF")
                cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
                triggers = cursor.fetchall()
                for name, _ in triggers:
                    cursor.execute(f"DROP TRIGGER {name}")
        for part in (
            self._people, self._repositories, self._violations, self._reports, self._snapshots, self._standings,
            self._pull_requests, self._facts, self._ledger, self._events, self._audit,
        ):  # fmt: skip
            begun = time.monotonic()
            part()
            print(f"{part.__name__.strip('_').replace('_', ' '):24} {time.monotonic() - begun:6.1f} s", flush=True)
        with connection.cursor() as cursor:
            if on_postgres:
                cursor.execute("SET session_replication_role = origin")
                cursor.execute("VACUUM ANALYZE")
            else:
                for _, definition in triggers:
                    cursor.execute(definition)
                cursor.execute("ANALYZE")
        print(f"{'all of it':24} {time.monotonic() - started:6.1f} s", flush=True)
        return own_places()

    # People

    def _people(self) -> None:
        from django.contrib.auth.hashers import make_password

        from accounts.models import Session, User
        from billing.models import Payment, Subscription
        from organizations.models import Invitation, Membership, Organization

        hashed = make_password("Bench-1234")
        first = self.pattern.organization
        self.organizations = [first.pk.hex]
        years_ago = self.now - timedelta(days=730)
        self.users = [self.ids.at(years_ago) for _ in range(self.sizes.organizations * MEMBERS_EACH)]
        self.organizations += [self.ids.at(years_ago) for _ in range(self.sizes.organizations - 1)]
        _copy(
            User,
            "id created_at updated_at password email name avatar_url provider is_active is_staff is_superuser",
            (
                (key, years_ago, years_ago, hashed, f"u{number}@example.org", f"User {number}", "", "email", True, False, False)  # noqa: E501
                for number, key in enumerate(self.users)
            ),
        )  # fmt: skip
        owner = first.owner.user_id.hex
        _copy(
            Organization,
            "id created_at updated_at name slug plan_id owner_id",
            (
                (key, years_ago, years_ago, f"Organization {number}", f"org-{number}", "pro", key)
                for number, key in enumerate(self.organizations)
                if number
            ),
        )
        _copy(Membership, "id created_at updated_at organization_id user_id role", self._memberships(owner, years_ago))
        _copy(
            Session,
            "id created_at updated_at user_id provider current_jti previous_jti rotated_at expires_at",
            (
                (self.ids.at(at), at, at, user, "email", f"{number:032x}", "", at, at + timedelta(days=7))
                for number, (user, at) in enumerate((user, self._past(37)) for user in self.users for _ in range(20))
            ),
        )
        _copy(
            Invitation,
            "id created_at updated_at organization_id email role status expires_at",
            (
                (self.ids.at(self.now), self.now, self.now, key, f"i{number}@example.net", "member", "pending",
                 self.now + timedelta(days=7))
                for key in self.organizations for number in range(20)
            ),
        )  # fmt: skip
        subscriptions = {key: self.ids.at(years_ago) for key in self.organizations}
        _copy(
            Subscription,
            "id created_at updated_at organization_id provider external_id customer_id plan_id cycle status "
            "cancel_at_period_end current_period_start current_period_end started_at fact_at window_cycle version",
            (
                (subscriptions[key], years_ago, self.now, key, "cardpay", f"sub_{number}", f"cus_{number}", "pro",
                 "monthly", "active", False, self.now - timedelta(days=10), self.now + timedelta(days=20), years_ago,
                 self.now, "", 1)
                for number, key in enumerate(self.organizations)
            ),
        )  # fmt: skip
        _copy(
            Payment,
            "id created_at updated_at organization_id subscription_id provider invoice_id amount currency plan_name "
            "paid_at pdf_url",
            (
                (self.ids.at(at), at, at, key, subscriptions[key], "cardpay", f"in_{number}_{month}", "29.00", "usd",
                 "Pro", at, "")
                for number, key in enumerate(self.organizations) for month in range(24)
                for at in [self.now - timedelta(days=30 * month)]
            ),
        )  # fmt: skip

    def _memberships(self, owner: str, at: datetime) -> Iterator[tuple[Any, ...]]:
        for number, organization in enumerate(self.organizations):
            people = self.users[number * MEMBERS_EACH : (number + 1) * MEMBERS_EACH]
            for place, user in enumerate(people):
                role = "owner" if number and not place else "member"
                yield (self.ids.at(at), at, at, organization, user, role)
            if ASKERS_FIRST <= number < ASKERS_FIRST + 10:
                yield (self.ids.at(at), at, at, organization, owner, "admin")

    # Repositories and what was found in them

    def _repositories(self) -> None:
        from analysis.models import Repository

        shares = [self.chance.lognormvariate(0, 1.2) for _ in range(self.sizes.repositories)]
        each = self.sizes.violations / sum(shares)
        owners = _ranked(self.chance, self.organizations, self.sizes.repositories)
        shares.sort(reverse=True)
        owners[0] = self.organizations[0]
        days = sorted((self.chance.uniform(30, 700) for _ in shares), reverse=True)
        made = [
            _Repository(self.ids.at(at), owner, f"org-{self.organizations.index(owner)}/repository-{number}", at,
                        max(1, round(share * each)))
            for number, (share, owner, day) in enumerate(zip(shares, owners, days, strict=True))
            for at in [self.now - timedelta(days=day)]
        ]  # fmt: skip
        self.repositories = sorted(made, key=lambda one: one.connected_at)
        _copy(
            Repository,
            "id created_at updated_at organization_id full_name platform clone_url default_branch "
            "is_branch_chosen external_id installation_id came_by_installation health_score total_violations "
            "production_risk last_scan_at",
            (
                (one.id, one.connected_at, self.now, one.organization, one.name, "codehost1",
                 f"https://example.org/{one.name}.git", "main", False, str(number), str(number % 90), True, 70,
                 round(one.violations * OPEN_SHARE), "MEDIUM", self.now)
                for number, one in enumerate(self.repositories)
            ),
        )  # fmt: skip

    def _violations(self) -> None:
        from analysis.models import Violation

        _copy(
            Violation,
            "id created_at updated_at repository_id fingerprint status first_seen_at resolved_at file line function "
            "module gate_action table volume suppression_reason source rule_id category type severity severity_rank "
            "confidence message suggestion debt_points",
            itertools.chain.from_iterable(map(self._violations_of, self.repositories)),
        )

    def _violations_of(self, repository: _Repository) -> Iterator[tuple[Any, ...]]:
        draw, rules, first = self.chance.random, _rule_columns(), repository.connected_at
        files = [
            (f"services/{module}/part_{number % 7}/handlers_{number}.py", module)
            for number in range(max(1, repository.violations // 4))
            for module in [f"module_{number % 40}"]
        ]
        step = (self.now - first) / MOMENTS
        moments = [_moment(first + step * number) for number in range(MOMENTS + 1)]
        for number in range(repository.violations):
            # Half were there at the first scan, the others came since.
            seen = 0 if number % 2 else int(draw() * MOMENTS)
            drawn = draw()
            status, resolved, reason = "open", None, ""
            if drawn > OPEN_SHARE + SUPPRESSED_SHARE:
                status, resolved = "resolved", moments[seen + int(draw() * (MOMENTS + 1 - seen))]
            elif drawn > OPEN_SHARE:
                status, reason = "suppressed", "Known and accepted"
            rule = rules[int(draw() * len(rules))]
            file, module = files[int(draw() * len(files))]
            print_ = f"{self.chance.getrandbits(128):032x}"
            if status == "open":
                repository.open[rule[2], rule[3], rule[4]] += 1
                if len(repository.prints) < MOST_PRINTS:
                    repository.prints.append(print_)
            at = moments[seen]
            yield (
                self.ids.at(first), at, at, repository.id, print_, status, at, resolved, file, 1 + int(draw() * 900),
                "Handler.handle_order", module, "none", "", "", reason, *rule,
            )  # fmt: skip

    def _reports(self) -> None:
        """Two for each repository, the first and the present one, like the real one; the largest has a large one."""
        from analysis.models import Run, ScanInputs, ScanReport

        runs, reports = [], []
        for one in self.repositories:
            one.runs = [self.ids.at(one.connected_at), self.ids.at(self.now - timedelta(hours=1))]
            for key, kind, at in zip(one.runs, ("first_scan", "scan"), (one.connected_at, self.now), strict=True):
                runs.append(self._run(key, one, kind, at))
                reports.append((self.ids.at(at), key, one, at))
        _copy(Run, RUN_COLUMNS, runs)
        columns = _columns(ScanReport)
        largest = max(self.repositories, key=lambda one: one.violations)
        plain = _values(self.pattern.current_report, columns)
        large = {**plain, **self._large_report(largest)}
        _copy(
            ScanReport,
            " ".join(columns),
            (
                tuple(({**(large if one is largest else plain), "id": key, "run_id": run, "repository_id": one.id,
                        "created_at": at, "updated_at": at, **_counts(one.open)}).values())
                for key, run, one, at in reports
            ),
        )  # fmt: skip
        _point_at_reports(self.sizes.repositories)
        inputs = _values(self.pattern.scan_inputs, _columns(ScanInputs))
        largest_inputs = {**inputs, "tree": zlib.compress(_json(self._tree(20_000)).encode(), 1)}
        _copy(
            ScanInputs,
            " ".join(inputs),
            (
                tuple({**(largest_inputs if one is largest else inputs), "id": self.ids.at(self.now),
                       "repository_id": one.id}.values())
                for one in self.repositories
            ),
        )  # fmt: skip

    def _run(self, key: str, one: _Repository, kind: str, at: datetime, pull_request: str | None = None) -> Any:
        return (
            key, at, at, one.organization, one.id, pull_request, kind, "succeeded", _sha(self.chance), at, at,
            at + timedelta(seconds=20), 100, "finished", 900, 880, "", "[]", 1,
        )  # fmt: skip

    def _tree(self, files: int) -> list[list[str]]:
        return [[f"services/module_{n % 40}/part_{n % 7}/f_{n}.py", _sha(self.chance), "python"] for n in range(files)]

    def _large_report(self, largest: _Repository) -> dict[str, Any]:
        graph = _large_graph(self.chance)
        hotspots = [
            {"file": node["id"], "complexity": 80, "churnCount": 12, "violationCount": 4, "riskScore": 90 - at // 6,
             "topAuthorShare": 0.5, "coupledFiles": [], "linesOfCode": 400}
            for at, node in enumerate(graph["nodes"][:HOTSPOTS])
        ]  # fmt: skip
        packed = gzip.compress(_json(graph).encode(), compresslevel=1, mtime=0)
        documents = {"top_hotspots": _json(hotspots[:10]), "hotspots": _json(hotspots), "graph": packed}
        return {**documents, "files_analyzed": 20_000, "lines_of_code": 1_000_000}

    # The course of time

    def _snapshots(self) -> None:
        from analysis.models import Snapshot

        pattern = _values(self.pattern.snapshots.order_by("-day").first(), _columns(Snapshot, without=("id",)))
        today = self.now.date()
        _copy(
            Snapshot,
            " ".join(pattern),
            (
                tuple({**pattern, "repository_id": one.id, "day": today - timedelta(days=back),
                       "total": max(0, round(one.violations * OPEN_SHARE) - back), "health_score": 70 - back % 20,
                       }.values())
                for one in self.repositories for back in range(self.sizes.snapshots)
            ),
        )  # fmt: skip

    def _standings(self) -> None:
        from analysis.models import DayStanding

        largest = max(self.repositories, key=lambda one: one.violations)
        patterns = [(row.base_day is None, bytes(row.data)) for row in self.pattern.standings.order_by("-day")]
        whole = [data for is_whole, data in patterns if is_whole][-1]  # on which the others rest
        others = [data for is_whole, data in patterns if not is_whole] or [whole]
        today = self.now.date()
        base = today - timedelta(days=STANDING_DAYS)
        _copy(
            DayStanding,
            "repository_id day base_day data",
            (
                (one.id, today - timedelta(days=back), None if back == STANDING_DAYS else base,
                 whole if back == STANDING_DAYS else others[back % len(others)])
                for one in self.repositories if one is not largest for back in range(STANDING_DAYS, -1, -1)
            ),
        )  # fmt: skip
        _store_large_standings(largest, self.now, self.chance)

    def _pull_requests(self) -> None:
        from analysis.models import Publication, PullRequest, Run

        verdicts = [_json(_verdict(self.chance)) for _ in range(20)]
        pulls: list[Any] = []
        runs: list[Any] = []
        said: list[Any] = []
        for one in self.repositories:
            for number in range(1, PULL_REQUESTS_EACH + 1):
                at = self._past(365)
                key, run = self.ids.at(at), self.ids.at(at)
                sha = _sha(self.chance)
                pulls.append((
                    key, at, at, one.id, number, f"Change number {number}", "dana", sha, "feature", "", "main", "",
                    False, False, True, at, sha, at, 1.5, "pass", 0, 2, self.chance.choice(verdicts),
                ))  # fmt: skip
                runs.append(self._run(run, one, "pull_request", at, key))
                said += [
                    (self.ids.at(at), at, at, one.id, key, run, kind, f"{kind}:{key}:{sha}", sha, "{}", 1, "1", True,
                     "sent", 1, None, 0, at, at, "")
                    for kind in ("status", "comment")
                ]  # fmt: skip
            runs += [self._run(self.ids.at(at), one, "scan", at) for at in map(self._past, [365] * SCANS_EACH)]
        _copy(
            PullRequest,
            "id created_at updated_at repository_id number title author head_sha head_ref head_full_name base_branch "
            "base_sha is_open is_draft is_merged fact_at judged_sha judged_at score gate_result blocking_count "
            "warning_count verdict",
            pulls,
        )
        _copy(Run, RUN_COLUMNS, runs)
        _copy(
            Publication,
            "id created_at updated_at repository_id pull_request_id run_id kind key sha payload revision external_id "
            "is_begun state attempts next_at turn announced_at sent_at error",
            said,
        )

    def _facts(self) -> None:
        from analysis.models import BlobFacts

        columns = _columns(BlobFacts, without=("id", "blob"))
        patterns = [tuple(_values(row, columns).values()) for row in BlobFacts.objects.all()[:2000]]
        rows = ((_sha(self.chance), *patterns[number % len(patterns)]) for number in range(self.sizes.facts))
        _copy(BlobFacts, f"blob {' '.join(columns)}", rows)

    # The ledger, events, the trail

    def _ledger(self) -> None:
        from credits.models import CreditAccount, CreditEntry

        CreditAccount.objects.all().delete()  # the first organization's, which has no entries yet
        owners = _ranked(self.chance, self.organizations, self.sizes.entries)
        numbers = dict.fromkeys(self.organizations, 0)
        for key in owners:
            numbers[key] += 1
        accounts: list[Any] = []
        _copy(
            CreditEntry,
            "id created_at updated_at account_id number previous_number type operation amount cost balance_before "
            "balance unlimited key description",
            itertools.chain.from_iterable(self._entries(key, number, accounts) for key, number in numbers.items()),
        )
        _copy(
            CreditAccount,
            "id created_at updated_at organization_id balance reserved last_number allocation unlimited used granted "
            "window resets_at",
            accounts,
        )

    def _entries(self, organization: str, wanted: int, accounts: list[Any]) -> Iterator[tuple[Any, ...]]:
        """Two years of operations; a grant whenever the balance is used up."""
        begun = self.now - timedelta(days=730)
        account, balance, used = self.ids.at(begun), 0, 0
        operations = list(COSTS)
        step = (self.now - begun) / (wanted + 1)
        for number in range(1, wanted + 1):
            at = begun + step * number
            before = balance
            if balance < max(COSTS.values()):
                type_, operation, cost = "grant", "monthly_allocation", 0
                balance += 2_000
            else:
                operation = operations[number % len(operations)]
                type_, cost = "consumption", COSTS[operation]
                balance -= cost
                used += cost
            yield (
                self.ids.at(at), at, at, account, number, number - 1 or None, type_, operation, balance - before, cost,
                before, balance, False, f"{operation}:{number}", "Summary of the scan of org/repository",
            )  # fmt: skip
        accounts.append((
            account, begun, self.now, organization, balance, 0, wanted or None, 2_000, False, used, 2_000, "2026-11",
            self.now + timedelta(days=10),
        ))  # fmt: skip

    def _events(self) -> None:
        from webhooks.models import WebhookEvent

        bodies = [_body(self.chance) for _ in range(200)]
        kinds = (
            ("codehost1", "pull_request"),
            ("codehost1", "push"),
            ("codehost2", "Merge Request Hook"),
            ("cardpay", "invoice.payment_succeeded"),
        )
        total = self.sizes.events
        step = timedelta(days=EVENT_DAYS) / total
        bodies_since = self.now - timedelta(days=BODY_DAYS)

        def rows() -> Iterator[tuple[Any, ...]]:
            for number in range(total):
                at = self.now - timedelta(days=EVENT_DAYS) + step * number
                source, type_ = kinds[number % len(kinds)]
                state = "dead" if number % 5000 == 0 else "done"
                body = self.chance.choice(bodies) if at > bodies_since else b""
                yield (
                    self.ids.at(at), at, at, source, f"evt-{number}", type_, f"subject-{number % 9000}",
                    f"account-{number % 500}", at, body, state, True, 1, at, 0, at, "",
                )  # fmt: skip

        _copy(
            WebhookEvent,
            "id created_at updated_at source event_id type subject account occurred_at body state handled attempts "
            "next_at turn finished_at error",
            rows(),
        )

    def _audit(self) -> None:
        from organizations.models import AuditEntry

        total = max(1, self.sizes.violations // 50)
        owners = _ranked(self.chance, self.organizations, total)
        rows = (
            (self.ids.at(at), at, at, owner, self.users[number % len(self.users)], "member.role_changed",
             f"u{number}@example.org", '{"from": "member", "to": "admin"}')
            for number, owner in enumerate(owners) for at in [self._past(700)]
        )  # fmt: skip
        _copy(AuditEntry, "id created_at updated_at organization_id actor_id action subject details", rows)

    def _past(self, days: float) -> datetime:
        return self.now - timedelta(days=self.chance.random() * days)


RUN_COLUMNS = (
    "id created_at updated_at organization_id repository_id pull_request_id kind status commit_sha queued_at "
    "started_at finished_at progress phase files_analyzed files_from_cache error notes attempts"
)


def _ranked(chance: random.Random, names: Sequence[str], count: int) -> list[str]:
    """`count` of these names: the first one most often, the others ever less (by one over the rank)."""
    return chance.choices(names, weights=[1 / (rank + 1) for rank in range(len(names))], k=count)


def _rule_columns() -> list[tuple[Any, ...]]:
    from analysis.engine.rules import all_rules

    rules = [module.RULE for module in all_rules()]
    return [
        ("deterministic", rule.id, rule.category.value, rule.type, rule.severity.value, rule.severity.rank,
         rule.confidence.value, f"`orders.fetch_all` in `Handler.handle_order`: {rule.title.lower()}", rule.suggestion,
         float(rule.points))
        for rule in rules
    ]  # fmt: skip


def _large_graph(chance: random.Random) -> dict[str, Any]:
    names = [f"services/module_{number % 40}/part_{number % 7}/handlers_{number}.py" for number in range(NODES)]
    nodes = [
        {"id": name, "label": name.rpartition("/")[2], "module": name.split("/")[1], "layer": "services",
         "type": "file", "violations": number % 9, "complexity": number % 80, "linesOfCode": 200,
         "isHotspot": number % 50 == 0}
        for number, name in enumerate(names)
    ]  # fmt: skip
    edges = [
        {"source": source, "target": target, "type": "import", "isViolation": False, "violationType": None,
         "message": None}
        for source, target in (chance.sample(names, 2) for _ in range(EDGES))
    ]  # fmt: skip
    modules = [
        {"name": f"module_{n}", "path": f"services/module_{n}", "nodeCount": 125, "violations": 9} for n in range(40)
    ]
    stats = {
        "totalNodes": NODES,
        "totalEdges": EDGES,
        "violationEdges": 0,
        "circularEdges": 0,
        "modules": 40,
        "layers": 1,
    }
    layers = [{"name": "services", "color": "#3b82f6"}]
    return {"nodes": nodes, "edges": edges, "modules": modules, "layers": layers, "cycles": [], "stats": stats}


def _verdict(chance: random.Random) -> dict[str, Any]:
    found = [
        {"id": f"{chance.getrandbits(128):032x}", "category": rule[2], "type": rule[3], "ruleId": rule[1],
         "severity": rule[4], "source": "deterministic", "confidence": "high", "file": f"src/file_{number}.py",
         "line": number, "function": "work", "message": rule[7], "suggestion": rule[8], "debtPoints": rule[9],
         "gateAction": "none"}
        for number, rule in enumerate(chance.sample(_rule_columns(), 12))
    ]  # fmt: skip
    return {
        "evaluated": True, "hash": _sha(chance), "mergeBase": _sha(chance), "metrics": {"debt_delta_score": 1.5},
        "gates": [], "introduced": found[:8], "introducedTotal": 8, "resolved": found[8:], "resolvedTotal": 4,
        "exceptions": [], "notes": [],
    }  # fmt: skip


def _body(chance: random.Random) -> bytes:
    """About eight kilobytes that compress like an event of a code host."""
    people = [{"login": f"user{chance.randrange(10**6)}", "id": chance.randrange(10**9), "type": "User",
               "url": f"https://api.example.org/users/{chance.randrange(10**6)}"} for _ in range(60)]  # fmt: skip
    return _json({"action": "opened", "number": 7, "people": people, "sha": _sha(chance)}).encode()


def _store_large_standings(largest: _Repository, now: datetime, chance: random.Random) -> None:
    """Two days of the largest repository, so that they can be compared."""
    from analysis.engine.standing import Scored, Standing
    from analysis.models import DayStanding
    from analysis.services.standings import rows_of_days

    rules = _rule_columns()
    scored = {}
    for number, print_ in enumerate(largest.prints):
        rule = rules[number % len(rules)]
        scored[print_] = Scored(rule[1], rule[4], f"src/file_{number % 900}.py", number, rule[7], 0, 40, 400, "", "")
    earlier = dict(list(scored.items())[:-200])
    today = now.date()
    days = [
        (today - timedelta(days=1), Standing(earlier, 1_000_000, (("src/file_1.py", 90),), 100, {}, {}, "")),
        (today, Standing(scored, 1_000_000, (("src/file_1.py", 90),), 100, {}, {}, "")),
    ]
    rows = rows_of_days(largest.id, days)
    _copy(
        DayStanding,
        "repository_id day base_day data",
        ((largest.id, row.day, row.base_day, bytes(row.data)) for row in rows),
    )


def _point_at_reports(repositories: int) -> None:
    """Each repository's first run and present report, the newest one, in one statement."""
    from django.db.models import OuterRef, Subquery

    from analysis.models import Repository, Run, ScanReport

    reports = ScanReport.objects.filter(repository=OuterRef("pk")).order_by("-created_at")
    runs = Run.objects.filter(repository=OuterRef("pk"), kind="first_scan")
    Repository.objects.exclude(full_name="org-0/scanned").update(
        current_report=Subquery(reports.values("pk")[:1]),
        first_run=Subquery(runs.values("pk")[:1]),
        total_violations=Subquery(reports.values("total_violations")[:1]),
    )


# Writing rows


def _columns(model: Any, without: Sequence[str] = ()) -> list[str]:
    return [each.attname for each in model._meta.concrete_fields if each.attname not in without]


def _values(row: Any, columns: Iterable[str]) -> dict[str, Any]:
    """The columns of a stored row as they are written, by name."""
    values = {}
    documents = {each.attname for each in row._meta.concrete_fields if each.get_internal_type() == "JSONField"}
    for name in columns:
        value = getattr(row, name)
        values[name] = _json(value) if name in documents else value
    return values


def _counts(found: Counter[tuple[str, str, str]]) -> dict[str, Any]:
    """What a report says of how many findings there are."""
    categories = dict.fromkeys(CATEGORIES, 0)
    risks: Counter[str] = Counter()
    severities: Counter[str] = Counter()
    for (category, type_, severity), count in found.items():
        categories[category] += count
        if category == "runtime_risk":
            risks[type_] += count
            severities[severity] += count
    counts = {"critical": severities["critical"], "warning": severities["warning"], "byType": dict(risks)}
    return {"total_violations": found.total(), "category_breakdown": _json(categories), "risk_counts": _json(counts)}


def _json(value: Any) -> str:
    import orjson

    return orjson.dumps(value).decode()


def _sha(chance: random.Random) -> str:
    return f"{chance.getrandbits(160):040x}"


def _copy(model: Any, columns: str, rows: Iterable[Sequence[Any]]) -> None:
    """Put rows into a model's table, its plain indexes out of the way meanwhile."""
    from django.db import connection

    table = model._meta.db_table
    names = ", ".join(f'"{name}"' for name in columns.split())
    if connection.vendor != "postgresql":
        _insert(table, names, len(columns.split()), rows)
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT i.indexname, i.indexdef FROM pg_indexes i WHERE i.tablename = %s AND i.schemaname = 'public' "
            "AND NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conname = i.indexname)",
            [table],
        )
        indexes = cursor.fetchall()
        for name, _ in indexes:
            cursor.execute(f'DROP INDEX "{name}"')
        with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        for _, definition in indexes:
            cursor.execute(definition)


def _insert(table: str, names: str, width: int, rows: Iterable[Sequence[Any]]) -> None:
    from django.db import connection, transaction

    places = ", ".join(["%s"] * width)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {table} ({names}) VALUES ({places})",
            (tuple(_for_sqlite(value) for value in row) for row in rows),
        )


def _for_sqlite(value: Any) -> Any:
    """Moments and ids as Django writes them."""
    if isinstance(value, datetime):
        return _moment(value)
    return value.hex if isinstance(value, UUID) else value


def _moment(value: datetime) -> str:
    """As both databases read it: in UTC, which is the zone of the connection."""
    return value.replace(tzinfo=None).isoformat(" ")


if __name__ == "__main__":
    sys.exit(main())
