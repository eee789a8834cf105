"""Trees, blobs, changes and history of well-behaved repositories and of odd ones."""

import os
import signal
import time
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from analysis.git import blobs, patch
from analysis.git.address import PinnedAddress
from analysis.git.blobs import BlobReader
from analysis.git.clone import MirrorResult
from analysis.git.command import Transfer, redact, run_git, stream_git
from analysis.git.errors import DamagedRepository, EmptyRepository, GitError, GitTimedOut, UnknownRevision
from analysis.git.history import Commit, count_commits, daily_commits, mainline, read_history
from analysis.git.limits import GitLimits
from analysis.git.naming import decode_path, decode_text
from analysis.git.records import Records, change_of
from analysis.git.tree import (
    AddedLines,
    Change,
    Tree,
    TreeEntry,
    added_lines,
    changed_entries,
    default_branch,
    files_at,
    has_commit,
    list_tree,
    merge_base,
    resolve,
    tree_hash,
)

DAY = 86_400
NOON = 1_700_049_600  # 2023-11-15 12:00 UTC


def lines(*numbers: int) -> bytes:
    return b"".join(f"line {number}\n".encode() for number in numbers)


def cut_short(origin, blob: str) -> None:
    """Damage an object so that its size can still be told and its content not be read."""
    file = origin.folder / "objects" / blob[:2] / blob[2:]
    file.chmod(0o644)
    file.write_bytes(file.read_bytes()[:50_000])


@pytest.mark.parametrize(
    "kind", [AddedLines, Change, Commit, GitLimits, MirrorResult, PinnedAddress, Transfer, Tree, TreeEntry]
)
def test_what_git_told_cannot_be_changed(kind):
    assert kind.__dataclass_params__.frozen


class TestTree:
    def test_files_with_hash_size_and_mode(self, origin):
        origin.commit({"a.py": b"12345", "sub/b.py": b""})

        entries = list_tree(origin.folder, "main").entries

        assert [(entry.path, entry.size, entry.mode) for entry in entries] == [
            ("a.py", 5, "100644"),
            ("sub/b.py", 0, "100644"),
        ]
        assert entries[0].blob == origin.blob(b"12345")

    def test_links_and_submodules_are_counted_and_left_out(self, origin):
        blob = origin.blob(b"/etc/passwd")
        inner = origin.tree(("100644", b"a.py", blob))
        origin.commit_tree(
            origin.tree(
                *(("40000", b"folder", inner), ("120000", b"link", blob), ("160000", b"module", "1" * 40)),
                ("100755", b"run", blob),
            )
        )

        listed = list_tree(origin.folder, "main")

        paths = [entry.path for entry in listed.entries]
        assert (paths, listed.links, listed.submodules) == (["folder/a.py", "run"], 1, 1)

    def test_odd_names_stay_apart_and_keep_their_extension(self, origin):
        names = [
            b"caf\xe9.py",
            b"caf\xe8.py",
            b"new\nline.py",
            b"newline.py",
            b"tab\t.py",
            "caf\ufffd.py".encode(),
            b"-rf.py",
            b'q".py',
        ]
        origin.commit({os.fsdecode(name): b"1\n" for name in names})

        paths = [entry.path for entry in list_tree(origin.folder, "main").entries]

        assert len(set(paths)) == len(names)
        assert all(path.endswith(".py") and path.isprintable() for path in paths)
        assert {"newline.py", "-rf.py", 'q".py'} <= set(paths)

    def test_entries_above_the_cap_are_noted(self, origin):
        origin.commit({f"{number}.py": b"" for number in range(20)})

        tree = list_tree(origin.folder, "main", limits=GitLimits(tree_entries=10))

        assert (len(tree.entries), tree.cut) == (10, True)
        assert "more than 10 entries" in tree.notes[0]

    def test_a_few_files_are_found_without_a_list_of_all(self, origin):
        blob = origin.blob(b"1\n")
        origin.commit_tree(origin.tree(("100644", b"a.py", blob), ("120000", b"link", blob)))

        assert files_at(origin.folder, "main", ["a.py", "link", "absent"]) == {"a.py": blob}

    @pytest.mark.parametrize(
        ("caps", "path", "is_read"),
        [
            ({"path_bytes": 6}, "ab/cde", True),
            ({"path_bytes": 6}, "ab/cdef", False),
            ({"path_bytes": 6}, "ab/cdefgh", False),
            ({"tree_depth": 3}, "a/b/c", True),
            ({"tree_depth": 3}, "a/b/c/d", False),
            ({"tree_depth": 3}, "a/b/c/d/e", False),
        ],
    )
    def test_paths_of_just_the_longest_length_and_depth(self, origin, caps, path, is_read):
        limits = GitLimits(**caps)
        base = origin.commit({})
        origin.commit({path: b"1\n"}, base)
        read = [path] if is_read else []

        assert [entry.path for entry in list_tree(origin.folder, "main", limits=limits).entries] == read
        assert [change.path for change in changed_entries(origin.folder, base, "main", limits=limits)] == read

    def test_as_many_entries_as_the_cap_are_not_cut(self, origin):
        origin.commit({f"{number}.py": b"" for number in range(10)})

        assert not list_tree(origin.folder, "main", limits=GitLimits(tree_entries=10)).cut

    def test_paths_too_long_or_too_deep_are_noted(self, origin):
        origin.commit({"/".join("d" * 101) + "/a.py": b"", "/".join(["d" * 200] * 6): b"", "fine.py": b""})

        tree = list_tree(origin.folder, "main")

        assert ([entry.path for entry in tree.entries], tree.bad_paths) == (["fine.py"], 2)


