"""Files that change together, and whose they are."""

from analysis.engine.graph import build_graph
from analysis.engine.history import History
from analysis.engine.metrics.coupling import COUPLING_DAYS, coupling_of
from tests.engine.building import TODAY, FakeChange, FakeCommit, touch
from tests.engine.graph.project import files_of

FILES = {
    "shop/orders.py": ["billing.rates"],
    "shop/client.py": [],
    "billing/rates.py": [],
    "billing/invoices.py": [],
    "tests/test_orders.py": ["shop.orders"],
}


def coupling(*commits):
    graph = build_graph(files_of(FILES))
    return coupling_of(History.of(commits).as_of(TODAY).steps_of(COUPLING_DAYS), graph)


def times(count, *paths, **more):
    return [touch(*paths, **more) for _ in range(count)]


def pairs(found):
    return [(pair.files, pair.together, pair.confidence) for pair in found.pairs]


class TestPairs:
    def test_are_files_that_commits_keep_touching_together(self):
        together = times(4, "shop/orders.py", "billing/invoices.py")
        alone = [*times(6, "shop/orders.py"), touch("billing/invoices.py")]
        assert pairs(coupling(*together, *alone)) == [(("billing/invoices.py", "shop/orders.py"), 4, 0.8)]

    def test_need_three_commits_and_two_fifths_of_the_rarer_file(self):
        assert not pairs(coupling(*times(2, "shop/orders.py", "billing/invoices.py")))
        rare = times(3, "shop/orders.py", "billing/invoices.py")
        others = [*times(5, "shop/orders.py"), *times(5, "billing/invoices.py")]
        assert not pairs(coupling(*rare, *others))

    def test_across_modules_come_before_those_within_one(self):
        within = times(9, "shop/orders.py", "shop/client.py")
        across = times(3, "shop/client.py", "billing/rates.py")
        found = coupling(*within, *across).pairs
        assert [pair.across_modules for pair in found] == [True, False]
        assert found[0].modules == ("billing", "shop")

    def test_know_whether_an_import_explains_them(self):
        explained, surprising = coupling(
            *times(4, "shop/orders.py", "billing/rates.py"), *times(3, "shop/client.py", "billing/invoices.py")
        ).pairs
        assert (explained.imports, surprising.imports) == (True, False)

    def test_leave_out_tests_mass_commits_and_what_is_gone(self):
        many = [f"gone/{number}.py" for number in range(30)]
        assert not pairs(coupling(*times(5, "shop/orders.py", "tests/test_orders.py")))
        assert not pairs(coupling(*times(5, "shop/orders.py", "billing/invoices.py", *many)))
        assert not pairs(coupling(*times(5, "shop/orders.py", "gone/a.py")))

    def test_follow_renames(self):
        old = times(3, "shop/orders.py", "billing/old.py", days_ago=5)
        rename = FakeCommit((FakeChange("R100", "billing/old.py", "billing/rates.py", "x", "x"),), 3)
        assert pairs(coupling(rename, *old)) == [(("billing/rates.py", "shop/orders.py"), 3, 1.0)]

    def test_forget_what_is_older_than_half_a_year(self):
        assert not pairs(
            coupling(touch("shop/client.py"), *times(5, "shop/orders.py", "billing/rates.py", days_ago=181))
        )


class TestOwnership:
    def test_counts_commits_by_author_of_files_and_modules(self):
        found = coupling(*times(3, "shop/orders.py", author="Dana"), touch("shop/client.py", author="Lee"))
        file, module = found.files[0], found.modules[0]
        assert (file.name, file.commits, file.main_author, file.main_author_share) == ("shop/orders.py", 3, "Dana", 1)
        assert (module.name, module.commits, module.main_author, module.main_author_share) == ("shop", 4, "Dana", 0.75)

    def test_counts_one_commit_to_several_files_of_a_module_once(self):
        assert coupling(touch("shop/orders.py", "shop/client.py")).modules[0].commits == 1

    def test_keeps_no_address(self):
        (owner,) = coupling(touch("shop/orders.py", author="dana@example.org")).files
        assert owner.main_author == "dana"
