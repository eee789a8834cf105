"""Loopback servers that speak the protocols of both code hosts, as far as we call them.

`odd` holds answers that are given to the next calls instead of the right ones; a callable among them is called first,
with the server, and the right answer follows. Calls for a token are always answered well. `kills_after_write` is a
process that dies once the next call has changed something, before it hears the answer.
"""

import os
import re
import signal
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.providers.loopback import Answer, Asked, Loopback

APP_ID = "4711"
INSTALLATION = "77"
_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PRIVATE_KEY = _KEY.private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
).decode()
TOKEN_OF_HOST2 = "glpat-of-the-service"


class Host(Loopback):
    """What both have in common: comments, and answers that a test plans."""

    def __init__(self) -> None:
        super().__init__()
        self.odd: list[Any] = []
        self.comments: dict[int, str] = {}
        self.statuses: dict[str, list[dict[str, Any]]] = {}
        self.open: list[dict[str, Any]] = []
        self.kills_after_write: int | None = None

    @property
    def writes(self) -> list[str]:
        """Method and last part of the path of each call that may have changed something, tokens apart."""
        return [f"{asked.method} {asked.path}" for asked in self.asked if asked.method != "GET" and _counts(asked)]

    def shown_on(self, sha: str) -> str:
        """The state that the commit shows."""
        return self.statuses[sha][-1]["state"]

    def respond(self, method: str, target: str, headers: dict[str, str], raw: bytes) -> Answer:
        answer = super().respond(method, target, headers, raw)
        if method != "GET" and not target.startswith("/app/") and self.kills_after_write:
            os.kill(self.kills_after_write, signal.SIGKILL)
            self.kills_after_write = None
        return answer

    def planned(self) -> Answer | None:
        while self.odd:
            answer = self.odd.pop(0)
            if not callable(answer):
                return answer
            answer(self)
            return None
        return None

    def listed(self, asked: Asked, entries: list[Any]) -> Answer:
        """One page of a list, with its mark."""
        size, page = int(asked.query.get("per_page", 30)), int(asked.query.get("page", 1))
        etag = f'"{hash(str(entries))}"'
        if asked.headers.get("If-None-Match") == etag:
            return 304, None
        return 200, entries[(page - 1) * size : page * size], {"ETag": etag}

    def write_comment(self, body: str) -> int:
        number = max(self.comments, default=100) + 1
        self.comments[number] = body
        return number


class CodeHost1(Host):
    """`allows_checks`: whether the App may write check runs. `tokens` counts those that were given out."""

    def __init__(self) -> None:
        super().__init__()
        self.allows_checks = True
        self.tokens = 0
        self.check_runs: dict[int, dict[str, Any]] = {}

    def route(self, asked: Asked) -> Answer:
        if asked.path == f"/app/installations/{INSTALLATION}/access_tokens":
            return self._token(asked)
        if asked.headers.get("Authorization") != f"Bearer ghs_{self.tokens}":
            return 401, {"message": "Bad credentials"}
        if (answer := self.planned()) is not None:
            return answer
        matched = re.fullmatch(r"/repos/[a-z]+/shop/([a-z-]+)/?(.*)", asked.path)
        if not matched:
            return 404, {"message": "Not Found"}
        return getattr(self, f"_{matched[1].replace('-', '_')}")(asked, matched[2])

    def _token(self, asked: Asked) -> Answer:
        claims = jwt.decode(asked.headers["Authorization"].split()[1], _KEY.public_key(), algorithms=["RS256"])
        assert claims["iss"] == APP_ID
        assert claims["exp"] - claims["iat"] <= 600
        self.tokens += 1
        return 201, {"token": f"ghs_{self.tokens}", "expires_at": in_an_hour()}

    def _statuses(self, asked: Asked, rest: str) -> Answer:
        assert len(asked.body["description"]) <= 140
        self.statuses.setdefault(rest, []).append(asked.body)
        return 201, {"id": 1}

    def _issues(self, asked: Asked, rest: str) -> Answer:
        if asked.method == "POST":
            return 201, {"id": self.write_comment(asked.body["body"])}
        if asked.method == "GET":
            return self.listed(asked, [{"id": number, "body": body} for number, body in self.comments.items()])
        number = int(rest.rpartition("/")[2])
        if number not in self.comments:
            return 404, {"message": "Not Found"}
        self.comments[number] = asked.body["body"]
        return 200, {"id": number}

    def _check_runs(self, asked: Asked, rest: str) -> Answer:
        if not self.allows_checks:
            return 403, {"message": "Resource not accessible by integration"}
        if asked.method == "POST":
            self.check_runs[len(self.check_runs) + 1] = {**asked.body, "annotations": []}
            return 201, {"id": len(self.check_runs)}
        added = asked.body["output"]["annotations"]
        assert len(added) <= 50
        self.check_runs[int(rest)]["annotations"] += added
        return 200, {"id": int(rest)}

    def _commits(self, asked: Asked, rest: str) -> Answer:
        found = [
            {**run, "id": number, "output": {**run["output"], "annotations_count": len(run["annotations"])}}
            for number, run in self.check_runs.items()
            if run["head_sha"] == rest.partition("/")[0]
        ]
        return 200, {"total_count": len(found), "check_runs": found}

    def _pulls(self, asked: Asked, rest: str) -> Answer:
        return self.listed(asked, self.open)


class CodeHost2(Host):
    """It keeps one status for each ref of a commit. `branches` are those that hold each commit: where no ref is named
    the first of them is taken, and where there is none nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.branches: dict[str, list[str]] = {}

    def route(self, asked: Asked) -> Answer:
        if asked.headers.get("Private-Token", asked.headers.get("PRIVATE-TOKEN")) != TOKEN_OF_HOST2:
            return 401, {"message": "401 Unauthorized"}
        if (answer := self.planned()) is not None:
            return answer
        matched = re.fullmatch(r"/api/v4/projects/acme%2Fshop/(\w+)/?(.*)", asked.path)
        if not matched:
            return 404, {"message": "404 Project Not Found"}
        return getattr(self, f"_{matched[1]}")(asked, matched[2])

    def _statuses(self, asked: Asked, rest: str) -> Answer:
        ref = asked.body.get("ref") or next(iter(self.branches.get(rest, [])), None)
        if ref is None:
            return 404, {"message": "404 References for commit Not Found"}
        known = self.statuses.setdefault(rest, [])
        if [each["state"] for each in known if each["ref"] == ref][-1:] == [asked.body["state"]]:
            return 400, {"message": f"Cannot transition status via :x from :{asked.body['state']}"}
        known.append({**asked.body, "ref": ref})
        return 201, {"id": 1}

    def _repository(self, asked: Asked, rest: str) -> Answer:
        known = [each for each in self.statuses.get(rest.split("/")[1], []) if each["ref"] == asked.query["ref"]]
        return 200, [{"status": each["state"], "name": each["name"]} for each in known[-1:]]

    def _merge_requests(self, asked: Asked, rest: str) -> Answer:
        if not rest:
            return self.listed(asked, self.open)
        if asked.method == "POST":
            return 201, {"id": self.write_comment(asked.body["body"])}
        if asked.method == "GET":
            return self.listed(
                asked, [{"id": number, "body": body, "system": False} for number, body in self.comments.items()]
            )
        self.comments[int(rest.rpartition("/")[2])] = asked.body["body"]
        return 200, {}


def _counts(asked: Asked) -> bool:
    return not asked.path.startswith("/app/")


def in_an_hour() -> str:
    return (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
