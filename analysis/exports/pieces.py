"""Small pieces of an answer, gathered so that each write to the network is worth its cost."""

from collections.abc import Iterable, Iterator

PIECE_BYTES = 64 * 1024


def gathered(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of at least 64 KiB; only the last may be smaller."""
    piece = bytearray()
    for part in parts:
        piece += part
        if len(piece) >= PIECE_BYTES:
            yield bytes(piece)
            piece.clear()
    if piece:
        yield bytes(piece)
