"""A storm of payment webhooks on real processes, with the worker killed again and again: nothing lost, nothing twice.

    python -m bench.webhooks [--organizations 200] [--kills 4] [--rate 0] [--backlog 0] [--seed 20]

Seven card events per organization, 30 % of all deliveries repeated, 20 % out of order, sent by eight clients to the
real web server while a real Celery worker with its beat works on them and is killed with SIGKILL, children and all. The
embedded default (SQLite, broker in a folder) unless BENCH_DATABASE_URL (an empty database) and BENCH_REDIS_URL say
otherwise. `--rate` paces the deliveries per second; 0 sends as fast as the server answers. An answer counts from the
instant at which its delivery was due, so a server that falls behind shows. Sending begins when some other
deliveries have been accepted and worked on: what is measured is a service at work, not its start.

`--backlog` puts so many events of other subjects into the inbox before the worker starts. While they are worked off,
the pull request of a repository that nobody connected is told of twice a second: how long these take says whether a
backlog starves what arrives now.

The figures to reach are those of `--kills 0 --rate 100`, of `--kills 0 --rate 300 --organizations 1000`, and of
`--kills 0 --organizations 20 --backlog 20000`, each on PostgreSQL and Redis.
"""

import argparse
import hashlib
import hmac
import http.client
import itertools
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from bench._service import wait_for

PORT = 8792
CLIENTS = 8
# Handing ten thousand deliveries to the clients takes a moment, which is not the server's.
LEAD_SECONDS = 1.0
WARM_UP_DELIVERIES = 100
SECRET = "whsec_bench"
PRICE = "price_pro"
EVENTS_PER_ORGANIZATION = 7
# Of all deliveries 30 % are repetitions, so 3 repetitions for 7 events.
REPEATED = 3 / 7
OUT_OF_ORDER = 0.2
DAY = 86_400
PERIOD = 30 * DAY
PATIENCE_SECONDS = 180
PROBES_PER_SECOND = 2
START_SECONDS = 180
URL = "/v1/billing/webhook/cardpay"


def main() -> int:
    options = _options()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="bench-webhooks-") as folder:
        os.environ.update(_environment(folder))
        subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity", "0"], check=True)
        import django

        django.setup()
        organizations = _organizations(options.organizations)
        deliveries = _deliveries(organizations, rng)
        _pile_up(options.backlog)
        with _serving(folder), _Worker(folder) as worker:
            fresh = _probed() if options.backlog else []
            _warm_up()
            stop = threading.Event()
            killer = threading.Thread(target=worker.kill_now_and_then, args=(options.kills, stop, rng))
            killer.start()
            started = time.monotonic()
            answers = _send(deliveries, options.rate)
            sent = time.monotonic() - started - LEAD_SECONDS
            killer.join()
            stop.set()
            settled = _wait_until_settled(started)
        _report(options, answers, sent, settled, worker.kills)
        if fresh:
            _report_fresh(options.backlog, fresh)
        return _verify(organizations, deliveries, answers)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--organizations", type=int, default=200)
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--rate", type=float, default=0.0)
    parser.add_argument("--backlog", type=int, default=0)
    parser.add_argument("--seed", type=int, default=20)
    return parser.parse_args()


def _environment(folder: str) -> dict[str, str]:
    return {
        "VAR_DIR": folder,
        "DATABASE_URL": os.environ.get("BENCH_DATABASE_URL", f"sqlite:///{folder}/bench.sqlite3"),
        "REDIS_URL": os.environ.get("BENCH_REDIS_URL", ""),
        "CARDPAY_WEBHOOK_SECRET": SECRET,
        "CARDPAY_PRICES": json.dumps({"pro_monthly": PRICE}),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "CODEHOST1_WEBHOOK_SECRET": SECRET,
        "PORT": str(PORT),
    }


# What is sent


def _organizations(count: int) -> list[str]:
    from accounts.models import User
    from organizations.models import Organization

    owner = User.objects.create_user("bench@example.org", None, name="Bench")
    return [
        str(Organization.objects.found(owner=owner, name=f"Bench {number}", slug=f"bench-{number}").id)
        for number in range(count)
    ]


