"""Foreign names: which are taken as they are, how the others are marked, and what is cut."""

import hashlib

import pytest

from analysis.git.limits import MEBIBYTE, GitLimits
from analysis.git.naming import decode_path, decode_text, is_branch_name, is_hash, is_sane_path


def mark(raw: bytes) -> str:
    return "\ufffd~" + hashlib.sha256(raw).hexdigest()[:24]


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (b"a b/c.py", "a b/c.py"),
        ("héé/ç.py".encode(), "héé/ç.py"),
        (b"caf\xe9.py", f"caf\ufffd{mark(b'caf' + bytes([0xE9]) + b'.py')}.py"),
        (b"src/a\n.py", f"src/a{mark(b'a' + bytes([10]) + b'.py')}.py"),
        (b"a\n", f"a{mark(b'a' + bytes([10]))}"),
        # An extension has at most twelve characters; a name that only ends in a point, or begins with it, has none.
        (b"\n.abcdefghijkl", f".abcdefghijkl{mark(bytes([10]) + b'.abcdefghijkl')}"),
        (b"a\n.abcdefghijkl", f"a{mark(b'a' + bytes([10]) + b'.abcdefghijkl')}.abcdefghijkl"),
        (b"a\n.abcdefghijklm", f"a.abcdefghijklm{mark(b'a' + bytes([10]) + b'.abcdefghijklm')}"),
        (b"x" * 121 + b"\n.py", "x" * 120 + mark(b"x" * 121 + bytes([10]) + b".py") + ".py"),
    ],
    ids=["ascii", "utf8", "latin1", "control", "control-at-the-end", "hidden", "extension", "long-extension", "long"],
)
def test_a_path_keeps_its_text_or_gains_a_mark(raw: bytes, path: str) -> None:
    assert decode_path(raw) == path


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"  a\0\x1b b ", "a b"),
        (b"a\xff", "a\ufffd"),
        (b"x" * 501, "x" * 500),
        ("\U0001f600".encode() * 501, "\U0001f600" * 500),
    ],
    ids=["controls", "invalid", "long", "long-of-four-bytes"],
)
def test_texts_are_cleaned_and_cut(raw: bytes, text: str) -> None:
    assert decode_text(raw) == text


@pytest.mark.parametrize("path", [b"a", b"a/b.py", b"a/..b/c", b".github/x", b"a./b"])
def test_paths_inside_their_tree(path: bytes) -> None:
    assert is_sane_path(path)


@pytest.mark.parametrize("path", [b"", b"/", b"/a", b"a/", b"a//b", b".", b"..", b"a/./b", b"../a", b"a/..", b"a.b/"])
def test_paths_that_would_leave_it(path: bytes) -> None:
    assert not is_sane_path(path)


@pytest.mark.parametrize("name", ["main", "feature/a-b", "v1.0", "a@b", "é", "@a", "HEAD2", "a" * 241])
def test_names_of_branches(name: str) -> None:
    assert is_branch_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("", "-a", "/a", "a/", ".a", "a.", "a..b", "a//b", "a/.b", "a.lock", "a.lock/b", "a@{b", "@", "HEAD"),
        *("a b", "a~1", "a^", "a:b", "a?", "a*", "a[b", "a\\b", "a\x7f", "a\nb", "a" * 242),
    ],
)
def test_names_that_git_refuses(name: str) -> None:
    assert not is_branch_name(name)


def test_a_hash_is_whole() -> None:
    assert is_hash("a1" * 20) and is_hash("a1" * 32)
    assert not any(map(is_hash, ["a1" * 19, "a1" * 20 + "a", "a1" * 33, "A1" * 20, "g" * 40, "a1" * 20 + "\n", ""]))


def test_the_caps_that_every_repository_meets() -> None:
    caps = GitLimits()

    assert (caps.pack_bytes, caps.file_bytes) == (1024 * MEBIBYTE, MEBIBYTE) == (2**30, 2**20)
    assert (caps.tree_entries, caps.path_bytes, caps.tree_depth) == (200_000, 1024, 100)
    assert (caps.commits, caps.refs) == (100_000, 1_000)
    assert (caps.memory_bytes, caps.output_bytes, caps.packs) == (4 * 2**30, 16 * 2**20, 32)
    assert (caps.read_seconds, caps.low_speed_bytes, caps.low_speed_seconds) == (300, 100, 60)
    assert caps.allowed_schemes == {"https"}
    assert not caps.allow_private_addresses
