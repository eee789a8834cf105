"""Clones over real transports: fetched, fetched again, killed, refused and removed."""

import base64
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.git.clone import is_shallow, mirror, open_local, remove_clone
from analysis.git.command import Transfer, run_git, stream_git
from analysis.git.errors import (
    AccessDenied,
    AddressMoved,
    CloneTooLarge,
    CloneUnreachable,
    DamagedAtServer,
    DamagedRepository,
    DiskFull,
    GitError,
    GitKilled,
    GitMissing,
    GitTimedOut,
    NotARepository,
    UnknownRevision,
    failure,
)
from analysis.git.folder import locked, remove_doomed
from analysis.git.history import read_history
from analysis.git.tree import default_branch, list_tree, resolve
from tests.providers.git_http import GitHttpServer

TOKEN = "tok-3f9c1d"
BASIC = "Basic " + base64.b64encode(f"x:{TOKEN}".encode()).decode()


class TestMirror:
    def test_first_makes_the_clone_then_brings_it_up_to_date(self, origin, clone, limits, soon):
        one = origin.commit({"a.py": b"1\n"})
        first = mirror(origin.url, clone, branch=None, limits=limits, deadline=soon)
        two = origin.commit({"a.py": b"2\n"}, one)
        second = mirror(origin.url, clone, branch=None, limits=limits, deadline=soon)

        assert (first.default_branch, first.head_sha, first.created) == ("main", one, True)
        assert (second.head_sha, second.created) == (two, False)
        assert default_branch(clone) == "main"
        assert resolve(clone, "main") == two

    def test_a_branch_that_was_rewritten_is_followed(self, origin, clone, limits, soon):
        origin.commit({"a.py": b"1\n"})
        mirror(origin.url, clone, branch=None, limits=limits, deadline=soon)
        other = origin.commit({"b.py": b"2\n"})

        assert mirror(origin.url, clone, branch=None, limits=limits, deadline=soon).head_sha == other

    def test_pull_requests_come_under_fixed_names_and_absent_ones_are_told(self, origin, clone, limits, soon):
        main = origin.commit({"a.py": b"1\n"})
        pull = origin.commit({"a.py": b"2\n"}, main, ref="refs/pull/7/head")

        refs = ["refs/pull/7/head", "refs/merge-requests/8/head"]
        result = mirror(origin.url, clone, branch="main", limits=limits, deadline=soon, extra_refs=refs)

        assert result.refs == {"refs/heads/main": main, "refs/pull/7/head": pull}
        assert result.missing == ("refs/merge-requests/8/head",)
        assert run_git(clone, "rev-parse", "refs/debt/pull/7").decode().strip() == pull

    @pytest.mark.parametrize("kind", ["blob", "tree"])
    def test_a_pull_request_that_names_no_commit_is_left_out(self, origin, clone, limits, soon, kind):
        main = origin.commit({"a.py": b"1\n"})
        named = {"blob": origin.blob(b"1\n"), "tree": origin.git("rev-parse", "main^{tree}").decode().strip()}
        origin.git("update-ref", "refs/pull/7/head", named[kind])

        result = mirror(origin.url, clone, branch=None, limits=limits, deadline=soon, extra_refs=["refs/pull/7/head"])

        assert result.refs == {"refs/heads/main": main}

    def test_tags_and_other_branches_stay_away(self, origin, clone, limits, soon):
        sha = origin.commit({"a.py": b"1\n"})
        for ref in ("refs/tags/v1", "refs/heads/other", "refs/notes/commits"):
            origin.git("update-ref", ref, sha)

        mirror(origin.url, clone, branch=None, limits=limits, deadline=soon)

        assert run_git(clone, "for-each-ref", "--format=%(refname)") == b"refs/debt/heads/main\n"

    def test_a_branch_may_take_the_place_of_a_folder_of_branches(self, origin, clone, limits, soon):
        sha = origin.commit({"a.py": b"1\n"}, ref="refs/heads/topic/one")
        origin.commit({"a.py": b"1\n"})
        mirror(origin.url, clone, branch="topic/one", limits=limits, deadline=soon)
        origin.git("update-ref", "-d", "refs/heads/topic/one")
        origin.git("update-ref", "refs/heads/topic", sha)

        assert mirror(origin.url, clone, branch="topic", limits=limits, deadline=soon).head_sha == sha

    def test_old_pull_requests_leave_at_the_cap(self, origin, clone, limits, soon):
        sha = origin.commit({"a.py": b"1\n"})
        few = replace(limits, refs=4)
        for number in range(7, 12):
            origin.git("update-ref", f"refs/pull/{number}/head", sha)
            extra = [f"refs/pull/{number}/head"]
            mirror(origin.url, clone, branch=None, limits=few, deadline=soon, extra_refs=extra)

        names = run_git(clone, "for-each-ref", "--format=%(refname)").decode().split()
        assert names == ["refs/debt/heads/main", *(f"refs/debt/pull/{number}" for number in (10, 11, 9))]

    def test_many_small_packs_are_packed_together(self, origin, clone, limits, soon):
        few, sha = replace(limits, packs=3), origin.commit({"a.py": b"0\n"})
        for number in range(6):
            mirror(origin.url, clone, branch=None, limits=few, deadline=soon)
            sha = origin.commit({"a.py": f"{number}\n".encode() * 9}, sha)

        assert len(list(clone.glob("objects/pack/*.pack"))) <= 4
        assert len(list_tree(clone, "main").entries) == 1

    def test_as_many_packs_as_the_cap_are_left_as_they_are(self, origin, clone, limits, soon):
        few = replace(limits, packs=2)
        sha = origin.commit({"a.py": b"1\n"})
        mirror(origin.url, clone, branch=None, limits=few, deadline=soon)
        origin.commit({"a.py": b"2\n"}, sha)
        mirror(origin.url, clone, branch=None, limits=few, deadline=soon)

        assert len(list(clone.glob("objects/pack/*.pack"))) == 2

    def test_large_blobs_stay_at_the_server_and_are_never_fetched_later(self, origin, clone, limits, soon):
        origin.git("config", "uploadpack.allowFilter", "true")
        origin.commit({"small.py": b"1\n", "large.bin": os.urandom(3_000_000)})

        mirror(origin.url, clone, branch=None, limits=limits, deadline=soon)
        tree = list_tree(clone, "main")

        assert {entry.path: entry.size for entry in tree.entries} == {"small.py": 2, "large.bin": -1}
        assert tree.missing == 1
        assert "promisor" not in (clone / "config").read_text()

    def test_a_large_blob_does_not_hinder_the_next_fetch(self, origin, clone, limits, soon):
        origin.git("config", "uploadpack.allowFilter", "true")
        one = origin.commit({"large.bin": os.urandom(2_000_000)})
        mirror(origin.url, clone, branch=None, limits=limits, deadline=soon)
        two = origin.commit({"large.bin": os.urandom(2_000_000), "b.py": b"1\n"}, one)

        assert mirror(origin.url, clone, branch=None, limits=limits, deadline=soon).head_sha == two

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
    def test_a_local_repository_of_another_user(self, origin, clone, limits, soon):
        sha = origin.commit({"a.py": b"1\n"})
        for path in (origin.folder, *origin.folder.rglob("*")):
            os.chown(path, 12_345, 12_345)

        assert mirror(origin.url, clone, branch=None, limits=limits, deadline=soon).head_sha == sha
        with open_local(origin.folder) as folder:
            assert resolve(folder, "main") == sha

    def test_a_shallow_origin_gives_a_shallow_clone(self, origin, make_repository, clone, limits, soon):
        one = origin.commit({"a.py": b"1\n"})
        two = origin.commit({"a.py": b"2\n"}, one)
        cut = make_repository("cut.git")
        cut.git("fetch", "-q", "--depth=1", origin.url, "main:main")

        result = mirror(cut.url, clone, branch=None, limits=limits, deadline=soon)

        assert (result.head_sha, result.shallow, is_shallow(clone)) == (two, True, True)

    def test_a_repository_with_the_longer_hashes_is_read_like_any_other(self, make_repository, clone, limits, soon):
        origin = make_repository("long.git", hashes="sha256")
        shas = [origin.commit({"a.py": b"1\n"})]
        for _ in range(2):
            assert mirror(origin.url, clone, branch=None, limits=limits, deadline=soon).head_sha == shas[-1]
            shas.append(origin.commit({"a.py": b"1\n", "b.py": b"2\n"}, shas[-1]))

        assert len(shas[0]) == 64
        assert [entry.path for entry in list_tree(clone, "main").entries] == ["a.py", "b.py"]
        with open_local(origin.folder) as folder:
            assert resolve(folder, "main") == shas[-1]
            assert [commit.sha for commit in read_history(folder, "main")] == shas[::-1]

    def test_a_head_that_stands_on_a_commit_is_fetched_without_a_branch(self, origin, clone, limits, soon):
        sha = origin.commit({"a.py": b"1\n"}, ref="refs/heads/other")
        origin.git("update-ref", "--no-deref", "HEAD", sha)

        result = mirror(origin.url, clone, branch=None, limits=limits, deadline=soon)

        assert (result.head_sha, result.branch, result.default_branch) == (sha, None, None)

    def test_a_branch_that_only_ends_like_the_wanted_one_is_another(self, origin, clone, limits, soon):
        sha = origin.commit({"a.py": b"1\n"})
        origin.commit({"b.py": b"1\n"}, ref="refs/heads/old/refs/heads/main")

        assert mirror(origin.url, clone, branch="main", limits=limits, deadline=soon).head_sha == sha


