"""The three pages for machines, answered before anything else looks at the request."""

from collections.abc import Callable

from django.db.utils import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed

from config.operations import health, metrics

Handler = Callable[[HttpRequest], HttpResponse]
PAGES: dict[str, Handler] = {
    "/health/live": health.live,
    "/health/ready": health.ready,
    "/metrics": metrics.scrape,
}


class OperationsMiddleware:
    """Probes and scrapes come by address: they know no host name, no TLS and no cookie, and want no line in the log."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        page = PAGES.get(request.path_info)
        if page is None:
            return self.get_response(request)
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(["GET", "HEAD"])
        try:
            response = page(request)
        except (OperationalError, InterfaceError):
            response = HttpResponse("The database does not answer", status=503, content_type="text/plain")
        response["Cache-Control"] = "no-store"
        return response
