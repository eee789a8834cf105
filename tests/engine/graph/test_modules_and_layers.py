import pytest

from analysis.engine.graph import assign_layers, may_use
from tests.engine.graph.project import graph_of, policy_of

MODULE_CASES = {
    "folders of the only package": (
        {"shop/__init__.py": [], "shop/order/a.py": [], "shop/cart/b.py": [], "shop/urls.py": []},
        {"shop/order/a.py": "order", "shop/cart/b.py": "cart", "shop/urls.py": "shop"},
    ),
    "folders below src": (
        {"src/billing/a.ts": [], "src/orders/b.ts": [], "src/main.ts": []},
        {"src/billing/a.ts": "billing", "src/orders/b.ts": "orders", "src/main.ts": "src"},
    ),
    "folders of each package of a workspace": (
        {
            "packages/ui/package.json": '{"name": "ui"}',
            "packages/ui/src/button/a.ts": [],
            "packages/ui/src/table/a.ts": [],
            "apps/web/package.json": '{"name": "web"}',
            "apps/web/pages/a.ts": [],
            "apps/web/lib/a.ts": [],
        },
        {"packages/ui/src/button/a.ts": "ui/button", "apps/web/pages/a.ts": "web/pages"},
    ),
    "Java packages below the common prefix": (
        {
            "src/main/java/org/shop/order/A.java": [],
            "src/main/java/org/shop/order/inner/B.java": [],
            "src/main/java/org/shop/cart/C.java": [],
        },
        {
            "src/main/java/org/shop/order/A.java": "order",
            "src/main/java/org/shop/order/inner/B.java": "order",
            "src/main/java/org/shop/cart/C.java": "cart",
        },
    ),
    "Go packages": (
        {"go.mod": "module m\n", "main.go": [], "store/db/db.go": [], "store/store.go": []},
        {"main.go": ".", "store/db/db.go": "store/db", "store/store.go": "store"},
    ),
    "a test stands in the module of its folder": (
        {"lib/a/x.js": [], "lib/b/y.js": [], "test/a.js": []},
        {"lib/a/x.js": "a", "test/a.js": "test"},
    ),
}


@pytest.mark.parametrize(("files", "names"), MODULE_CASES.values(), ids=MODULE_CASES.keys())
def test_files_belong_to_modules(files, names):
    modules = graph_of(files).modules

    assert {path: modules[path].name for path in names} == names


def test_every_node_has_a_module():
    graph = graph_of({"a.py": [], "b/c.ts": [], "d/E.java": [], "f/g.go": [], "h/i.tsx": []})

    assert set(graph.modules) == set(graph.nodes)


def test_the_path_of_a_module_is_its_folder():
    graph = graph_of({"src/billing/deep/a.ts": [], "src/orders/b.ts": []})

    assert graph.modules["src/billing/deep/a.ts"].path == "src/billing"


def test_layers_count_from_the_outermost():
    policy = policy_of("api=src/api/**", "domain=src/domain/**")
    places = assign_layers(["src/api/a.py", "src/domain/x/b.py", "manage.py"], policy)

    assert [(place.name, place.height) if place else None for place in places.values()] == [
        ("api", 0),
        ("domain", 1),
        None,
    ]


def test_the_more_specific_glob_wins():
    places = assign_layers(["src/domain/a.py"], policy_of("all=src/**", "domain=src/domain/**"))

    assert places["src/domain/a.py"].name == "domain"


LAYERS = ("web=w/**", "service=s/**", "domain=d/**")
ALLOWED = {
    "": {"ws", "wd", "sd"},
    "relaxed-layered": {"ws", "wd", "sd"},
    "layered": {"ws", "sd"},
    "hexagonal": {"ws", "wd", "sd"},
}


@pytest.mark.parametrize(("architecture", "allowed"), ALLOWED.items())
def test_the_architecture_says_which_layer_may_use_which(architecture, allowed):
    policy = policy_of(*LAYERS, architecture=architecture)
    places = assign_layers(["w/a", "s/a", "d/a"], policy)
    pairs = {
        source + target
        for source in "wsd"
        for target in "wsd"
        if source != target and may_use(places[f"{source}/a"], places[f"{target}/a"], policy)
    }

    assert pairs == allowed


def test_adapters_may_not_use_each_other():
    policy = policy_of("web-adapter=w/**", "db-adapter=d/**", "domain=x/**", architecture="hexagonal")
    places = assign_layers(["w/a", "d/a"], policy)

    assert not may_use(places["w/a"], places["d/a"], policy)


def test_layers_in_a_folder_of_adapters_are_adapters_whatever_they_are_called():
    layers = ("queue=src/adapters/queue/**", "postgres=src/adapters/postgres/**", "application=src/app/**")
    policy = policy_of(*layers, architecture="hexagonal")
    queue, postgres, app = assign_layers(
        ["src/adapters/queue/a", "src/adapters/postgres/a", "src/app/a"], policy
    ).values()

    assert not may_use(queue, postgres, policy)
    assert may_use(queue, app, policy)
    assert may_use(queue, postgres, policy_of(*layers))


def test_files_are_put_into_layers_once_for_all_who_ask():
    policy = policy_of("all=src/**", "domain=src/domain/**")
    assert assign_layers(["src/a.py"], policy) is assign_layers(iter(["src/a.py"]), policy)
