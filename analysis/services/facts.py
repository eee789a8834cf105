"""Facts of blobs: from the store where they are known, from the parser where they are not."""

import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import date, timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from analysis.engine.attributes import own_paths
from analysis.engine.codebase import is_measured
from analysis.engine.decoding import EncodedFacts, decode_all
from analysis.engine.facts import FileFacts
from analysis.engine.version import facts_version
from analysis.git.blobs import BlobReader
from analysis.models import BlobFacts, Run
from analysis.parsing import BlobToParse, OpenReader, missing_facts, parse_blobs
from analysis.services.sharing import Offer, is_worth_sharing
from analysis.source_tree import FactsKey, SourceTree

READ_AT_ONCE = 500
MARK_AGAIN_AFTER = timedelta(days=30)
WRITE_AT_ONCE = 200


def collect_facts(
    todo: Collection[BlobToParse],
    *,
    git_dir: Path,
    workers: int,
    on_progress: Callable[[int, int], None],
    scan: Run | None = None,
) -> tuple[dict[FactsKey, FileFacts], frozenset[FactsKey]]:
    """Facts of all these blobs, and which were known before. `on_progress(done, total)` is called as they come.

    Other machines may help to parse for a `scan`.
    """
    wanted = {(item.blob, item.reading): item for item in todo}
    found: EncodedFacts[FactsKey] = EncodedFacts()  # decoded they take more, and parsers at work need room
    for key, data in _stored_data(wanted):
        if data != missing_facts(key[1]):
            found.add(key, data)
    known = found.keys()
    missing = [item for key, item in wanted.items() if key not in known]
    for key, data in _parse_missing(missing, git_dir, workers, scan):
        found.add(key, data)
        on_progress(len(found), len(wanted))
    return found.decoded(), known


def count_known(tree: SourceTree, facts: Mapping[FactsKey, FileFacts], known: Collection[FactsKey]) -> int:
    """How many analysed files of a tree did not have to be parsed."""
    files = tree.with_facts(facts)
    analysed = (tree.blobs[path] for path in own_paths(files) if is_measured(path, files[path]))
    return sum((item.blob, item.reading) in known for item in analysed)


def store_missing_facts(todo: Collection[BlobToParse], *, git_dir: Path, workers: int, scan: Run | None = None) -> None:
    """Parse what is not in the store yet, and put it there. Other machines may help a `scan`."""
    wanted = {(item.blob, item.reading): item for item in todo}
    known = known_keys(wanted)
    missing = [item for key, item in wanted.items() if key not in known]
    for _ in _parse_missing(missing, git_dir, workers, scan):
        pass


def stored_facts(keys: Iterable[FactsKey]) -> Iterator[tuple[FactsKey, FileFacts]]:
    """What the store knows of these blobs; that they are in use is written down once a month."""
    yield from decode_all(_stored_data(keys))


def _stored_data(keys: Iterable[FactsKey]) -> Iterator[tuple[FactsKey, bytes]]:
    today = timezone.now().date()
    for rows in _stored(keys, "blob", "reading", "data", "used_on", "pk"):
        unmarked = []
        for blob, reading, data, used_on, pk in rows:
            if used_on < today - MARK_AGAIN_AFTER:
                unmarked.append(pk)
            yield (blob, reading), zlib.decompress(data)
        _mark(unmarked, today)


def mark_used(keys: Iterable[FactsKey], *, today: date) -> None:
    """Keep these facts for the time of an unused one from today on."""
    for rows in _stored(keys, "used_on", "pk"):
        _mark([pk for used_on, pk in rows if used_on < today - MARK_AGAIN_AFTER], today)


def _mark(keys: Collection[int], today: date) -> None:
    if not keys:  # nearly always: not even a transaction
        return
    rows = BlobFacts.objects.filter(pk__in=keys)
    with transaction.atomic():
        if connection.features.has_select_for_update_skip_locked:
            # Another scan that holds some of them marks them itself.
            keys = list(rows.select_for_update(skip_locked=True).values_list("pk", flat=True))
        BlobFacts.objects.filter(pk__in=keys).update(used_on=today)


def known_keys(keys: Iterable[FactsKey]) -> set[FactsKey]:
    """Which of these the store knows, without reading them. What a clone lacked is not known: this one may have it."""
    rows = chain.from_iterable(_stored(keys, "blob", "reading", "was_read"))
    return {(blob, reading) for blob, reading, was_read in rows if was_read}


def _stored(keys: Iterable[FactsKey], *columns: str) -> Iterator[Iterable[tuple[Any, ...]]]:
    by_reading: dict[str, list[str]] = {}
    for blob, reading in keys:
        by_reading.setdefault(reading, []).append(blob)
    version = facts_version()
    for reading, blobs in by_reading.items():
        for start in range(0, len(blobs), READ_AT_ONCE):
            yield BlobFacts.objects.filter(
                version=version, reading=reading, blob__in=blobs[start : start + READ_AT_ONCE]
            ).values_list(*columns)


def _parse_missing(
    missing: list[BlobToParse], git_dir: Path, workers: int, scan: Run | None
) -> Iterator[tuple[FactsKey, bytes]]:
    open_reader = partial(BlobReader, git_dir)
    if scan is None or not is_worth_sharing(missing):
        yield from parse_into_store(missing, open_reader, workers=workers)
        return
    offer = Offer(scan, git_dir, missing)
    yield from parse_into_store(offer.items(), open_reader, workers=workers)
    found = dict(_stored_data((item.blob, item.reading) for item in offer.by_others))
    yield from found.items()
    lost = [item for item in offer.by_others if (item.blob, item.reading) not in found]
    yield from parse_into_store(lost, open_reader, workers=workers)


def parse_into_store(
    todo: Iterable[BlobToParse], open_reader: OpenReader, *, workers: int
) -> Iterator[tuple[FactsKey, bytes]]:
    """Parse these blobs, and put their encoded facts into the store as they come."""
    version, today = facts_version(), timezone.now().date()
    batch: list[BlobFacts] = []
    for item, data in parse_blobs(open_reader, todo, workers=workers):
        batch.append(_row(item, data, version, today, was_read=data != missing_facts(item.reading)))
        if len(batch) >= WRITE_AT_ONCE:
            _write(batch)
        yield (item.blob, item.reading), data
    _write(batch)


def _row(item: BlobToParse, data: bytes, version: str, today: date, *, was_read: bool) -> BlobFacts:
    return BlobFacts(
        blob=item.blob,
        reading=item.reading,
        version=version,
        data=zlib.compress(data, 1),
        used_on=today,
        was_read=was_read,
    )


def _write(batch: list[BlobFacts]) -> None:
    read = [row.blob for row in batch if row.was_read]
    with transaction.atomic():
        BlobFacts.objects.filter(blob__in=read, version=facts_version(), was_read=False).delete()
        # Another run may have parsed the same blob in the meantime; both found the same.
        BlobFacts.objects.bulk_create(batch, ignore_conflicts=True)
    batch.clear()
