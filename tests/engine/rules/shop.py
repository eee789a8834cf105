"""A shop with a few models, in which the rules over queries look for their findings."""

from collections.abc import Mapping
from datetime import date
from functools import lru_cache

from analysis.engine.evaluate import evaluate
from analysis.engine.extract import extract
from analysis.engine.facts import FileFacts
from analysis.engine.history import History
from analysis.engine.languages import reading_of
from analysis.engine.model import Finding, Volume
from analysis.engine.policy import Policy

DJANGO_MODELS = """
from django.db import models

class Region(models.Model):
    code = models.CharField(max_length=2, unique=True)

class Customer(models.Model):
    region = models.ForeignKey(Region, on_delete=models.PROTECT, related_name="customers")
    email = models.CharField(max_length=99)
    note = models.TextField()

class Order(models.Model):
    customer = models.ForeignKey(Customer, on_delete=models.CASCADE, related_name="orders")
    status = models.CharField(max_length=9)
    reference = models.CharField(max_length=40)
    total = models.IntegerField()
    is_paid = models.BooleanField()

class Line(models.Model):
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="lines")
    amount = models.IntegerField()

class Wallet(models.Model):
    owner = models.OneToOneField(Customer, on_delete=models.CASCADE)
    balance = models.IntegerField()
    class Meta:
        db_table = "wallet"
"""
PRISMA_MODELS = """
model Order {
  id Int @id
  customerId Int
  status String
  customer Customer @relation(fields: [customerId], references: [id], onDelete: Cascade)
  lines Line[]
  @@index([customerId])
  @@map("orders")
}
model Customer {
  id Int @id
  email String @unique
  name String
  orders Order[]
}
model Line {
  id Int @id
  orderId Int
  order Order @relation(fields: [orderId], references: [id])
}
"""
DJANGO = "from shop.models import Customer, Line, Order, Region, Wallet\n\n"
PRISMA = "import { prisma } from './prisma';\n\n"


@lru_cache(maxsize=8)
def _models(path: str, source: str) -> FileFacts:
    return extract(source.encode(), reading_of(path))


def findings(
    rule: str,
    source: str,
    path: str = "shop/work.py",
    volumes: Mapping[str, str] | None = None,
    others: Mapping[str, str] | None = None,
) -> list[Finding]:
    """What the rule finds in the shop with one more file; the imports of its models are put before the source."""
    head = DJANGO if path.endswith(".py") else PRISMA
    files = {
        "shop/models.py": _models("shop/models.py", DJANGO_MODELS),
        "prisma/schema.prisma": _models("prisma/schema.prisma", PRISMA_MODELS),
    }
    if path.endswith(".py"):
        del files["prisma/schema.prisma"]
    else:
        del files["shop/models.py"]
    for name, text in {path: head + source, **(others or {})}.items():
        files[name] = extract(text.encode(), reading_of(name))
    policy = Policy(data_volumes={name: Volume(size) for name, size in (volumes or {}).items()})
    report = evaluate(files=files, history=History.empty(), policy=policy, today=date(2026, 1, 1))
    return [finding for finding in report.findings if finding.rule_id == rule]


def lines(rule: str, source: str, path: str = "shop/work.py", **options: Mapping[str, str]) -> list[int]:
    """Lines of the source, counted from 1, that the rule objects to."""
    head = DJANGO if path.endswith(".py") else PRISMA
    shift = head.count("\n")
    return [finding.line - shift for finding in findings(rule, source, path, **options) if finding.file == path]
