"""Queries of Panache, of entities and of repositories."""

import pytest

from analysis.engine.extract import extract
from tests.engine.rules.reading import findings_of

ENTITY = (
    "package shop;\nimport io.quarkus.hibernate.orm.panache.PanacheEntity;\nimport jakarta.persistence.*;\n"
    '@Entity\n@Table(name = "rentals")\npublic class Rental extends PanacheEntity {\n'
    "  @ManyToOne(fetch = FetchType.LAZY) public Bike bike;\n  public String code;\n  public int price;\n}\n"
)
BIKE = ENTITY.replace("Rental", "Bike").replace("rentals", "bikes").replace("Bike bike", "Shop shop")


def query(call):
    source = f"import jakarta.inject.Inject;\nclass Work {{\n  Object f(Long id, Sort sort) {{\n    {call};\n  }}\n}}\n"
    return extract(source.encode(), "java").queries


@pytest.mark.parametrize(
    ("call", "operation", "terminal", "filters", "limit"),
    [
        ('return Rental.list("code", code)', "select", "list", ["code eq"], 0),
        (
            'return Rental.list("bike.id = ?1 and price > ?2", id, 5)',
            "select",
            "list",
            ["bike.id eq", "price range"],
            0,
        ),
        ('return Rental.<Rental>find("code", code).firstResult()', "select", "firstResult", ["code eq"], 1),
        ('return Rental.findAll(Sort.by("code")).page(0, 50).list()', "select", "list", [], 50),
        ("return Rental.findAll().page(Page.of(page, size)).list()", "select", "list", [], -1),
        ('return Rental.find("order by code").list()', "select", "list", [], 0),
        ('return Rental.find("from Rental r where r.code = ?1", code).list()', "select", "list", ["code eq"], 0),
        ('return Rental.find("code", code).count()', "count", "count", ["code eq"], 0),
        ('return Rental.find("code", code)', "select", "", ["code eq"], 0),
        ("return Rental.findById(id)", "select", "findById", ["id eq"], 1),
        ('Rental.update("price = ?1 where code = ?2", 5, code)', "update", "update", ["code eq"], 0),
        ('Rental.update("price = 0")', "update", "update", [], 0),
        ("Rental.deleteAll()", "delete", "deleteAll", [], 0),
        ("Rental row = made;\nrow.persist()", "insert", "persist", [], 0),
    ],
)
def test_a_query_of_an_entity(call, operation, terminal, filters, limit):
    (found,) = query(call)
    assert (found.orm, found.model, found.operation, found.terminal) == ("panache", "Rental", operation, terminal)
    assert [f"{each.column} {each.operator}" for each in found.filters] == filters
    assert found.limit == limit


@pytest.mark.parametrize("call", ["return Paths.get(id)", "rows.persist(id)", "return Rental.of(id)", "file.delete()"])
def test_no_query(call):
    assert query(call) == ()


def test_conditions_that_are_put_together_cannot_be_read():
    (found,) = query("return Rental.list(condition, id)")
    assert found.raw


def work(body):
    return {
        "src/main/java/shop/Rental.java": ENTITY,
        "src/main/java/shop/Bike.java": BIKE,
        "src/main/java/shop/Work.java": (
            "package shop;\nimport jakarta.inject.Inject;\n\nclass Work {\n  Object f(Long id, List<Long> ids) {\n"
            f"{body}\n  }}\n}}\n"
        ),
    }


@pytest.mark.parametrize(
    ("rule", "body", "lines"),
    [
        ("perf-unbounded-query", "return Rental.listAll();", [6]),
        ("perf-unbounded-query", "return Rental.findAll().page(0, 50).list();", []),
        ("perf-unbounded-query", "return Collections.listAll();", []),
        ("perf-count-by-loading", 'return Rental.list("bike.id", id).isEmpty();', [6]),
        ("perf-count-by-loading", 'return Rental.count("bike.id", id) == 0;', []),
        ("perf-write-in-loop", 'for (Long each : ids) {\nRental.update("price = 1 where id = ?1", each);\n}', [7]),
        ("perf-write-in-loop", 'Rental.update("price = 1 where id in ?1", ids);', []),
        ("risk-unscoped-bulk-write", "Rental.deleteAll();", [6]),
        ("risk-unscoped-bulk-write", 'Rental.delete("id in ?1", ids);', []),
        ("rel-unchecked-optional", "Rental one = Rental.findById(id);\nreturn one.bike.code;", [7]),
        ("rel-unchecked-optional", "Rental one = Rental.findById(id);\nreturn one == null ? 0 : one.price;", []),
        (
            "perf-n-plus-one-relation",
            'List<Rental> all = Rental.find("price > 5").page(0, 99).list(); // Service\n'
            "for (Rental each : all) {\nshow(each.bike.code);\n}",
            [8],
        ),
        (
            "perf-n-plus-one-relation",
            'List<Rental> all = Rental.find("price > 5").page(0, 99).list(); // Service\n'
            "for (Rental each : all) {\nshow(each.bike.id);\n}",
            [],
        ),
        (
            "risk-check-then-act",
            'Rental row = fresh(id);\nif (Rental.find("bike.id", id).firstResult() == null) {\nrow.persist();\n}',
            [8],
        ),
        (
            "risk-check-then-act",
            'Rental row = fresh(id);\nif (Rental.find("bike.id", id).firstResult() == null) {\nshow(row);\n}',
            [],
        ),
    ],
)
def test_rules_hear_of_entities_that_are_asked_themselves(rule, body, lines):
    found = findings_of(rule, work(body), volumes={"rentals": "XL"})
    assert [each.line for each in found if each.file.endswith("Work.java")] == lines


def test_an_entity_of_jpa_alone_has_no_such_methods():
    files = work("return Rental.listAll();")
    plain = ENTITY.replace(" extends PanacheEntity", "")
    assert findings_of("perf-unbounded-query", {**files, "src/main/java/shop/Rental.java": plain}) == []


@pytest.mark.parametrize(
    ("header", "lines"), [("implements PanacheRepository<Rental> ", [4]), ("implements Rentals<Rental> ", [])]
)
def test_a_repository_asks_itself(header, lines):
    repository = (
        f"package shop;\nimport jakarta.inject.Inject;\nclass RentalRepository {header}{{\n"
        "  List<Rental> all() { return listAll(); }\n}\n"
    )
    files = {"src/main/java/shop/Rental.java": ENTITY, "src/main/java/shop/RentalRepository.java": repository}
    found = findings_of("perf-unbounded-query", files, volumes={"rentals": "XL"})
    assert [each.line for each in found] == lines
