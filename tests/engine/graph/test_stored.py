"""A graph that was packed is the graph."""

from analysis.engine.extract import extract
from analysis.engine.graph import build_graph
from analysis.engine.graph.stored import pack, unpack
from analysis.engine.languages import reading_of

PROJECT = {
    "shop/__init__.py": "",
    "shop/orders.py": "import requests\nfrom shop.users import User\nfrom shop.gone import x\n",
    "shop/users.py": "from shop import orders\nfrom shop import users\n",
    "tests/test_orders.py": "from shop.orders import Order\n",
    "web/package.json": '{"name": "web"}',
    "web/src/index.ts": "export { a } from './a';\n",
    "web/src/a.ts": "export const a = 1;\n",
    "go.mod": "module example.org/shop\n",
    "pay/pay.go": 'package pay\nimport "example.org/shop/rate"\n',
    "rate/rate.go": "package rate\n",
}


def test_a_graph_survives_being_stored():
    graph = build_graph({path: extract(text.encode(), reading_of(path)) for path, text in PROJECT.items()})
    assert graph.cycles
    assert graph.external
    assert graph.unresolved
    assert unpack(pack(graph)) == graph
