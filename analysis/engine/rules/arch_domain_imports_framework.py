"""The domain layer imports a web framework, an ORM, an HTTP client, a queue or a cloud SDK."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import ImportFlag, Mark
from analysis.engine.graph import assign_layers
from analysis.engine.graph.model import External
from analysis.engine.graph.paths import folder_of
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.policy import Policy
from analysis.engine.rules.base import GO, Watch

RULE = Rule(
    id="arch-domain-imports-framework",
    type="domain_imports_framework",
    category=Category.ARCHITECTURE,
    title="Domain code depends on a framework",
    severity=Severity.WARNING,
    points=4,
    suggestion="Define a port (interface) in the domain and implement it in the adapter layer.",
)
GUIDE = Guide(
    why=(
        "The domain is what outlives frameworks. Once it imports one, every upgrade of the framework is a change of the"
        " business rules."
    ),
    grades="Only in a domain layer, or in a domain folder of an architecture that points inwards.",
    flagged=(
        {
            "shop/domain/order.py": """
import requests


def price(order):
    return requests.get(order.url, timeout=5).json()
"""
        },
    ),
    fine=(
        {
            "shop/domain/order.py": """
from decimal import Decimal


def price(order):
    return order.total * Decimal("1.2")
"""
        },
    ),
    policy="""
architecture: hexagonal
layers:
  - {name: adapters, path: "shop/adapters/**"}
  - {name: domain, path: "shop/domain/**"}
