"""Tells a repository's stack from its manifests and imports."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from analysis.engine.facts import FileFacts
from analysis.engine.graph.manifest import Manifest, manifest_of
from analysis.engine.graph.resolution import is_test
from analysis.engine.languages import PARSED, FileKind, kind_of
from analysis.engine.policy import Stack

# `name:title`; after the bar stand libraries that are the framework only where no server framework is used.
_FRAMEWORKS = {
    "python": "django fastapi flask starlette aiohttp tornado sanic",
    "typescript": "@nestjs:nestjs next:nextjs @remix-run:remix @react-router/dev:react-router fastify hono express koa"
    " | @angular/core:angular vue react",
    "java": "org.springframework.boot:spring-boot io.quarkus:quarkus io.micronaut:micronaut jakarta.ws.rs:jax-rs"
    " | org.springframework:spring",
    "go": "github.com/gin-gonic/gin:gin github.com/labstack/echo:echo github.com/gofiber/fiber:fiber"
    " github.com/go-chi/chi:chi github.com/gorilla/mux:gorilla | net/http",
}
_ORMS = {
    "python": "sqlalchemy sqlmodel:sqlalchemy peewee tortoise mongoengine",
    "typescript": "@prisma/client:prisma typeorm sequelize mongoose drizzle-orm:drizzle @mikro-orm/core:mikro-orm",
    "java": "org.springframework.data:jpa jakarta.persistence:jpa javax.persistence:jpa org.hibernate:jpa"
    " org.springframework.boot:spring-boot-starter-data-jpa:jpa org.mybatis:mybatis",
    "go": "gorm.io/gorm:gorm github.com/jinzhu/gorm:gorm entgo.io/ent:ent"
    " github.com/jmoiron/sqlx:sqlx database/sql:sql",
}
_RUNTIMES = {"python": "python", "javascript": "node", "typescript": "node", "java": "jvm", "go": "go"}


def detect_stack(files: Mapping[str, FileFacts]) -> Stack:
    """Framework, ORM, language and runtime of a codebase; empty strings where nothing tells.

    The language is the one with most lines of code outside tests. Of several frameworks the one that most files
    import is meant; one that only a manifest names counts less than any import.
    """
    language = _main_language(files)
    if not language:
        return Stack()
    family = "typescript" if language == "javascript" else language
    manifests = [manifest_of(facts) for facts in files.values() if facts.language == "manifest"]
    uses = _uses(files, manifests)
    framework = _most_used(_FRAMEWORKS[family], uses)
    orm = _most_used(_ORMS[family], uses)
    if not orm and framework == "django":
        orm = "django"
    runtime = _RUNTIMES[language]
    if runtime == "node" and any(manifest.get("runtime") == "bun" for manifest in manifests):
        runtime = "bun"
    return Stack(framework=framework, orm=orm, language=language, runtime=runtime)


def _main_language(files: Mapping[str, FileFacts]) -> str:
    lines: Counter[str] = Counter()
    for path, facts in files.items():
        if facts.language in PARSED and not is_test(path) and kind_of(path) is not FileKind.VENDORED:
            lines["typescript" if facts.language == "tsx" else facts.language] += max(1, facts.code_lines)
    return max(sorted(lines), key=lambda name: lines[name], default="")


def _uses(files: Mapping[str, FileFacts], manifests: Iterable[Manifest]) -> Counter[str]:
    """How much a name and each of its starts is used: two for a file that imports it, one for being declared."""
    uses: Counter[str] = Counter()
    for manifest in manifests:
        names = (*manifest.get("dependencies", ()), *manifest.get("require", ()))
        uses.update(dict.fromkeys((start for name in names for start in _starts(name.lower())), 1))
    for path, facts in files.items():
        if not is_test(path):
            targets = {statement.target.lower() for statement in facts.imports if not statement.level}
            uses.update(dict.fromkeys((start for target in targets for start in _starts(target)), 2))
    return uses


@lru_cache(maxsize=2**15)  # files import the same things again and again
def _starts(name: str) -> tuple[str, ...]:
    return name, *(name[:index] for index, character in enumerate(name) if character in "./:")


def _most_used(known: str, uses: Counter[str]) -> str:
    """The title of the most used name; the first of equals, and none after a bar while one before it is used."""
    for tier in known.split(" | "):
        titles = {}
        for entry in tier.split():
            name, _, title = entry.rpartition(":")
            titles[name or title] = title
        used = [name for name in titles if uses[name]]
        if used:
            return titles[max(used, key=lambda name: uses[name])]
    return ""
