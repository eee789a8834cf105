"""What names say where nothing is declared: tables that stay small, columns that are flags, files that run by hand."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from analysis.engine.languages import FileKind

if TYPE_CHECKING:
    from analysis.engine.codebase import Codebase

FLAG = re.compile(
    r"^(is|has|was|can|should)_|^(is|has)[A-Z]|(?i:status|state$|active|enabled|disabled|deleted|archived|published(?!_?(?:at|on|date)$)"
    r"|visible|kind$|type$|removed|hidden|internal)"
)
_OF_FEW_ROWS = """
    administrator backend badge banner calendar category categories channel column config configuration
    connector country countries cron currency dataset department dict dictionary dictionaries election facility
    facilities feature field flag forum genre grade group integration kind language level locale location menu
    metadata option periodic_task periodictask permission plan platform plugin plugin_registry plugins_registry
    pluginregistry pluginsregistry preference priority priorities privilege property properties provider
    provider_detail providerdetail queue rank reason region right role scale scheduled_task scheduledtask
    scheduler seller service setting severity severities site slider stage state status store suggestion
    template theme tier timezone type unit warehouse zone
""".split()
SMALL = re.compile(
    rf"(?i)^tax\w*$|^os$|^(?:app|schema)_?migrations?$|^settings?_?items?$|({'|'.join(_OF_FEW_ROWS)})s?$"
)
MADE_UP = re.compile(
    r"(^|/)(?<!com/)(?<!org/)(?<!net/)(?<!/example/)(seeds?|seeders?|fixtures?|demo|examples?|samples?|migrations?)(/|[-_.])"
    r"|(?:random|dummy|fake|_seed)_data|[\w-]\.seeds?\.[jt]s$|(^|/)seed[A-Z]\w*\.[jt]s$|(^|/)(?:factories|populate)\.py$"
    r"|/commands/(?:generate|populate|seed|fill)_\w+\.py$"
)
_COMMANDS = re.compile(
    r"(^|/)(?:[\w-]+[-_])?cli(?:/|\.(?:py|[cm]?[jt]s|go)$)"
    r"|(^|/)(?:[\w-]*[-_])?migrat(?:e|or|ions?)(?:[-_][\w-]*)?\.(?:py|[cm]?[jt]s|go)$|(?:Migrat(?:or|ion)|Change[sS]et)\.java$"
)
_SORT = re.compile(r"(?<=[a-z])(?:Entity|Model|DO|PO|Record)$")


def named_thing(model: str) -> str:
    """What the rows of a model stand for: categories for `CategoryEntity`."""
    return _SORT.sub("", model)


def runs_by_hand(codebase: "Codebase", path: str) -> bool:
    """Whether a file is a command, a script, or fills a database with made-up rows."""
    return _is_by_hand(path) or codebase.kind(path) is FileKind.SCRIPT


@lru_cache(maxsize=2**16)  # states of one repository hold the same paths
def _is_by_hand(path: str) -> bool:
    return MADE_UP.search(path) is not None or _COMMANDS.search(path) is not None
