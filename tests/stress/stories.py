"""What the providers tell in the storm, and what must have come of it: the model is plain data made with the story.

Four kinds of stories, one per source. Every event carries the time at which it happened, so that the newest one decides
in whatever order they come.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.providers.walletpay import stamp
from tests.webhooks import deliveries
from tests.webhooks.deliveries import Signed

DAY = 86_400
PERIOD = 30 * DAY
REPEATED = 3 / 7  # repetitions per event: 30 % of all deliveries
OUT_OF_ORDER = 0.2
BAD = 0.05  # deliveries more that must be refused: half badly signed, half malformed
CREDITS = {"free": 0, "solo": 50, "pro": 500, "team": 2000}
CARD_EVENTS, WALLET_EVENTS, PULL_REQUEST_EVENTS = 7, 5, 5
PLANS = ["solo", "pro", "team"]


@dataclass(frozen=True)
class Delivery:
    """One request to come. It is signed when it is sent: a signature grows old. `accepted`: the answer when all is
    well; anything else is sent again."""

    source: str
    event_id: str
    sign: Callable[[], Signed]
    accepted: int = 200


@dataclass
class Model:
    """What must be so in the end."""

    plans: dict[str, str] = field(default_factory=dict)  # by organization
    subscriptions: dict[str, str] = field(default_factory=dict)  # status by the provider's id
    payments: set[str] = field(default_factory=set)
    letters: set[str] = field(default_factory=set)
    pull_requests: dict[tuple[str, str, int], tuple[str, str, bool, bool]] = field(default_factory=dict)
    dead: set[str] = field(default_factory=set)  # events that can never be applied
    events: set[str] = field(default_factory=set)


@dataclass
class Storm:
    """Deliveries in the order they are sent, the model, and what the payment providers know."""

    deliveries: list[Delivery] = field(default_factory=list)
    model: Model = field(default_factory=Model)
    card_subscriptions: dict[str, dict[str, Any]] = field(default_factory=dict)
    wallet_subscriptions: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Code:
    """A repository that both hosts tell of; `gated` ones are analysed, the others have no plan for it."""

    platform: str
    name: str
    host_id: int
    gated: bool


def storm_of(
    number: int,
    *,
    buyers: Iterator[str],
    repositories: list[Code],
    heads: list[str],
    installation: str,
    dice: random.Random,
) -> Storm:
    """About `number` deliveries, a quarter of each source. `buyers` yields organizations, `heads` are commits."""
    storm = Storm()
    unique = round(number / (1 + REPEATED) / 4)
    now = int(datetime.now(UTC).timestamp())
    told = [
        *[_card(storm, next(buyers), k, now, dice) for k in range(max(1, unique // CARD_EVENTS))],
        *[_wallet(storm, next(buyers), k, now, dice) for k in range(max(1, unique // WALLET_EVENTS))],
    ]
    for platform in ("codehost1", "codehost2"):
        there = [code for code in repositories if code.platform == platform]
        told += [_push(code, heads[0], installation, now) for code in there if code.gated]
        told += [
            _pull_request(storm, code, k, heads, installation, now, dice)
            for code, k in _spread(there, max(1, unique // PULL_REQUEST_EVENTS), dice)
        ]
    told.append(_doomed(storm, max(1, number // 1000), now))
    events = [event for story in told for event in story]
    storm.model.events = {f"{event.source} {event.event_id}" for event in events}
    storm.deliveries = _shuffled(told, dice) + list(_bad(round(number * BAD), dice))
    return storm


# The order of sending


def _shuffled(stories: list[list[Delivery]], dice: random.Random) -> list[Delivery]:
    """The stories side by side, with repetitions, and some out of their order."""
    steps = max(len(story) for story in stories)
    dice.shuffle(stories)
    # A story starts somewhere in the first half of the storm and goes on from there.
    starts = {id(story): dice.random() * steps for story in stories}
    placed = [(starts[id(story)] + step, event) for story in stories for step, event in enumerate(story)]
    again = dice.sample(placed, round(len(placed) * REPEATED))
    placed += [(place + dice.random() * steps / 2, event) for place, event in again]
    ordered = [event for _, event in sorted(placed, key=lambda each: each[0])]
    for place in dice.sample(range(len(ordered)), round(len(ordered) * OUT_OF_ORDER)):
        other = dice.randrange(len(ordered))
        ordered[place], ordered[other] = ordered[other], ordered[place]
    return ordered


def _bad(number: int, dice: random.Random) -> Iterator[Delivery]:
    for k in range(number):
        good = dice.choice([_card_noise, _wallet_noise, _host1_noise, _host2_noise])(f"bad-{k}")
        if k % 2:
            yield Delivery(good.source, f"bad-{k}", lambda good=good: _forged(good), accepted=401)
        elif good.source != "walletpay":  # what is no JSON cannot even be asked about
            yield Delivery(good.source, f"bad-{k}", lambda good=good: _malformed(good), accepted=400)


def _forged(good: Signed) -> Signed:
    if good.source == "walletpay":
        return Signed(good.source, good.headers, good.body.replace(b"true", b"false"))
    if good.source == "codehost2":
        return Signed(good.source, {**good.headers, "codehost2-token": "guessed"}, good.body)
    return Signed(good.source, good.headers, good.body + b" ")


def _malformed(good: Signed) -> Signed:
    body = good.body[:-1]
    make = {
        "cardpay": deliveries.cardpay_bytes,
        "codehost1": lambda body: deliveries.codehost1("push", body),
        "codehost2": lambda body: deliveries.codehost2("Push Hook", body),
    }[good.source]
    return make(body)


def _card_noise(name: str) -> Signed:
    return deliveries.cardpay("customer.created", event_id=name)


def _wallet_noise(name: str) -> Signed:
    return _wallet_signed(name, "CUSTOMER.DISPUTE.CREATED", 0, {"id": name})


def _host1_noise(name: str) -> Signed:
    return deliveries.codehost1("star", {"action": "created"}, delivery=name)


def _host2_noise(name: str) -> Signed:
    return deliveries.codehost2("Note Hook", {"object_kind": "note"}, uuid=name)


# Cards


def _card(storm: Storm, organization: str, k: int, now: int, dice: random.Random) -> list[Delivery]:
    """Three periods of a subscription whose plan changes once; it goes on, runs out, is unpaid, or has ended."""
    first, second, third = (now - 2 * PERIOD - DAY + period * PERIOD for period in range(3))
    key, (before, after) = f"sub_{k}", dice.sample(PLANS, 2)
    ending = dice.choice(["active", "cancelling", "past_due", "inactive"])
    status = {"active": "active", "cancelling": "active", "past_due": "past_due", "inactive": "canceled"}[ending]
    last = _card_subscription(organization, key, after, third, status=status, ends=ending == "cancelling")
    storm.card_subscriptions[key] = last
    told = [
        ("customer.subscription.created", first, _card_subscription(organization, key, before, first)),
        ("invoice.payment_succeeded", first + 5, _invoice(key, first)),
        ("customer.subscription.updated", first + DAY, _card_subscription(organization, key, after, first)),
        ("invoice.payment_succeeded", second + 5, _invoice(key, second)),
        ("customer.subscription.updated", second + 9, _card_subscription(organization, key, after, second)),
        ("invoice.payment_succeeded", third + 5, _invoice(key, third)),
    ]
    storm.model.payments |= {f"in_{key}_{start}" for start in (first, second, third)}
    match ending:
        case "inactive":
            told.append(("customer.subscription.deleted", third + DAY, {**last, "ended_at": third + DAY}))
        case "past_due":
            failed = {**_invoice(key, third), "id": f"in_{key}_failed", "amount_due": 2900, "attempt_count": 1}
            told.append(("invoice.payment_failed", third + 20, failed))
            storm.model.letters.add(f"payment_failed:cardpay:in_{key}_failed:1")
        case _:
            told.append(("customer.subscription.updated", third + 9, last))
    storm.model.plans[organization] = "free" if ending == "inactive" else after
    storm.model.subscriptions[key] = ending
    return [_card_event(f"evt_{key}_{n}", *event) for n, event in enumerate(told)]


def _card_event(name: str, kind: str, created: int, thing: dict[str, Any]) -> Delivery:
    return Delivery("cardpay", name, lambda: deliveries.cardpay(kind, event_id=name, thing=thing, created=created))


def _card_subscription(
    organization: str, key: str, plan: str, start: int, *, status: str = "active", ends: bool = False
) -> dict[str, Any]:
    return {
        "id": key,
        "object": "subscription",
        "status": status,
        "customer": f"cus_{key}",
        "cancel_at_period_end": ends,
        "created": start,
        "current_period_start": start,
        "current_period_end": start + PERIOD,
        "items": {"data": [{"price": {"id": f"price_{plan}_monthly", "recurring": {"interval": "month"}}}]},
        "metadata": {"orgId": organization},
    }


def _invoice(key: str, start: int) -> dict[str, Any]:
    return {
        "id": f"in_{key}_{start}",
        "subscription": key,
        "amount_paid": 2900,
        "currency": "usd",
        "status": "paid",
        "lines": {"data": [{"period": {"start": start, "end": start + PERIOD}}]},
    }


# Wallets


def _wallet(storm: Storm, organization: str, k: int, now: int, dice: random.Random) -> list[Delivery]:
    """A subscription that is approved, paid three times, and goes on or was cancelled."""
    key, plan, start = f"I-{k}", dice.choice(PLANS), now - 5 * DAY
    ending = dice.choice(["active", "cancelled"])
    waiting = _wallet_subscription(organization, key, plan, start, "APPROVAL_PENDING")
    active = _wallet_subscription(organization, key, plan, start, "ACTIVE")
    over = {**active, "status": "CANCELLED", "status_update_time": _wallet_time(now - DAY)}
    storm.wallet_subscriptions[key] = active if ending == "active" else over
    told = [
        ("BILLING.SUBSCRIPTION.CREATED", start, waiting),
        ("BILLING.SUBSCRIPTION.ACTIVATED", start + 60, active),
        *[("PAYMENT.SALE.COMPLETED", start + 100 + n, _sale(organization, key, start + 100 + n, n)) for n in range(2)],
        ("BILLING.SUBSCRIPTION.CANCELLED", now - DAY, over)
        if ending == "cancelled"
        else ("BILLING.SUBSCRIPTION.UPDATED", now - DAY, active),
    ]
    storm.model.payments |= {f"sale_{key}_{n}" for n in range(2)}
    storm.model.plans[organization] = plan if ending == "active" else "free"
    storm.model.subscriptions[key] = ending
    return [_wallet_event(f"WH-{key}-{n}", *event) for n, event in enumerate(told)]


def _wallet_event(name: str, kind: str, at: int, resource: dict[str, Any]) -> Delivery:
    return Delivery("walletpay", name, lambda: _wallet_signed(name, kind, at, resource))


def _wallet_signed(name: str, kind: str, at: int, resource: dict[str, Any]) -> Signed:
    return deliveries.walletpay(
        {"id": name, "event_type": kind, "create_time": _wallet_time(at), "genuine": True, "resource": resource}
    )


def _wallet_subscription(organization: str, key: str, plan: str, start: int, status: str) -> dict[str, Any]:
    paid = {"amount": {"currency_code": "USD", "value": "29.00"}, "time": _wallet_time(start)}
    return {
        "id": key,
        "plan_id": f"P-{plan}-monthly".upper(),
        "status": status,
        "status_update_time": _wallet_time(start),
        "custom_id": organization,
        "create_time": _wallet_time(start),
        "start_time": _wallet_time(start),
        "billing_info": {"next_billing_time": _wallet_time(start + PERIOD), "last_payment": paid},
    }


def _sale(organization: str, key: str, at: int, n: int) -> dict[str, Any]:
    return {
        "id": f"sale_{key}_{n}",
        "billing_agreement_id": key,
        "state": "completed",
        "amount": {"total": "29.00", "currency": "USD"},
        "create_time": _wallet_time(at),
        "custom": organization,
    }


def _wallet_time(seconds: int) -> str:
    return stamp(datetime.fromtimestamp(seconds, UTC))


# Code hosts


def _spread(there: list[Code], number: int, dice: random.Random) -> Iterator[tuple[Code, int]]:
    """The first pull requests go to the gated repositories, a few each; all others to the quiet ones."""
    gated, quiet = ([code for code in there if code.gated is wanted] for wanted in (True, False))
    few = 3 * len(gated)
    for k in range(number):
        yield (gated[k % len(gated)] if k < few else dice.choice(quiet)), k + 1


def _pull_request(
    storm: Storm, code: Code, number: int, heads: list[str], installation: str, now: int, dice: random.Random
) -> list[Delivery]:
    """Opened, pushed to, perhaps a draft for a while, and open or closed in the end."""
    ending = dice.choice(["open", "open", "closed", "merged"] if code.gated else ["open", "closed"])
    verbs = ["opened", "synchronize", "synchronize", "edited", {"open": "synchronize"}.get(ending, "closed")]
    told, head = [], 1
    for step, verb in enumerate(verbs):
        head = dice.randrange(1, len(heads)) if verb in ("opened", "synchronize") else head
        is_last = step == len(verbs) - 1
        state = _State(
            number=number,
            title=f"Change {step}",
            head=heads[head],
            branch=f"b{head}",
            base=heads[0],
            is_open=not is_last or ending == "open",
            is_merged=is_last and ending == "merged",
            at=now - 3600 + 10 * step,
        )
        told.append(_told(code, state, verb, installation))
    storm.model.pull_requests[code.platform, code.name, number] = (
        state.head,
        state.title,
        state.is_open,
        state.is_merged,
    )
    return told


@dataclass(frozen=True)
class _State:
    number: int
    title: str
    head: str
    branch: str
    base: str
    is_open: bool
    is_merged: bool
    at: int


def _told(code: Code, state: _State, verb: str, installation: str) -> Delivery:
    name = f"{code.name}#{state.number}-{state.at}"
    at = datetime.fromtimestamp(state.at, UTC)
    if code.platform == "codehost1":
        payload = {
            "action": verb,
            "number": state.number,
            "pull_request": {
                "number": state.number,
                "state": "open" if state.is_open else "closed",
                "title": state.title,
                "user": {"login": "dana"},
                "draft": False,
                "merged": state.is_merged,
                "updated_at": at.isoformat(),
                "head": {"sha": state.head, "ref": state.branch, "repo": {"full_name": code.name}},
                "base": {"sha": state.base, "ref": "main"},
            },
            "repository": _hosted(code),
            "installation": {"id": installation},
        }
        return Delivery(code.platform, name, lambda: deliveries.codehost1("pull_request", payload, delivery=name))
    action = {"opened": "open", "closed": "merge" if state.is_merged else "close"}.get(verb, "update")
    request = {
        "iid": state.number,
        "action": action,
        "state": "merged" if state.is_merged else "opened" if state.is_open else "closed",
        "title": state.title,
        "source_branch": state.branch,
        "target_branch": "main",
        "last_commit": {"id": state.head},
        "source": {"path_with_namespace": code.name},
        "updated_at": f"{at:%Y-%m-%d %H:%M:%S} UTC",
        "oldrev": "0" * 40,
    }
    payload = {"object_kind": "merge_request", "user": {"username": "dana"}, "object_attributes": request}
    payload |= _project(code)
    return Delivery(code.platform, name, lambda: deliveries.codehost2("Merge Request Hook", payload, uuid=name))


def _push(code: Code, head: str, installation: str, now: int) -> list[Delivery]:
    name = f"{code.name}-push"
    if code.platform == "codehost1":
        payload = {"ref": "refs/heads/main", "after": head, "repository": _hosted(code, pushed_at=now - 7200)}
        payload["installation"] = {"id": installation}
        return [Delivery(code.platform, name, lambda: deliveries.codehost1("push", payload, delivery=name))]
    payload = {"object_kind": "push", "ref": "refs/heads/main", "after": head, **_project(code)}
    return [Delivery(code.platform, name, lambda: deliveries.codehost2("Push Hook", payload, uuid=name))]


def _hosted(code: Code, **more: Any) -> dict[str, Any]:
    return {"id": code.host_id, "full_name": code.name, "default_branch": "main", "private": False, **more}


def _project(code: Code) -> dict[str, Any]:
    return {"project": {"id": code.host_id, "path_with_namespace": code.name, "default_branch": "main"}}


# What can never be applied


def _doomed(storm: Storm, number: int, now: int) -> list[Delivery]:
    """Events that are signed and well-formed and make no sense: each must end as a dead letter, nothing else may."""
    told = []
    for k in range(number):
        organization = next(iter(storm.model.plans))
        thing = _card_subscription(organization, f"sub_doomed_{k}", "platinum", now)
        told += [
            _card_event(f"evt_doomed_{k}", "customer.subscription.created", now, thing),
            _wallet_event(
                f"WH-doomed-{k}", "BILLING.SUBSCRIPTION.ACTIVATED", now, {"id": f"I-doomed-{k}", "status": "ODD"}
            ),
            _doomed_pull_request(f"doomed-{k}"),
        ]
    storm.model.dead = {f"{event.source} {event.event_id}" for event in told}
    return told


def _doomed_pull_request(name: str) -> Delivery:
    payload = {"action": "opened", "pull_request": {"number": 1}, "repository": {"id": 1}}
    return Delivery("codehost1", name, lambda: deliveries.codehost1("pull_request", payload, delivery=name))
