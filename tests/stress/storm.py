"""The storm (A1): all four sources deliver at once while every process is killed and both servers are lost.

    python -m tests.stress.storm [--deliveries 2000] [--seed 1] [--embedded] [--down 60]

Real processes: web server, both workers, PostgreSQL and Redis of their own (`--embedded`: SQLite and no Redis), git,
and loopback providers that are down for a while. 30 % of the deliveries are repetitions, 20 % come out of order, some
are forged or malformed; what is not answered as it should be is sent again. In the end the database must equal the
model.
"""

import argparse
import contextlib
import http.client
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from tests.analysis.repositories import SHOP, GitRepository
from tests.providers.cardpay import Cardpay
from tests.providers.codehosts import APP_ID, INSTALLATION, PRIVATE_KEY, TOKEN_OF_HOST2
from tests.providers.loopback import serving
from tests.providers.servers import free_port
from tests.stress.hosts import FORGE_TOKEN, WALLET_TOKEN, Forge, Forge1, Forge2, Wallet
from tests.stress.leaks import ProcessWatch, found_below, found_in
from tests.stress.servers import CHECKOUT, Postgres, Process, Redis, own_servers, part_of_service
from tests.stress.stories import PLANS, Code, Delivery, Model, Storm, storm_of
from tests.webhooks import deliveries

CLIENTS = 8
DELIVERIES_A_SECOND = 100
LONGEST_ANSWER_SECONDS = 5
SETTLED_WITHIN_SECONDS = 120
LONGEST_STORM_SECONDS = 3 * 3600
QUIET_REPOSITORIES = 6
BRANCHES = 5
RETRY_SECONDS = 0.5


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deliveries", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--embedded", action="store_true", help="SQLite and no Redis")
    parser.add_argument("--down", type=float, default=60.0, help="seconds for which the providers fail")
    parser.add_argument("--kills", type=int, default=0, help="how often something is killed; 0: per 1,000 deliveries")
    parser.add_argument("--gated", type=int, default=0, help="analysed repositories per host; 0: one per 5,000")
    parser.add_argument("--no-broker", type=float, default=0.0, help="instead: Redis is away, and so long afterwards")
    options = parser.parse_args()
    print(f"{options.deliveries} deliveries, {'embedded' if options.embedded else 'PostgreSQL and Redis'}", flush=True)
    print(f"--seed {options.seed}", flush=True)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="storm-")))
        servers = None if options.embedded else stack.enter_context(own_servers())
        world = _World(
            *(stack.enter_context(serving(make)) for make in (Cardpay, Wallet, Forge1, Forge2)),
            code=_code(folder / "code"),
        )
        os.environ |= _environment(folder, world, servers)
        subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity", "0"], cwd=CHECKOUT, check=True)
        storm = _prepare(options, world)
        parts = {name: part_of_service(name, folder=folder, env={}) for name in ("web", "events", "runs")}
        try:
            return _run(options, storm, world, parts, servers, folder)
        finally:
            for part in parts.values():
                part.kill()


@dataclass
class _World:
    """What stands around the service."""

    card: Cardpay
    wallet: Wallet
    forge1: Forge
    forge2: Forge
    code: GitRepository

    def set_mood(self, mood: str) -> None:
        for host in (self.card, self.wallet, self.forge1, self.forge2):
            host.mood = mood

    @property
    def heads(self) -> list[str]:
        """The commits that pull requests have as their heads; the first is the default branch's."""
        return [self.code.git("rev-parse", name).strip() for name in ("main", *(f"b{n}" for n in range(1, BRANCHES)))]


def _code(folder: Path) -> GitRepository:
    """A small repository with a branch for every change that is told of."""
    code, today = GitRepository.create(folder), date.today()
    code.commit(SHOP, on=today - timedelta(days=3))
    for number in range(1, BRANCHES):
        code.git("checkout", "-q", "-b", f"b{number}", "main")
        body = "def work(items, seen=[]):\n    try:\n        return items\n    except Exception:\n        pass\n"
        code.commit({f"shop/part_{number}.py": body}, on=today)
    code.git("checkout", "-q", "main")
    return code


