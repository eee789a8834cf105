"""Every cap that a foreign repository meets: sizes, counts, times and where git may connect to."""

from dataclasses import dataclass

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True)
class GitLimits:
    """Plain values. Sizes are bytes, times seconds; a cap that is hit is reported, never silent."""

    allowed_schemes: frozenset[str] = frozenset({"https"})
    """A subset of https, http and file: the transports whose target can be checked and pinned."""
    allowed_hosts: frozenset[str] = frozenset()
    """Lower-case host names, matched whole. Empty: any host."""
    allow_private_addresses: bool = False
    """Lets loopback and private networks in. Link-local (cloud metadata) and multicast stay refused."""

    pack_bytes: int = 1024 * MEBIBYTE
    """The largest pack, and the largest sum of all packs of a clone."""
    memory_bytes: int = 4096 * MEBIBYTE
    """Address space of one git process; packs are mapped, so it stands above `pack_bytes`."""
    output_bytes: int = 16 * MEBIBYTE
    """The most that a captured command may print."""
    file_bytes: int = MEBIBYTE
    """Larger blobs are neither fetched nor read."""
    tree_entries: int = 200_000
    path_bytes: int = 1024
    tree_depth: int = 100
    commits: int = 100_000
    refs: int = 1_000
    packs: int = 32
    """A clone with more packs than this is packed together after a fetch."""

    read_seconds: float = 300.0
    """The end of a local command whose caller names no deadline."""
    low_speed_bytes: int = 100
    low_speed_seconds: int = 60
    """A transfer slower than `low_speed_bytes` a second for this long is given up."""


DEFAULT_LIMITS = GitLimits()