""",
)
WEB, ORM, HTTP, QUEUE, CLOUD = "web framework", "ORM", "HTTP client", "queue", "cloud SDK"
CACHE = "cache client"
_CATALOG = {
    "python": {
        ORM: "django.db sqlalchemy peewee tortoise mongoengine pymongo psycopg psycopg2 asyncpg sqlmodel motor pony",
        WEB: "django rest_framework flask fastapi starlette aiohttp.web tornado sanic bottle pyramid graphene falcon",
        HTTP: "requests httpx aiohttp urllib3",
        QUEUE: "celery rq dramatiq huey kombu pika kafka confluent_kafka aio_pika aiokafka nats",
        CLOUD: "boto3 botocore google.cloud azure minio",
        CACHE: "redis aioredis pymemcache memcache valkey",
    },
    "script": {
        ORM: "@prisma/client typeorm sequelize mongoose knex drizzle-orm @mikro-orm/core objection mongodb pg mysql2",
        WEB: "express fastify koa hono next @nestjs/common @nestjs/core @hapi/hapi react vue @angular/core svelte",
        HTTP: "axios got node-fetch superagent undici ky",
        QUEUE: "bull bullmq amqplib kafkajs bee-queue @nestjs/bull @nestjs/bullmq nats",
        CLOUD: "aws-sdk @aws-sdk @google-cloud @azure firebase-admin minio",
        CACHE: "redis ioredis memcached memjs @keyv/redis",
    },
    "java": {
        ORM: "jakarta.persistence javax.persistence javax.jdo org.hibernate org.springframework.data"
        " org.springframework.jdbc org.apache.ibatis org.jooq org.mongodb java.sql",
        WEB: "org.springframework jakarta.servlet javax.servlet jakarta.ws.rs javax.ws.rs io.micronaut io.quarkus",
        HTTP: "okhttp3 retrofit2 org.apache.http org.apache.hc feign",
        QUEUE: "org.apache.kafka com.rabbitmq jakarta.jms javax.jms org.springframework.amqp org.springframework.kafka",
        CLOUD: "com.amazonaws software.amazon.awssdk com.google.cloud com.azure io.minio",
        CACHE: "redis.clients io.lettuce org.redisson net.spy.memcached",
    },
    "go": {
        ORM: "gorm.io github.com/jinzhu/gorm database/sql github.com/jmoiron/sqlx entgo.io github.com/jackc/pgx"
        " go.mongodb.org/mongo-driver github.com/uptrace/bun",
        WEB: "github.com/gin-gonic/gin github.com/labstack/echo github.com/gofiber/fiber github.com/go-chi/chi"
        " github.com/gorilla/mux",
        HTTP: "net/http github.com/go-resty/resty",
        QUEUE: "github.com/segmentio/kafka-go github.com/IBM/sarama github.com/Shopify/sarama"
        " github.com/rabbitmq/amqp091-go github.com/nats-io/nats.go github.com/hibiken/asynq",
        CLOUD: "github.com/aws/aws-sdk-go github.com/aws/aws-sdk-go-v2 cloud.google.com/go"
        " github.com/Azure/azure-sdk-for-go github.com/minio/minio-go",
        CACHE: "github.com/redis/go-redis github.com/go-redis/redis github.com/gomodule/redigo"
        " github.com/bradfitz/gomemcache",
    },
}
_KINDS = {
    family: {prefix: kind for kind, prefixes in kinds.items() for prefix in prefixes.split()}
    for family, kinds in _CATALOG.items()
}
_PLAIN_VALUES = frozenset(
    """django.core.validators django.utils.timezone django.utils.dateparse java.sql.Timestamp java.sql.Date
    java.sql.Time database/sql/driver go.mongodb.org/mongo-driver/bson/primitive""".split()
)
_UTILITIES = re.compile(r"org\.springframework\.(?:util|lang|core\.style)\.")
_ANNOTATIONS = re.compile(r"(?!.*\.web\.).*\.annotations?\.")  # but for those that make a controller
# Parts of the language's own library that do what a framework does: a matter of taste in many a domain.
_STANDARD = frozenset({"net/http", "database/sql", "java.sql"})
# Of them, names that stand for a value and reach nothing: `http.StatusNotFound`, `sql.ErrNoRows`, `sql.NullString`.
_USED = {"net/http": re.compile(rb"\bhttp\.(\w+)"), "database/sql": re.compile(rb"\bsql\.(\w+)")}
_VALUES = re.compile(rb"Status\w*|Method\w+|Err\w+|Null\w*|Header")
# What every model file of Django needs beside its columns.
_BESIDE_ROWS = re.compile(r"django\.(?:utils|core|conf|apps|dispatch|urls|contrib\.(?!admin\b)\w+)\b")
_ANNOTATIONS_ONLY = (
    "jakarta.persistence",
    "javax.persistence",
    "javax.jdo.annotations",
    "org.springframework.stereotype",
)
_MODELS_FILE = re.compile(r"(^|/)models(/|\.py$)")
_OF_PAGES = re.compile(r"\.[jt]sx$|(^|/)(pages|app|api|routes)/[^\n]*\.[jt]s$")
_DOMAIN_FOLDER = re.compile(r"(^|/)(domain|core|entities|models?)/")
_INWARD = re.compile(r"hexagonal|clean|ddd|domain|onion|ports", re.IGNORECASE)
_ACTIVE_RECORD = re.compile(r"active[- _]?record|mvc|mtv|django", re.IGNORECASE)


def look(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """Go: a part of the standard library of which the file uses values only."""
    target = file.text(statement).strip('"')
    names = _USED[target].findall(file.source) if target in _USED else ()
    if names and all(map(_VALUES.fullmatch, names)):
        yield file.mark(RULE.id, statement, "", data={"values": target})


def check(codebase: Codebase, policy: Policy) -> Iterator[Finding]:
    """One finding per domain file and package, at the first import."""
    values = {(place.path, mark.data["values"]) for place, mark in codebase.marks(RULE.id)}
    inward = _INWARD.search(policy.architecture) is not None
    keeps_rows = _keeping_rows(codebase, policy, inward=inward)
    for path in _domain_files(codebase, policy):
        language = codebase.files[path].language
        may_use_orm = path in keeps_rows or _is_active_record(policy, language)
        seen: set[str] = set()
        for external in codebase.graph.external.get(path, ()):
            target = external.statement.target
            prefix, kind = _framework_of(target, language)
            if not kind or prefix in seen or (kind == ORM and may_use_orm):
                continue
            if (_BESIDE_ROWS.match(target) and not inward) or (path, target) in values:
                continue
            seen.add(prefix)
            yield Finding(
                rule_id=RULE.id,
                file=path,
                line=external.line,
                message=f"The domain imports the {kind} `{target}`",
                anchor=prefix,
                severity=_severity(external),
                confidence=Confidence.MEDIUM if prefix in _STANDARD else None,
            )


def _framework_of(target: str, language: str) -> tuple[str, str]:
    """The framework that an import is of, and its kind; no kind for plain values and utilities."""
    family = language if language in _KINDS else "script"
    prefix = _framework(target, family)
    is_plain = target in _PLAIN_VALUES or _UTILITIES.match(target) is not None
    return prefix, "" if is_plain else _KINDS[family].get(prefix, "")


def _keeping_rows(codebase: Codebase, policy: Policy, *, inward: bool) -> frozenset[str]:
    """The files that hold the classes of an ORM: there the ORM is what they are for. Rows are not what a layer called
    domain is for, and nothing inward has any."""
    if inward:
        return frozenset()
    places = assign_layers(codebase.graph.nodes, policy)
    modelled = _folders_of_models(codebase)
    is_django = any(entry.model.orm == "django" for entry in codebase.models.all)

    def keeps(path: str) -> bool:
        place = places.get(path)
        if is_django and _MODELS_FILE.search(path) is not None:
            return True
        return folder_of(path) in modelled and not (place is not None and place.name.lower() == "domain")

    return frozenset(filter(keeps, codebase.graph.nodes))


def _folders_of_models(codebase: Codebase) -> frozenset[str]:
    """Where the classes of an ORM are kept: there the ORM is what the layer is for, whatever its name."""
    return frozenset(folder_of(entry.path) for entry in codebase.models.all if entry.model.orm != "ddl")


def _severity(external: External) -> Severity | None:
    target = external.statement.target
    type_only = external.statement.flags & ImportFlag.TYPE_ONLY
    is_annotation = target.startswith(_ANNOTATIONS_ONLY) or _ANNOTATIONS.match(target) is not None
    return Severity.INFO if type_only or is_annotation else None


def _domain_files(codebase: Codebase, policy: Policy) -> list[str]:
    """Files of a layer named like a domain; without one, of folders named so in an inward architecture."""
    left_out = codebase.graph.tests | codebase.graph.generated
    nodes = [path for path in codebase.graph.nodes if path not in left_out]
    places = assign_layers(nodes, policy)
    in_layer = [path for path in nodes if (place := places[path]) is not None and place.is_domain]
    if in_layer or not _INWARD.search(policy.architecture):
        return in_layer
    return [path for path in nodes if places[path] is None and _is_domain_by_folder(path)]


def _is_domain_by_folder(path: str) -> bool:
    """By its name alone, a folder with components, pages or routes is none."""
    return _DOMAIN_FOLDER.search(path) is not None and _OF_PAGES.search(path) is None


def _framework(target: str, family: str) -> str:
    """The longest entry of the catalogue that the import starts with, whole segments only; else an empty string."""
    separator = "." if family in ("python", "java") else "/"
    known = _KINDS[family]
    while target and target not in known:
        target = target.rpartition(separator)[0]
    return target


def _is_active_record(policy: Policy, language: str) -> bool:
    if _INWARD.search(policy.architecture):
        return False
    if _ACTIVE_RECORD.search(policy.architecture):
        return True
    return language == "python" and policy.stack.framework.lower() == "django"


WATCHES = (Watch("import", look, GO, needs=(b'"net/http"', b'"database/sql"')),)
