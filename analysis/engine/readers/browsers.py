"""Code that runs in a browser, where what fails is one person's page and no server."""

import re

from analysis.engine.codebase import Place
from analysis.engine.graph.paths import ancestors, folder_of, joined

_PACKAGES = re.compile(
    r'"(react|vue|nuxt|svelte|@angular/core|preact|solid-js|lit|lit-element|express|fastify|koa|@nestjs/core|next)"'
)
_OF_PAGES = re.compile(r'"(react|vue|nuxt|svelte|@angular/core|preact|solid-js|lit|lit-element)"')
_OF_SERVERS = re.compile(
    r'"(express|fastify|koa|hono|@nestjs/core|next|@remix-run/node|@react-router/node|h3|@hapi/hapi'
    r'|@trpc/server|mongoose|pg|@prisma/client|typeorm|sequelize|bullmq)"'
)
_PAGE_SIDE = re.compile(
    r"(^|/)(static|public|assets|components|hooks|client|frontend|webapp|wwwroot)/|\.(?:component|directive|pipe)\.ts$"
)
_OF_LIBRARIES = re.compile(r"(?i)/(?:libs?|vendors?|plugins?|3rd-?party|third-?party|ext|uncompressed)/.*\.js$")
_SERVER_SIDE = re.compile(r"(^|/)(server|api)/|\.server\.[jt]s$")


def runs_in_browsers(place: Place) -> bool:
    """Whether the nearest manifest that names packages speaks of a page and of no server."""
    is_server_side = _SERVER_SIDE.search(place.path) is not None
    if not is_server_side and _PAGE_SIDE.search(place.path) and not place.in_request_path:
        return True
    manifest = nearest_manifest(place, _PACKAGES)
    return _OF_PAGES.search(manifest) is not None and _OF_SERVERS.search(manifest) is None


def is_copied_library(place: Place) -> bool:
    """Whether a file of a page stands in a folder for code of others."""
    return _OF_LIBRARIES.search(place.path) is not None and _PAGE_SIDE.search(place.path) is not None


def nearest_manifest(place: Place, named: re.Pattern[str]) -> str:
    """The manifest of the nearest folder around a file that names one of these packages; empty when none does."""
    for folder in ancestors(folder_of(place.path)):
        facts = place.codebase.files.get(joined(folder, "package.json"))
        if facts is not None and named.search(facts.manifest):
            return facts.manifest
    return ""