class TestBadInput:
    def test_an_empty_repository_has_no_head(self, origin, clone, limits, soon):
        result = mirror(origin.url, clone, branch=None, limits=limits, deadline=soon)

        assert (result.head_sha, result.default_branch) == (None, None)

    def test_the_branch_that_an_empty_repository_lacks_is_no_missing_extra(self, origin, clone, limits, soon):
        result = mirror(origin.url, clone, branch="main", limits=limits, deadline=soon, extra_refs=["refs/pull/1/head"])

        assert (result.head_sha, result.missing) == (None, ("refs/pull/1/head",))

    def test_a_repository_that_was_empty_is_filled_later(self, origin, clone, limits, soon):
        mirror(origin.url, clone, branch=None, limits=limits, deadline=soon)
        sha = origin.commit({"a.py": b"1\n"})

        assert mirror(origin.url, clone, branch=None, limits=limits, deadline=soon).head_sha == sha

    @pytest.mark.parametrize(
        "branch", ["nope", "-x", "a..b", "a b", "a.lock", "@", "HEAD", "a//b", "x:y", "*", "/a", "a/"]
    )
    def test_unknown_and_impossible_branches(self, origin, clone, limits, soon, branch):
        origin.commit({"a.py": b"1\n"})

        with pytest.raises(UnknownRevision) as failure:
            mirror(origin.url, clone, branch=branch, limits=limits, deadline=soon)

        assert failure.value.message.endswith(".")
        assert not clone.exists()

    def test_a_default_branch_without_commits_beside_others(self, origin, clone, limits, soon):
        origin.commit({"a.py": b"1\n"}, ref="refs/heads/other")

        with pytest.raises(UnknownRevision, match="no default branch"):
            mirror(origin.url, clone, branch=None, limits=limits, deadline=soon)

    def test_not_a_repository(self, tmp_path, clone, limits, soon):
        with pytest.raises(NotARepository):
            mirror(f"file://{tmp_path}", clone, branch=None, limits=limits, deadline=soon)

        assert not clone.exists()

    def test_a_pack_above_the_limit(self, origin, clone, limits, soon):
        origin.commit({"a.bin": os.urandom(900_000), "b.bin": os.urandom(900_000)})

        with pytest.raises(CloneTooLarge):
            mirror(origin.url, clone, branch=None, limits=replace(limits, pack_bytes=500_000), deadline=soon)

        assert not clone.exists()

    @pytest.mark.parametrize("ref", ["refs/tags/v1", "refs/notes/commits", "refs/pull/0/head", "main"])
    def test_only_branches_and_pull_requests_are_fetched(self, origin, clone, limits, soon, ref):
        with pytest.raises(UnknownRevision, match="Only branches and pull requests"):
            mirror(origin.url, clone, branch=None, limits=limits, deadline=soon, extra_refs=[ref])

    def test_more_refs_at_once_than_the_limit(self, origin, clone, limits, soon):
        refs = [f"refs/pull/{number}/head" for number in range(1, 4)]
        with pytest.raises(CloneTooLarge, match="More than 2 branches"):
            mirror(origin.url, clone, branch=None, limits=replace(limits, refs=2), deadline=soon, extra_refs=refs)

    def test_a_clone_that_has_no_room_left_for_another_pack(self, origin, clone, limits, soon):
        first = origin.commit({"a": os.urandom(20_000)})
        mirror(origin.url, clone, branch=None, limits=limits, deadline=soon)
        origin.commit({"a": b"more"}, first)

        with pytest.raises(CloneTooLarge):
            mirror(origin.url, clone, branch=None, limits=replace(limits, pack_bytes=20_000), deadline=soon)

    def test_the_index_of_a_pack_counts_too(self, origin, clone, limits, soon):
        origin.commit({f"{number}.py": os.urandom(20) for number in range(300)})
        origin.git("repack", "-adq")
        (pack,) = origin.folder.glob("objects/pack/*.pack")
        tight = replace(limits, pack_bytes=pack.stat().st_size + 4096)

        with pytest.raises(CloneTooLarge):
            mirror(origin.url, clone, branch=None, limits=tight, deadline=soon)

    def test_a_clone_that_another_run_holds_too_long(self, origin, clone, limits, soon):
        with locked(clone, soon):
            (lock,) = clone.parent.glob(".*.lock")
            assert lock.stat().st_mode & 0o777 == 0o600
            began = time.monotonic()
            with pytest.raises(GitTimedOut, match="Another run"):
                mirror(origin.url, clone, branch=None, limits=limits, deadline=began + 0.2)
            assert time.monotonic() >= began + 0.2

    def test_git_holds_the_lock_that_it_works_under(self, origin, tmp_path):
        own = {str(os.getpid())}
        with (tmp_path / "lock").open("w") as lock:
            with stream_git(origin.folder, "cat-file", "--batch", transfer=Transfer(scheme="file")):
                assert _holders(tmp_path / "lock") == own
            with stream_git(origin.folder, "cat-file", "--batch", transfer=Transfer(scheme="file", hold=lock.fileno())):
                _until(lambda: _holders(tmp_path / "lock") > own)

    def test_a_machine_without_git(self, origin, clone, limits, soon, monkeypatch):
        monkeypatch.setenv("PATH", "/nonexistent")
        with pytest.raises(GitMissing):
            mirror(origin.url, clone, branch=None, limits=limits, deadline=soon)

    def test_a_name_with_a_nul_byte(self, origin):
        with pytest.raises(GitError, match="NUL byte"):
            run_git(origin.folder, "rev-parse", "a\0b")

    def test_a_deadline_in_the_past(self, origin, clone, limits):
        origin.commit({"a.py": b"1\n"})

        with pytest.raises(GitTimedOut):
            mirror(origin.url, clone, branch=None, limits=limits, deadline=time.monotonic() - 1)


