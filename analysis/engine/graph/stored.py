"""The import graph as bytes, so that a state that is judged again need not resolve its imports again."""

import zlib

import msgspec

from analysis.engine.graph.model import ImportGraph

_FAST = 1
_decoder = msgspec.msgpack.Decoder(ImportGraph)


def pack(graph: ImportGraph) -> bytes:
    """The graph in a few bytes an edge."""
    return zlib.compress(msgspec.msgpack.encode(graph), _FAST)


def unpack(data: bytes | memoryview) -> ImportGraph:
    """The graph that was packed. Equal to it in every field."""
    return _decoder.decode(zlib.decompress(data))
