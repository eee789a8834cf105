"""Help other machines with their scans, while no run waits here: what is shared out is nobody's first concern."""

from datetime import datetime

from analysis.engine.rules import all_rules
from analysis.models import SCANS
from analysis.services.facts import parse_into_store
from analysis.services.runs import is_work_waiting
from analysis.services.sharing import finish, opened, take_share
from config.stopping import is_stopping


def help_scans(*, now: datetime) -> int:
    """Parse one share after the other until there is none, a run waits, or this worker has to stop; how many."""
    all_rules()
    done = 0
    while not is_stopping() and not is_work_waiting(now=now, kinds=SCANS) and (share := take_share()):
        todo, open_reader = opened(share)
        for _ in parse_into_store(todo, open_reader, workers=1):
            pass
        finish(share)
        done += 1
    return done
