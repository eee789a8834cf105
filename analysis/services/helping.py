"""Help other machines with their scans, while no run waits here: what is shared out is nobody's first concern."""

from datetime import datetime

import structlog

from analysis.engine.rules import all_rules
from analysis.models import SCANS
from analysis.services.facts import parse_into_store
from analysis.services.runs import is_work_waiting
from analysis.services.sharing import OtherKey, finish, give_back, opened, take_share
from config.stopping import is_stopping

log = structlog.get_logger("analysis")


def help_scans(*, now: datetime) -> int:
    """Parse one share after the other until there is none, a run waits, or this worker has to stop; how many."""
    all_rules()
    done = 0
    while not is_stopping() and not is_work_waiting(now=now, kinds=SCANS) and (share := take_share()):
        try:
            todo, open_reader = opened(share)
        except OtherKey:
            give_back(share)
            log.error("cannot help another machine with its scan: give all of them the same SECRET_KEY")
            break
        for _ in parse_into_store(todo, open_reader, workers=1):
            pass
        finish(share)
        done += 1
    return done