class TestOverHttp:
    def test_clone_with_credentials_that_stay_out_of_everything_written(self, origin, clone, limits, soon):
        sha = origin.commit({"a.py": b"1\n"})
        with GitHttpServer(origin.folder.parent, authorization=BASIC) as server:
            result = mirror(
                f"{server.url}/origin.git", clone, branch=None, limits=limits, deadline=soon,
                auth_header=f"Authorization: {BASIC}",
            )  # fmt: skip

        assert result.head_sha == sha
        assert set(server.authorizations) == {BASIC}
        written = b"".join(file.read_bytes() for file in clone.rglob("*") if file.is_file())
        assert BASIC.split()[1].encode() not in written

    @pytest.mark.parametrize("header", [None, "Authorization: Basic d3Jvbmc6d3Jvbmc="])
    def test_without_access_the_sentence_says_so_and_shows_no_secret(self, origin, clone, limits, soon, header):
        with (
            GitHttpServer(origin.folder.parent, authorization=BASIC) as server,
            pytest.raises(AccessDenied) as failure,
        ):
            mirror(f"{server.url}/origin.git", clone, branch=None, limits=limits, deadline=soon, auth_header=header)

        assert "d3Jvbmc" not in failure.value.detail + str(failure.value)
        assert not clone.exists()

    def test_a_header_with_a_line_break_is_refused(self, origin, clone, limits, soon):
        with GitHttpServer(origin.folder.parent) as server, pytest.raises(AccessDenied):
            mirror(
                f"{server.url}/origin.git", clone, branch=None, limits=limits, deadline=soon,
                auth_header="Authorization: a\r\nX-Other: b",
            )  # fmt: skip

        assert server.requests == []

    def test_a_redirect_is_not_followed_and_takes_no_credentials_along(self, origin, clone, limits, soon):
        origin.commit({"a.py": b"1\n"})
        with (
            GitHttpServer(origin.folder.parent) as target,
            GitHttpServer(origin.folder.parent, redirect_to=target.url) as server,
            pytest.raises(AddressMoved),
        ):
            mirror(
                f"{server.url}/origin.git", clone, branch=None, limits=limits, deadline=soon,
                auth_header=f"Authorization: {BASIC}",
            )  # fmt: skip

        assert target.requests == []

    def test_an_unknown_path(self, tmp_path, clone, limits, soon):
        with GitHttpServer(tmp_path) as server, pytest.raises(NotARepository):
            mirror(f"{server.url}/nothing.git", clone, branch=None, limits=limits, deadline=soon)

    @pytest.mark.parametrize("page", [b"", b"<html>Welcome</html>", b"{}", b"<html>\nWelcome\n</html>\n"])
    def test_a_server_of_pages_is_no_repository_without_commits(self, tmp_path, clone, limits, soon, page):
        with GitHttpServer(tmp_path, page=page) as server, pytest.raises(NotARepository) as failure:
            mirror(f"{server.url}/a.git", clone, branch=None, limits=limits, deadline=soon)

        assert "address" in failure.value.message
        assert not clone.exists()

    @pytest.mark.parametrize("branch", [None, "main"])
    def test_an_empty_repository_has_no_head(self, origin, clone, limits, soon, branch):
        with GitHttpServer(origin.folder.parent) as server:
            result = mirror(f"{server.url}/origin.git", clone, branch=branch, limits=limits, deadline=soon)

        assert result.head_sha is None

    def test_a_port_where_nobody_listens(self, tmp_path, clone, limits, soon):
        with GitHttpServer(tmp_path) as server:
            url = f"{server.url}/a.git"

        with pytest.raises(CloneUnreachable):
            mirror(url, clone, branch=None, limits=limits, deadline=soon)

    def test_a_server_that_refuses_in_words_of_its_own(self, origin, clone, limits, soon):
        origin.commit({"a.py": b"1\n"})
        with (
            GitHttpServer(origin.folder.parent, refuses_with="come back tomorrow") as server,
            pytest.raises(CloneUnreachable) as failure,
        ):
            mirror(f"{server.url}/origin.git", clone, branch=None, limits=limits, deadline=soon)

        assert "come back tomorrow" in failure.value.detail

    @pytest.mark.parametrize("told", [f"Authorization: {BASIC}", BASIC, BASIC.removeprefix("Basic ")])
    def test_a_server_that_repeats_the_credentials(self, origin, clone, limits, soon, told):
        origin.commit({"a.py": b"1\n"})
        header = f"Authorization: {BASIC}"
        with GitHttpServer(origin.folder.parent, refuses_with=f"not with {told}") as server:
            url = f"{server.url}/origin.git"
            with pytest.raises(CloneUnreachable) as failure:
                mirror(url, clone, branch=None, limits=limits, deadline=soon, auth_header=header)

        assert "not with" in failure.value.detail
        assert BASIC.removeprefix("Basic ") not in failure.value.detail

    def test_one_byte_a_second_is_given_up(self, origin, clone, limits, soon):
        origin.commit({"a.py": b"1\n"})
        slow = replace(limits, low_speed_seconds=1)
        with (
            GitHttpServer(origin.folder.parent, seconds_per_byte=1) as server,
            pytest.raises(CloneUnreachable),
        ):
            mirror(f"{server.url}/origin.git", clone, branch=None, limits=slow, deadline=soon)

        assert not clone.exists()

    def test_a_pack_that_is_still_coming_at_the_deadline(self, origin, clone, limits):
        origin.commit({"a.bin": os.urandom(100_000)})
        with (
            GitHttpServer(origin.folder.parent, seconds_per_byte=0.002) as server,
            pytest.raises(GitTimedOut, match="could not be fetched in time"),
        ):
            mirror(f"{server.url}/origin.git", clone, branch=None, limits=limits, deadline=time.monotonic() + 4)

        assert not clone.exists()

    def test_the_deadline_ends_a_slow_server_and_its_whole_process_group(self, origin, clone, limits):
        origin.commit({"a.py": b"1\n"})
        began = time.monotonic()
        with GitHttpServer(origin.folder.parent, seconds_per_byte=1) as server:
            with pytest.raises(GitTimedOut):
                mirror(f"{server.url}/origin.git", clone, branch=None, limits=limits, deadline=began + 1)
            port = str(server.port)

            assert time.monotonic() - began < 3
            assert _commands_naming(port) == []
        assert not clone.exists()


