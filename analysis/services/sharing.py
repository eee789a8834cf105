"""A large scan is parsed by all machines that have nothing better to do.

The scan offers its files in shares: their contents, sealed, in the database, so that a helper needs neither the clone
nor its credentials. A helper stores the facts, as every scan does, and deletes the share. The scan works on from the
other end, and in the end takes back what nobody took or finished: it never depends on anybody, and its report cannot
differ, because facts depend on the content of a file alone.
"""

import base64
import hmac
import time
import uuid
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path

import msgspec
from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.utils import timezone

from analysis.engine.version import facts_version
from analysis.git.blobs import BlobReader
from analysis.models import Run, ScanShare
from analysis.parsing import BlobToParse
from analysis.services import workspaces

SHARES_AT_LEAST = 4
OFFERED = 6  # shares that lie ready at once: what nobody takes was packed in vain
PATIENCE_SECONDS = 2.0  # how long a scan waits for a helper at the end before it does the share itself

_sealing = msgspec.msgpack.Encoder()
_opening = msgspec.msgpack.Decoder(list[tuple[str, str, bytes | None]])


class Offer:
    """The files of one scan, shared out. `items` are those to parse here; what helpers parsed lies in the store."""

    def __init__(self, run: Run, git_dir: Path, todo: Sequence[BlobToParse]) -> None:
        self._run = run
        self._git_dir = git_dir
        self._shares = deque(_cut(todo))
        self._offered: dict[int, list[BlobToParse]] = {}
        self.by_others: list[BlobToParse] = []
        ScanShare.objects.filter(run=run).delete()  # those of an attempt that was lost

    def items(self) -> Iterator[BlobToParse]:
        """What to parse in this process, as long as there is something; offers the rest meanwhile."""
        with BlobReader(self._git_dir) as reader:
            while self._shares:
                self._offer(reader)
                if self._shares:
                    yield from self._shares.popleft()
                self._collect()
        yield from self._taken_back(lease=None)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._offered and time.monotonic() < deadline:
            time.sleep(0.05)
            self._collect()
        yield from self._taken_back()

    def _offer(self, reader: BlobReader) -> None:
        """Lay shares ready, from the far end of the list."""
        ready = ScanShare.objects.filter(run=self._run, lease=None).count()
        for _ in range(min(OFFERED - ready, len(self._shares) - 1)):
            share = self._shares.pop()
            row = ScanShare.objects.create(
                run=self._run,
                workspace=settings.WORKSPACE_ID,
                version=facts_version(),
                sealed=_sealed(share, reader),
            )
            self._offered[row.pk] = share
            workspaces.ask_others_to_help()

    def _collect(self) -> None:
        """Notice the shares that were finished elsewhere."""
        left = set(ScanShare.objects.filter(run=self._run).values_list("pk", flat=True))
        for key in self._offered.keys() - left:
            self.by_others += self._offered.pop(key)

    def _taken_back(self, **condition: None) -> Iterator[BlobToParse]:
        for key in list(self._offered):
            gone, _ = ScanShare.objects.filter(pk=key, **condition).delete()
            if gone:
                yield from self._offered.pop(key)
        self._collect()


def is_worth_sharing(todo: Sequence[BlobToParse]) -> bool:
    """Whether there is much to parse and somebody who may help."""
    size = sum(item.size for item in todo)
    return size >= settings.SHARED_SCAN_BYTES and bool(workspaces.others_present(timezone.now()))


class OtherKey(Exception):
    """The machine that shared this has another SECRET_KEY than ours."""


class Packed:
    """Reads the contents that came with a share."""

    def __init__(self, contents: dict[str, bytes | None]) -> None:
        self._contents = contents

    def read(self, blob: str) -> bytes | None:
        return self._contents[blob]


def take_share() -> ScanShare | None:
    """A share of another machine's scan, ours until we finish or it is taken back; None when there is none."""
    free = ScanShare.objects.filter(lease=None, version=facts_version()).exclude(workspace=settings.WORKSPACE_ID)
    for share in free.order_by("pk")[:OFFERED]:
        lease = uuid.uuid4()
        if ScanShare.objects.filter(pk=share.pk, lease=None).update(lease=lease):
            share.lease = lease
            return share
    return None


def opened(share: ScanShare) -> tuple[list[BlobToParse], "partial[AbstractContextManager[Packed]]"]:
    """The files of a share, and what opens a reader of their contents; OtherKey when another key has sealed it."""
    try:
        files = _opening.decode(zlib.decompress(_safe().decrypt(bytes(share.sealed))))
    except InvalidToken as error:
        raise OtherKey from error
    todo = [BlobToParse(blob, reading, len(content or b"")) for blob, reading, content in files]
    return todo, partial(nullcontext, Packed({blob: content for blob, _, content in files}))


def give_back(share: ScanShare) -> None:
    """Leave a share to others."""
    ScanShare.objects.filter(pk=share.pk, lease=share.lease).update(lease=None)


def finish(share: ScanShare) -> None:
    """The facts of a share are stored: it is done, unless it was taken back."""
    ScanShare.objects.filter(pk=share.pk, lease=share.lease).delete()


def _cut(todo: Sequence[BlobToParse]) -> Iterator[list[BlobToParse]]:
    share: list[BlobToParse] = []
    size = 0
    for item in todo:
        share.append(item)
        size += item.size
        if size >= settings.SHARED_SCAN_BYTES // SHARES_AT_LEAST:
            yield share
            share, size = [], 0
    if share:
        yield share


def _sealed(share: Sequence[BlobToParse], reader: BlobReader) -> bytes:
    files = [(item.blob, item.reading, reader.read(item.blob)) for item in share]
    return _safe().encrypt(zlib.compress(_sealing.encode(files), 1))


def _safe() -> Fernet:
    """A key of its own, derived: the code of repositories is never readable in the database."""
    return Fernet(base64.urlsafe_b64encode(hmac.digest(settings.SECRET_KEY.encode(), b"shares of scans", "sha256")))
