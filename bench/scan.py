"""What the steps of a scan cost beside the bare parse of the same files: cold, warm, a pull request, ninety days.

    python -m bench.scan <git directory> [--date YYYY-MM-DD] [--changes N]

Everything runs in this one process, as in a scan without cyclic garbage collection. Times are CPU seconds, those of
git included; ratios are to the parse. `base` is one judgement of HEAD from scratch, a pull request is judged after it.
"""

import argparse
import gc
import os
import resource
import statistics
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path

from analysis.engine.decoding import decode_all
from analysis.engine.evaluate import evaluate, report_of
from analysis.engine.evaluator import Evaluator
from analysis.engine.extract import extract
from analysis.engine.extract.dialects import dialect_of
from analysis.engine.extract.text import normalise, reason_to_skip
from analysis.engine.facts import FileFacts, encode
from analysis.engine.history import History
from analysis.engine.languages import PARSED, language_read
from analysis.engine.policy import Policy
from analysis.engine.snapshots import snapshots
from analysis.git.blobs import BlobReader
from analysis.git.history import daily_commits, read_history
from analysis.git.limits import GitLimits
from analysis.git.tree import changed_entries, list_tree
from analysis.past_trees import Tree, daily_trees
from analysis.source_tree import FactsKey, SourceTree, blob_of, source_tree

HISTORY_DAYS = 90
TYPICAL_BYTES = 4000
Timings = dict[str, float]


@contextmanager
def timed(timings: Timings, name: str) -> Iterator[None]:
    """Add the CPU seconds of a block, this process and its children."""
    started = _cpu()
    yield
    timings[name] = timings.get(name, 0.0) + _cpu() - started


def _cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def main() -> None:
    options = _options()
    gc.disable()
    folder, today = Path(options.git_dir), options.date
    timings: Timings = {}
    texts = _texts(folder, _tree(folder, "HEAD"))
    _compile(texts)
    with timed(timings, "parse"):
        for (_, reading), text in texts.items():
            language = language_read(reading)
            if language in PARSED and not reason_to_skip(normalise(text)):
                dialect_of(language).parser.parse(text)
    with timed(timings, "cold"):
        tree = _tree(folder, "HEAD")
        facts = {key: extract(text, key[1]) for key, text in _texts(folder, tree).items()}
        history = History.of(read_history(folder, "HEAD"))
        report = evaluate(files=tree.with_facts(facts), history=history, policy=Policy(), today=today)
    stored = {key: encode(each) for key, each in facts.items()}
    with timed(timings, "warm"):
        known = dict(decode_all(stored.items()))
        evaluate(files=tree.with_facts(known), history=history, policy=Policy(), today=today)
    lines, size = report.lines_of_code, sum(map(len, stored.values()))
    del known, stored, texts, report
    evaluator = Evaluator(Policy())
    with timed(timings, "base"):
        evaluator.judge(tree.with_facts(facts), history, today)
        report_of(evaluator)
    blobs = len(facts)
    changes = _pull_requests(folder, evaluator, tree, facts, history, today, options.changes)
    del evaluator
    with timed(timings, "history"):
        days, seconds = _history(folder, facts, history, today)
    timings |= seconds
    _print(folder, lines, blobs, size, timings, changes, days)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("git_dir")
    parser.add_argument("--date", type=date.fromisoformat, default=datetime.now(UTC).date())
    parser.add_argument(
        "--changes", type=int, default=20, help="how many of the last commits to judge as pull requests"
    )
    return parser.parse_args()


def _tree(folder: Path, revision: str) -> SourceTree:
    return source_tree(list_tree(folder, revision).entries)


def _texts(folder: Path, tree: SourceTree) -> dict[FactsKey, bytes]:
    todo = {item.blob: item.reading for item in tree.to_parse}
    with BlobReader(folder) as blobs:
        found = dict(blobs.read_many(list(todo)))
    return {(item.blob, item.reading): found[item.blob] or b"" for item in tree.to_parse}


def _compile(texts: Mapping[FactsKey, bytes]) -> None:
    """Load grammars, queries and rules outside of what is measured."""
    for reading in {reading for _, reading in texts}:
        extract(b"", reading)


def _pull_requests(
    folder: Path,
    evaluator: Evaluator,
    tree: SourceTree,
    facts: dict[FactsKey, FileFacts],
    history: History,
    today: date,
    count: int,
) -> list[float]:
    """CPU seconds for each of the last first-parent commits: its files parsed, and judged after the base was."""
    seconds = []
    files = tree.with_facts(facts)
    commits = [commit for commit in read_history(folder, "HEAD") if len(commit.parents) == 1][:count]
    for commit in commits:
        timings: Timings = {}
        with timed(timings, "change"):
            head = dict(files)
            for change in changed_entries(folder, commit.parents[0], commit.sha):
                item = change.new_path and change.new_blob and blob_of(change.new_path, change.new_blob, TYPICAL_BYTES)
                if item:
                    with BlobReader(folder) as blobs:
                        head[change.new_path or ""] = extract(blobs.read(item.blob) or b"", item.reading)
            evaluator.judge(head, history, today)
            report_of(evaluator)
        seconds.append(timings["change"])
        evaluator.judge(files, history, today)
    return seconds


def _history(folder: Path, facts: dict[FactsKey, FileFacts], history: History, today: date) -> tuple[int, Timings]:
    """Judge the last ninety days; blobs that HEAD does not have are parsed."""
    timings: Timings = {}
    with timed(timings, "trees"):
        days = [
            (day, _keys(tree))
            for day, tree in daily_trees(
                folder, daily_commits(folder, "HEAD", days=HISTORY_DAYS, today=today), GitLimits()
            )
        ]
    missing = {key for _, tree in days for key in tree.values()} - facts.keys()
    with timed(timings, "past blobs"), BlobReader(folder) as blobs:
        for blob, reading in missing:
            facts[blob, reading] = extract(blobs.read(blob) or b"", reading)
    with timed(timings, "past days"):
        count = sum(1 for _ in snapshots(days, facts.get, history, Policy()))
    return count, timings


def _keys(tree: Tree) -> dict[str, FactsKey]:
    return {path: (item.blob, item.reading) for path, item in tree.items()}


def _print(
    folder: Path, lines: int, blobs: int, stored: int, timings: Timings, changes: list[float], days: int
) -> None:
    parse = timings["parse"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{folder}: {blobs:,} blobs, {lines:,} lines of code, facts {stored / 1e6:.1f} MB, peak memory {peak} MB")
    rows: list[tuple[str, float, str]] = [(name, timings[name], "") for name in ("parse", "cold", "warm", "base")]
    if changes:
        rows.append(
            ("pull request", statistics.median(changes), f"median of {len(changes)}, slowest {max(changes):.2f} s")
        )
    rows.append((f"{days} days", timings["history"], f"{timings['history'] / timings['cold']:.2f} times cold"))
    rows += [(name, timings[name], "of that") for name in ("trees", "past blobs", "past days")]
    for name, seconds, note in rows:
        print(f"{name:14}{seconds:8.2f} s CPU {seconds / parse:7.2f}   {note}")


if __name__ == "__main__":
    main()
