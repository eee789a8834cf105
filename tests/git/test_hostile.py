"""Repositories made to harm: each ends with a sentence or a result, in bounded memory, and leaves nothing behind."""

import hashlib
import os
import resource
import subprocess
import time
import zlib
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from analysis.git.blobs import BlobReader
from analysis.git.clone import LISTING_BYTES, mirror
from analysis.git.command import Transfer, run_git
from analysis.git.errors import CloneTooLarge, CloneUnreachable, DamagedRepository, GitError, GitTimedOut
from analysis.git.history import read_history
from analysis.git.limits import MEBIBYTE, GitLimits
from analysis.git.tree import list_tree

MEMORY = 1024 * MEBIBYTE


@pytest.fixture
def tight(limits: GitLimits) -> GitLimits:
    return replace(limits, memory_bytes=MEMORY, tree_entries=20_000)


def bomb(origin, leaf: tuple[str, bytes, str] | None) -> str:
    """A tree of 10^10 paths in eleven objects: each level names the next one ten times."""
    level = origin.tree(*([leaf] if leaf else []))
    for _ in range(10):
        level = origin.tree(*(("40000", b"%d" % number, level) for number in range(10)))
    return level


def deep(origin, depth: int) -> str:
    """A tree of one file below `depth` folders, written as loose objects by hand."""
    inner = bytes.fromhex(origin.blob(b"x"))
    body = b"100644 a\0" + inner
    for _ in range(depth):
        content = b"tree %d\0" % len(body) + body
        name = hashlib.sha1(content).hexdigest()
        file = origin.folder / "objects" / name[:2] / name[2:]
        file.parent.mkdir(exist_ok=True)
        if not file.exists():
            file.write_bytes(zlib.compress(content, 1))
        body = b"40000 d\0" + bytes.fromhex(name)
    return origin.raw("tree", body)


class _EndlessList(BaseHTTPRequestHandler):
    """Tells of ever more branches."""

    sent = 0

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/x-git-upload-pack-advertisement")
        self.end_headers()
        line = b"0043" + b"1" * 40 + b" refs/heads/topic-4711\n"
        with suppress(OSError):
            self.wfile.write(b"001e# service=git-upload-pack\n0000")
            while self.wfile.write(line * 10_000):
                type(self).sent += len(line) * 10_000

    def log_message(self, *arguments: object) -> None:
        pass


class TestBombs:
    def test_ten_billion_files_stop_at_the_entry_cap(self, origin, clone, tight, soon):
        origin.commit_tree(bomb(origin, ("100644", b"a.py", origin.blob(b"x"))))
        mirror(origin.url, clone, branch=None, limits=tight, deadline=soon)

        tree = list_tree(clone, "main", limits=tight)

        assert tree.cut and 0 < len(tree.entries) <= tight.tree_entries
        assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 < MEMORY

    def test_ten_billion_empty_folders_stop_there_too(self, origin, clone, tight, soon):
        origin.commit_tree(bomb(origin, None))
        mirror(origin.url, clone, branch=None, limits=tight, deadline=soon)

        tree = list_tree(clone, "main", limits=tight)

        assert (tree.cut, tree.entries) == (True, [])

    def test_folders_count_twice_the_cap_of_files(self, origin, tight):
        few, empty = replace(tight, tree_entries=2), origin.tree()
        for folders, cut in ((4, False), (5, True)):
            origin.commit_tree(origin.tree(*(("40000", b"%d" % number, empty) for number in range(folders))))
            assert list_tree(origin.folder, "main", limits=few).cut is cut

    def test_their_history_ends_with_a_sentence(self, origin, tight):
        origin.commit_tree(bomb(origin, ("100644", b"a.py", origin.blob(b"x"))))
        few = replace(tight, memory_bytes=96 * MEBIBYTE)

        with pytest.raises(DamagedRepository, match="damaged or hostile"):
            list(read_history(origin.folder, "main", limits=few))

    def test_the_deadline_ends_a_history_without_output(self, origin, tight):
        origin.commit_tree(bomb(origin, None))

        with pytest.raises(GitTimedOut):
            list(read_history(origin.folder, "main", limits=tight, deadline=time.monotonic() + 0.5))

    def test_a_large_file_of_zeros_is_never_held(self, origin, clone, tight, soon):
        body = subprocess.run(["head", "-c", str(100 * MEBIBYTE), "/dev/zero"], capture_output=True, check=True).stdout
        zeros = origin.blob(body)
        del body
        origin.commit_tree(origin.tree(("100644", b"zeros.py", zeros), ("100644", b"z.py", origin.blob(b"z"))))
        mirror(origin.url, clone, branch=None, limits=tight, deadline=soon)

        tree = list_tree(clone, "main")
        with BlobReader(clone, limits=replace(tight, memory_bytes=64 * MEBIBYTE)) as reader:
            read = [content for _, content in reader.read_many(entry.blob for entry in tree.entries)]

        assert [entry.size for entry in tree.entries] == [100 * MEBIBYTE, 1]
        assert read == [None, b"z"]