class TestKilled:
    def test_a_half_clone_is_made_anew(self, origin, clone, limits, soon):
        sha = origin.commit({"a.py": b"1\n"})
        (clone / "objects").mkdir(parents=True)
        (clone / "HEAD").write_text("ref: refs/heads/x\n")

        assert mirror(origin.url, clone, branch=None, limits=limits, deadline=soon).head_sha == sha

    def test_locks_and_packs_of_a_killed_fetch_are_cleared(self, origin, clone, limits, soon):
        one = origin.commit({"a.py": b"1\n"})
        mirror(origin.url, clone, branch=None, limits=limits, deadline=soon)
        for name in (
            "packed-refs.lock",
            "shallow.lock",
            "config.lock",
            "refs/debt/heads/main.lock",
            "objects/pack/tmp_pack_x",
        ):
            (clone / name).write_text("half")
        two = origin.commit({"a.py": b"2\n"}, one)

        assert mirror(origin.url, clone, branch=None, limits=limits, deadline=soon).head_sha == two
        assert not list(clone.rglob("*.lock"))

    def test_a_clone_that_lost_its_objects_is_made_anew(self, origin, clone, limits, soon):
        one = origin.commit({"a.py": b"1\n"})
        mirror(origin.url, clone, branch=None, limits=limits, deadline=soon)
        for pack in clone.glob("objects/pack/*"):
            pack.unlink()
        two = origin.commit({"a.py": b"2\n"}, one)

        assert mirror(origin.url, clone, branch=None, limits=limits, deadline=soon).head_sha == two
        assert len(list_tree(clone, two).entries) == 1

    def test_a_clone_that_git_cannot_read_is_made_anew_once(self, origin, clone, limits, soon):
        sha = origin.commit({"a.py": b"1\n"})
        mirror(origin.url, clone, branch=None, limits=limits, deadline=soon)
        (clone / "packed-refs").write_text("garbage\n")

        assert mirror(origin.url, clone, branch=None, limits=limits, deadline=soon).head_sha == sha
        assert not (clone / "packed-refs").exists()

    def test_a_remote_made_anew_with_other_hashes_is_cloned_anew(self, make_repository, clone, limits, soon):
        made = [make_repository(f"{number}.git", hashes) for number, hashes in enumerate(("sha1", "sha256", "sha1"))]
        heads = [each.commit({"a.py": b"1\n"}) for each in made]

        assert [_head(each.url, clone, limits) for each in made] == heads

    def test_a_remote_that_is_damaged_costs_no_clone(self, origin, clone, limits, soon):
        one = origin.commit({"a.py": os.urandom(5000)})
        mirror(origin.url, clone, branch=None, limits=limits, deadline=soon)
        blob = origin.blob(os.urandom(5000))
        origin.commit_tree(origin.tree(("100644", b"b.py", blob)), one)
        (origin.folder / "objects" / blob[:2] / blob[2:]).unlink()

        with pytest.raises(DamagedAtServer):
            mirror(origin.url, clone, branch=None, limits=limits, deadline=soon)

        assert resolve(clone, "main") == one

    def test_a_git_that_is_killed_leaves_no_transfer_to_wait_for(self, origin, clone, limits, soon):
        origin.commit({"a.py": b"1\n"})
        with GitHttpServer(origin.folder.parent, seconds_per_byte=1) as server, ThreadPoolExecutor(1) as pool:
            url = f"{server.url}/origin.git"
            ended = pool.submit(mirror, url, clone, branch=None, limits=limits, deadline=soon + 60)
            _until(lambda: any(request.startswith("POST") for request in server.requests))
            group = _group_of_git(str(server.port))
            os.kill(group, signal.SIGKILL)

            with pytest.raises(GitKilled):
                ended.result(timeout=10)
            _until(lambda: not _commands_naming(str(server.port)))

    def test_a_broken_clone_that_cannot_be_made_anew_leaves_nothing(self, origin, clone, limits, soon):
        origin.commit({"a.py": os.urandom(20_000)})
        mirror(origin.url, clone, branch=None, limits=limits, deadline=soon)
        (clone / "packed-refs").write_text("garbage\n")

        with pytest.raises(CloneTooLarge):
            mirror(origin.url, clone, branch=None, limits=replace(limits, pack_bytes=10_000), deadline=soon)

        assert not clone.exists()

    def test_a_worker_killed_while_fetching_leaves_no_git_and_no_lock(self, origin, clone, limits, soon):
        sha = origin.commit({"a.py": b"1\n"})
        with GitHttpServer(origin.folder.parent, seconds_per_byte=1) as server:
            code = (
                "import sys, time; from pathlib import Path; from analysis.git.clone import mirror;"
                "from analysis.git.limits import GitLimits;"
                "limits = GitLimits(allowed_schemes=frozenset({'http'}), allow_private_addresses=True);"
                "held = [open('/dev/null') for _ in range(20)];"  # a worker has more open files than ten
                "mirror(sys.argv[1], Path(sys.argv[2]), branch=None, limits=limits, deadline=time.monotonic() + 60)"
            )
            worker = subprocess.Popen([sys.executable, "-c", code, f"{server.url}/origin.git", str(clone)])
            _until(lambda: any(request.startswith("POST") for request in server.requests))
            assert _commands_naming(str(server.port))
            worker.send_signal(signal.SIGKILL)
            worker.wait()

            _until(lambda: not _commands_naming(str(server.port)))
        assert mirror(origin.url, clone, branch=None, limits=limits, deadline=soon).head_sha == sha

    def test_several_processes_at_once_all_succeed(self, origin, clone, limits, soon):
        sha = origin.commit({"a.py": b"1\n"})
        with multiprocessing.get_context("spawn").Pool(4) as pool:
            jobs = [pool.apply_async(_head, (origin.url, clone, limits)) for _ in range(8)]
            heads = [job.get(timeout=40) for job in jobs]
            # Left to end by itself: ended by a signal, a process that keeps its coverage at that moment waits for ever.
            pool.close()
            pool.join()

        assert heads == [sha] * 8


