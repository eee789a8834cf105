"""Tells a repository's stack from its manifests and imports."""

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from analysis.engine.facts import FileFacts
from analysis.engine.graph.manifest import manifest_of
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
    "go": "gorm.io/gorm:gorm github.com/jinzhu/gorm:gorm entgo.io/ent:ent github.com/uptrace/bun:bun"
    " github.com/jmoiron/sqlx:sqlx database/sql:sql",
}
_RUNTIMES = {"python": "python", "javascript": "node", "typescript": "node", "java": "jvm", "go": "go"}


def detect_stack(files: Mapping[str, FileFacts]) -> Stack:
    """Framework, ORM, language and runtime of a codebase; empty strings where nothing tells.

    The language is the one with most lines of code outside tests. Of several frameworks the one that most files
    import is meant; one that only a manifest names counts less than any import.
    """
    return StackDetector().detect(files)


class StackDetector:
    """Tells the stack of one state after the other, as `detect_stack`, and counts only the files that changed."""

    def __init__(self) -> None:
        self._files: dict[str, FileFacts] = {}
        self._lines: Counter[str] = Counter()
        self._uses: Counter[str] = Counter()

    def detect(self, files: Mapping[str, FileFacts]) -> Stack:
        """The stack of a codebase."""
        self._take_over(files)
        language = max(sorted(self._lines), key=lambda name: self._lines[name], default="")
        if not language:
            return Stack()
        family = "typescript" if language == "javascript" else language
        framework = _most_used(_FRAMEWORKS[family], self._uses)
        orm = _most_used(_ORMS[family], self._uses)
        if not orm and framework == "django":
            orm = "django"
        runtime = _RUNTIMES[language]
        if runtime == "node" and self._is_for_bun():
            runtime = "bun"
        return Stack(framework=framework, orm=orm, language=language, runtime=runtime)

    def _take_over(self, files: Mapping[str, FileFacts]) -> None:
        before, self._files = self._files, dict(files)
        for path, facts in before.items():
            if self._files.get(path) is not facts:
                self._lines.subtract(_lines(path, facts))
                self._uses.subtract(_uses(path, facts))
        for path, facts in self._files.items():
            if before.get(path) is not facts:
                self._lines.update(_lines(path, facts))
                self._uses.update(_uses(path, facts))
        self._lines = +self._lines

    def _is_for_bun(self) -> bool:
        manifests = (facts for facts in self._files.values() if facts.language == "manifest")
        return any(manifest_of(facts).get("runtime") == "bun" for facts in manifests)


def _lines(path: str, facts: FileFacts) -> dict[str, int]:
    """Lines of code of one file, by language; a file without any counts as one."""
    if facts.language not in PARSED or is_test(path) or kind_of(path) is FileKind.VENDORED:
        return {}
    return {"typescript" if facts.language == "tsx" else facts.language: max(1, facts.code_lines)}


def _uses(path: str, facts: FileFacts) -> dict[str, int]:
    """How much one file uses a name and each of its starts: two for importing it, one for declaring it."""
    if facts.language == "manifest":
        manifest = manifest_of(facts)
        names = (*manifest.get("dependencies", ()), *manifest.get("require", ()))
        return dict.fromkeys((start for name in names for start in _starts(name.lower())), 1)
    if is_test(path):
        return {}
    targets = {statement.target.lower() for statement in facts.imports if not statement.level}
    return dict.fromkeys((start for target in targets for start in _starts(target)), 2)


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
