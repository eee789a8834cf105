"""Parsers are children that may crash or hang: each costs one file and nothing else."""

import os
import random
import signal
import threading
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from analysis import parsing
from analysis.engine.facts import decode
from analysis.engine.languages import PARSED
from analysis.parsing import BlobToParse, parse_blobs
from tests.engine.extract.test_robustness import SAMPLES

SOURCE = b"def work(items=[]):\n    return items\n"
FILES = 30


class Reader:
    """Reads the same source for every blob, and misbehaves at some names."""

    def read(self, blob: str) -> bytes | None:
        if blob.startswith("crash"):
            os.kill(os.getpid(), signal.SIGKILL)
        if blob.startswith("hang"):
            time.sleep(600)
        if blob.startswith("endless"):
            while True:
                pass
        if blob.startswith("patient"):
            work_in_turns(turns=15)
        if blob.startswith("missing"):
            return None
        return SOURCE


def work_in_turns(*, turns: int) -> None:
    """Compute a little and wait a lot, as whoever shares a core with many others: 0.05 and 0.2 seconds a turn."""
    for _ in range(turns):
        ends = time.process_time() + 0.05
        while time.process_time() < ends:
            pass
        time.sleep(0.2)


def parse(names: list[str], workers: int = 2) -> dict[str, str]:
    """Name to the reason why a blob was skipped, empty when it was parsed."""
    todo = [BlobToParse(name, "python", parsing.CHUNK_BYTES // 8) for name in names]
    found = parse_blobs(lambda: nullcontext(Reader()), todo, workers=workers)
    return {item.blob: decode(data).skipped for item, data in found}


def good(count: int) -> list[str]:
    return [f"good-{number}" for number in range(count)]


def test_every_blob_is_parsed_once() -> None:
    assert parse(good(FILES)) == dict.fromkeys(good(FILES), "")


class Damaged:
    """Reads a sample with a few bytes changed, others for each name, and now and then takes the parser down."""

    def read(self, blob: str) -> bytes | None:
        language, _, number = blob.partition(" ")
        dice = random.Random(number)
        if dice.random() < 0.005:
            os.kill(os.getpid(), signal.SIGKILL)
        body = bytearray(SAMPLES[language].encode() * dice.randint(1, 20))
        for _ in range(dice.randint(1, 8)):
            start = dice.randrange(len(body))
            body[start : start + dice.randint(0, 9)] = dice.choice([dice.randbytes(5), b"(((", b"}", b'"', b"\n", b""])
        return bytes(body)


def test_damaged_files_cost_themselves_at_most(figure, seed) -> None:
    number, languages = figure(c=1_000, s=100_000, of="files"), sorted(PARSED & SAMPLES.keys())
    todo = [
        BlobToParse(f"{languages[k % len(languages)]} {seed + k}", languages[k % len(languages)], 1_000)
        for k in range(number)
    ]
    killed = sum(random.Random(todo.blob.partition(" ")[2]).random() < 0.005 for todo in todo)

    found = [
        (item.blob, decode(data).skipped) for item, data in parse_blobs(lambda: nullcontext(Damaged()), todo, workers=2)
    ]

    assert sorted(name for name, _ in found) == sorted(item.blob for item in todo)
    assert sum(reason == "the parser failed on it" for _, reason in found) == killed


def test_nothing_to_parse_starts_nothing() -> None:
    assert parse([]) == {}


@pytest.mark.parametrize("place", [0, 13, FILES])
def test_a_crash_costs_one_file(place: int) -> None:
    names = good(FILES)
    names.insert(place, "crash")

    found = parse(names)

    assert found.pop("crash") == "the parser failed on it"
    assert found == dict.fromkeys(good(FILES), "")


def test_many_crashes_cost_as_many_files() -> None:
    names = [name for number in range(10) for name in (f"crash-{number}", f"good-{number}")]

    found = parse(names)

    assert sum(bool(reason) for reason in found.values()) == 10
    assert all(not found[name] for name in good(10))


def test_a_hang_costs_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "SILENT_SECONDS", 1.0)

    found = parse([*good(5), "hang", *(f"good-{number}" for number in range(5, 10))])

    assert found.pop("hang") == "took too long to parse"
    assert found == dict.fromkeys(good(10), "")


def test_work_without_an_end_costs_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "CPU_SECONDS_PER_FILE", 0.5)

    found = parse([*good(5), "endless", *(f"good-{number}" for number in range(5, 10))])

    assert found.pop("endless") == "took too long to parse"
    assert found == dict.fromkeys(good(10), "")


def test_what_many_files_take_together_is_no_files_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "CPU_SECONDS_PER_FILE", 1.0)

    assert parse(["patient-1", "patient-2"], workers=1) == {"patient-1": "", "patient-2": ""}


def test_a_file_whose_parser_hardly_gets_its_turn_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "SILENT_SECONDS", 1.0)

    assert parse(["patient", "good"]) == {"patient": "", "good": ""}


def test_no_parser_is_lost_on_a_caller_that_takes_its_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(parsing, "SILENT_SECONDS", 0.5)

    class Counted(Reader):
        def read(self, blob: str) -> bytes | None:
            with (tmp_path / "read").open("a") as file:
                print(blob, file=file)
            time.sleep(0.1)
            return SOURCE

    todo = [BlobToParse(name, "python", 9) for name in good(5)]
    for _ in parse_blobs(lambda: nullcontext(Counted()), todo, workers=1):
        time.sleep(0.7)

    assert (tmp_path / "read").read_text().split() == good(5)


def test_a_file_that_only_failed_once_is_parsed(tmp_path: Path) -> None:
    class Unlucky(Reader):
        def read(self, blob: str) -> bytes | None:
            if blob == "unlucky" and not (tmp_path / "tried").exists():
                (tmp_path / "tried").touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return SOURCE

    todo = [BlobToParse(name, "python", 9) for name in [*good(3), "unlucky"]]

    found = parse_blobs(lambda: nullcontext(Unlucky()), todo, workers=1)

    assert {item.blob: decode(data).skipped for item, data in found} == dict.fromkeys([*good(3), "unlucky"], "")


def test_a_blob_that_is_not_there_is_said_so() -> None:
    assert parse(["missing", "good"]) == {"missing": "missing from the clone", "good": ""}


def test_parsers_are_replaced_after_a_number_of_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "FILES_PER_CHILD", 8)

    assert parse(good(FILES)) == dict.fromkeys(good(FILES), "")


def test_no_child_is_left_when_the_caller_stops_early() -> None:
    before = children()
    found = parse_blobs(lambda: nullcontext(Reader()), [BlobToParse(n, "python", 9) for n in good(3)], workers=2)
    next(found)
    assert children() != before

    found.close()

    assert children() == before


def children() -> set[str]:
    return set(Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split())
