import pytest

from analysis.engine.extract import extract
from tests.engine.graph.project import edges_of, graph_of, imported

CASES = {
    "absolute import of a module": (
        {"shop/__init__.py": [], "shop/cart.py": ["shop.order"], "shop/order.py": []},
        {"shop/cart.py -> shop/order.py"},
    ),
    "a name taken from a package comes from its __init__": (
        {"shop/__init__.py": [], "app.py": [imported("shop", "Cart")]},
        {"app.py -> shop/__init__.py"},
    ),
    "a submodule taken from a package is the submodule": (
        {"shop/__init__.py": [], "shop/cart.py": [], "app.py": [imported("shop", "cart")]},
        {"app.py -> shop/cart.py"},
    ),
    "a name that the package binds hides the submodule of that name": (
        {
            "shop/__init__.py": [imported("cart", "cart", level=1)],
            "shop/cart.py": [],
            "app.py": [imported("shop", "cart")],
        },
        {"shop/__init__.py -> shop/cart.py", "app.py -> shop/__init__.py"},
    ),
    "one dot is the own package": (
        {"shop/__init__.py": [], "shop/cart.py": [imported("order", "Order", level=1)], "shop/order.py": []},
        {"shop/cart.py -> shop/order.py"},
    ),
    "two dots are the package around": (
        {"a/__init__.py": [], "a/b/__init__.py": [], "a/b/c.py": [imported("d", "x", level=2)], "a/d.py": []},
        {"a/b/c.py -> a/d.py"},
    ),
    "a dot alone with a submodule": (
        {"a/__init__.py": [], "a/b.py": [imported("", "c", level=1)], "a/c.py": []},
        {"a/b.py -> a/c.py"},
    ),
    "src layout": (
        {"src/shop/__init__.py": [], "src/shop/a.py": [], "tests/test_a.py": ["shop.a"]},
        {"tests/test_a.py -> src/shop/a.py"},
    ),
    "namespace packages have no __init__": (
        {"pyproject.toml": '[project]\nname = "x"\n', "src/org/a/m.py": [imported("org.b", "n")], "src/org/b/n.py": []},
        {"src/org/a/m.py -> src/org/b/n.py"},
    ),
    "two services with the same package names stay apart": (
        {
            f"{service}/{path}": content
            for service in ("one", "two")
            for path, content in {"app/__init__.py": [], "app/a.py": ["app.b"], "app/b.py": []}.items()
        },
        {"one/app/a.py -> one/app/b.py", "two/app/a.py -> two/app/b.py"},
    ),
    "a root named by the build tool": (
        {
            "pyproject.toml": '[tool.setuptools.package-dir]\n"" = "code"\n',
            "code/x.py": [],
            "other/y.py": ["x"],
        },
        {"other/y.py -> code/x.py"},
    ),
    "the standard library is never a file of the project": (
        {"pkg/logging.py": [], "pkg/a.py": ["logging"]},
        set(),
    ),
    "a folder called like a library is not the library": (
        {"docs/django/example.py": [], "docs/other.py": [imported("django.db", "models")]},
        set(),
    ),
}


@pytest.mark.parametrize(("files", "edges"), CASES.values(), ids=CASES.keys())
def test_imports_lead_to_files(files, edges):
    assert edges_of(files) == edges


@pytest.mark.parametrize(
    "statement", [imported("", "b", "c", level=1), imported("a", "b", "c")], ids=["from .", "by name"]
)
def test_a_package_that_imports_its_own_modules_does_not_import_itself(statement):
    graph = graph_of({"a/__init__.py": [statement], "a/b.py": []})

    assert [(edge.source, edge.target) for edge in graph.edges] == [("a/__init__.py", "a/b.py")]
    assert graph.self_imports == ()


def test_third_party_and_standard_library_imports_are_told_with_package_and_line():
    graph = graph_of({"a.py": [imported("django.db", "models", line=3), imported("os.path", line=4)]})

    assert [(found.package, found.line) for found in graph.external["a.py"]] == [("django", 3), ("os", 4)]


def test_an_import_into_the_project_that_leads_nowhere_is_unresolved():
    graph = graph_of({"a/__init__.py": [], "a/b.py": [imported("a.gone", "x"), imported("lost", "y", level=1)]})

    assert [found.target for found in graph.unresolved["a/b.py"]] == ["a.gone", "lost"]


def test_real_sources_with_type_checking_and_deferred_imports():
    source = b"""
from typing import TYPE_CHECKING

from shop.cart import Cart
if TYPE_CHECKING:
    from shop.order import Order

def late():
    from shop import stock
"""
    names = ("cart", "order", "stock")
    files = {f"shop/{name}.py": [] for name in names} | {"shop/__init__.py": []}
    graph = graph_of(files | {"app.py": extract(source, "python")})

    edges = {edge.target: (edge.line, edge.runtime, edge.deferred) for edge in graph.edges}
    assert edges == {
        "shop/cart.py": (4, True, False),
        "shop/order.py": (6, False, False),
        "shop/stock.py": (9, True, True),
    }


def test_several_imports_of_one_file_are_one_edge_with_the_weightiest_line():
    graph = graph_of({"a.py": [imported("b", "x", line=9), imported("b", "y", line=2, flags=2)], "b.py": []})

    (edge,) = graph.edges
    assert (edge.line, edge.deferred, edge.names) == (9, False, ("x",))


def test_no_file_means_itself_where_another_root_has_a_module_of_its_name():
    files = {
        "api/manage.py": [],
        "api/core/__init__.py": [],
        "api/core/models.py": [],
        "api/features/pipelines/core/__init__.py": [],
        "api/features/pipelines/core/models.py": ["core.models"],
        "api/pyproject.toml": "",
    }
    assert edges_of(files) == {"api/features/pipelines/core/models.py -> api/core/models.py"}
