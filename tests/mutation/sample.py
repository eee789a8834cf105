"""Leave a random sample of a cosmic-ray session to be run: `python -m tests.mutation.sample SESSION 100`."""

import argparse
import random

from cosmic_ray.work_db import use_db
from cosmic_ray.work_item import WorkerOutcome, WorkItem, WorkResult


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("session")
    parser.add_argument("size", type=int)
    parser.add_argument("--seed", type=int, default=7)
    wanted = parser.parse_args()
    with use_db(wanted.session) as session:
        pending = sorted(session.pending_work_items, key=_place)
        random.Random(wanted.seed).shuffle(pending)
        for item in pending[wanted.size :]:
            session.set_result(item.job_id, WorkResult(output="not drawn", worker_outcome=WorkerOutcome.SKIPPED))


def _place(item: WorkItem) -> list[tuple[str, str, int]]:
    return [(str(each.module_path), each.operator_name, each.occurrence) for each in item.mutations]


if __name__ == "__main__":
    main()