class TestDeepTrees:
    def test_a_list_of_branches_without_end_is_not_held(self, clone, limits, soon):
        with ThreadingHTTPServer(("127.0.0.1", 0), _EndlessList) as server:
            Thread(target=server.serve_forever, daemon=True).start()
            with pytest.raises(DamagedRepository):
                mirror(f"http://127.0.0.1:{server.server_port}/x", clone, branch=None, limits=limits, deadline=soon)
            server.shutdown()

        assert _EndlessList.sent < 1.5 * LISTING_BYTES
        assert not clone.exists()

    def test_ten_thousand_levels_over_the_wire_end_with_a_sentence_or_a_note(self, origin, clone, tight, soon):
        origin.commit_tree(deep(origin, 10_000))

        try:
            mirror(origin.url, clone, branch=None, limits=tight, deadline=soon)
            tree = list_tree(clone, "main", limits=tight)
        except GitError as failure:
            assert isinstance(failure, DamagedRepository)
        else:
            assert (tree.entries, tree.bad_paths) == ([], 1)

    def test_fifty_thousand_levels_end_as_damaged_or_hostile(self, origin, tight):
        origin.commit_tree(deep(origin, 50_000))

        with pytest.raises(DamagedRepository, match="damaged or hostile"):
            list_tree(origin.folder, "main", limits=replace(tight, tree_entries=200_000))

    def test_a_thousand_levels_are_left_out_with_a_note(self, origin, tight):
        origin.commit_tree(deep(origin, 1_000))

        tree = list_tree(origin.folder, "main", limits=tight)

        assert (tree.entries, tree.bad_paths) == ([], 1)


class TestLies:
    def test_names_that_leave_the_tree_or_stand_twice(self, origin, tight):
        blob = origin.blob(b"x")
        names = [b"..", b".", b"../../etc/passwd", b"/etc/passwd", b"a//b", b"fine.py", b"fine.py", b"x/y", b".git"]
        inner = origin.tree(("100644", b"y", blob))
        origin.commit_tree(origin.tree(*(("100644", name, blob) for name in names), ("40000", b"x", inner)))

        tree = list_tree(origin.folder, "main", limits=tight)

        assert sorted(entry.path for entry in tree.entries) == [".git", "fine.py", "x/y"]
        assert tree.bad_paths == 7

    @pytest.mark.parametrize("mode", ["100664", "0", "777", "160000", "40000"])
    def test_modes_that_say_something_else(self, origin, tight, mode):
        origin.commit_tree(origin.tree((mode, b"a.py", origin.blob(b"x")), ("100644", b"b.py", origin.blob(b"y"))))

        try:
            paths = {entry.path for entry in list_tree(origin.folder, "main", limits=tight).entries}
        except DamagedRepository as failure:
            assert failure.message
        else:
            assert "b.py" in paths

    def test_a_commit_whose_tree_is_missing(self, origin, clone, tight, soon):
        blob = origin.commit({"a.py": b"1\n"})
        text = b"tree " + b"1" * 40 + b"\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n"
        lost = origin.raw("commit", text)
        (origin.folder / "refs/heads/main").write_text(f"{lost}\n")

        with pytest.raises(GitError) as failure:
            list_tree(origin.folder, "main", limits=tight)
        assert isinstance(failure.value, DamagedRepository)
        with pytest.raises(GitError):
            mirror(origin.url, clone, branch=None, limits=tight, deadline=soon)
        assert blob and not clone.exists()

    def test_a_broken_pack_of_the_server(self, origin, clone, tight, soon):
        origin.commit({"a.py": os.urandom(5000)})
        origin.git("repack", "-adq")
        (pack,) = origin.folder.glob("objects/pack/*.pack")
        pack.chmod(0o644)
        content = bytearray(pack.read_bytes())
        content[300:2000] = os.urandom(1700)
        pack.write_bytes(content)

        with pytest.raises((DamagedRepository, CloneUnreachable)):
            mirror(origin.url, clone, branch=None, limits=tight, deadline=soon)

        assert not clone.exists()

    def test_a_branch_that_names_a_blob(self, origin, clone, tight, soon):
        (origin.folder / "refs/heads").mkdir(exist_ok=True)
        (origin.folder / "refs/heads/main").write_text(origin.blob(b"x") + "\n")

        with pytest.raises(GitError) as failure:
            mirror(origin.url, clone, branch=None, limits=tight, deadline=soon)
            list_tree(clone, "main", limits=tight)
        assert failure.value.message.endswith(".")

    def test_more_data_than_allowed_over_several_fetches(self, origin, clone, tight, soon):
        small, sha = replace(tight, pack_bytes=3 * MEBIBYTE), origin.commit({"a.bin": os.urandom(900_000)})
        with pytest.raises(CloneTooLarge):
            for _ in range(5):
                mirror(origin.url, clone, branch=None, limits=small, deadline=soon)
                sha = origin.commit({"a.bin": os.urandom(900_000)}, sha)


