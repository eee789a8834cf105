"""Whether login and forgot-password tell by their time if an address is known: two distributions, side by side.

    python -m bench.signin_timing [rounds]

Known, unknown and OAuth-only addresses take turns, in a new order each round. `order` is the chance that a call for
one kind takes longer than a call for `known`: 0.50 means that nobody can tell (it is the area under the curve of a
guesser who looks at the time).
"""

import logging
import random
import statistics
import sys
import time

from bench import _service

WRONG = "Wrong-horse-9"


def main(rounds: int) -> None:
    _service.start()
    logging.disable(logging.CRITICAL)
    from rest_framework.test import APIClient

    from accounts.models import User

    User.objects.create_user("known@example.org", "Correct-horse-9", name="Known")
    User.objects.create_user("oauth@example.org", None, name="OAuth only")
    addresses = {"known": "known@example.org", "unknown": "nobody@example.org", "oauth-only": "oauth@example.org"}
    client, generator = APIClient(), random.Random(20)

    for operation, body in (("login", {"password": WRONG}), ("forgot-password", {})):
        times: dict[str, list[float]] = {name: [] for name in addresses}
        for number in range(rounds + 5):
            for name, email in generator.sample(sorted(addresses.items()), len(addresses)):
                started = time.perf_counter()
                client.post(f"/v1/auth/{operation}", {"email": email, **body}, format="json", HTTP_HOST="localhost")
                if number >= 5:
                    times[name].append((time.perf_counter() - started) * 1000)
        _print(operation, times)


def _print(operation: str, times: dict[str, list[float]]) -> None:
    print(f"{operation} (ms)   10 %    median     90 %   of known   order")
    known = statistics.median(times["known"])
    for name, values in times.items():
        tenths = statistics.quantiles(values, n=10)
        median = statistics.median(values)
        later = sum(a > b for a in values for b in times["known"]) / (len(values) * len(times["known"]))
        print(f"  {name:12} {tenths[0]:8.2f} {median:9.2f} {tenths[8]:8.2f} {median / known:9.3f} {later:8.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