class TestResolve:
    def test_branch_tag_hash_and_steps_back(self, origin):
        one = origin.commit({"a.py": b"1\n"})
        two = origin.commit({"a.py": b"2\n"}, one)
        origin.git("tag", "-a", "-m", "x", "v1", one)

        for name, sha in (("main", two), ("HEAD", two), ("v1", one), ("main~1", one), ("main^", one), (two, two)):
            assert resolve(origin.folder, name) == sha

    @pytest.mark.parametrize(
        "name", ["nope", "", "--all", "-h", ":/x", "a b", "main@{1}", "0" * 40, "x\0", "main:a.py", "m" * 300]
    )
    def test_unknown_and_unsafe_names(self, origin, name):
        origin.commit({"a.py": b"1\n"})

        with pytest.raises(UnknownRevision):
            resolve(origin.folder, name)

    def test_a_commit_is_known_by_its_whole_hash_and_alike_ones_by_their_tree(self, origin):
        one = origin.commit({"a.py": b"1\n"})
        two = origin.commit({"a.py": b"2\n"}, one)
        three = origin.commit({"a.py": b"1\n"}, two)

        assert [has_commit(origin.folder, name) for name in (one, "main", one[:12], "0" * 40)] == [True] + [False] * 3
        origin.git("tag", "-a", "-m", "x", "v1", one)
        assert not has_commit(origin.folder, origin.git("rev-parse", "v1").decode().strip())
        assert tree_hash(origin.folder, one) == tree_hash(origin.folder, three) != tree_hash(origin.folder, two)

    def test_an_empty_repository(self, origin):
        for work in (resolve, list_tree, lambda folder, rev: list(read_history(folder, rev))):
            with pytest.raises(EmptyRepository, match="push a first commit"):
                work(origin.folder, "main")
        assert default_branch(origin.folder) is None


