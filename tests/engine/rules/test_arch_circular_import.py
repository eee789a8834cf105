"""Which imports of TypeScript close a circle: those that are still there at run time."""

import pytest

from tests.engine.rules.reading import findings_of

RULE = "arch-circular-import"
BACK = "import { A } from './a';\nexport class B {\n  make() {\n    return new A();\n  }\n}\n"


def circles(source):
    return len(findings_of(RULE, {"src/a.ts": source, "src/b.ts": BACK}))


@pytest.mark.parametrize(
    "source",
    [
        "import { B } from './b';\nexport class A {\n  b = new B();\n}\n",
        "import { B } from './b';\nexport class A {\n  is(b: unknown) {\n    return b instanceof B;\n  }\n}\n",
        "import { B } from './b';\nexport { B };\nexport class A {}\n",
        "import * as b from './b';\nexport class A {\n  b = new b.B();\n}\n",
        "import { B } from './b';\n@Injectable()\nexport class A {\n  constructor(private b: B) {}\n}\n",
    ],
)
def test_values_close_a_circle(source):
    assert circles(source) == 1


@pytest.mark.parametrize(
    "source",
    [
        "import type { B } from './b';\nexport class A {\n  b?: B;\n}\n",
        "import { type B } from './b';\nexport class A {\n  b?: B;\n}\n",
        "import { B } from './b';\nexport class A {\n  b?: B;\n}\n",
        "import { B } from './b';\nexport class A implements B {}\n",
        "import { B } from './b';\n@Injectable()\nexport class A {\n  constructor(b: Map<string, Set<B>>) {}\n}\n",
        "import { B } from './b';\nexport type C = typeof B;\nexport class A {}\n",
        "import * as b from './b';\nexport class A {\n  b?: b.B;\n}\n",
        "export type { B } from './b';\nexport class A {}\n",
    ],
)
def test_types_do_not(source):
    assert circles(source) == 0


@pytest.mark.parametrize(("use", "count"), [("interface A extends B {}", 0), ("export const a = B;", 1)])
def test_a_folder_and_an_alias_are_of_the_project_too(use, count):
    files = {
        "tsconfig.json": '{"compilerOptions": {"paths": {"@parts/*": ["./src/*"]}}}',
        "src/index.ts": f"import {{ B }} from '@parts/b';\n{use}\nexport class C {{}}\n",
        "src/b.ts": "import { C } from '.';\nexport class B {\n  c = new C();\n}\n",
    }
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(("use", "count"), [("b?: B;", 0), ("b = new B();", 1)])
def test_a_path_from_the_root_of_the_sources_is_of_the_project_too(use, count):
    files = {
        "tsconfig.json": '{"compilerOptions": {"baseUrl": "src"}}',
        "src/icons/a.ts": f"import {{ B }} from 'icons/b';\nexport class A {{\n  {use}\n}}\n",
        "src/icons/b.ts": BACK,
    }
    assert len(findings_of(RULE, files)) == count


JAVA_BACK = "package shop.b;\n\nimport shop.a.A;\n\npublic class B {\n  A a = new A();\n}\n"


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("public class A {\n  B b;\n}\n", 1),
        ("@Import(B.class)\npublic class A {}\n", 1),
        ("/** Made by {@link B}. */\npublic class A {\n  B b() { return null; }\n}\n", 1),
        ("/** Made by {@link B}. */\npublic class A {}\n", 0),
        ("@Constraint(validatedBy = B.class)\npublic @interface A {}\n", 0),
        ("/**\n * As OtherB, see\n * @see B\n */\npublic class A {\n  OtherB other;\n}\n", 0),
        ("@B\npublic class A {\n  @B(1)\n  int a; // not B\n}\n", 0),
    ],
)
def test_comments_and_annotations_of_java_load_nothing(body, count):
    files = {
        "src/main/java/shop/a/A.java": f"package shop.a;\n\nimport shop.b.B;\n\n{body}",
        "src/main/java/shop/b/B.java": JAVA_BACK,
    }
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(
    ("packages", "severity"),
    [
        (("orders", "stock", "bills"), "critical"),
        (("orders", "orders.lines", "orders.lines.dto"), "warning"),
        (("orders", "orders.lines", "stock"), "warning"),
        (("orders.lines", "orders.dto", "orders.web"), "critical"),
    ],
)
def test_a_package_of_java_and_those_below_it_are_one(packages, severity):
    files = {}
    for index, package in enumerate(packages):
        other = packages[(index + 1) % len(packages)]
        source = f"package shop.{package};\nimport shop.{other}.C{(index + 1) % len(packages)};\n"
        source += f"public class C{index} {{ C{(index + 1) % len(packages)} next; }}\n"
        files[f"src/main/java/shop/{package.replace('.', '/')}/C{index}.java"] = source
    (finding,) = findings_of(RULE, files)
    assert finding.severity == severity


ENTITY = "import {{ Entity, ManyToOne, OneToMany }} from 'typeorm';\n{}\n@Entity()\nexport class {} {{\n{}\n}}\n"
LINE = ENTITY.format(
    "import { Order } from './order.entity';", "Line", "@ManyToOne(() => Order, order => order.lines)\norder: Order;"
)
LINES = "@OneToMany(() => Line, line => line.order)\nlines: Line[];"


@pytest.mark.parametrize(
    ("imports", "fields", "count"),
    [
        ("", LINES, 0),
        ("", "first = new Line();", 1),
        ("import { sum } from './sums';", f"{LINES}\ntotal = sum();", 1),
    ],
)
def test_relations_of_entities_name_each_other_by_functions(imports, fields, count):
    files = {
        "src/order.entity.ts": ENTITY.format(f"import {{ Line }} from './line.entity';\n{imports}", "Order", fields),
        "src/line.entity.ts": LINE,
        "src/sums.ts": "import { Order } from './order.entity';\nexport const sum = () => new Order();\n",
    }
    assert len(findings_of(RULE, files)) == count
