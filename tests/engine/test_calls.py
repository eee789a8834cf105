"""Calls of what an interface only declares."""

from analysis.engine.calls import Callee, CallGraph
from analysis.engine.extract import extract
from analysis.engine.graph import build_graph

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