class TestChanges:
    def test_added_changed_deleted_and_renamed(self, origin):
        body = lines(*range(30))
        one = origin.commit({"a.py": b"1\n", "b.py": b"2\n", "old.py": body})
        two = origin.commit({"a.py": b"3\n", "c.py": b"4\n", "new.py": body + b"more\n"}, one)

        changes = {change.path: change for change in changed_entries(origin.folder, one, two)}

        assert {path: change.status for path, change in changes.items()} == {
            "a.py": "M",
            "b.py": "D",
            "c.py": "A",
            "new.py": "R",
        }
        assert (changes["new.py"].old_path, changes["new.py"].old_blob) == ("old.py", origin.blob(body))
        assert (changes["b.py"].new_path, changes["c.py"].old_blob) == (None, None)

    def test_a_file_that_becomes_a_link_is_deleted(self, origin):
        blob = origin.blob(b"target")
        one = origin.commit_tree(origin.tree(("100644", b"a", blob)))
        two = origin.commit_tree(origin.tree(("120000", b"a", blob)), one)

        assert [change.status for change in changed_entries(origin.folder, one, two)] == ["D"]

    def test_a_link_that_points_elsewhere_is_no_change_of_a_file(self, origin):
        one, two = (
            origin.commit_tree(origin.tree(("120000", b"a", origin.blob(target)))) for target in (b"here", b"there")
        )
        merged = origin.commit_tree(origin.git("rev-parse", f"{two}^{{tree}}").decode().strip(), one)

        assert changed_entries(origin.folder, one, two) == []
        assert next(read_history(origin.folder, merged)).changes == ()

    def test_merge_base_of_branches_and_of_strangers(self, origin):
        base = origin.commit({"a.py": b"1\n"})
        left = origin.commit({"a.py": b"2\n"}, base)
        right = origin.commit({"b.py": b"1\n"}, base, ref="refs/heads/right")
        stranger = origin.commit({"z.py": b"1\n"}, ref="refs/heads/stranger")

        assert merge_base(origin.folder, left, right) == base
        assert merge_base(origin.folder, left, stranger) is None

    def test_added_lines_of_changed_new_and_oddly_named_files(self, origin):
        one = origin.commit({"a.py": lines(1, 2, 3, 4), "gone.py": lines(1, 2), "less.py": lines(7, 8, 9)})
        two = origin.commit(
            {"a.py": lines(1, 9, 3, 4, 5, 6), "less.py": lines(7, 9), 'q" \té.py': b"x\n", "with space.py": b"y\ny\n"},
            one,
        )

        added = added_lines(origin.folder, one, two)

        assert added.ranges == {
            "a.py": [(2, 1), (5, 2)],
            decode_path('q" \té.py'.encode()): [(1, 1)],
            "with space.py": [(1, 2)],
        }
        assert (added.added, added.deleted) == (6, 4)
        assert sorted(added.per_file.values()) == [1, 1, 2, 2, 4]
        assert (added.per_file["a.py"], added.per_file["gone.py"], added.per_file["less.py"]) == (4, 2, 1)

    def test_content_cannot_pose_as_a_header(self, origin):
        one = origin.commit({"a.py": b"-- old\n" + lines(1, 2, 3)})
        two = origin.commit({"a.py": b"++ b/evil.py\n@@ -1 +1,500 @@\n" + lines(1, 2, 3) + b"last"}, one)

        added = added_lines(origin.folder, one, two)

        assert (added.ranges, added.added, added.deleted) == ({"a.py": [(1, 2), (6, 1)]}, 3, 1)

    def test_the_word_about_a_missing_line_end_is_no_content(self, origin):
        one = origin.commit({"a.py": b"one", "b.py": lines(1, 2)})
        two = origin.commit({"a.py": b"two", "b.py": lines(1, 9)}, one)

        assert added_lines(origin.folder, one, two).ranges == {"a.py": [(1, 1)], "b.py": [(2, 1)]}

    def test_attributes_in_the_repository_hide_nothing(self, origin):
        rules = b"*.py -diff binary filter=x\n"
        one = origin.commit({".gitattributes": rules, "a.py": b"1\n"})
        two = origin.commit({".gitattributes": rules, "a.py": b"1\n2\n"}, one)

        assert added_lines(origin.folder, one, two).ranges == {"a.py": [(2, 1)]}


