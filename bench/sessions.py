"""What looking up the session costs an authenticated request, as a ratio to the same view without the look-up.

    python -m bench.sessions [rounds]

Three variants of one view take turns: with the session's row (as in the service), with the token's signature checked
but no row read, and without any credential. Times are those of the view in this process; the last line is a whole
request through all middleware.
"""

import logging
import statistics
import sys
import time

from bench import _service


def main(rounds: int) -> None:
    _service.start()
    logging.disable(logging.CRITICAL)
    from django.test import RequestFactory
    from rest_framework.authentication import BaseAuthentication
    from rest_framework.response import Response
    from rest_framework.test import APIClient
    from rest_framework.views import APIView

    from accounts import services, tokens
    from accounts.authentication import SessionTokenAuthentication
    from accounts.models import SignInProvider, User

    class TokenOnly(BaseAuthentication):
        def authenticate(self, request):
            tokens.read_access(request.META["HTTP_AUTHORIZATION"].partition(" ")[2].encode())

    class Plain(APIView):
        permission_classes = ()

        def get(self, request):
            return Response({"ok": True})

    user = User.objects.create_user("bench@example.org", "Correct-horse-9", name="Bench")
    for _ in range(1000):
        pair = services.open_session(user=user, provider=SignInProvider.EMAIL)
    header = {"HTTP_AUTHORIZATION": f"Bearer {pair.access}"}
    factory = RequestFactory()
    views = {
        "session row": Plain.as_view(authentication_classes=[SessionTokenAuthentication]),
        "token only": Plain.as_view(authentication_classes=[TokenOnly]),
        "no credential": Plain.as_view(authentication_classes=[]),
    }
    times: dict[str, list[float]] = {name: [] for name in views}
    for _ in range(rounds):
        for name, view in views.items():
            request = factory.get("/", **header)
            started = time.perf_counter()
            view(request).render()
            times[name].append(time.perf_counter() - started)
    medians = {name: statistics.median(values) * 1000 for name, values in times.items()}
    for name, value in medians.items():
        print(f"{name:14} {value:6.3f} ms")
    print(f"look-up        {medians['session row'] - medians['token only']:6.3f} ms")
    print(
        f"ratio of the view with the row to the same view without: {medians['session row'] / medians['token only']:.2f}"
    )
    print(f"one GET /v1/auth/me through all middleware: {_whole(APIClient(), header, rounds):.3f} ms")


def _whole(client, header, rounds: int) -> float:
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        client.get("/v1/auth/me", HTTP_HOST="localhost", **header)
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1000


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
