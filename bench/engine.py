"""How much CPU extracting facts costs, as a ratio to the bare parse of the same files.

    python bench/engine.py <bare git directory> [--lizard] [--rules thirty] [--rounds N] [--every N] [--looks N]

Reads the newest commit's blobs with `git cat-file --batch`, leaves out what `extract` would skip, and measures in
this one process, set up as the parsers are: the parse alone, `extract` with all rules, and with `--lizard` lizard on
the same texts. The three take turns, ten files each, so that a busy machine slows all of them alike; each turn
counts the CPU seconds of its fastest round. `--rules` leaves only some rules in (ids with commas, or `thirty` for those
below); everything else that makes facts stays, the ORM readers too. `--every N` takes every N-th file only. `--looks N`
then names the N looks of rules and ORM readers that cost most, and how often patterns were compiled while files were
read.
"""

import argparse
import gc
import re
import re._compiler
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tree_sitter import Node

from analysis.engine import rules
from analysis.engine.extract import extract, parsed
from analysis.engine.extract.dialects import dialect_of
from analysis.engine.extract.looks import Seen
from analysis.engine.extract.source import SourceFile
from analysis.engine.extract.text import normalise, reason_to_skip
from analysis.engine.facts import Mark, encode
from analysis.engine.languages import PARSED, FileKind, kind_of, language_of, language_read, reading_of

Source = tuple[str, str, bytes]  # path, reading, text
Work = Callable[[Sequence[Source]], None]

FILES_A_TURN = 10
# Six core rules of each category, which read all languages and need every kind of fact.
THIRTY = frozenset(
    """
    perf-n-plus-one-query perf-n-plus-one-relation perf-write-in-loop perf-unbounded-query perf-missing-pagination
    perf-unindexed-filter
    risk-http-no-timeout risk-blocking-call-in-async risk-floating-promise risk-async-in-sync-callback
    risk-unbounded-concurrency risk-goroutine-leak
    rel-swallowed-exception rel-broad-except rel-error-ignored rel-nil-error-returned rel-cause-lost rel-jump-in-finally
    arch-layer-violation arch-circular-import arch-god-module arch-god-class arch-domain-imports-framework
    arch-controller-uses-orm
    maint-cognitive-complexity maint-cyclomatic-complexity maint-long-function maint-long-parameter-list
    maint-deep-nesting maint-large-file
    """.split()
)


def sources(git_dir: str, wanted_languages: frozenset[str]) -> Iterator[Source]:
    """Every file of the newest commit in a parsed language that is not vendored, generated, minified or too large."""
    listing = subprocess.run(
        ["git", "--git-dir", git_dir, "ls-tree", "-r", "-z", "HEAD"], check=True, capture_output=True
    ).stdout
    wanted = []
    for row in listing.split(b"\0")[:-1]:
        head, path = row.split(b"\t", 1)
        mode, _, blob = head.decode().split()
        name = path.decode("utf-8", "replace")
        if mode.startswith("100") and language_of(name) in wanted_languages and kind_of(name) is not FileKind.VENDORED:
            wanted.append((name, blob))
    batch = subprocess.run(
        ["git", "--git-dir", git_dir, "cat-file", "--batch"],
        input="".join(blob + "\n" for _, blob in wanted).encode(),
        check=True,
        capture_output=True,
    ).stdout
    position = 0
    for name, _ in wanted:
        line_end = batch.index(b"\n", position)
        size = int(batch[position:line_end].split()[2])
        text = batch[line_end + 1 : line_end + 1 + size]
        position = line_end + size + 2
        if text and not reason_to_skip(normalise(text)):
            yield name, reading_of(name), text


def leave_only(wanted: frozenset[str]) -> None:
    """Let the extractor know these rules alone. Call it before anything is extracted."""
    chosen = tuple(module for module in rules.all_rules() if module.RULE.id in wanted)
    if unknown := wanted.difference(module.RULE.id for module in chosen):
        raise SystemExit(f"No such rule: {', '.join(sorted(unknown))}")
    rules.all_rules = lambda: chosen


def parse_all(files: Sequence[Source]) -> None:
    for _, reading, text in files:
        dialect_of(language_read(reading)).parser.parse(text)