def _deliveries(organizations: list[str], rng: random.Random) -> list[bytes]:
    """The bodies in the order in which they are sent."""
    start = int(time.time()) - 2 * PERIOD - DAY
    stories = [_story(organization, number, start) for number, organization in enumerate(organizations)]
    bodies = [event for step in zip(*stories, strict=True) for event in step]
    bodies += rng.sample(bodies, round(len(bodies) * REPEATED))
    ordered = sorted(range(len(bodies)), key=lambda place: place % (len(organizations) * EVENTS_PER_ORGANIZATION))
    mixed = [bodies[place] for place in ordered]
    for place in rng.sample(range(len(mixed)), round(len(mixed) * OUT_OF_ORDER)):
        other = rng.randrange(len(mixed))
        mixed[place], mixed[other] = mixed[other], mixed[place]
    return mixed


def _story(organization: str, number: int, start: int) -> list[bytes]:
    """A subscription over three periods. The newest fact says active, or, for odd numbers, about to end."""
    first, second, third = (start + period * PERIOD for period in range(3))
    return [
        _event(f"evt_{number}_0", "customer.subscription.created", first, _subscription(organization, number, first)),
        _event(f"evt_{number}_1", "invoice.payment_succeeded", first + 5, _invoice(number, first)),
        _event(
            f"evt_{number}_2", "customer.subscription.updated", first + DAY, _subscription(organization, number, first)
        ),
        _event(f"evt_{number}_3", "invoice.payment_succeeded", second + 5, _invoice(number, second)),
        _event(
            f"evt_{number}_4", "customer.subscription.updated", second + 9, _subscription(organization, number, second)
        ),
        _event(f"evt_{number}_5", "invoice.payment_succeeded", third + 5, _invoice(number, third)),
        _event(
            f"evt_{number}_6",
            "customer.subscription.updated",
            third + 9,
            _subscription(organization, number, third, ends=number % 2 == 1),
        ),
    ]


def _event(event_id: str, kind: str, created: int, thing: dict[str, Any]) -> bytes:
    return json.dumps({"id": event_id, "type": kind, "created": created, "data": {"object": thing}}).encode()


def _subscription(organization: str, number: int, period: int, *, ends: bool = False) -> dict[str, Any]:
    return {
        "id": f"sub_{number}",
        "status": "active",
        "customer": f"cus_{number}",
        "cancel_at_period_end": ends,
        "current_period_start": period,
        "current_period_end": period + PERIOD,
        "items": {"data": [{"price": {"id": PRICE, "recurring": {"interval": "month"}}}]},
        "metadata": {"orgId": organization},
    }


def _invoice(number: int, period: int) -> dict[str, Any]:
    return {
        "id": f"in_{number}_{period}",
        "subscription": f"sub_{number}",
        "amount_paid": 2900,
        "currency": "usd",
        "status": "paid",
        "lines": {"data": [{"period": {"start": period, "end": period + PERIOD}}]},
        "period_start": period,
        "period_end": period + PERIOD,
    }


def _send(bodies: list[bytes], rate: float) -> list[tuple[float, int, bool]]:
    """Latency in milliseconds, status and `duplicate` of every delivery."""
    started = time.monotonic() + LEAD_SECONDS
    connections = threading.local()
    turns = itertools.count()

    def deliver(body: bytes) -> tuple[float, int, bool]:
        due = started + (next(turns) / rate if rate else 0)
        time.sleep(max(0.0, due - time.monotonic()))
        if not hasattr(connections, "one"):
            connections.one = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
        moment = str(int(time.time()))
        signature = hmac.new(SECRET.encode(), moment.encode() + b"." + body, hashlib.sha256).hexdigest()
        headers = {"Content-Type": "application/json", "cardpay-signature": f"t={moment},v1={signature}"}
        connections.one.request("POST", URL, body, headers)
        answer = connections.one.getresponse()
        content = json.loads(answer.read())
        return (time.monotonic() - due) * 1000, answer.status, content.get("duplicate", False)

    with ThreadPoolExecutor(CLIENTS) as pool:
        return list(pool.map(deliver, bodies))


# The backlog


def _pile_up(count: int) -> None:
    """Store events that are due already, as if no worker had looked for a while."""
    from django.utils import timezone

    from webhooks.models import SourceName, WebhookEvent

    due = timezone.now() - timedelta(minutes=5)
    WebhookEvent.objects.bulk_create(
        (
            WebhookEvent(
                source=SourceName.CODEHOST1,
                event_id=f"old-{number}",
                type="pull_request",
                subject=f"old-{number}",
                account=f"old-{number}",
                occurred_at=due,
                next_at=due + timedelta(milliseconds=number),
                body=_pull_request(number),
            )
            for number in range(count)
        ),
        batch_size=1000,
    )


