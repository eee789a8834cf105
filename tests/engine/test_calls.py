"""Calls of what an interface only declares, and of what an index passes on."""

import pytest

from analysis.engine.calls import Callee, CallGraph
from analysis.engine.extract import extract
from analysis.engine.graph import build_graph
from analysis.engine.languages import reading_of

PORT = "package a.port;\n\npublic interface OrderDao {\n  Order find(Long id);\n}\n"
STORE = """package a.store;

import a.port.OrderDao;

public class JpaOrderDao implements OrderDao {
  public Order find(Long id) {
    return orders.findOne(id);
  }
}
"""
SERVICE = """package a.service;

import a.port.OrderDao;

public class Orders {
  private OrderDao orderDao;

  public Order get(Long id) {
    return orderDao.find(id);
  }
}
"""
FILES = {"src/a/port/OrderDao.java": PORT, "src/a/store/JpaOrderDao.java": STORE, "src/a/service/Orders.java": SERVICE}


def facts(text):
    return extract(text.encode(), "java")


def targets(calls):
    return calls.callees(Callee("src/a/service/Orders.java", 1))


def test_a_call_of_an_interface_means_the_class_that_implements_it():
    files = {path: facts(text) for path, text in FILES.items()}
    assert targets(CallGraph(files, build_graph(files))) == (Callee("src/a/store/JpaOrderDao.java", 1),)


def test_without_one_it_means_the_declaration():
    files = {path: facts(text) for path, text in FILES.items() if "store" not in path}
    assert targets(CallGraph(files, build_graph(files))) == (Callee("src/a/port/OrderDao.java", 1),)


def test_with_too_many_it_means_nothing():
    files = {path: facts(text) for path, text in FILES.items()}
    for number in range(5):
        text = STORE.replace("JpaOrderDao", f"OtherDao{number}")
        files[f"src/a/store/OtherDao{number}.java"] = facts(text)
    assert targets(CallGraph(files, build_graph(files))) == ()


def test_a_class_that_begins_to_implement_it_is_seen_by_callers_that_did_not_change():
    before = {path: facts(text) for path, text in FILES.items()}
    before["src/a/store/JpaOrderDao.java"] = facts(STORE.replace("find(", "seek("))
    first = CallGraph(before, build_graph(before))
    assert targets(first) == (Callee("src/a/port/OrderDao.java", 1),)
    after = {**before, "src/a/store/JpaOrderDao.java": facts(STORE)}
    assert targets(CallGraph(after, build_graph(after), first)) == (Callee("src/a/store/JpaOrderDao.java", 1),)


CLIENT = (
    "package a.remote;\n\npublic class Remote {\n  public String find(Long id) {\n    return http.get(id);\n  }\n}\n"
)
ROWS = """package a.port;

import org.springframework.data.jpa.repository.JpaRepository;

public interface OrderDao extends JpaRepository<Order, Long> {
}
"""
BOTH = SERVICE.replace("import", "import a.remote.Remote;\nimport", 1)


def test_an_object_called_after_its_class_has_the_methods_of_no_other_class():
    files = {
        "src/a/port/OrderDao.java": facts(ROWS),
        "src/a/remote/Remote.java": facts(CLIENT),
        "src/a/service/Orders.java": facts(BOTH),
    }
    assert targets(CallGraph(files, build_graph(files))) == ()


def test_of_an_object_whose_class_has_a_base_in_the_project_any_class_may_be_meant():
    files = {
        "src/a/port/OrderDao.java": facts(ROWS.replace("org.springframework.data.jpa.repository.", "a.port.base.")),
        "src/a/remote/Remote.java": facts(CLIENT),
        "src/a/service/Orders.java": facts(BOTH),
    }
    assert targets(CallGraph(files, build_graph(files))) == (Callee("src/a/remote/Remote.java", 1),)


INDEX = "export * from './orders';\nexport { log } from './log';\n"
CALLER = "import { find } from '../dal';\n\nexport async function show(id) {\n  return await find(id);\n}\n"
HELD = "export async function find(id) {\n  return await load(id);\n}\n"
PACKAGE = {
    "src/dal/index.ts": INDEX,
    "src/dal/orders/index.ts": "export * from './orders';\n",
    "src/dal/orders/orders.ts": HELD,
    "src/dal/log.ts": "export function log(find) {\n  return find;\n}\n",
    "src/dal/users.ts": HELD,
    "src/api/show.ts": CALLER,
}


def shown(files, before=None):
    read = {path: extract(text.encode(), "typescript") for path, text in files.items()}
    calls = CallGraph(read, build_graph(read), before)
    return calls, calls.callees(Callee("src/api/show.ts", 1))


