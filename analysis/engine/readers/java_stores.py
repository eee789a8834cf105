"""What runs a Java project and keeps its rows, as far as its imports tell."""

import re
from itertools import chain

from analysis.engine.codebase import Codebase
from analysis.engine.facts import FileFacts

_STORES = re.compile(r"data\.mongodb(?!\.MongoTrans)|MongoTransactionManager|\bpersistence\.\w|\bjdbc\.|\bsql\.\w")
_JAKARTA = (
    "jakarta.persistence.",
    "jakarta.servlet.",
    "jakarta.validation.",
    "jakarta.annotation.",
    "jakarta.transaction.",
)


def has_proxies(codebase: Codebase) -> bool:
    """Whether Spring runs the project, and not Quarkus, whose beans intercept their own calls."""
    of_quarkus = codebase.summaries(_is_of_quarkus)
    return not any(path in of_quarkus for path, _ in codebase.sources)


def _is_of_quarkus(facts: FileFacts) -> bool:
    return facts.language == "java" and any(each.target.startswith("io.quarkus") for each in facts.imports)


def is_of_jakarta(codebase: Codebase) -> bool:
    """Whether the project imports the standards by the name that Spring knows them by since its version 6."""
    of_jakarta = codebase.summaries(_imports_jakarta)
    return any(path in of_jakarta for path, _ in codebase.sources)


def _imports_jakarta(facts: FileFacts) -> bool:
    return facts.language == "java" and any(each.target.startswith(_JAKARTA) for each in facts.imports)


def keeps_only_documents(codebase: Codebase) -> bool:
    """Whether Spring keeps everything in MongoDB, which knows transactions on clusters only, and nobody set them up."""
    stores = codebase.summaries(_stores)
    named = (stores[path] for path, _ in codebase.sources if path in stores)
    return frozenset(chain.from_iterable(named)) == {"data.mongodb"}


def _stores(facts: FileFacts) -> frozenset[str]:
    """The stores of Spring that a Java file imports."""
    if facts.language != "java":
        return frozenset()
    found = (_STORES.search(each.target) for each in facts.imports)
    return frozenset(each[0] for each in found if each is not None)