class TestRemove:
    def test_a_tree_deeper_than_the_longest_path(self, tmp_path):
        folder = tmp_path / "deep"
        folder.mkdir()
        here = os.open(folder, os.O_RDONLY)
        for _ in range(3000):
            os.mkdir("d", dir_fd=here)
            below = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(here)

        remove_clone(folder)

        assert list(tmp_path.iterdir()) == []

    def test_a_removal_that_was_killed_is_finished_later(self, tmp_path, monkeypatch):
        doomed = tmp_path / ".shop.git.doomed-7-7"
        (doomed / "objects" / "pack").mkdir(parents=True)

        remove_doomed(tmp_path)
        assert doomed.exists()  # it may be at work

        monkeypatch.setattr("analysis.git.folder.REMOVAL_SECONDS", 0)
        remove_doomed(tmp_path)
        assert not doomed.exists()

    def test_what_links_point_to_stays(self, tmp_path):
        (tmp_path / "keep").mkdir()
        (tmp_path / "keep" / "file").write_text("1")
        (tmp_path / "clone").mkdir()
        (tmp_path / "clone" / "link").symlink_to(tmp_path / "keep")

        remove_clone(tmp_path / "clone")
        remove_clone(tmp_path / "clone")

        assert (tmp_path / "keep" / "file").exists()

    def test_a_clone_that_is_a_link_is_not_followed(self, tmp_path):
        (tmp_path / "keep").mkdir()
        (tmp_path / "clone").symlink_to(tmp_path / "keep")

        with pytest.raises(DamagedRepository, match="is a link"):
            remove_clone(tmp_path / "clone")
        assert (tmp_path / "keep").is_dir()