def test_a_name_is_looked_for_behind_the_files_that_only_pass_it_on():
    assert shown(PACKAGE)[1] == (Callee("src/dal/orders/orders.ts", 1),)


def test_what_is_imported_directly_too_is_meant_once():
    both = "import * as orders from '../dal/orders/orders';\n" + CALLER
    assert shown({**PACKAGE, "src/api/show.ts": both})[1] == (Callee("src/dal/orders/orders.ts", 1),)


def test_a_function_that_an_index_does_not_pass_on_is_not_meant():
    assert shown({**PACKAGE, "src/dal/index.ts": "export { log } from './log';\n"})[1] == ()


def test_a_function_that_appears_behind_an_index_is_seen_by_callers_that_did_not_change():
    first, found = shown({**PACKAGE, "src/dal/orders/orders.ts": HELD.replace("find", "seek")})
    assert found == ()
    assert shown(PACKAGE, first)[1] == (Callee("src/dal/orders/orders.ts", 1),)


@pytest.mark.parametrize(
    ("held", "count"),
    [("OrderService service", 1), ("OrderService orders", 1), ("Clock clock", 0), ("Clock orders", 0)],
)
def test_an_object_is_of_the_class_that_its_field_declares(held, count):
    name = held.split()[1]
    files = {
        "src/shop/OrderService.java": "package shop;\nclass OrderService { void place() { keep(); } }",
        "src/shop/Orders.java": (
            f"package shop;\nclass Orders {{ private final {held}; void add() {{ {name}.place(); }} }}"
        ),
    }
    read = {path: extract(text.encode(), "java") for path, text in files.items()}
    found = CallGraph(read, build_graph(read)).callees(Callee("src/shop/Orders.java", 1))
    assert [each.path for each in found] == ["src/shop/OrderService.java"] * count


def test_a_struct_of_the_package_that_a_field_is_called_after():
    files = {
        "shop/store.go": "package shop\n\ntype Store struct{}\n\nfunc (s *Store) Place() { keep() }\n",
        "shop/web.go": "package shop\n\ntype Web struct{ store *Store }\n\nfunc (w *Web) add() { w.store.Place() }\n",
    }
    read = {path: extract(text.encode(), "go") for path, text in files.items()}
    assert CallGraph(read, build_graph(read)).callees(Callee("shop/web.go", 1)) == (Callee("shop/store.go", 1),)


@pytest.mark.parametrize(("held", "found"), [("*till.Desk", ("till/desk.go",)), ("*till.Bell", ()), ("Desk", ())])
def test_a_field_of_a_struct_whose_package_only_a_neighbour_imports(held, found):
    files = {
        "go.mod": "module example.org/shop\n",
        "till/desk.go": "package till\n\ntype Desk struct{}\n\nfunc (d *Desk) Place() { keep() }\n",
        "web/server.go": f'package web\n\nimport "example.org/shop/till"\n\ntype Server struct {{\n\tout {held}\n}}\n',
        "web/add.go": "package web\n\nfunc (s *Server) add() { s.out.Place() }\n",
    }
    read = {path: extract(text.encode(), reading_of(path)) for path, text in files.items()}
    called = CallGraph(read, build_graph(read)).callees(Callee("web/add.go", 1))
    assert tuple(each.path for each in called) == found


def test_what_a_neighbour_of_the_caller_imports_may_change():
    files = {
        "go.mod": "module example.org/shop\n",
        "till/desk.go": "package till\n\ntype Desk struct{}\n\nfunc (d *Desk) Seek() { keep() }\n",
        "web/server.go": 'package web\n\nimport "example.org/shop/till"\n\ntype Server struct {\n\tout *till.Desk\n}\n',
        "web/add.go": "package web\n\nfunc (s *Server) add() { s.out.Place() }\n",
    }
    read = {path: extract(text.encode(), reading_of(path)) for path, text in files.items()}
    first = CallGraph(read, build_graph(read))
    assert first.callees(Callee("web/add.go", 1)) == ()
    after = {**read, "till/desk.go": extract(files["till/desk.go"].replace("Seek", "Place").encode(), "go")}
    then = CallGraph(after, build_graph(after), first)
    assert then.callees(Callee("web/add.go", 1)) == (Callee("till/desk.go", 1),)


SHOP = {
    "shop/__init__.py": "",
    "shop/orders.py": "class Orders:\n    def place(self, row):\n        return row\n",
    "shop/returns.py": "class Returns:\n    def place(self, row):\n        return row\n",
    "shop/parts.py": (
        "from typing import Annotated\nfrom fastapi import Depends\nfrom shop.orders import Orders\n"
        "from shop.returns import Returns\n\nOrdersDep = Annotated[Orders, Depends(Orders)]\n"
        "ReturnsDep: TypeAlias = Annotated[Returns, Depends(Returns)]\n"
    ),
    "shop/api.py": (
        "from shop.parts import OrdersDep\n\n\ndef add(orders: OrdersDep, row):\n    return orders.place(row)\n\n\n"
        "def remove(row):\n    return place(row)\n"
    ),
}