def extract_all(files: Sequence[Source]) -> None:
    for _, reading, text in files:
        encode(extract(text, reading))


def lizard_all(files: Sequence[Source]) -> None:
    import lizard

    for path, _, text in files:
        lizard.analyze_file.analyze_source_code(path, text.decode("utf-8", "replace"))


def seconds(works: Sequence[Work], files: list[Source], rounds: int) -> list[float]:
    """CPU seconds of each kind of work on all files."""
    totals = [0.0] * len(works)
    for first in range(0, len(files), FILES_A_TURN):
        turn = files[first : first + FILES_A_TURN]
        taken = [[_seconds(work, turn) for work in works] for _ in range(rounds)]
        totals = [total + min(each) for total, each in zip(totals, zip(*taken, strict=True), strict=True)]
    return totals


def _seconds(work: Work, files: Sequence[Source]) -> float:
    start = time.process_time()
    work(files)
    return time.process_time() - start


def print_looks(files: Sequence[Source], parse: float, most: int) -> None:
    """The dearest looks, each with its CPU over that of the bare parse and how many nodes it was shown, and who
    compiles patterns: each compilation costs as much as parsing a hundred lines."""
    spent: Counter[str] = Counter()
    shown: Counter[str] = Counter()
    compiled: Counter[str] = Counter()

    def marks_of(seen: Iterable[Seen], file: SourceFile) -> tuple[Mark, ...]:
        for looks, nodes in seen:
            for look in looks:
                name = f"{look.__module__.rpartition('.')[2]}.{look.__name__}"
                shown[name] += len(nodes)
                spent[name] += _look_seconds(look, nodes, file)
        return ()

    def compile_pattern(pattern: object, flags: int = 0) -> object:
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "re":
            frame = frame.f_back
        compiled[f"{frame.f_globals['__name__'].rpartition('.')[2]}.{frame.f_code.co_name}"] += 1
        return compile_really(pattern, flags)

    compile_really = re._compiler.compile
    re.purge()
    parsed.marks_of, re._compiler.compile = marks_of, compile_pattern
    extract_all(files)
    re._compiler.compile = compile_really
    print(f"looks     {sum(spent.values()):8.2f} s {sum(spent.values()) / parse:6.2f}")
    for name, seconds in spent.most_common(most):
        print(f"  {name:52} {seconds / parse:6.3f}  {shown[name]:>8,} nodes")
    print(f"patterns compiled: {compiled.total():,}")
    for name, count in compiled.most_common(most):
        print(f"  {name:52} {count:>6,}")


def _look_seconds(look: Callable[[Node, SourceFile], Iterable[Mark]], nodes: Sequence[Node], file: SourceFile) -> float:
    start = time.thread_time()
    for node in nodes:
        list(look(node, file))
    return time.thread_time() - start


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("git_dir")
    arguments.add_argument("--lizard", action="store_true")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--every", type=int, default=1)
    arguments.add_argument("--looks", type=int, default=0)
    arguments.add_argument("--languages", help="comma-separated, default all")
    arguments.add_argument("--rules", help="comma-separated ids, or `thirty`; default all")
    options = arguments.parse_args()

    if options.rules:
        leave_only(THIRTY if options.rules == "thirty" else frozenset(options.rules.split(",")))
    files = list(sources(options.git_dir, frozenset(options.languages.split(",")) if options.languages else PARSED))
    files = files[:: options.every]
    lines = sum(text.count(b"\n") for _, _, text in files)
    extract_all(files[::50])  # loads and compiles what a parser inherits
    works = (parse_all, extract_all, lizard_all) if options.lizard else (parse_all, extract_all)
    gc.freeze()
    gc.disable()
    parse, cold, *peer = seconds(works, files, options.rounds)
    print(f"{options.git_dir}: {len(files):,} files, {lines:,} lines")
    print(f"{'parse':10}{parse:8.2f} s   1.00")
    print(f"{'extract':10}{cold:8.2f} s {cold / parse:6.2f}")
    for taken in peer:
        print(f"{'lizard':10}{taken:8.2f} s {taken / parse:6.2f}   {taken / cold:.1f} times extract")
    if options.looks:
        print_looks(files, parse, options.looks)


if __name__ == "__main__":
    main()
