"""What a policy says about tables and layers that the repository does not have, and the names that it may use."""

from datetime import date

import pytest

from analysis.engine.evaluate import evaluate
from analysis.engine.extract import extract
from analysis.engine.history import History
from analysis.engine.languages import language_of
from analysis.engine.model import Volume
from analysis.engine.policy import Exemption, Layer, Policy

SHOP = {
    "shop/models.py": "from django.db import models\n\nclass HookTask(models.Model):\n    name = models.TextField()\n",
    "shop/work.py": "def f(cursor):\n    cursor.execute('SELECT a FROM ledger WHERE b = %s', [1])\n",
}
XORM = """package shop

type HookTask struct {
	ID     int64  `gorm:"primaryKey"`
	RepoID int64  `xorm:"INDEX"`
	Owner  int64  `xorm:"UNIQUE(s)"`
	Shop   string `xorm:"varchar(100) notnull pk"`
	Name   string `xorm:"varchar(100) notnull pk"`
	Secret string `xorm:"TEXT"`
	Notes  string `xorm:"-"`
}

func tasks(e Engine, secret string, repo int64) error {
	tasks := make([]*HookTask, 0, 5)
	return e.Where("%s = ?", secret).Desc("id").Find(&tasks)
}
"""


def report(sources, **policy):
    files = {path: extract(text.encode(), language_of(path)) for path, text in sources.items()}
    return evaluate(files=files, history=History.empty(), policy=Policy(**policy), today=date(2026, 1, 1))


@pytest.mark.parametrize("name", ["shop_hooktask", "HookTask", "public.shop_hooktask", "hook_task", "ledger"])
def test_a_table_that_is_known_by_one_of_its_names_needs_no_word(name):
    assert report(SHOP, data_volumes={name: Volume.XL}).notes == ()


def test_a_size_that_no_table_takes_is_told():
    wrong = {f"shop_task{number}": Volume.XL for number in range(6)}
    assert report(SHOP, data_volumes={**wrong, "HookTask": Volume.XL}).notes == (
        "data_volumes: no table or model was found for `shop_task0`, `shop_task1`, `shop_task2`, `shop_task3`, "
        "`shop_task4` and 1 more; nothing is judged by that size",
    )


def test_where_no_table_is_known_at_all_nothing_is_said():
    assert report({"a.py": "a = 1\n"}, data_volumes={"orders": Volume.XL}).notes == ()


def test_a_layer_without_files_is_told():
    layers = (Layer(name="shop", path="shop/**"), Layer(name="api", path="{web,api}/**"))
    assert report(SHOP, layers=layers).notes == ("layers: no file stands in `api`",)


def exception(rule="risk-http-no-timeout", file="shop/**", expires=date(2026, 1, 1)):
    return Exemption(rule=rule, file=file, expires=expires, reason="Old gateway")


def test_an_exception_for_a_rule_that_does_not_exist_is_told():
    excused = (exception(), exception(rule="risk-http-timeout"))
    assert (
        "exceptions: there is no rule `risk-http-timeout`; nothing is excused by that name"
        in report(SHOP, exemptions=excused).notes
    )


@pytest.mark.parametrize("file", ["shop/client.py", "./shop/**", "SHOP/**", "shop\\models.py", "{models,work}.py"])
def test_an_exception_that_matches_no_file_is_told(file):
    excused = (exception(), exception(file="work.py"), exception(file=file))
    assert f"exceptions: no file matches `{file}`; nothing is excused there" in report(SHOP, exemptions=excused).notes


def test_of_an_exception_that_has_expired_only_that_is_told():
    (note,) = report(SHOP, exemptions=(exception("no-rule", "gone.py", date(2025, 12, 31)),)).notes
    assert note.startswith("exception expired: no-rule in gone.py")


@pytest.mark.parametrize(("column", "found"), [("secret", 1), ("repo_id", 0), ("owner", 0), ("shop", 0), ("name", 1)])
def test_xorm_calls_tables_after_their_structs_in_the_singular(column, found):
    findings = report({"shop/task.go": XORM % column}, data_volumes={"hook_task": Volume.XXL}).findings
    told = [(each.table, each.volume) for each in findings if each.rule_id == "perf-unindexed-filter"]
    assert told == [("hook_task", Volume.XXL)] * found