def called_in_shop(files, position=1, before=None):
    read = {path: extract(text.encode(), "python") for path, text in files.items()}
    calls = CallGraph(read, build_graph(read), before)
    return calls, calls.callees(Callee("shop/api.py", position))


def test_a_name_for_a_class_with_a_note_stands_for_the_class():
    assert called_in_shop(SHOP)[1] == (Callee("shop/orders.py", 1),)
    returned = SHOP | {"shop/api.py": SHOP["shop/api.py"].replace("OrdersDep", "ReturnsDep")}
    assert called_in_shop(returned)[1] == (Callee("shop/returns.py", 1),)


def test_a_function_without_an_object_is_no_method_of_such_a_class():
    assert called_in_shop(SHOP, position=2)[1] == ()


def test_a_method_that_appears_behind_such_a_name_is_seen_by_callers_that_did_not_change():
    first, found = called_in_shop(SHOP | {"shop/orders.py": SHOP["shop/orders.py"].replace("place", "put")})
    assert found == ()
    assert called_in_shop(SHOP, before=first)[1] == (Callee("shop/orders.py", 1),)


PORTS = {
    "go.mod": "module example.org/shop\n",
    "core/ports.go": "package core\n\ntype Store interface {\n\tPlace(ctx Context, id int) error\n"
    "\tSeek(id int) error\n}\n",
    "core/desk.go": "package core\n\ntype Desk struct{ out Store }\n\nfunc (d *Desk) add() { d.out.Place(ctx, 1) }\n",
    "sql/rows.go": "package sql\n\ntype Rows struct{}\n\nfunc (r *Rows) Place(ctx Context, id int) error { keep() }\n\n"
    "func (r *Rows) Seek(id int) error { keep() }\n",
}


def called_by_desk(files, before=None):
    read = {path: extract(text.encode(), reading_of(path)) for path, text in files.items()}
    calls = CallGraph(read, build_graph(read), before)
    return calls, [each.path for each in calls.callees(Callee("core/desk.go", 1))]


def test_a_call_of_an_interface_of_go_means_the_types_that_have_all_its_methods():
    other = PORTS["sql/rows.go"].replace("Seek", "Find")
    longer = PORTS["sql/rows.go"].replace("id int) error { keep() }\n\n", "id, no int) error { keep() }\n\n")
    stub = PORTS["sql/rows.go"].replace("Rows", "FakeRows")
    files = {**PORTS, "mem/other.go": other, "disk/longer.go": longer, "mem/stub.go": stub}
    assert called_by_desk({**files, "sql/rows_test.go": PORTS["sql/rows.go"]})[1] == ["sql/rows.go"]


def test_a_type_that_comes_to_have_the_methods_is_seen_by_callers_that_did_not_change():
    first, found = called_by_desk({**PORTS, "sql/rows.go": PORTS["sql/rows.go"].replace("Seek", "Find")})
    assert found == []
    assert called_by_desk(PORTS, first)[1] == ["sql/rows.go"]


def test_a_field_of_an_embedded_struct():
    files = {
        **PORTS,
        "core/desk.go": "package core\n\ntype Desk struct{ Deps }\n\nfunc (d *Desk) add() { d.out.Place(ctx, 1) }\n",
        "core/deps.go": "package core\n\ntype Deps struct{ out Store }\n",
    }
    assert called_by_desk(files)[1] == ["sql/rows.go"]


def test_who_calls_a_function_that_only_calls_another_one_calls_that_one():
    files = {
        **PORTS,
        "sql/rows.go": PORTS["sql/rows.go"].replace("{ keep() }", "{ return r.place(id) }", 1)
        + "\nfunc (r *Rows) place(id int) error {\n\tkeep()\n\treturn more()\n}\n\n"
        + "func more() error { return gone() }\n",
    }
    calls, found = called_by_desk(files)
    assert found == ["sql/rows.go", "sql/rows.go"]
    moved = files["sql/rows.go"].replace("func (r *Rows) place", "func less() {}\n\nfunc (r *Rows) place")
    then = called_by_desk({**files, "sql/rows.go": moved}, calls)[0]
    assert then.callees(Callee("core/desk.go", 1)) == (Callee("sql/rows.go", 1), Callee("sql/rows.go", 4))


@pytest.mark.parametrize(("kind", "found"), [("Store", ["sql/rows.go"]), ("*Bell", []), ("int", [])])
def test_a_parameter_of_go_has_the_methods_of_its_type(kind, found):
    desk = f"package core\n\ntype Bell struct{{}}\n\nfunc add(out {kind}) Handler {{\n\treturn func() {{"
    desk += " out.Place(ctx, 1) }\n}\n"
    assert called_by_desk({**PORTS, "core/desk.go": desk})[1] == found