class TestBlobs:
    def test_present_missing_empty_and_not_a_blob(self, origin):
        sha = origin.commit({"a.py": b"x\0y\n", "b.py": b""})
        with BlobReader(origin.folder) as reader:
            assert reader.read(origin.blob(b"x\0y\n")) == b"x\0y\n"
            assert reader.read(origin.blob(b"")) == b""
            assert reader.read("0" * 40) is None
            assert reader.read(sha) is None

    def test_many_in_order_with_gaps_and_repetitions(self, origin):
        body = {origin.blob(text): text for text in (os.urandom(300_000) for _ in range(10))}
        asked = [*body, "0" * 40] * 40
        with BlobReader(origin.folder) as reader:
            assert list(reader.read_many(asked)) == [(blob, body.get(blob)) for blob in asked]

    def test_a_blob_above_the_limit_reads_as_none_and_the_next_one_is_right(self, origin):
        large, just, small = origin.blob(os.urandom(3_000_000)), origin.blob(b"x" * 9), origin.blob(b"small")
        with BlobReader(origin.folder) as reader:
            assert list(reader.read_many([large, small])) == [(large, None), (small, b"small")]
        for limit, content in ((9, b"x" * 9), (8, None)):
            with BlobReader(origin.folder, limits=GitLimits(file_bytes=limit)) as reader:
                assert reader.read(just) == content

    def test_a_damaged_object_costs_one_file(self, origin):
        good, bad = [origin.blob(f"{number}".encode()) for number in range(20)], origin.blob(b"bad" * 99)
        file = origin.folder / "objects" / bad[:2] / bad[2:]
        file.chmod(0o644)
        file.write_bytes(b"not zlib")
        with BlobReader(origin.folder) as reader:
            read = dict(reader.read_many([*good[:10], bad, *good[10:]]))

        assert read.pop(bad) is None
        assert list(read) == good and None not in read.values()

    def test_an_object_that_ends_git_costs_one_file_too(self, origin):
        good, bad = [origin.blob(f"{number}".encode()) for number in range(20)], origin.blob(os.urandom(90_000))
        cut_short(origin, bad)
        with BlobReader(origin.folder) as reader:
            read = list(reader.read_many([*good[:10], bad, *good[10:], bad]))

        assert [blob for blob, _ in read] == [*good[:10], bad, *good[10:], bad]
        assert {blob for blob, content in read if content is None} == {bad}

    def test_a_git_that_is_killed_in_between_costs_nothing(self, origin):
        content = {origin.blob(one): one for one in (os.urandom(30_000) for _ in range(200))}
        with BlobReader(origin.folder) as reader:
            reading = reader.read_many(content)
            read = dict([next(reading)])
            os.killpg(reader._process._process.pid, signal.SIGKILL)
            read.update(reading)

        assert read == content

    def test_more_damage_than_a_few_files_ends_with_a_sentence(self, origin, monkeypatch):
        monkeypatch.setattr(blobs, "MOST_LOST", 2)
        bad = [origin.blob(os.urandom(90_000)) for _ in range(3)]
        for blob in bad:
            cut_short(origin, blob)
        with BlobReader(origin.folder) as reader:
            assert list(reader.read_many(bad[:2])) == [(blob, None) for blob in bad[:2]]
            with pytest.raises(DamagedRepository):
                reader.read(bad[2])

    @pytest.mark.parametrize("name", ["HEAD:a.py", "", f"{'0' * 40}\n{'1' * 40}", "é"])
    def test_only_a_hash_can_be_asked_for(self, origin, name):
        with BlobReader(origin.folder) as reader, pytest.raises(ValueError, match="by its hash"):
            reader.read(name)

    def test_an_answer_never_goes_to_the_wrong_question(self, origin):
        blobs = [origin.blob(f"{number}".encode()) for number in range(5)]
        with BlobReader(origin.folder) as reader:
            next(reader.read_many(blobs))
            with pytest.raises(RuntimeError, match="not read to its end"):
                reader.read(blobs[4])

    def test_a_forked_child_opens_its_own(self, origin):
        blob = origin.blob(b"x")
        with BlobReader(origin.folder) as reader:
            child = os.fork()
            if not child:
                try:
                    reader.read(blob)
                except RuntimeError:
                    with BlobReader(origin.folder) as own:
                        os._exit(0 if own.read(blob) == b"x" else 1)
                os._exit(2)
            assert os.waitpid(child, 0)[1] == 0
            assert reader.read(blob) == b"x"

    def test_the_deadline(self, origin):
        with BlobReader(origin.folder, deadline=time.monotonic() - 1) as reader, pytest.raises(GitTimedOut):
            reader.read("0" * 40)

    def test_closing_twice_does_no_harm(self, origin):
        with BlobReader(origin.folder) as reader:
            reader.close()


