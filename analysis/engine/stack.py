"""Tells a repository's stack from its manifests and imports."""

from collections import Counter
from collections.abc import Iterable, Mapping

from analysis.engine.facts import FileFacts
from analysis.engine.graph.manifest import Manifest, manifest_of
from analysis.engine.graph.resolution import is_test
from analysis.engine.languages import PARSED, FileKind, kind_of
from analysis.engine.policy import Stack

# The first name found wins, so what builds on another framework stands before it.
_FRAMEWORKS = {
    "python": "django fastapi flask starlette aiohttp tornado sanic",
    "typescript": "@nestjs/core:nestjs next:nextjs @remix-run/react:remix @react-router/dev:react-router fastify hono"
    " express koa @angular/core:angular vue react",
    "java": "org.springframework.boot:spring-boot org.springframework:spring io.quarkus:quarkus io.micronaut:micronaut"
    " jakarta.ws.rs:jax-rs",
    "go": "github.com/gin-gonic/gin:gin github.com/labstack/echo:echo github.com/gofiber/fiber:fiber"
    " github.com/go-chi/chi:chi github.com/gorilla/mux:gorilla net/http",
}
_ORMS = {
    "python": "sqlalchemy sqlmodel:sqlalchemy peewee tortoise mongoengine",
    "typescript": "@prisma/client:prisma prisma typeorm sequelize mongoose drizzle-orm:drizzle"
    " @mikro-orm/core:mikro-orm",
    "java": "org.springframework.data:jpa jakarta.persistence:jpa javax.persistence:jpa org.hibernate:jpa"
    " org.springframework.boot:spring-boot-starter-data-jpa:jpa org.mybatis:mybatis",
    "go": "gorm.io/gorm:gorm github.com/jinzhu/gorm:gorm entgo.io/ent:ent"
    " github.com/jmoiron/sqlx:sqlx database/sql:sql",
}
_RUNTIMES = {"python": "python", "javascript": "node", "typescript": "node", "java": "jvm", "go": "go"}


def detect_stack(files: Mapping[str, FileFacts]) -> Stack:
    """Framework, ORM, language and runtime of a codebase; empty strings where nothing tells.

    The language is the one with most lines of code outside tests. Dependencies that manifests declare count before
    imports, because a manifest names what the authors chose.
    """
    language = _main_language(files)
    if not language:
        return Stack()
    family = "typescript" if language == "javascript" else language
    manifests = [manifest_of(facts) for facts in files.values() if facts.language == "manifest"]
    names = _declared(manifests) | _imported(files)
    framework = _first(_FRAMEWORKS[family], names)
    orm = _first(_ORMS[family], names)
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


def _declared(manifests: Iterable[Manifest]) -> frozenset[str]:
    names: set[str] = set()
    for manifest in manifests:
        for name in (*manifest.get("dependencies", ()), *manifest.get("require", ())):
            names.add(name.lower())
    return frozenset(names)


def _imported(files: Mapping[str, FileFacts]) -> frozenset[str]:
    names: set[str] = set()
    for path, facts in files.items():
        if not is_test(path):
            names.update(statement.target.lower() for statement in facts.imports if not statement.level)
    return frozenset(names)


def _first(known: str, names: frozenset[str]) -> str:
    """The first known name that is there itself or as the start of a longer one."""
    starts = set()
    for name in names:
        starts.add(name)
        for index, character in enumerate(name):
            if character in "./:":
                starts.add(name[:index])
    for entry in known.split():
        name, _, title = entry.rpartition(":")
        if (name or title) in starts:
            return title
    return ""