@pytest.mark.parametrize(("wrapped", "count"), [('fmt.Errorf("rows: %w", err)', 2), ("note(err)", 1)])
def test_who_tells_more_of_a_failure_hands_on_all_the_same(wrapped, count):
    place = (
        "func (r *Rows) Place(ctx Context, id int) error {\n\tif err := r.put(id); err != nil {\n"
        f"\t\treturn {wrapped}\n\t}}\n\treturn nil\n}}\n\nfunc (r *Rows) put(id int) error {{\n\treturn gone()\n}}\n\n"
    )
    rows = PORTS["sql/rows.go"].replace("func (r *Rows) Place(ctx Context, id int) error { keep() }\n\n", place)
    assert called_by_desk({**PORTS, "sql/rows.go": rows})[1] == ["sql/rows.go"] * count


COUNTER = {
    **PORTS,
    "core/counter.go": "package core\n\ntype Counter struct{ desk *Desk }\n\nfunc (c *Counter) serve(x int) { %s }\n",
}


def called_at_the_counter(body, files=COUNTER):
    files = files | {"core/counter.go": files["core/counter.go"] % body}
    read = {path: extract(text.encode(), reading_of(path)) for path, text in files.items()}
    calls = CallGraph(read, build_graph(read))
    return [(each.path, each.position) for each in calls.callees(Callee("core/counter.go", 1))]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("c.desk.out.Place(ctx, 1)", [("sql/rows.go", 1)]),
        ("other.desk.out.Place(ctx, 1)", [("sql/rows.go", 1)]),
        ("c.desk.in.Place(ctx, 1)", []),
        ("each(w, c.desk.add)", [("core/desk.go", 1), ("sql/rows.go", 1)]),
        ("each(w, c.desk.out.Place)", [("sql/rows.go", 1)]),
        ("each(w, c.desk.out)", []),
        ("each(c.serve, 1)", [("core/counter.go", 1)]),
        ("each(x.serve, 1)", []),
        ('all(map[string]Job{"serve": c.serve})', [("core/counter.go", 1)]),
    ],
)
def test_a_field_of_a_field_of_go_and_methods_that_are_given_away(body, found):
    assert called_at_the_counter(body) == found


def test_a_variable_of_go_has_the_fields_of_the_structs_that_its_file_imports():
    files = {
        "go.mod": "module example.org/shop\n",
        "till/desk.go": "package till\n\ntype Desk struct{}\n\nfunc (d *Desk) Run() { keep() }\n",
        "app/app.go": 'package app\n\nimport "example.org/shop/till"\n\ntype App struct{ Desk *till.Desk }\n\n'
        "func Build() *App { return nil }\n",
        "main.go": 'package main\n\nimport "example.org/shop/app"\n\n'
        "func main() {\n\ta := app.Build()\n\ta.Desk.Run()\n}\n",
    }
    read = {path: extract(text.encode(), reading_of(path)) for path, text in files.items()}
    found = CallGraph(read, build_graph(read)).callees(Callee("main.go", 1))
    assert Callee("till/desk.go", 1) in found


PACKED = {
    "shop/__init__.py": "",
    "shop/desk/__init__.py": "from shop.desk.orders import Orders\nfrom shop.desk.mail import *\n",
    "shop/desk/orders.py": "class Orders:\n    def place(self, row):\n        return row\n",
    "shop/desk/mail.py": "def send(row):\n    return row\n",
    "shop/api.py": (
        "from shop.desk import Orders, send\n\ndesk = Orders()\n\n\ndef add(row):\n    return desk.place(row)\n\n\n"
        "def tell(row):\n    send(row)\n    return row\n"
    ),
}


def test_what_a_package_of_python_has_from_its_modules_is_meant():
    assert called_in_shop(PACKED)[1] == (Callee("shop/desk/orders.py", 1),)
    assert called_in_shop(PACKED, position=2)[1] == (Callee("shop/desk/mail.py", 1),)


def test_what_a_package_of_python_does_not_import_is_not_meant():
    hidden = PACKED | {"shop/desk/__init__.py": "from shop.desk.mail import send\n"}
    assert called_in_shop(hidden)[1] == ()


def test_a_method_that_appears_behind_a_package_is_seen_by_callers_that_did_not_change():
    first, found = called_in_shop(
        PACKED | {"shop/desk/orders.py": PACKED["shop/desk/orders.py"].replace("place", "put")}
    )
    assert found == ()
    assert called_in_shop(PACKED, before=first)[1] == (Callee("shop/desk/orders.py", 1),)
