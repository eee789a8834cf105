"""Churn: commits of 90 days per file, through renames, without merges and mass commits."""

from datetime import timedelta

from analysis.engine.history import History
from analysis.engine.metrics.churn import main_author_share
from tests.engine.building import TODAY, FakeChange, FakeCommit, touch


def renamed(old, new, *, days_ago, same=True):
    return FakeCommit((FakeChange("R100", old, new, "x", "x" if same else "y"),), days_ago)


def moved_without_detection(old, new, *, days_ago):
    return FakeCommit((FakeChange("D", old, None, "x", None), FakeChange("A", None, new, None, "x")), days_ago)


def history(*commits):
    return History.of(commits).as_of(TODAY)


class TestChurn:
    def test_counts_commits_that_touch_a_file(self):
        known = history(touch("a.py", "b.py"), touch("a.py", days_ago=2))
        assert (known.churn("a.py"), known.churn("b.py"), known.churn("c.py")) == (2, 1, 0)

    def test_the_window_is_90_days(self):
        known = history(touch("a.py", days_ago=0), touch("a.py", days_ago=89), touch("a.py", days_ago=90))
        assert known.churn("a.py") == 2
        assert known.commit_count == 2

    def test_follows_a_rename(self):
        known = history(touch("new.py"), renamed("old.py", "new.py", days_ago=2), touch("old.py", days_ago=3))
        assert known.churn("new.py") == 2
        assert known.churn("old.py") == 0

    def test_follows_a_move_that_git_tells_as_deletion_and_addition(self):
        known = history(moved_without_detection("old.py", "new.py", days_ago=2), touch("old.py", days_ago=3))
        assert known.churn("new.py") == 1

    def test_a_rename_with_changes_is_a_touch(self):
        assert history(renamed("old.py", "new.py", days_ago=1, same=False)).churn("new.py") == 1

    def test_a_new_file_under_an_old_name_starts_anew(self):
        created = FakeCommit((FakeChange("A", None, "old.py", None, "z"),), 1)
        known = history(created, renamed("old.py", "new.py", days_ago=2), touch("old.py", days_ago=3))
        assert (known.churn("old.py"), known.churn("new.py")) == (1, 1)

    def test_merges_do_not_count(self):
        merge = FakeCommit((FakeChange("M", "a.py", "a.py"),), 1, parents=("p", "q"))
        assert history(merge).churn("a.py") == 0
        assert history(merge).commit_count == 0

    def test_mass_commits_do_not_count_but_their_renames_are_followed(self):
        mass = FakeCommit(
            (
                *(FakeChange("M", f"f{index}", f"f{index}") for index in range(100)),
                FakeChange("R100", "old.py", "new.py", "x", "x"),
            ),
            2,
        )
        known = history(touch("new.py"), mass, touch("old.py", days_ago=3))
        assert known.churn("f1") == 0
        assert known.churn("new.py") == 2

    def test_a_hundred_files_are_no_mass_commit(self):
        assert history(touch(*(f"f{index}" for index in range(100)))).churn("f1") == 1

    def test_a_deletion_is_no_touch_of_a_living_file(self):
        deleted = FakeCommit((FakeChange("D", "a.py", None, "x", None),), 1)
        assert history(deleted).churn("a.py") == 0

    def test_knows_the_authors(self):
        known = history(touch("a.py"), touch("a.py"), touch("a.py", author="Bo"))
        assert known.authors("a.py") == {"Ada": 2, "Bo": 1}
        assert main_author_share(known.authors("a.py")) == 2 / 3
        assert main_author_share(known.authors("b.py")) == 0


class TestViews:
    def test_nothing_is_known_of_an_empty_history(self):
        assert History.empty().churn("a.py") == 0
        assert History.empty().commit_count == 0

    def test_a_past_day_does_not_know_the_future(self):
        known = History.of([touch("new.py"), renamed("a.py", "new.py", days_ago=5), touch("a.py", days_ago=9)])
        past = known.as_of(TODAY - timedelta(days=7))
        assert (past.churn("a.py"), past.churn("new.py")) == (1, 0)

    def test_an_old_day_sees_its_own_window(self):
        known = History.of([touch("a.py"), touch("a.py", days_ago=200)])
        assert known.as_of(TODAY - timedelta(days=150)).churn("a.py") == 1

    def test_a_continued_history_is_the_same_as_one_read_at_once(self):
        commits = [touch("b.py"), renamed("a.py", "b.py", days_ago=2), touch("a.py", days_ago=3)]
        assert History.of(commits[2:]).continued(commits[:2]) == History.of(commits)

    def test_a_commit_from_the_future_waits_for_its_day(self):
        known = History.of([touch("a.py", days_ago=-500), touch("a.py", days_ago=3)])
        assert known.as_of(TODAY).churn("a.py") == 1


class TestUntouched:
    def test_a_file_that_a_commit_wrote_to_is_touched_for_so_many_days(self):
        known = history(touch("a.py", days_ago=50), touch("b.py"))
        assert not known.is_untouched("a.py", 180)
        assert known.is_untouched("a.py", 40)

    def test_a_file_that_was_moved_as_it_is_is_as_old_as_before(self):
        known = history(renamed("old.py", "new.py", days_ago=2), touch("a.py", days_ago=3))
        assert known.is_untouched("new.py", 180)

    def test_a_touched_file_stays_touched_when_it_moves(self):
        known = history(renamed("old.py", "new.py", days_ago=2), touch("old.py", days_ago=3))
        assert not known.is_untouched("new.py", 180)
        assert known.is_untouched("old.py", 180)


class TestChangesThatAreNoCommitsYet:
    def test_a_renamed_file_keeps_its_churn_and_its_age(self):
        known = History.of([touch("old.py"), touch("old.py", author="Bo")])
        changes = (
            FakeChange("R100", "old.py", "new.py", "x", "x"),
            FakeChange("R100", "quiet.py", "calm.py", "y", "y"),
        )

        after = known.changed(changes, TODAY).as_of(TODAY)

        assert (after.churn("new.py"), after.churn("old.py"), after.authors("new.py")) == (2, 0, {"Ada": 1, "Bo": 1})
        assert (after.is_untouched("new.py", 180), after.is_untouched("calm.py", 180)) == (False, True)

    def test_what_is_written_counts_as_touched_and_as_no_churn(self):
        known = History.of([touch("a.py", days_ago=200), touch("b.py")])
        changes = (FakeChange("A", None, "new.py", None, "x"), FakeChange("M", "a.py", "a.py", "y", "z"))

        after = known.changed(changes, TODAY).as_of(TODAY)

        assert (after.is_untouched("new.py", 180), after.is_untouched("a.py", 180)) == (False, False)
        assert (after.churn("new.py"), after.churn("b.py"), after.commit_count) == (0, 1, 1)

    def test_files_that_bore_other_names_may_have_changed_places(self):
        known = History.of([touch("one.py"), touch("two.py"), touch("two.py")])

        before = known.renamed({"one.py": "two.py", "two.py": "one.py"}, TODAY).as_of(TODAY)

        assert (before.churn("one.py"), before.churn("two.py")) == (2, 1)
