"""The providers of the storm: one of each kind for all organizations and repositories, on the loopback.

The payment providers know the newest state of every subscription; the code hosts remember what they were told to show.
"""

import re
from collections import defaultdict
from typing import Any
from urllib.parse import unquote

from tests.providers.codehosts import in_an_hour
from tests.providers.loopback import Answer, Asked, Loopback
from tests.providers.walletpay import Walletpay

FORGE_TOKEN, WALLET_TOKEN = "ghs_planted_in_the_storm", "access token planted in the storm"


class Wallet(Walletpay):
    """Calls an event its own when it says `"genuine": true`."""

    def __init__(self) -> None:
        super().__init__()
        self.token = WALLET_TOKEN

    def route(self, asked: Asked) -> Answer:
        if asked.path == "/v1/notifications/verify-webhook-signature":
            is_ours = asked.body["webhook_event"].get("genuine") is True
            return 200, {"verification_status": "SUCCESS" if is_ours else "FAILURE"}
        return super().route(asked)


class Forge(Loopback):
    """A code host with any number of repositories. `statuses`: by repository and commit, in the order they came;
    `comments`: repository, pull request and text by id."""

    routes: list[tuple[str, Any]]

    def __init__(self) -> None:
        super().__init__()
        self.statuses: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.comments: dict[str, tuple[str, str, str]] = {}
        self.check_runs: dict[str, dict[str, Any]] = {}

    def route(self, asked: Asked) -> Answer:
        for pattern, act in self.routes:
            if match := re.fullmatch(pattern, f"{asked.method} {asked.path}"):
                return act(self, asked, *(unquote(part) for part in match.groups()))
        return 404, {"message": "Not Found"}

    def token(self, asked: Asked) -> Answer:
        return 201, {"token": FORGE_TOKEN, "expires_at": in_an_hour()}

    def nothing_open(self, asked: Asked, repository: str) -> Answer:
        return 200, []

    def set_status(self, asked: Asked, repository: str, sha: str) -> Answer:
        shown = self.statuses[repository, sha]
        if isinstance(self, Forge2) and shown and shown[-1] == asked.body["state"]:
            return 400, {"message": f"Cannot transition status via :x from :{shown[-1]}"}
        shown.append(asked.body["state"])
        return 201, {"id": 1}

    def read_status(self, asked: Asked, repository: str, sha: str) -> Answer:
        shown = self.statuses[repository, sha][-1:]
        return 200, [{"status": state, "name": "technical-debt"} for state in shown]

    def list_comments(self, asked: Asked, repository: str, number: str) -> Answer:
        there = [(key, text) for key, (*place, text) in self.comments.items() if place == [repository, number]]
        return 200, [{"id": int(key), "body": text, "system": False} for key, text in there]

    def add_comment(self, asked: Asked, repository: str, number: str) -> Answer:
        key = str(len(self.comments) + 1)
        self.comments[key] = (repository, number, asked.body["body"])
        return 201, {"id": int(key)}

    def edit_comment(self, asked: Asked, repository: str, key: str) -> Answer:
        self.comments[key] = (*self.comments[key][:2], asked.body["body"])
        return 200, {"id": int(key)}

    def add_check_run(self, asked: Asked, repository: str) -> Answer:
        key = str(len(self.check_runs) + 1)
        self.check_runs[key] = {**asked.body, "id": int(key), "output": {"annotations_count": 0}}
        return 201, {"id": int(key)}

    def annotate(self, asked: Asked, repository: str, key: str) -> Answer:
        self.check_runs[key]["output"]["annotations_count"] += len(asked.body["output"]["annotations"])
        return 200, {"id": int(key)}

    def find_check_runs(self, asked: Asked, repository: str, sha: str) -> Answer:
        return 200, {"check_runs": [run for run in self.check_runs.values() if run["head_sha"] == sha]}


class Forge1(Forge):
    routes = [
        (r"POST /app/installations/\w+/access_tokens", Forge.token),
        (r"GET /repos/([^/]+/[^/]+)/pulls", Forge.nothing_open),
        (r"POST /repos/([^/]+/[^/]+)/statuses/(\w+)", Forge.set_status),
        (r"GET /repos/([^/]+/[^/]+)/issues/(\d+)/comments", Forge.list_comments),
        (r"POST /repos/([^/]+/[^/]+)/issues/(\d+)/comments", Forge.add_comment),
        (r"PATCH /repos/([^/]+/[^/]+)/issues/comments/(\d+)", Forge.edit_comment),
        (r"POST /repos/([^/]+/[^/]+)/check-runs", Forge.add_check_run),
        (r"PATCH /repos/([^/]+/[^/]+)/check-runs/(\d+)", Forge.annotate),
        (r"GET /repos/([^/]+/[^/]+)/commits/(\w+)/check-runs", Forge.find_check_runs),
    ]


class Forge2(Forge):
    routes = [
        (r"GET /api/v4/projects/([^/]+)/merge_requests", Forge.nothing_open),
        (r"POST /api/v4/projects/([^/]+)/statuses/(\w+)", Forge.set_status),
        (r"GET /api/v4/projects/([^/]+)/repository/commits/(\w+)/statuses", Forge.read_status),
        (r"GET /api/v4/projects/([^/]+)/merge_requests/(\d+)/notes", Forge.list_comments),
        (r"POST /api/v4/projects/([^/]+)/merge_requests/(\d+)/notes", Forge.add_comment),
        (r"PUT /api/v4/projects/([^/]+)/merge_requests/\d+/notes/(\d+)", Forge.edit_comment),
    ]