def _environment(folder: Path, world: _World, servers: tuple[Postgres, Redis] | None) -> dict[str, str]:
    return {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "VAR_DIR": str(folder / "var"),
        "DATABASE_URL": servers[0].url if servers else f"sqlite:///{folder}/storm.sqlite3",
        "REDIS_URL": servers[1].url if servers else "",
        "PORT": str(free_port()),
        "SECRET_KEY": "a key that signs everything in the storm " * 2,
        "LOG_LEVEL": "WARNING",
        "CLONE_ALLOWED_SCHEMES": "file",
        "CARDPAY_API_URL": world.card.url,
        "CARDPAY_SECRET_KEY": "sk_planted_in_the_storm",
        "CARDPAY_WEBHOOK_SECRET": deliveries.CARDPAY_SECRET,
        "CARDPAY_PRICES": json.dumps({f"{plan}_monthly": f"price_{plan}_monthly" for plan in PLANS}),
        "WALLETPAY_API_URL": world.wallet.url,
        "WALLETPAY_CLIENT_ID": "client",
        "WALLETPAY_CLIENT_SECRET": "client secret planted in the storm",
        "WALLETPAY_WEBHOOK_ID": "storm",
        "WALLETPAY_PLANS": json.dumps({f"{plan}_monthly": f"P-{plan}-monthly".upper() for plan in PLANS}),
        "CODEHOST1_URL": world.forge1.url,
        "CODEHOST1_API_URL": world.forge1.url,
        "CODEHOST1_APP_ID": APP_ID,
        "CODEHOST1_PRIVATE_KEY": PRIVATE_KEY,
        "CODEHOST1_WEBHOOK_SECRET": deliveries.CODEHOST1_SECRET,
        "CODEHOST2_URL": world.forge2.url,
        "CODEHOST2_API_URL": f"{world.forge2.url}/api/v4",
        "CODEHOST2_TOKEN": TOKEN_OF_HOST2,
        "CODEHOST2_WEBHOOK_TOKEN": deliveries.CODEHOST2_TOKEN,
    }