class TestRecords:
    def test_long_ones_are_cut_and_one_that_breaks_off_is_none(self, origin):
        blob = origin.blob(b"a" * 3_000_000 + b"\0b\0broken o")

        with stream_git(origin.folder, "cat-file", "blob", blob) as process:
            assert list(Records(process)) == [b"a" * 65536, b"b"]


class TestHistory:
    def test_newest_first_with_changes_and_renames(self, origin):
        one = origin.commit({"a.py": b"1\n"}, at=NOON)
        two = origin.commit({"b.py": b"1\n"}, one, at=NOON + 60)

        last, first = read_history(origin.folder, "main")

        assert (last.sha, last.parents, first.sha, first.parents) == (two, (one,), one, ())
        assert [(change.status, change.old_path, change.new_path) for change in last.changes] == [("R", "a.py", "b.py")]
        assert (last.authored_at, last.author_email, last.subject) == (
            datetime(2023, 11, 15, 12, 1, tzinfo=UTC), "ada@example.org", "Change",
        )  # fmt: skip

    def test_only_what_is_new_since_a_commit(self, origin):
        one = origin.commit({"a.py": b"1\n"})
        two = origin.commit({"a.py": b"2\n"}, one)

        assert [commit.sha for commit in read_history(origin.folder, "main", since_commit=one)] == [two]
        with pytest.raises(UnknownRevision):
            list(read_history(origin.folder, "main", since_commit="f" * 40))

    def test_a_merge_stays_in_the_list_without_changes_and_children_come_before_parents(self, origin):
        base = origin.commit({"a.py": b"1\n"}, at=NOON + 500)
        left = origin.commit({"a.py": b"2\n"}, base, at=NOON)
        right = origin.commit({"a.py": b"1\n", "b.py": b"1\n"}, base, at=NOON + 900, ref="refs/heads/right")
        merge = origin.commit({"a.py": b"2\n", "b.py": b"1\n"}, left, right, at=NOON + 100)

        commits = list(read_history(origin.folder, "main"))

        assert (commits[0].sha, commits[0].changes, commits[0].parents) == (merge, (), (left, right))
        assert commits[-1].sha == base

    def test_the_cap_on_the_changes_of_one_commit(self, origin):
        origin.commit({f"{number}.py": b"1\n" for number in range(3)})

        (commit,) = read_history(origin.folder, "main", limits=GitLimits(tree_entries=2))

        assert [change.path for change in commit.changes] == ["0.py", "1.py"]

    def test_the_cap_on_commits(self, origin):
        sha = origin.commit({"a.py": b"1\n"})
        for number in range(4):
            sha = origin.commit({"a.py": f"{number}".encode()}, sha)
        few = GitLimits(commits=3)

        assert len(list(read_history(origin.folder, "main", limits=few))) == 3
        assert count_commits(origin.folder, "main", limits=few) == 4

    @pytest.mark.parametrize(
        ("seconds", "time"),
        [
            (b"0", datetime(1970, 1, 1, tzinfo=UTC)),
            (b"1", datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
            (b"253402300799", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
            (b"253402300800", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
            (b"-1", datetime(1970, 1, 1, tzinfo=UTC)),
            (b"soon", datetime(1970, 1, 1, tzinfo=UTC)),
        ],
    )
    def test_times_between_the_epoch_and_the_last_that_is_known(self, origin, seconds, time):
        tree = origin.tree()
        person = b"A <a@b> " + seconds + b" +0000"
        text = f"tree {tree}\nauthor ".encode() + person + b"\ncommitter " + person + b"\n\nChange\n"
        origin.git("update-ref", "refs/heads/main", origin.raw("commit", text))

        (commit,) = read_history(origin.folder, "main")

        assert (commit.authored_at, commit.committed_at) == (time, time)

    @pytest.mark.parametrize(
        "person",
        [b"", b"<>", b"A <a@b> 99999999999999999999 +0000", b"A <a@b> -5 +0000", b"A <a@b> x", b"A <a@b> 1 +9999",
         b"\xff\x01 <\xfe> 1 +0000",
         b"A " * 40_000 + b"<a@b> 1 +0000", b":100644 100644 <0> 1 +0000"],
    )  # fmt: skip
    def test_odd_people_dates_and_subjects_are_read(self, origin, person):
        tree = origin.commit({"a.py": b"1\n"})
        tree = origin.git("rev-parse", f"{tree}^{{tree}}").decode().strip()
        text = f"tree {tree}\nauthor ".encode() + person + b"\ncommitter " + person + b"\n\n\x1b[31m\xff" + b"s" * 9000
        origin.git("update-ref", "refs/heads/main", origin.raw("commit", text))

        (commit,) = read_history(origin.folder, "main")

        assert [change.path for change in commit.changes] == ["a.py"]
        assert commit.subject.isprintable() and len(commit.subject) <= 500 and len(commit.author_name) <= 200
        assert datetime(1970, 1, 1, tzinfo=UTC) <= commit.authored_at

    def test_a_missing_blob_does_not_matter(self, origin):
        one = origin.commit({"a.py": b"1\n"})
        origin.commit({"b.py": b"2\n"}, one)
        blob = origin.blob(b"2\n")
        (origin.folder / "objects" / blob[:2] / blob[2:]).unlink()

        assert len(list(read_history(origin.folder, "main"))) == 2
        assert {change.status for change in changed_entries(origin.folder, one, "main")} == {"A", "D"}
        assert list_tree(origin.folder, "main").missing == 1

    def test_files_whose_content_is_missing_are_left_out_of_the_added_lines(self, origin):
        one = origin.commit({"a.py": b"1\n", 'q"\t*.py': b"gone\n"})
        two = origin.commit({"a.py": b"1\n2\n", 'q"\t*.py': b"lost\n", "qx*.py": b"3\n"}, one)
        for content in (b"gone\n", b"lost\n"):
            blob = origin.blob(content)
            (origin.folder / "objects" / blob[:2] / blob[2:]).unlink()

        added = added_lines(origin.folder, one, two)

        assert added.ranges == {"a.py": [(2, 1)], "qx*.py": [(1, 1)]}
        assert added.left_out == (decode_path(b'q"\t*.py'),)

    @pytest.mark.parametrize(("most", "is_read"), [(1, False), (2, True), (3, True)])
    def test_more_missing_files_than_a_command_can_name_end_with_a_sentence(self, origin, monkeypatch, most, is_read):
        monkeypatch.setattr(patch, "ABSENT_FILES", most)
        one = origin.commit({"a.py": b"1\n", "b.py": b"2\n", "c.py": b"3\n"})
        two = origin.commit({"a.py": b"4\n", "b.py": b"5\n", "c.py": b"6\n"}, one)
        for content in (b"4\n", b"5\n"):
            blob = origin.blob(content)
            (origin.folder / "objects" / blob[:2] / blob[2:]).unlink()

        if is_read:
            assert added_lines(origin.folder, one, two).ranges == {"c.py": [(1, 1)]}
        else:
            with pytest.raises(DamagedRepository):
                added_lines(origin.folder, one, two)

    def test_what_is_damaged_and_not_missing_ends_with_a_sentence(self, origin):
        one = origin.commit({"a.py": b"1\n"})
        body = os.urandom(90_000).hex().encode()
        two = origin.commit({"a.py": body}, one)
        cut_short(origin, origin.blob(body))

        with pytest.raises(DamagedRepository):
            added_lines(origin.folder, one, two)

    def test_a_missing_blob_costs_the_main_line_only_its_renames(self, origin):
        body = lines(*range(30))
        one = origin.commit({"old.py": body})
        two = origin.commit({"new.py": body + b"more\n"}, one)
        changed = origin.blob(body + b"more\n")
        assert [change.status for change in next(mainline(origin.folder, two, most=1)).changes] == ["R"]

        (origin.folder / "objects" / changed[:2] / changed[2:]).unlink()

        found = list(mainline(origin.folder, two, most=5))
        assert [sorted(change.status for change in commit.changes) for commit in found] == [["A", "D"], ["A"]]

    @pytest.mark.parametrize("rest", [[], [b"old.py"]])
    def test_a_list_of_changes_that_breaks_off_is_damaged(self, rest):
        record = b":100644 100644 " + b"1" * 40 + b" " + b"2" * 40 + b" R050"

        with pytest.raises(DamagedRepository):
            change_of(record, iter(rest), GitLimits())


class TestDailyCommits:
    def chain(self, origin, *times: int) -> list[str]:
        shas: list[str] = []
        for number, at in enumerate(times):
            shas.append(origin.commit({"a.py": f"{number}".encode()}, *shas[-1:], at=at))
        return shas

    def test_the_last_of_each_day_oldest_first(self, origin):
        shas = self.chain(origin, NOON, NOON + 60, NOON + DAY, NOON + 3 * DAY)

        found = daily_commits(origin.folder, "main", days=None, today=date(2023, 11, 30))

        assert found == [(date(2023, 11, 15), shas[1]), (date(2023, 11, 16), shas[2]), (date(2023, 11, 18), shas[3])]

    def test_the_window_begins_with_the_state_before_it(self, origin):
        shas = self.chain(origin, NOON, NOON + 5 * DAY, NOON + 9 * DAY)

        found = daily_commits(origin.folder, "main", days=2, today=date(2023, 11, 24))

        assert found == [(date(2023, 11, 20), shas[1]), (date(2023, 11, 24), shas[2])]

    def test_clocks_that_went_wrong_do_not_disturb_the_order(self, origin):
        shas = self.chain(origin, NOON, NOON + 900 * DAY, NOON + 2 * DAY, NOON + 800 * DAY)

        found = daily_commits(origin.folder, "main", days=None, today=date(2023, 11, 20))

        assert found == [(date(2023, 11, 15), shas[0]), (date(2023, 11, 17), shas[2]), (date(2023, 11, 20), shas[3])]

    def test_commits_of_merged_branches_do_not_count(self, origin):
        base = origin.commit({"a.py": b"1\n"}, at=NOON)
        side = origin.commit({"b.py": b"1\n"}, base, at=NOON + DAY, ref="refs/heads/side")
        merge = origin.commit({"a.py": b"1\n", "b.py": b"1\n"}, base, side, at=NOON + 2 * DAY)

        found = daily_commits(origin.folder, "main", days=None, today=date(2023, 11, 20))

        assert [sha for _, sha in found] == [base, merge]


class TestText:
    def test_odd_folders_stay_apart_too(self):
        assert decode_path(b"d\xff/a.py") != decode_path(b"d\xfe/a.py")
        assert decode_path(b"d\xff/a.py").endswith("/a.py")

    def test_a_clean_path_cannot_be_made_to_equal_a_marked_one(self):
        marked = decode_path(b"a\xff.py")

        assert decode_path(marked.encode()) != marked

    def test_direction_marks_go(self):
        assert decode_text("a\u202eb\x00\x1b".encode()) == "ab"

    @pytest.mark.parametrize(
        "text",
        [
            "https://x:tok123@host/a",
            "http.extraHeader=Authorization: Basic tok123",
            "PRIVATE-TOKEN: tok123",
            "got tok123.",
        ],
    )
    def test_redaction(self, text):
        assert "tok123" not in redact(text, ("tok123",) if text.startswith("got") else ())

    def test_an_empty_secret_hides_nothing(self):
        assert redact("nothing to hide", ("",)) == "nothing to hide"

    def test_output_above_the_limit_ends(self, origin):
        origin.commit({f"{number}.py": b"" for number in range(99)})

        with pytest.raises(GitError, match="longer answers"):
            run_git(origin.folder, "ls-tree", "main", limits=replace(GitLimits(), output_bytes=1000))