def _pull_request(number: int) -> bytes:
    repository = {"id": number, "full_name": f"old/{number}", "default_branch": "main", "private": False}
    side = {"sha": "0" * 40, "ref": "main", "repo": {"full_name": f"old/{number}"}}
    pull_request = {"number": 1, "state": "open", "title": "", "user": {"login": "bench"}, "head": side, "base": side}
    return json.dumps({"action": "opened", "pull_request": pull_request, "repository": repository}).encode()


def _probed() -> list[float]:
    """Tell of new pull requests until the backlog is gone; seconds that each took from the delivery to its end."""
    from webhooks.models import UNFINISHED, WebhookEvent

    delivered: list[str] = []
    ends = time.monotonic() + PATIENCE_SECONDS
    old = WebhookEvent.objects.filter(event_id__startswith="old-", state__in=UNFINISHED)
    while old.exists() and time.monotonic() < ends:
        delivered.append(f"fresh-{len(delivered)}")
        _tell(delivered[-1], _pull_request(10_000_000 + len(delivered)))
        time.sleep(1 / PROBES_PER_SECOND)
    fresh = WebhookEvent.objects.filter(event_id__in=delivered)
    wait_for(lambda: not fresh.filter(state__in=UNFINISHED).exists(), PATIENCE_SECONDS)
    rows = fresh.filter(finished_at__isnull=False).values_list("created_at", "finished_at")
    return sorted((finished - created).total_seconds() for created, finished in rows)


def _tell(delivery: str, body: bytes) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
    headers = {
        "Content-Type": "application/json",
        "codehost1-event": "pull_request",
        "codehost1-delivery": delivery,
        "codehost1-signature-256": f"sha256={hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()}",
    }
    try:
        connection.request("POST", "/v1/webhooks/codehost1", body, headers)
        assert connection.getresponse().status == 200
    finally:
        connection.close()


# Who works


@contextmanager
def _serving(folder: str) -> Iterator[None]:
    # Embedded, the limits and the cache live in one process; otherwise one process per core.
    shape = ["--workers", "2", "--blocking-threads", "2"] if os.environ["REDIS_URL"] else ["--blocking-threads", "8"]
    command = [str(Path(sys.executable).with_name("granian")), "--interface", "wsgi", "--port", str(PORT), *shape]
    with (Path(folder) / "web.log").open("wb") as log:
        server = subprocess.Popen([*command, "config.wsgi:application"], stdout=log, stderr=log)
        try:
            assert wait_for(_is_serving, START_SECONDS), (Path(folder) / "web.log").read_text()
            yield
        finally:
            server.terminate()
            server.wait(20)


def _warm_up() -> None:
    """Have every thread of the server accept something, and the worker work on it."""
    from webhooks.models import State, WebhookEvent

    known = [f"warm-{number}" for number in range(WARM_UP_DELIVERIES)]
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(lambda delivery: _tell(delivery, _pull_request(20_000_000)), known))
    done = WebhookEvent.objects.filter(event_id__in=known, state=State.DONE)
    assert wait_for(lambda: done.count() == len(known), PATIENCE_SECONDS)


def _is_serving() -> bool:
    try:
        connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=1)
        connection.request("GET", URL)
        return connection.getresponse().status == 405
    except OSError:
        return False


class _Worker:
    """A Celery worker with its children in a session of their own, so that one signal ends them all."""

    def __init__(self, folder: str) -> None:
        self.log = (Path(folder) / "worker.log").open("wb")
        self.kills = 0
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "celery", "-A", "config", "worker", "-B", "-c", "2", "-P", "prefork"]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, start_new_session=True)

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def kill_now_and_then(self, times: int, stop: threading.Event, rng: random.Random) -> None:
        for _ in range(times):
            # Only a worker in the middle of its work is worth killing.
            wait_for(_has_claims, 60)
            stop.wait(rng.uniform(0.1, 0.8))
            self.kill()
            self.kills += 1
            self.start()

    def __enter__(self) -> "_Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.log.close()


def _has_claims() -> bool:
    from django.db import connection

    from webhooks.models import State, WebhookEvent

    try:
        lately = time.time() - 2
        return (
            any(
                claimed.next_at.timestamp() - 60 > lately
                for claimed in WebhookEvent.objects.filter(state=State.PROCESSING)
            )
            or not WebhookEvent.objects.exclude(state=State.DONE).exists()
        )
    finally:
        connection.close()