class TestCodeThatWantsToRun:
    def test_hooks_attributes_alternates_and_submodules_of_the_origin_have_no_effect(
        self, origin, clone, tight, soon, tmp_path
    ):
        mark = tmp_path / "ran"
        origin.commit(
            {
                ".gitattributes": b"* filter=evil diff=evil merge=evil export-subst\n",
                ".gitmodules": b'[submodule "x"]\npath = x\nurl = ext::sh -c touch% '
                + bytes(mark)
                + b"\nupdate = !touch\n",
                ".gitconfig": b"[core]\npager = touch ran\n",
                "a.py": b"$Format:%H$\n",
            }
        )

        # Only now: the origin's own hooks would run for the commit above.
        for hook in ("post-checkout", "post-merge", "reference-transaction", "pre-auto-gc", "post-upload-pack"):
            (origin.folder / "hooks" / hook).write_text(f"#!/bin/sh\ntouch {mark}\n")
            (origin.folder / "hooks" / hook).chmod(0o755)
        with (origin.folder / "config").open("a") as config:
            config.write(f'[uploadpack]\npackObjectsHook = "touch {mark};"\n[core]\nfsmonitor = "touch {mark}"\n')

        mirror(origin.url, clone, branch=None, limits=tight, deadline=soon)
        tree = list_tree(clone, "main")
        with BlobReader(clone) as reader:
            contents = dict(reader.read_many(entry.blob for entry in tree.entries))

        assert b"$Format:%H$\n" in contents.values()
        assert not mark.exists()
        assert not (clone / "hooks").exists() and not (clone / "objects/info/alternates").exists()

    @pytest.mark.parametrize(("scheme", "is_trusted"), [("file", True), ("http", False), ("https", False)])
    def test_only_local_remotes_may_belong_to_others(self, scheme, is_trusted):
        settings = run_git(None, "config", "--list", transfer=Transfer(scheme=scheme))

        assert (b"safe.directory=" in settings) is is_trusted

    def test_the_operators_certificates_are_all_that_git_learns_of_the_outside(self, monkeypatch):
        monkeypatch.setenv("GIT_SSL_CAINFO", "/etc/ours.pem")
        monkeypatch.setenv("SECRET_KEY", "hunter2")

        seen = run_git(None, "-c", "alias.outside=!env", "outside").decode()

        assert "GIT_SSL_CAINFO=/etc/ours.pem" in seen.splitlines()
        assert "hunter2" not in seen

    def test_the_callers_environment_does_not_reach_git(self, origin, clone, tight, soon, monkeypatch, tmp_path):
        sha = origin.commit({"a.py": b"1\n"})
        (tmp_path / ".gitconfig").write_text(f"[core]\nhooksPath = {tmp_path}\n[nonsense")
        for name, value in {
            "HOME": str(tmp_path),
            "GIT_DIR": "/nonexistent",
            "GIT_OBJECT_DIRECTORY": "/nonexistent",
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(tmp_path),
            "GIT_TRACE": str(tmp_path / "trace"),
            "GIT_EXTERNAL_DIFF": "touch ran",
            "http_proxy": "http://127.0.0.1:9",
            "LC_ALL": "de_DE.UTF-8",
        }.items():
            monkeypatch.setenv(name, value)

        assert mirror(origin.url, clone, branch=None, limits=tight, deadline=soon).head_sha == sha
        assert not (tmp_path / "trace").exists()
