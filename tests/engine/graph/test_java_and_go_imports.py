import pytest

from analysis.engine.facts import Class, FileFacts, ImportFlag
from tests.engine.graph.project import edges_of, graph_of, imported

JAVA = "src/main/java"
GO_MOD = "module example.org/shop\n\ngo 1.24\n\nrequire github.com/x/y v1.0.0\n"

JAVA_CASES = {
    "a class": (
        {f"{JAVA}/a/A.java": ["b.B"], f"{JAVA}/b/B.java": []},
        {f"{JAVA}/a/A.java -> {JAVA}/b/B.java"},
    ),
    "a nested class is in the file of the class around it": (
        {f"{JAVA}/a/A.java": ["b.B.Inner.Deep"], f"{JAVA}/b/B.java": []},
        {f"{JAVA}/a/A.java -> {JAVA}/b/B.java"},
    ),
    "a static member is in the file of its class": (
        {f"{JAVA}/a/A.java": [imported("b.B.max", flags=ImportFlag.STATIC)], f"{JAVA}/b/B.java": []},
        {f"{JAVA}/a/A.java -> {JAVA}/b/B.java"},
    ),
    "names beside the package": (
        {f"{JAVA}/a/A.java": [imported("b", "B")], f"{JAVA}/b/B.java": []},
        {f"{JAVA}/a/A.java -> {JAVA}/b/B.java"},
    ),
    "product code does not import test code of the same name": (
        {"m/src/main/java/a/A.java": ["b.B"], "m/src/test/java/b/B.java": [], "n/src/main/java/b/B.java": []},
        {"m/src/main/java/a/A.java -> n/src/main/java/b/B.java"},
    ),
    "a class of two modules is that of the module with a like name": (
        {f"order/{JAVA}/a/A.java": ["b.B"], f"core/{JAVA}/b/B.java": [], f"order-api/{JAVA}/b/B.java": []},
        {f"order/{JAVA}/a/A.java -> order-api/{JAVA}/b/B.java"},
    ),
    "a whole package without a sign of use leads to its first file": (
        {f"{JAVA}/a/A.java": [imported("b", "*")], f"{JAVA}/b/B.java": [], f"{JAVA}/b/C.java": []},
        {f"{JAVA}/a/A.java -> {JAVA}/b/B.java"},
    ),
}


@pytest.mark.parametrize(("files", "edges"), JAVA_CASES.values(), ids=JAVA_CASES.keys())
def test_java_imports_lead_to_files(files, edges):
    assert edges_of(files) == edges


def test_an_import_of_a_whole_package_leads_to_the_classes_that_are_mentioned():
    importer = FileFacts(
        language="java",
        package="a",
        imports=(imported("b.*"),),
        classes=(Class(name="A", line=1, end_line=2, code_lines=2, bases=("Base<C>",)),),
    )
    files = {f"{JAVA}/a/A.java": importer} | {f"{JAVA}/b/{name}.java": [] for name in ("B", "C", "Base")}

    assert edges_of(files) == {f"{JAVA}/a/A.java -> {JAVA}/b/C.java", f"{JAVA}/a/A.java -> {JAVA}/b/Base.java"}


def test_libraries_are_told_by_package_and_generated_classes_are_unresolved():
    files = {f"{JAVA}/org/shop/A.java": ["org.slf4j.Logger", "org.shop.gen.Made"]}
    graph = graph_of(files)

    assert [found.package for found in graph.external[f"{JAVA}/org/shop/A.java"]] == ["org.slf4j"]
    assert [found.target for found in graph.unresolved[f"{JAVA}/org/shop/A.java"]] == ["org.shop.gen.Made"]


def test_a_file_without_a_package_makes_no_library_a_part_of_the_project():
    graph = graph_of({f"{JAVA}/Main.java": ["joptsimple.OptionSpec"]})

    assert [found.package for found in graph.external[f"{JAVA}/Main.java"]] == ["joptsimple"]


GO_CASES = {
    "a package is its face: the file named after it": (
        {"go.mod": GO_MOD, "main.go": ["example.org/shop/cart"], "cart/cart.go": [], "cart/a.go": []},
        {"main.go -> cart/cart.go"},
    ),
    "else doc.go": (
        {"go.mod": GO_MOD, "main.go": ["example.org/shop/cart"], "cart/doc.go": [], "cart/a.go": []},
        {"main.go -> cart/doc.go"},
    ),
    "else the first file that is no test": (
        {"go.mod": GO_MOD, "main.go": ["example.org/shop/cart"], "cart/a_test.go": [], "cart/b.go": []},
        {"main.go -> cart/b.go"},
    ),
    "the root package": (
        {"go.mod": GO_MOD, "shop.go": [], "cmd/x/main.go": ["example.org/shop"]},
        {"cmd/x/main.go -> shop.go"},
    ),
    "a nested module takes its own paths": (
        {
            "go.mod": GO_MOD,
            "tools/go.mod": "module example.org/shop/tools\n",
            "tools/x/x.go": [],
            "a.go": ["example.org/shop/tools/x"],
        },
        {"a.go -> tools/x/x.go"},
    ),
    "replaced by a local folder": (
        {
            "go.mod": "module m\nreplace (\n\tgithub.com/x/y => ./fork // ours\n)\n",
            "fork/go.mod": "module github.com/other/y\n",
            "fork/z/z.go": [],
            "a.go": ["github.com/x/y/z"],
        },
        {"a.go -> fork/z/z.go"},
    ),
    "modules of a workspace": (
        {
            "go.work": "go 1.24\nuse (\n\t./a\n\t./b\n)\n",
            "a/go.mod": "module m/a\n",
            "b/go.mod": "module m/b\n",
            "a/a.go": ["m/b/p"],
            "b/p/p.go": [],
        },
        {"a/a.go -> b/p/p.go"},
    ),
    "vendored packages are outside": (
        {"go.mod": GO_MOD, "a.go": ["github.com/x/y/z"], "vendor/github.com/x/y/z/z.go": []},
        set(),
    ),
}


@pytest.mark.parametrize(("files", "edges"), GO_CASES.values(), ids=GO_CASES.keys())
def test_go_imports_lead_to_packages(files, edges):
    assert edges_of(files) == edges


def test_go_modules_outside_are_told_as_required():
    graph = graph_of({"go.mod": GO_MOD, "a.go": ["fmt", "github.com/x/y/z", "github.com/q/r/s/t"]})

    assert [found.package for found in graph.external["a.go"]] == ["fmt", "github.com/x/y", "github.com/q/r"]