def _wait_until_settled(started: float) -> float:
    from webhooks.models import UNFINISHED, WebhookEvent

    wait_for(lambda: not WebhookEvent.objects.filter(state__in=UNFINISHED).exists(), PATIENCE_SECONDS)
    return time.monotonic() - started


# What came of it


def _report(options: argparse.Namespace, answers: list[Any], sent: float, settled: float, kills: int) -> None:
    from django.conf import settings

    from webhooks.models import SourceName, State, WebhookEvent

    latencies = sorted(latency for latency, _, _ in answers)
    told = WebhookEvent.objects.filter(state=State.DONE, source=SourceName.CARDPAY)
    waits = sorted(
        (finished_at - created_at).total_seconds()
        for finished_at, created_at in told.values_list("finished_at", "created_at")
    )
    engine = settings.DATABASES["default"]["ENGINE"].rpartition(".")[2]
    broker = "Redis" if settings.REDIS_URL else "embedded broker"
    print(f"{engine}, {broker}, seed {options.seed}, worker killed {kills} times")
    print(f"deliveries            {len(answers)} in {sent:.1f} s: {len(answers) / sent:.0f} accepted/s")
    print(f"duplicates            {sum(duplicate for _, _, duplicate in answers)}")
    print(
        f"answer, ms            p50 {_at(latencies, 0.5):.1f}  p99 {_at(latencies, 0.99):.1f}  max {latencies[-1]:.1f}"
    )
    print(f"stored to done, s     p50 {_at(waits, 0.5):.2f}  p95 {_at(waits, 0.95):.2f}  max {waits[-1]:.2f}")
    print(f"first sent to all done {settled:.1f} s; mean wait {statistics.mean(waits):.2f} s")


def _report_fresh(backlog: int, fresh: list[float]) -> None:
    from django.db.models import Max, Min

    from webhooks.models import State, WebhookEvent

    old = WebhookEvent.objects.filter(event_id__startswith="old-", state=State.DONE)
    span = old.aggregate(first=Min("finished_at"), last=Max("finished_at"))
    seconds = (span["last"] - span["first"]).total_seconds()
    print(
        f"backlog               {old.count()} of {backlog} worked off in {seconds:.1f} s: {old.count() / seconds:.0f}/s"
    )
    print(
        f"meanwhile told of     {len(fresh)} pull requests; stored to done, s: p50 {_at(fresh, 0.5):.2f}"
        f"  p95 {_at(fresh, 0.95):.2f}  max {fresh[-1]:.2f}"
    )


def _at(values: list[float], share: float) -> float:
    return values[min(len(values) - 1, int(len(values) * share))]


def _verify(organizations: list[str], deliveries: list[bytes], answers: list[tuple[float, int, bool]]) -> int:
    from django.db.models import Sum

    from billing.models import Payment, Subscription
    from credits.models import CreditAccount
    from webhooks.models import SourceName, State, WebhookEvent

    count, events = len(organizations), len(set(deliveries))
    told = WebhookEvent.objects.filter(source=SourceName.CARDPAY)
    subscriptions = Subscription.objects.all()
    wrong_sums = [
        account
        for account in CreditAccount.objects.annotate(total=Sum("entries__amount"))
        if account.balance != account.total
    ]
    checks = {
        "every delivery was answered 200": all(status == 200 for _, status, _ in answers),
        "each event is stored once": told.count() == events,
        "each event is done": told.filter(state=State.DONE, handled=True).count() == events,
        "the duplicates were told apart": sum(known for _, _, known in answers) == len(deliveries) - events,
        "one subscription each": subscriptions.count() == count,
        "three payments each": Payment.objects.count() == 3 * count,
        "the newest fact won": {s.external_id: s.status for s in subscriptions}
        == {f"sub_{number}": ("cancelling" if number % 2 else "active") for number in range(count)},
        "the last period stands": all(
            s.current_period_end - s.current_period_start == timedelta(seconds=PERIOD)
            and s.current_period_end.timestamp() > time.time()
            for s in subscriptions
        ),
        "balances are the sum of their entries": not wrong_sums
        and CreditAccount.objects.filter(balance=500).count() == count,
    }
    for sentence, holds in checks.items():
        print(f"{'yes' if holds else 'NO '}  {sentence}")
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