def _prepare(options: argparse.Namespace, world: _World) -> Storm:
    """Organizations, repositories and the story of each."""
    import django

    django.setup()
    from django.db import connection
    from django.utils import timezone

    from analysis.models import Installation, Platform, Repository
    from tests import factories

    owner = factories.user("owner@example.org")
    gated, quiet = (factories.organization(owner=owner, plan=plan) for plan in ("pro", "free"))
    Installation.objects.create(
        platform=Platform.CODEHOST1, external_id=INSTALLATION, organization=gated, fact_at=timezone.now()
    )
    repositories = []
    for platform in (Platform.CODEHOST1, Platform.CODEHOST2):
        wanted = [True] * (options.gated or max(1, options.deliveries // 5_000)) + [False] * QUIET_REPOSITORIES
        for number, is_gated in enumerate(wanted):
            code = Code(platform, f"storm/code-{number}", 100 + number, is_gated)
            Repository.objects.create(
                organization=gated if is_gated else quiet,
                platform=platform,
                full_name=code.name,
                external_id=str(code.host_id),
                clone_url=world.code.url,
                default_branch="main",
                installation_id=INSTALLATION if is_gated and platform == Platform.CODEHOST1 else "",
            )
            repositories.append(code)

    def buyers() -> Iterator[str]:
        while True:
            yield str(factories.organization(owner=owner, plan="free").pk)

    storm = storm_of(
        options.deliveries,
        buyers=buyers(),
        repositories=repositories,
        heads=world.heads,
        installation=INSTALLATION,
        dice=random.Random(options.seed),
    )
    world.card.subscriptions |= storm.card_subscriptions
    world.wallet.subscriptions |= storm.wallet_subscriptions
    connection.close()  # the server at its other end will be killed
    return storm


# While it rages


@dataclass
class _Answers:
    """What the clients saw."""

    statuses: Counter[int] = field(default_factory=Counter)
    unanswered: int = 0
    sent_again: int = 0
    longest: tuple[float, int, str] = (0.0, 0, "")  # seconds, status, source
    wrong: list[str] = field(default_factory=list)


def _run(
    options: argparse.Namespace,
    storm: Storm,
    world: _World,
    parts: dict[str, Process],
    servers: tuple[Postgres, Redis] | None,
    folder: Path,
) -> int:
    _wait_until_alive()
    if options.no_broker:
        servers[1].kill()
    chaos = _Chaos(options, world, parts, servers, random.Random(options.seed + 1))
    watch = ProcessWatch(_secrets())
    started = time.monotonic()
    answers = _send(storm.deliveries, chaos)
    chaos.finish()
    if options.no_broker:
        time.sleep(options.no_broker)
        servers[1].start()
    sent = time.monotonic() - started
    calm = time.monotonic()
    left = _wait_until_settled(storm.model, chaos)
    settled = time.monotonic() - calm
    _let_the_doomed_die(storm.model, chaos)
    print(f"sent in {sent:.0f} s, settled {settled:.0f} s later; answers {dict(answers.statuses)}")
    print(f"unanswered {answers.unanswered}, sent again {answers.sent_again}, longest answer {answers.longest}")
    print(f"allowed for an answer: {_longest_answer_seconds():.1f} s at a load of {os.getloadavg()[0]:.1f}")
    print(f"done to it: {', '.join(chaos.done)}; ended by themselves and started again: {chaos.revived}")
    wrong = [
        *answers.wrong,
        *left,
        *(["an answer took too long"] if answers.longest[0] > _longest_answer_seconds() else []),
        *_differences(storm.model, world),
        *watch.end(),
        *_leaks(folder, servers),
    ]
    for sentence in wrong:
        print(f"WRONG: {sentence}")
    if wrong:
        for name in parts:
            print(f"--- {name}.log", (folder / f"{name}.log").read_text()[-3000:], sep="\n")
    return 1 if wrong else 0


def _longest_answer_seconds() -> float:
    """Five seconds. The storm alone keeps two processes a core busy; where other work waits too, as much longer."""
    waiting_per_core = os.getloadavg()[0] / (os.cpu_count() or 1)
    return LONGEST_ANSWER_SECONDS * max(1.0, waiting_per_core / 3)


class _Chaos:
    """What happens to the service, spread over the deliveries so that it is the same on any machine."""

    def __init__(
        self,
        options: argparse.Namespace,
        world: _World,
        parts: dict[str, Process],
        servers: tuple[Postgres, Redis] | None,
        dice: random.Random,
    ) -> None:
        self.world, self.parts, self.servers, self.dice = world, parts, servers, dice
        self.down_seconds = options.down
        self.done: Counter[str] = Counter()
        self.revived = 0
        self.web_up_since = 0.0  # a request that came while it was starting waited for it, not in it
        # Each kind of harm at least once, the workers more often.
        kinds = ["web", "events", "runs", "events", *(["redis", "postgres"] if servers else [])]
        number = options.kills or max(len(kinds), options.deliveries // 1_000)
        harm = (kinds * (number // len(kinds) + 1))[:number]
        dice.shuffle(harm)
        harm.insert(len(harm) // 3, "providers")
        spread = [((place + 1) / (len(harm) + 1), kind) for place, kind in enumerate(harm)]
        self.plan = deque(() if options.no_broker else spread)
        self.busy = threading.Lock()
        self.working: list[threading.Thread] = []

    def at(self, progress: float) -> None:
        """Do what is due when this part of the deliveries has been sent."""
        while self.plan and self.plan[0][0] <= progress:
            _, kind = self.plan.popleft()
            self._begin(self._harm, kind)

    def revive(self) -> None:
        """What ended by itself is started again, as a process manager would."""
        for part in self.parts.values():
            if part.has_ended and not self.busy.locked():
                part.start()
                self.revived += 1

    def finish(self) -> None:
        for thread in self.working:
            thread.join()
        self.revive()

    def _begin(self, act: Callable[[str], None], kind: str) -> None:
        thread = threading.Thread(target=act, args=[kind])
        thread.start()
        self.working.append(thread)

    def _harm(self, kind: str) -> None:
        self.done[kind] += 1
        if kind == "providers":
            self.world.set_mood("fails")
            time.sleep(self.down_seconds)
            self.world.set_mood("well")
            return
        with self.busy:
            pause = self.dice.uniform(0.2, 1.5)
            if kind in self.parts:
                self.web_up_since = math.inf if kind == "web" else self.web_up_since
                self.parts[kind].kill()
                time.sleep(pause)
                self.parts[kind].start()
                if kind == "web":
                    _wait_until_alive()
                    self.web_up_since = time.monotonic()
                return
            assert self.servers is not None
            postgres, redis = self.servers
            down, up = (postgres.stop_at_once, postgres.start) if kind == "postgres" else (redis.kill, redis.start)
            down()
            time.sleep(pause)
            up()


def _send(all_of_them: list[Delivery], chaos: _Chaos) -> _Answers:
    """Send every delivery until it is answered as it should be."""
    answers, waiting, guard = _Answers(), deque(all_of_them), threading.Lock()
    again: deque[tuple[float, Delivery]] = deque()
    started = time.monotonic()
    unfinished, ends = len(all_of_them), started + LONGEST_STORM_SECONDS

    def take() -> Delivery | None:
        with guard:
            now = time.monotonic()
            if again and again[0][0] <= now:
                return again.popleft()[1]
            due = len(all_of_them) - len(waiting) <= (now - started) * DELIVERIES_A_SECOND
            return waiting.popleft() if waiting and due else None

    def client() -> None:
        nonlocal unfinished
        connection = _Connection()
        while unfinished and time.monotonic() < ends:
            delivery = take()
            if delivery is None:
                time.sleep(0.01)
                continue
            began = time.monotonic()
            status, seconds = connection.send(delivery)
            if not status:
                time.sleep(RETRY_SECONDS)
            with guard:
                chaos.at(1 - len(waiting) / len(all_of_them))
                chaos.revive()
                answers.statuses[status] += 1
                if began >= chaos.web_up_since:
                    answers.longest = max(answers.longest, (seconds, status, delivery.source))
                answers.unanswered += status == 0
                if status == delivery.accepted:
                    unfinished -= 1
                elif status in (0, 500, 502, 503, 504):
                    answers.sent_again += 1
                    again.append((time.monotonic() + RETRY_SECONDS, delivery))
                else:
                    unfinished -= 1
                    answers.wrong.append(f"{delivery.source} {delivery.event_id} was answered {status}")

    clients = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    if unfinished:
        answers.wrong.append(f"{unfinished} deliveries were never accepted")
    return answers


def _wait_until_alive() -> None:
    deadline = time.monotonic() + SETTLED_WITHIN_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", int(os.environ["PORT"]), timeout=5)
            connection.request("GET", "/health/live")
            if connection.getresponse().status == 200:
                return
        time.sleep(0.1)


class _Connection:
    """One client. A status of 0 stands for no answer at all."""

    def __init__(self) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", int(os.environ["PORT"]), timeout=30)

    def send(self, delivery: Delivery) -> tuple[int, float]:
        signed = delivery.sign()
        headers = {**signed.headers, "Content-Type": "application/json"}
        started = time.monotonic()
        try:
            self._http.request("POST", deliveries.URLS[signed.source], signed.body, headers)
            answer = self._http.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException):
            self._http.close()
            return 0, 0.0
        return answer.status, time.monotonic() - started


# When it is over


def _wait_until_settled(model: Model, chaos: _Chaos) -> list[str]:
    """What is unfinished two minutes after the last delivery; the doomed are not waited for."""
    deadline = time.monotonic() + SETTLED_WITHIN_SECONDS
    while True:
        chaos.revive()
        left = _unfinished(model)
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.5)


def _unfinished(model: Model) -> list[str]:
    from django.db import connection

    from accounts.models import Letter
    from analysis.models import Publication, PublicationState, Run, RunStatus
    from webhooks.models import UNFINISHED, WebhookEvent

    try:
        events = WebhookEvent.objects.filter(state__in=UNFINISHED).values_list("source", "event_id", "state", "error")
        return [
            *(f"event {s} {e} is {state}: {error}" for s, e, state, error in events if f"{s} {e}" not in model.dead),
            *(
                f"run {run} is unfinished"
                for run in Run.objects.filter(status__in=[RunStatus.QUEUED, RunStatus.RUNNING])
            ),
            *(f"publication {row} waits" for row in Publication.objects.filter(state=PublicationState.WAITING)),
            *(f"letter {row.key} waits" for row in Letter.objects.filter(sent_at=None)),
        ]
    finally:
        connection.close()


def _let_the_doomed_die(model: Model, chaos: _Chaos) -> None:
    """Their pauses grow to hours; here each is over at once."""
    from django.db import connection
    from django.utils import timezone

    from webhooks import inbox
    from webhooks.models import State, WebhookEvent

    ends = time.monotonic() + SETTLED_WITHIN_SECONDS
    while WebhookEvent.objects.exclude(state__in=[State.DEAD, State.DONE]).exists() and time.monotonic() < ends:
        WebhookEvent.objects.filter(state=State.RECEIVED).update(next_at=timezone.now())
        inbox.hint()
        connection.close()
        chaos.revive()
        time.sleep(0.3)


def _differences(model: Model, world: _World) -> Iterator[str]:
    """Everything in which the database, or what the code hosts show, is not what the model says."""
    from django.db.models import Count, F, Sum

    from accounts.models import Letter
    from analysis.models import PullRequest, Run
    from billing.models import Payment, Subscription
    from credits.models import CreditAccount
    from organizations.models import Organization
    from tests.stress.stories import CREDITS
    from webhooks.models import State, WebhookEvent

    events = WebhookEvent.objects.annotate(name=F("event_id"))
    stored = [f"{event.source} {event.name}" for event in events]
    yield from _compared("events", Counter(stored), Counter(model.events))
    dead = {f"{event.source} {event.name}" for event in events.filter(state=State.DEAD)}
    yield from _compared("dead letters", dead, model.dead)
    yield from (f"event {each} is {each.state}" for each in events.exclude(state__in=[State.DEAD, State.DONE]))
    subscriptions = dict(Subscription.objects.values_list("external_id", "status"))
    yield from _compared("subscriptions", subscriptions, model.subscriptions)
    plans = {str(pk): plan for pk, plan in Organization.objects.values_list("pk", "plan_id") if str(pk) in model.plans}
    yield from _compared("plans", plans, model.plans)
    yield from _compared(
        "payments", Counter(Payment.objects.values_list("invoice_id", flat=True)), Counter(model.payments)
    )
    yield from _compared("letters", Counter(Letter.objects.values_list("key", flat=True)), Counter(model.letters))
    for account in CreditAccount.objects.annotate(total=Sum("entries__amount"), grants=Count("entries")):
        wanted = CREDITS[model.plans[str(account.organization_id)]]
        if not (account.balance == (account.total or 0) == wanted):
            yield f"credits: {account} holds {account.balance}, entries {account.total}, wanted {wanted}"
    rows = PullRequest.objects.select_related("repository")
    told = {
        (row.repository.platform, row.repository.full_name, row.number): (
            row.head_sha,
            row.title,
            row.is_open,
            row.is_merged,
        )
        for row in rows
    }
    yield from _compared("pull requests", told, model.pull_requests)
    for row in rows.filter(repository__organization__plan="pro", is_open=True).exclude(judged_sha=F("head_sha")):
        yield f"pull request {row} was judged at {row.judged_sha}, its head is {row.head_sha}"
    yield from (f"run {run} {run.kind} {run.status}: {run.error}" for run in Run.objects.filter(status="failed"))
    for forge in (world.forge1, world.forge2):
        written = Counter((repository, number) for repository, number, _ in forge.comments.values())
        yield from (f"{place} has {number} comments of ours" for place, number in written.items() if number > 1)
        yield from (f"{place} still shows pending" for place, shown in forge.statuses.items() if shown[-1] == "pending")


def _secrets() -> dict[str, str]:
    """What the service was given, and what the hosts gave it, none of which may be written anywhere (C10)."""
    given = (
        "SECRET_KEY CARDPAY_SECRET_KEY CARDPAY_WEBHOOK_SECRET WALLETPAY_CLIENT_SECRET CODEHOST1_WEBHOOK_SECRET"
        " CODEHOST2_TOKEN CODEHOST2_WEBHOOK_TOKEN"
    )
    secrets = {name: os.environ[name] for name in given.split()}
    secrets["a line of CODEHOST1_PRIVATE_KEY"] = PRIVATE_KEY.splitlines()[3]
    return secrets | {"the wallet's access token": WALLET_TOKEN, "the installation's token": FORGE_TOKEN}


def _leaks(folder: Path, servers: tuple[Postgres, Redis] | None) -> Iterator[str]:
    """Secrets in logs, mails, clones, the queue's folder, the database, or Redis."""
    from django.db import connection
    from redis import Redis as Client

    secrets = _secrets()
    yield from found_below(folder, secrets)  # SQLite's file is one of these
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'select * from "{table}"')
            text = "".join(
                bytes(cell).decode("latin-1") if isinstance(cell, bytes | memoryview) else str(cell)
                for row in cursor.fetchall()
                for cell in row
            )
            yield from (f"{name} in table {table}" for name in found_in(text, secrets))
    if servers:
        client = Client.from_url(servers[1].url)
        kept = b"".join(client.dump(key) or b"" for key in client.scan_iter())
        yield from (f"{name} in Redis" for name in found_in(kept, secrets))


def _compared(what: str, found: Any, wanted: Any) -> Iterator[str]:
    if found == wanted:
        return
    if isinstance(found, set):
        yield f"{what}: missing {sorted(wanted - found)[:5]}, too many {sorted(found - wanted)[:5]}"
        return
    keys = [key for key in found.keys() | wanted.keys() if found.get(key) != wanted.get(key)]
    yield f"{what}: {len(keys)} differ: " + "; ".join(
        f"{key}: {found.get(key)} not {wanted.get(key)}" for key in keys[:5]
    )


if __name__ == "__main__":
    sys.exit(main())