class TestOpenLocal:
    @pytest.fixture
    def work(self, tmp_path, origin):
        """A work tree with one commit, as a developer has it."""
        origin.commit({"a.py": b"1\n", "sub/b.py": b"2\n"})
        origin.git("clone", "-q", origin.url, str(tmp_path / "work"), inside=False)
        return tmp_path / "work"

    def test_work_tree_folder_in_it_git_directory_bare_and_worktree(self, work, origin, tmp_path):
        origin.git(
            "--git-dir", str(work / ".git"), "worktree", "add", "-q", str(tmp_path / "second"), "-b", "x", inside=False
        )
        for path in (work, work / "sub", work / ".git", origin.folder, tmp_path / "second"):
            with open_local(path) as folder:
                assert {entry.path for entry in list_tree(folder, "HEAD").entries} == {"a.py", "sub/b.py"}
            assert not folder.exists()

    def test_a_file_that_is_called_head_makes_no_repository(self, work):
        (work / "sub" / "HEAD").write_text("ref: refs/heads/main\n")

        with open_local(work / "sub") as folder:
            assert len(list_tree(folder, "HEAD").entries) == 2

    def test_a_shallow_repository_says_so(self, origin, tmp_path):
        one = origin.commit({"a.py": b"1\n"})
        origin.commit({"a.py": b"2\n"}, one)
        origin.git("clone", "-q", "--depth=1", origin.url, str(tmp_path / "cut"), inside=False)

        with open_local(tmp_path / "cut") as folder:
            assert is_shallow(folder)
        (tmp_path / "cut/.git/shallow").write_bytes(b"")
        with open_local(tmp_path / "cut") as folder:
            assert not is_shallow(folder)

    def test_a_partial_clone_fetches_nothing_in_secret(self, origin, tmp_path):
        origin.git("config", "uploadpack.allowFilter", "true")
        origin.commit({"a.py": b"1\n"})
        origin.git("clone", "-q", "--bare", "--filter=blob:none", origin.url, str(tmp_path / "part"), inside=False)

        with open_local(tmp_path / "part") as folder:
            assert list_tree(folder, "HEAD").missing == 1

    def test_the_configuration_of_the_repository_has_no_effect(self, work, tmp_path):
        with (work / ".git" / "config").open("a") as config:
            config.write(f"[log]\nshowSignature = true\n[gpg]\nprogram = touch {tmp_path}/ran\n")
            config.write(f'[core]\nfsmonitor = "touch {tmp_path}/ran"\n')

        with open_local(work) as folder:
            run_git(folder, "log", "HEAD")
            assert b"fsmonitor=touch" not in run_git(folder, "config", "--list")

        assert not (tmp_path / "ran").exists()

    @pytest.mark.parametrize("lost", ["objects", "refs"])
    def test_a_repository_that_lost_half_of_itself(self, work, lost):
        (work / ".git" / lost).rename(work / "elsewhere")

        with pytest.raises(NotARepository), open_local(work):
            pass

    @pytest.mark.parametrize("content", [None, "gitdir: /nonexistent\n", "nonsense", "gitdir: half\n"])
    def test_a_folder_that_is_no_repository(self, tmp_path, content):
        for name in ("objects", "refs"):  # but no HEAD
            (tmp_path / "half" / name).mkdir(parents=True)
        if content:
            (tmp_path / ".git").write_text(content)

        with pytest.raises(NotARepository), open_local(tmp_path):
            pass


def _head(url: str, folder: Path, limits) -> str | None:
    return mirror(url, folder, branch=None, limits=limits, deadline=time.monotonic() + 30).head_sha


def _commands_naming(port: str) -> list[str]:
    """The git processes of this machine that talk to the server on `port`."""
    done = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if f":{port}/" in line and "remote-http" in line]


def _group_of_git(port: str) -> int:
    """The git at the head of those that talk to the server on `port`."""
    done = subprocess.run(["ps", "-eo", "pgid,args"], capture_output=True, text=True, check=True)
    return next(
        int(line.split()[0]) for line in done.stdout.splitlines() if f":{port}/" in line and "remote-http" in line
    )


def _holders(file: Path) -> set[str]:
    """The processes that have a file open."""
    found = set()
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if link.readlink() == file:
                found.add(link.parts[2])
    return found


def _until(holds, seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_every_error_is_one_sentence_that_says_what_to_do():
    kinds = [GitError]
    for kind in kinds:
        kinds += kind.__subclasses__()

    assert all(kind.message.endswith(".") and ";" in kind.message for kind in kinds)


@pytest.mark.parametrize(
    ("status", "words", "kind"),
    [
        (-signal.SIGXFSZ, "", CloneTooLarge),
        (-signal.SIGXCPU, "", GitTimedOut),
        (-signal.SIGKILL, "", GitKilled),
        (-signal.SIGSEGV, "SIGSEGV", DamagedRepository),
        (128, "fatal: Failed to traverse parents of commit 0a", DamagedRepository),
        (128, "error: Could not read 0a", DamagedRepository),
        (-signal.SIGSYS, "SIGSYS", DamagedRepository),
        (128, "fatal: write error: No space left on device\nfatal: index-pack failed", DiskFull),
        (128, "fatal: index-pack failed", DamagedRepository),
        (128, "fatal: something that nobody has heard of", GitError),
    ],
)
def test_how_git_ended_decides_about_the_error(status, words, kind):
    error = failure(status, words)

    assert type(error) is kind
    assert words in error.detail
