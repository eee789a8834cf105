"""The rules about single files, classes and modules."""

from datetime import UTC, date, datetime
from types import SimpleNamespace

import pytest
from msgspec import structs

from analysis.engine.extract import extract
from analysis.engine.facts import Class, Entry, FileFacts, Function, FunctionFlag, Query
from analysis.engine.history import History
from analysis.engine.languages import language_of
from analysis.engine.model import Severity
from analysis.engine.policy import Policy
from analysis.engine.rules import (
    arch_controller_uses_orm,
    arch_god_class,
    arch_god_module,
    arch_import_side_effect,
    arch_unstable_dependency,
)
from tests.engine.graph.project import codebase_of, deferred, facts_of, imported, passed_on, policy_of
from tests.engine.rules.reading import findings_of


def found(rule, files, policy=None, history=None):
    policy = policy or Policy()
    codebase = codebase_of(files, policy, history)
    alone = [
        finding
        for path, facts in (codebase.sources if hasattr(rule, "check_file") else ())
        for finding in rule.check_file(path, facts)
    ]
    return [*alone, *rule.check(codebase, policy)]


def god_module(importers=20, imports=20, code_lines=301, path="core.py", **more):
    below = {f"low{index}.py": [] for index in range(imports)}
    above = {f"high{index}.py": ["core"] for index in range(importers)}
    core = facts_of(path, [f"low{index}" for index in range(imports)], code_lines=code_lines, **more)
    return {path: core, **below, **above}


class TestGodModule:
    def test_examples_do_not_depend_on_what_they_show(self):
        shown = {f"examples/show{index}.py": ["core"] for index in range(40)}

        assert found(arch_god_module, god_module(importers=9) | shown) == []

    @pytest.mark.parametrize(("name", "count"), [("router", 0), ("routing", 1)])
    def test_a_list_of_routes_names_all_pages(self, name, count):
        below = {f"low{index}.py": [] for index in range(20)}
        above = {f"high{index}.py": [name] for index in range(20)}
        routes = facts_of(f"{name}.py", [f"low{index}" for index in range(20)], code_lines=301)

        assert len(found(arch_god_module, {f"{name}.py": routes, **below, **above})) == count

    def test_everything_depends_on_it_and_it_depends_on_everything(self):
        (finding,) = found(arch_god_module, god_module(importers=40))

        assert (finding.file, finding.line, finding.excess) == ("core.py", 1, 2.0)
        assert finding.message == "40 files depend on `core.py`, which depends on 20 and has 301 lines of code"

    @pytest.mark.parametrize(
        "files",
        [
            god_module(importers=19),
            god_module(importers=60, imports=9),
            god_module(code_lines=300),
            god_module(is_entry=True),
            god_module(importers=20, imports=41),
        ],
    )
    def test_below_any_limit_it_is_fine(self, files):
        assert found(arch_god_module, files) == []

    def test_schemas_and_rows_are_none(self):
        row = Class(name="Order", line=1, end_line=300, code_lines=300, fields=("total",))

        assert found(arch_god_module, god_module(importers=40, classes=(row,))) == []

    def test_a_barrel_is_none(self):
        low = {f"ui/c{index}.ts": [] for index in range(20)}
        barrel = {"ui/index.ts": facts_of("ui/index.ts", [passed_on(f"./c{i}") for i in range(20)], code_lines=400)}
        high = {f"app/a{index}.ts": ["../ui"] for index in range(20)}

        assert found(arch_god_module, low | barrel | high) == []


def method(name, owner="Shop", cyclomatic=1, code_lines=10, flags=FunctionFlag.METHOD):
    return Function(f"{owner}.{name}", 1, 9, code_lines, cyclomatic, 0, 0, 0, flags=int(flags), owner=owner)


def class_file(methods, name="Shop", code_lines=100, fields=(), field_use=()):
    entry = Class(name, 3, 99, code_lines, fields=tuple(fields), field_use=tuple(field_use))
    module = Function("module", 1, 99, 1, 1, 0, 0, 0)
    return {"a.py": FileFacts("python", classes=(entry,), functions=(module, *methods))}


ACCESSOR = FunctionFlag.METHOD | FunctionFlag.ACCESSOR
MANY = [method(f"m{index}") for index in range(21)]


APART = [("m0", ("a",)), ("m1", ("a",)), ("m2", ("c",)), ("m3", ("c",))]  # two groups of methods


class TestGodClass:
    def test_two_signs_make_one(self):
        (finding,) = found(arch_god_class, class_file(MANY, code_lines=501))

        assert (finding.line, finding.function) == (3, "Shop")
        assert finding.message == "`Shop` does too much: 21 methods, 501 lines"

    def test_methods_without_a_common_field_are_a_sign_and_name_the_group(self):
        use = [("m0", ("a",)), ("m1", ("a", "b")), ("m2", ("c",)), ("m3", ("c",)), ("m4", ("d",))]
        (finding,) = found(arch_god_class, class_file(MANY, field_use=use))

        assert "2 groups of methods that share no field" in finding.message
        assert finding.suggestion == "Extract the group of methods around `c` into its own class."

    def test_methods_of_a_go_receiver_are_counted_over_the_package(self):
        one, two = MANY[:11], MANY[11:]
        entry = Class("Shop", 3, 20, 20, fields=tuple("abcdefghijklmnop"))
        files = {
            "p/a.go": FileFacts("go", classes=(entry,), functions=tuple(one)),
            "p/b.go": FileFacts("go", functions=tuple(two)),
        }

        assert len(found(arch_god_class, files)) == 1

    def test_variants_of_a_go_type_for_other_platforms_are_not_added_up(self):
        entry = Class("Shop", 3, 20, 20, fields=tuple("abcdefghijklmnop"))
        variant = FileFacts("go", classes=(entry,), functions=tuple(MANY[:11]))

        assert found(arch_god_class, {"p/a_linux.go": variant, "p/a_windows.go": variant}) == []

    @pytest.mark.parametrize(
        "files",
        [
            class_file(MANY),
            class_file([], fields=[f"f{index}" for index in range(30)], code_lines=900),
            class_file(MANY[:4], fields=[f"f{index}" for index in range(30)], field_use=APART),
            class_file([method("equals", cyclomatic=70), *MANY[:3]], fields=[f"f{index}" for index in range(30)]),
            class_file([method(f"getSetting{index}") for index in range(70)], code_lines=900),
            class_file([method(f"m{index}", owner="ShopBuilder") for index in range(30)], "ShopBuilder", 900),
            class_file(MANY, fields=[f"LIMIT_{letter}" for letter in "ABCDEFGHIJKLMNOPQRST"]),
            class_file([method(f"visit_{index}x") for index in range(30)], code_lines=900),
            class_file([method(f"m{index}", code_lines=2) for index in range(30)], code_lines=900),
            class_file(
                [method(f"m{i}", flags=FunctionFlag.METHOD | FunctionFlag.ACCESSOR) for i in range(40)], code_lines=900
            ),
        ],
        ids=[
            "one sign",
            "data only",
            "row",
            "compared row",
            "settings",
            "builder",
            "constants",
            "visitor",
            "facade",
            "accessors",
        ],
    )
    def test_what_is_fine(self, files):
        assert found(arch_god_class, files) == []

    def test_what_only_accessors_work_on_is_a_row(self):
        accessors = [method(f"get{index}", flags=ACCESSOR) for index in range(60)]
        files = class_file([*accessors, *MANY[:3]], code_lines=700, fields=[f"f{index}" for index in range(30)])

        assert found(arch_god_class, files) == []

    @pytest.mark.parametrize(
        ("decorator", "cyclomatic", "count"), [("property", 1, 0), ("property", 2, 1), ("cached", 1, 1)]
    )
    def test_plain_properties_are_accessors(self, decorator, cyclomatic, count):
        methods = [structs.replace(method(f"m{n}", cyclomatic=cyclomatic), decorators=(decorator,)) for n in range(9)]
        files = class_file([*methods, *MANY[:13]], code_lines=501)

        assert len(found(arch_god_class, files)) == count

    def test_columns_of_a_mapped_class_belong_together(self):
        mapped = class_file(MANY[:5], code_lines=700, fields=[f"f{index}" for index in range(30)])
        assert len(found(arch_god_class, mapped)) == 1
        (facts,) = mapped.values()
        entry = structs.replace(facts.classes[0], decorators=("javax.jdo.annotations.PersistenceCapable",))

        assert found(arch_god_class, {"a.py": structs.replace(facts, classes=(entry,))}) == []

    @pytest.mark.parametrize(("made", "count"), [("letters.New{}Service", 0), ("{}Service", 0), ("db.find{}", 1)])
    def test_what_makes_all_services_wires_them(self, made, count):
        letters = "ABCDEFGHIJKLMNOPQRSTUVW"
        methods = [
            structs.replace(method(f"service_{letter}", cyclomatic=2), calls=("self.db", made.format(letter)))
            for letter in letters
        ]

        assert len(found(arch_god_class, class_file(methods, code_lines=600))) == count


MODULE, VIEW = Function("module", 1, 9, 9, 1, 0, 0, 0), Function("show", 3, 9, 5, 1, 0, 0, 0)
SERVICES = policy_of("api=api/**", "service=services/**")


def handler(name="show", imports=(), terminal="first", path="api/views.py", calls=()):
    function = Function(name, 3, 9, 5, 1, 0, 0, 0, calls=calls)
    query = Query(1, 5, "django", "Order", "select", terminal=terminal)
    late = Query(1, 7, "django", "Order", "select", terminal="list")
    entry = Entry(name, "request", "django")
    queries = (late, query) if terminal else (query,)
    return {path: facts_of(path, list(imports), functions=(MODULE, function), entries=(entry,), queries=queries)}


class TestControllerUsesOrm:
    def test_once_per_file_at_the_first_query(self):
        (finding,) = found(arch_controller_uses_orm, handler(), SERVICES)

        assert (finding.file, finding.line, finding.function, finding.severity) == ("api/views.py", 5, "show", None)

    @pytest.mark.parametrize(("path", "count"), [("api/orders.service.ts", 0), ("api/orders.ts", 1)])
    def test_a_layer_of_features_holds_their_services_too(self, path, count):
        (facts,) = handler(path=path).values()
        called_by_nobody = structs.replace(facts, entries=())

        assert len(found(arch_controller_uses_orm, {path: called_by_nobody}, SERVICES)) == count

    @pytest.mark.parametrize(
        ("path", "source", "line"),
        [
            (
                "api/rates.ts",
                "import { prisma } from './client';\nrouter.get('/x', async (req, res) => {\n"
                "  const rows = await prisma.$queryRaw`SELECT kind FROM rates WHERE id = ${req.query.id}`;\n});\n",
                3,
            ),
            (
                "api/rates.py",
                "from flask import Flask\napp = Flask(__name__)\nRATES = text('SELECT kind FROM rates')\n\n"
                "@app.get('/x')\ndef show():\n    return session.execute(RATES).all()\n",
                7,
            ),
        ],
    )
    def test_sql_that_is_tagged_or_held_by_a_constant(self, path, source, line):
        files = {path: extract(source.encode(), language_of(path))}

        assert [each.line for each in found(arch_controller_uses_orm, files, SERVICES)] == [line]

    def test_a_service_that_a_library_calls_back_is_no_handler(self):
        assert found(arch_controller_uses_orm, handler(path="v1/orders.service.ts"), SERVICES) == []

    def test_a_custom_of_half_the_handlers_is_enough_for_info(self):
        files = handler(imports=["services.orders"], path="v1/views.py", calls=("services.orders.place",))
        files["services/orders.py"] = []
        (finding,) = found(arch_controller_uses_orm, files)

        assert finding.severity is Severity.INFO

    @pytest.mark.parametrize(
        ("through", "around", "lines"),
        [(3, 1, [7]), (1, 3, [])],
        ids=["most handlers of one file go through", "one of the handlers of that file goes through"],
    )
    def test_handlers_are_counted_and_not_their_files(self, through, around, lines):
        head = "from flask import Flask\nfrom shop.services import places\n"
        head += "from shop.models import Place\napp = Flask(__name__)\n"
        going = "".join(f"@app.get('/a{n}')\ndef a{n}():\n    return places.named({n})\n" for n in range(through))
        asking = "".join(
            f"@app.get('/b{n}')\ndef b{n}():\n    return Place.objects.get(pk={n})\n" for n in range(around)
        )
        files = {
            "shop/desk.py": f"{head}{going}",
            "shop/hall.py": f"{head.replace('from shop.services import places', '')}{asking}",
            "shop/services.py": "class Places:\n    def named(self, n):\n        return look(n)\nplaces = Places()\n",
            "shop/models.py": "from django.db import models\nclass Place(models.Model):\n    pass\n",
        }
        read = {path: extract(text.encode(), "python") for path, text in files.items()}

        assert [each.line for each in found(arch_controller_uses_orm, read)] == lines

    @pytest.mark.parametrize("beside", ["service", "store"])
    @pytest.mark.parametrize(("asked", "lines"), [("h.svc.All()", [5]), ("h.names", [])])
    def test_services_beside_the_handlers_of_a_package_of_go(self, asked, lines, beside):
        head = 'import "net/http"\nfunc (h *handler) show(w http.ResponseWriter, r *http.Request) {\n\t'
        files = {
            "seats/handler.go": f"package seats\n{head}use({asked})\n}}\ntype handler struct {{ svc *Service }}\n",
            f"seats/{beside}.go": "package seats\ntype Service struct{}\nfunc (s *Service) All() { keep() }\n",
            "halls/handler.go": f'package halls\nimport "database/sql"\n{head}h.db.Query("SELECT id FROM halls")\n}}\n',
        }
        read = {path: extract(text.encode(), "go") for path, text in files.items()}

        assert [each.line for each in found(arch_controller_uses_orm, read)] == lines

    @pytest.mark.parametrize(
        ("files", "policy"),
        [
            (handler(), Policy()),
            (handler(terminal=""), SERVICES),
            (handler(name="get_queryset"), SERVICES),
            (handler(name="health_check"), SERVICES),
            (handler(name="isReady"), SERVICES),
            (handler(path="api/admin.py"), SERVICES),
        ],
        ids=["no such layer", "lazy", "scoping", "health", "ready", "admin"],
    )
    def test_what_is_fine(self, files, policy):
        assert found(arch_controller_uses_orm, files, policy) == []

    @pytest.mark.parametrize(
        ("path", "model", "count"), [("api/health.py", "", 0), ("api/health.py", "Order", 1), ("api/orders.py", "", 1)]
    )
    def test_a_health_check_asks_whether_the_database_is_there(self, path, model, count):
        (facts,) = handler(path=path).values()
        query = structs.replace(facts.queries[0], orm="sql", model=model)
        files = {path: structs.replace(facts, queries=(query,))}

        assert len(found(arch_controller_uses_orm, files, SERVICES)) == count

    @pytest.mark.parametrize(("row", "count"), [("Order", 1), ("OrderRepository", 0), ("OrderDAO", 0)])
    def test_a_repository_that_the_project_wrote_is_the_layer_that_is_asked_for(self, row, count):
        (facts,) = handler(path="api/Orders.java").values()
        query = structs.replace(facts.queries[0], orm="jpa", model=row)
        files = {"api/Orders.java": structs.replace(facts, queries=(query,))}

        assert len(found(arch_controller_uses_orm, files, SERVICES)) == count


class TestImportSideEffect:
    def effects(self, source, path="a.py", importer="b.py"):
        name = path.removesuffix(".py").replace("/", ".")
        return found(arch_import_side_effect, {path: extract(source.encode(), "python"), importer: [name]})

    @pytest.mark.parametrize(
        ("source", "severity"),
        [
            ("import requests\nx = requests.get(URL)", Severity.CRITICAL),
            ("import sqlite3\nclass A:\n    db = sqlite3.connect('x')", Severity.CRITICAL),
            ("rows = open('/etc/hosts').read()", None),
            ("if True:\n    rows = open('/etc/hosts').read()", None),
            ("import time\ntry:\n    time.sleep(1)\nfinally:\n    pass", None),
            ("import os\nos.umask(0)", None),
            ("import os\nif True:\n    os.chdir('/')", None),
            ("from threading import Thread\nThread(target=f).start()", None),
            ("from threading import Thread\nworker = Thread(target=f)\nworker.start()", None),
            ("import requests\nhttp = requests.Session()\nx = http.get(URL)", Severity.CRITICAL),
            ("from pathlib import Path\nrows = Path('/etc/hosts').read_text()", None),
            ("first = Order.objects.order_by('id')[0]", Severity.CRITICAL),
            ("import redis\nrows = redis.Redis()\nrows.ping()", Severity.CRITICAL),
            ("from shop.base import Base\nBase.metadata.create_all(engine)", Severity.CRITICAL),
            ("import signal\nsignal.signal(signal.SIGTERM, stop)", None),
            ("from concurrent.futures import ThreadPoolExecutor\nsome = ThreadPoolExecutor()\nsome.submit(f)", None),
        ],
    )
    def test_what_import_runs_is_told(self, source, severity):
        (finding,) = self.effects(source)

        assert finding.severity is severity

    @pytest.mark.parametrize(
        "source",
        [
            "import requests\ndef f():\n    return requests.get(URL)",
            "import requests\nsession = requests.Session()",
            "import time\nif __name__ == '__main__':\n    time.sleep(1)",
            "from pathlib import Path\ntext = open(Path(__file__).parent / 'x').read()",
            "import os\nHERE = os.path.dirname(__file__)\ntext = open(os.path.join(HERE, 'x')).read()",
            "import requests\nf = lambda: requests.get(URL)",
            "import os\nrows = open(os.path.join(app.BASE_DIR, 'rows.txt')).read()",
            "class A:\n    count = lambda row: Order.objects.filter(row=row).count()",
            "class A:\n    may = Check(\n        lambda row: (\n            row and Order.objects.get(row=row)\n))",
            "first = Prefetch('rows', queryset=Order.objects.order_by('id')[:1])",
            "import sqlalchemy\nfirst = request.session.get('first')",
            "import os\nkey = open(os.environ['KEY_FILE']).read()",
            "import os\nMASK = os.umask(0)\nos.umask(MASK)",
            "try:\n    text = open('version.txt').read()\nexcept OSError:\n    text = ''",
        ],
    )
    def test_what_is_fine(self, source):
        assert self.effects(source) == []

    @pytest.mark.parametrize(
        ("source", "severity"),
        [
            ("import { Client } from 'pg';\nexport const db = new Client();\ndb.connect();", Severity.CRITICAL),
            ("import express from 'express';\nexport const app = express();\napp.listen(80);", None),
            ("(async () => {\n  await fetch(URL);\n})();", Severity.CRITICAL),
        ],
    )
    def test_what_import_runs_in_scripts_is_told(self, source, severity):
        files = {"src/a.ts": extract(source.encode(), "typescript"), "src/b.ts": ["./a"]}
        (finding,) = found(arch_import_side_effect, files)

        assert finding.severity is severity

    @pytest.mark.parametrize(
        "source",
        [
            "import { Client } from 'pg';\nexport const db = new Client();",
            "import fs from 'fs';\nconst ca = process.env.CA;\nexport const tls = ca ? fs.readFileSync(ca) : '';",
            "export const load = async () => {\n  await fetch(URL);\n};",
            "later(async () => {\n  await fetch(URL);\n});",
            "import fs from 'fs';\nexport const font = fs.readFileSync(join(process.cwd(), 'public/a.ttf'));",
            "/** Or `await load(url)`. */\nexport const load = async (url) => {\n  await fetch(url);\n};",
            "export const HINT = 'call load(url)';\nexport async function load(url) {\n  await fetch(url);\n}",
        ],
    )
    def test_what_is_fine_in_scripts(self, source):
        files = {"src/a.ts": extract(source.encode(), "typescript"), "src/b.ts": ["./a"]}

        assert found(arch_import_side_effect, files) == []

    @pytest.mark.parametrize(
        ("source", "lines"),
        [
            ("const db = new MongoClient(URL);\nawait db.connect();\nexport const maps = db.db('maps');", [3]),
            ("process.on('SIGHUP', reload);\nexport const level = { now: 1 };", [2]),
            (
                "const db = new MongoClient(URL);\nawait db.connect();\nexport const work = new Worker('maps', draw);",
                [],
            ),
            ("const db = new MongoClient(URL);\nawait db.connect();\nawait draw(db);", []),
        ],
    )
    def test_a_file_that_offers_what_it_holds_is_no_program(self, source, lines):
        head = "import { MongoClient } from 'mongodb'; import { Worker } from 'bullmq';\n"
        files = {"src/maps.ts": extract((head + source).encode(), "typescript"), "src/b.ts": []}

        assert [each.line for each in found(arch_import_side_effect, files)] == lines

    @pytest.mark.parametrize(("more", "count"), [("class Form:\n    kinds = KINDS\n", 1), ("print(KINDS)\n", 0)])
    def test_a_query_in_a_file_that_offers_something(self, more, count):
        files = {
            "shop/models.py": extract(b"from django.db import models\nclass Kind(models.Model):\n    pass\n", "python"),
            "shop/forms.py": extract(
                f"from shop.models import Kind\nKINDS = [each.pk for each in Kind.objects.all()]\n{more}".encode(),
                "python",
            ),
        }

        assert [each.line for each in found(arch_import_side_effect, files)] == [2] * count

    @pytest.mark.parametrize("server", ["app.listen(80);", "const http = createServer(app);\nhttp.listen(80);"])
    def test_what_answers_requests_is_started_where_nobody_imports_it(self, server):
        source = "import express from 'express';\nimport { createServer } from 'http';\nconst app = express();\n"
        source += f"app.get('/', (req, res) => res.send('x'));\n{server}"
        files = {"api/index2.js": extract(source.encode(), "javascript"), "api/b.js": []}

        assert found(arch_import_side_effect, files) == []

    def test_a_goroutine_of_init_is_told(self):
        source = b"package a\n\nfunc init() {\n\tgo refresh()\n}\n\nfunc load() {\n\tgo refresh()\n}\n"
        (finding,) = found(arch_import_side_effect, {"a/a.go": extract(source, "go")})

        assert (finding.line, finding.severity) == (4, None)

    def test_a_file_that_nobody_imports_is_started(self):
        source = b"import requests\nrequests.get(URL)"

        assert found(arch_import_side_effect, {"job.py": extract(source, "python"), "other.py": []}) == []

    @pytest.mark.parametrize(
        ("more", "count"),
        [
            ("\ndef rate(): ...\n", 1),
            ("\nclass Rate: ...\n", 1),
            ("\ndef rate(): ...\nrate()\n", 0),
            ("\ndef _rate(): ...\n", 0),
            ("\ndef rate(): ...\nif __name__ == '__main__':\n    rate()\n", 0),
        ],
    )
    def test_what_a_file_offers_is_imported_one_day(self, more, count):
        source = f"import requests\nrows = requests.get(URL)\n{more}"
        told = found(arch_import_side_effect, {"rates.py": extract(source.encode(), "python"), "other.py": []})

        assert [each.confidence for each in told] == ["medium"] * count

    @pytest.mark.parametrize(
        ("call", "handler", "count"),
        [
            ("requests.get(URL, timeout=1)", "pass", 0),
            ("requests.get(URL)", "pass", 1),
            ("requests.get(URL, timeout=1)", "raise Unready", 1),
        ],
    )
    def test_what_is_caught_within_a_time_limit_is_borne(self, call, handler, count):
        source = f"import requests\ntry:\n    ROWS = {call}\nexcept OSError:\n    {handler}\n\ndef rate(): ...\n"
        files = {"rates.py": extract(source.encode(), "python"), "b.py": ["rates"]}

        assert len(found(arch_import_side_effect, files)) == count

    @pytest.mark.parametrize(
        ("source", "line"),
        [
            ("import requests\ndef load():\n    return requests.get(URL)\nROWS = load()", 4),
            ("import requests\ndef load():\n    return requests.get(URL)\ndef rows():\n    return load()", 0),
            ("import requests\ndef load():\n    return requests.get(URL)\nif __name__ == '__main__':\n    load()", 0),
            ("def load():\n    return open('/etc/x').read()\nROWS = load()", 0),
        ],
    )
    def test_what_a_function_does_that_is_called_at_the_top_level(self, source, line):
        assert [(each.line, each.confidence) for each in self.effects(source)] == [(line, "medium")] * (line > 0)

    def test_what_init_of_go_opened_and_calls(self):
        source = (
            'package a\n\nimport (\n\t"database/sql"\n\t"net/http"\n)\n\n'
            'func init() {\n\tdb, err := sql.Open("x", url)\n'
            "\terr = db.Ping()\n\tload()\n}\n\nfunc load() {\n\thttp.Get(url)\n}\n"
        )
        told = found(arch_import_side_effect, {"a/a.go": extract(source.encode(), "go")})

        assert [each.line for each in told] == [10, 11]

    @pytest.mark.parametrize("opening", ["await client.$connect();", "await client.openUri(URL);"])
    def test_a_method_that_only_connects_says_so_itself(self, opening):
        source = f"import {{ client }} from './client';\n{opening}\nexport const rows = () => client.rows;\n"
        files = {"src/a.ts": extract(source.encode(), "typescript"), "src/client.ts": []}
        (finding,) = found(arch_import_side_effect, files)

        assert (finding.line, finding.severity, finding.confidence) == (2, Severity.CRITICAL, "medium")

    def test_what_only_the_hook_of_an_entry_imports_is_started(self):
        files = {"setup.ts": extract(b"const rows = await fetch(URL);", "typescript")}
        at_start = {"instrumentation.ts": [deferred("./setup")]}

        assert found(arch_import_side_effect, {**files, **at_start}) == []
        assert len(found(arch_import_side_effect, {**files, **at_start, "web/orders.ts": ["../setup"]})) == 1

    def test_a_file_of_tasks_is_loaded_though_nothing_imports_it(self):
        source = b"import time\nfrom celery import shared_task\ntime.sleep(1)\n\n@shared_task\ndef work(): ...\n"
        (finding,) = found(arch_import_side_effect, {"tasks.py": extract(source, "python"), "other.py": []})
        assert finding.line == 3

    def test_a_program_of_go_is_started(self):
        source = "package %s\n\nfunc init() {\n\tgo refresh()\n}\n"
        files = {name: extract((source % name).encode(), "go") for name in ("main", "work")}

        assert found(arch_import_side_effect, {"cmd/debug.go": files["main"]}) == []
        assert len(found(arch_import_side_effect, {"work/debug.go": files["work"]})) == 1

    def test_own_data_may_be_named_by_several_constants(self):
        source = "import os\nHERE = os.path.dirname(%s)\nROWS = os.path.join(HERE, 'x')\ntext = open(ROWS).read()"

        assert self.effects(source % "__file__") == []
        assert len(self.effects(source % "'/etc/x'")) == 1

    @pytest.mark.parametrize(
        ("source", "confidence"),
        [
            ("rows = open('words.txt').read()", "low"),
            ("rows = open('/proc/cpuinfo').read()", "low"),
            ("rows = open('/etc/hosts').read()", "medium"),
            ("import os\nos.umask(0)", "medium"),
            ("import time\ntime.sleep(1)", "high"),
        ],
    )
    def test_reading_a_file_is_a_guess_but_of_the_machine_and_a_setting_of_the_process_likely(self, source, confidence):
        (finding,) = self.effects(source)

        assert str(finding.confidence or arch_import_side_effect.RULE.confidence) == confidence

    def test_settings_may_read_files(self):
        assert self.effects("key = open('/run/secrets/key').read()", "shop/settings.py") == []

    def test_a_query_at_the_top_level_is_critical(self):
        query = Query(0, 4, "django", "Order", "count", terminal="count")
        files = {"a.py": facts_of("a.py", [], functions=(MODULE,), queries=(query,)), "b.py": ["a"]}
        (finding,) = found(arch_import_side_effect, files)

        assert (finding.line, finding.severity) == (4, Severity.CRITICAL)


DAY = datetime(2026, 11, 1, tzinfo=UTC)


def history_of(**changes):
    """Commits that touch `<module>/x.py` as often as said."""
    return History.of(
        SimpleNamespace(
            parents=["p"],
            author_name="dana",
            committed_at=DAY,
            changes=[SimpleNamespace(status="M", old_path=path, new_path=path, old_blob="1", new_blob="2")],
        )
        for path, count in ((f"{module}/x.py", count) for module, count in changes.items())
        for _ in range(count)
    )


def stable_and_unstable():
    """`base` has five dependents and imports `hot`, which itself imports three others."""
    users = {f"u{index}/x.py": ["base.x"] for index in range(5)}
    leaves = {f"leaf{index}/x.py": [] for index in range(3)}
    return users | leaves | {"base/x.py": [imported("hot.x", line=6)], "hot/x.py": [f"leaf{i}.x" for i in range(3)]}


class TestUnstableDependency:
    def test_a_stable_module_depends_on_one_that_changes_more(self):
        history = history_of(base=1, hot=6)
        (finding,) = found(arch_unstable_dependency, stable_and_unstable(), history=history)

        assert (finding.file, finding.line, finding.severity) == ("base/x.py", 6, Severity.WARNING)
        assert "`base` (instability 0.17, 5 dependents)" in finding.message

    def test_it_is_fine_while_the_target_changes_no_more(self):
        history = history_of(base=3, hot=6)

        assert found(arch_unstable_dependency, stable_and_unstable(), history=history) == []

    def test_a_folder_of_the_module_is_no_other_module(self):
        files = {path.replace("hot/", "base/hot/"): each for path, each in stable_and_unstable().items()}
        files["base/x.py"] = [imported("base.hot.x", line=6)]

        assert found(arch_unstable_dependency, files, history=history_of(**{"base": 1, "base/hot": 6})) == []

    def test_small_projects_are_left_alone(self):
        files = {"a/x.py": ["b.x"], "b/x.py": []}

        assert found(arch_unstable_dependency, files, history=history_of(b=9)) == []


def test_today_of_the_tests_is_within_the_window_of_the_commits():
    assert (date(2026, 11, 20) - DAY.date()).days < 90


@pytest.mark.parametrize(
    ("path", "source", "count"),
    [
        ("src/a.ts", "import { sessions } from './db';\nawait sessions.ping();\nexport const x = 1;\n", 1),
        ("src/a.ts", "import { sessions } from './db';\nexport async function f() { await sessions.ping(); }\n", 0),
        ("app/a.py", "from app.db import store\nstore.ping()\nX = 1\n", 1),
        ("app/a.py", "from django.db.models.signals import post_save\npost_save.connect(handle)\nX = 1\n", 0),
        ("app/a.py", "import boto3\ns3 = boto3.client('s3')\nB = s3.list_buckets()\n", 1),
        ("cmd/a.go", 'package cmd\nimport "gorm.io/gorm"\nvar db, _ = gorm.Open(dialect)\n', 1),
        (
            "cmd/a.go",
            'package cmd\nimport "net/http"\nvar c = &Command{Run: func() { reach() }}\n'
            'func reach() { http.Get("http://x") }\n',
            0,
        ),
    ],
)
def test_what_talks_to_a_server_when_it_is_imported(path, source, count):
    importers = {"src/b.ts": "import { x } from './a';\n", "app/b.py": "from app.a import X\n"}
    assert len(findings_of("arch-import-side-effect", {path: source, **importers})) == count


@pytest.mark.parametrize(
    ("asks", "count"),
    [
        ("router({ all: procedure.query(async ({ input }) => prisma.ship.findMany({ where: input })) });", 0),
        ("procedure.input(shape).query(async () =>\n  prisma.ship.findMany()\n);", 0),
        ("cache(() => prisma.ship.findMany());", 0),
        ("new Map([['all', [() => prisma.ship.findMany()]]]);", 0),
        ("router({ all: procedure.query(() => quays.map((quay) => prisma.ship.findFirst({ where: quay }))) });", 0),
        ("prisma.ship.findMany();", 1),
        ("await cache(() => prisma.ship.findMany());", 1),
        ("cache(() => prisma.ship.findMany()).then(draw);", 1),
        ("opened.then(() => prisma.ship.findMany());", 1),
        ("prisma.$transaction((tx) => tx.ship.findMany());", 1),
        ("quays.map((quay) => prisma.ship.findFirst({ where: quay }));", 1),
        ("(() => prisma.ship.findMany())();", 1),
    ],
)
def test_a_callback_that_is_only_handed_over_asks_nothing_on_import(asks, count):
    files = {
        "src/ships.ts": f"import {{ prisma }} from './db';\nexport const ships = [];\n{asks}\n",
        "src/db.ts": "import { PrismaClient } from '@prisma/client';\nexport const prisma = new PrismaClient();\n",
        "src/b.ts": "import { ships } from './ships';\nexport const fleet = () => ships;\n",
    }
    assert len(findings_of("arch-import-side-effect", files)) == count


@pytest.mark.parametrize(
    ("asks", "count"),
    [
        ("Field(default_factory=lambda: session.execute(select(Ship)).scalars().all())", 0),
        ("list(map(lambda quay: session.execute(select(Ship).where(Ship.quay == quay)).scalars().all(), QUAYS))", 1),
        ("session.execute(select(Ship)).scalars().all()", 1),
    ],
)
def test_a_lambda_that_is_only_kept_asks_nothing_on_import(asks, count):
    files = {
        "ferry/models.py": "class Ship(Base):\n    __tablename__ = 'ship'\n",
        "ferry/ships.py": f"from sqlalchemy import select\nfrom ferry.models import Ship\nSHIPS = {asks}\n",
        "ferry/b.py": "from ferry.ships import SHIPS\n",
    }
    assert len(findings_of("arch-import-side-effect", files)) == count


@pytest.mark.parametrize(
    ("importers", "count"),
    [
        ({"src/main.ts": "import './init';\nstart();\n"}, 0),
        ({"src/main.ts": "import './init';\nstart();\n", "src/cli.ts": "import './init';\nrun();\n"}, 0),
        ({"src/main.ts": "import { level } from './init';\nstart(level);\n"}, 1),
        ({"src/main.ts": "import './init';\nstart();\n", "src/quays.ts": "import './init';\nexport const q = 1;\n"}, 1),
        ({"src/quays.ts": "import './init';\nexport const q = 1;\n"}, 1),
    ],
)
@pytest.mark.parametrize(("effect", "is_own"), [("process.on('SIGHUP', reload);", True), ("await fetch(URL);", False)])
def test_a_program_changes_its_own_process_in_what_only_its_entry_loads(effect, is_own, importers, count):
    files = {"src/init.ts": f"{effect}\nexport const level = 1;\n", **importers}
    assert len(findings_of("arch-import-side-effect", files)) == (count if is_own else 1)


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("return func() { time.Sleep(d) }", 0),
        ("return func() { func() { time.Sleep(d) }() }", 0),
        ("return &Step{Run: func() { time.Sleep(d) }}", 0),
        ("return []func(){func() { time.Sleep(d) }}", 0),
        ("time.Sleep(d)\n\treturn func() {}", 1),
        ("return func() int { time.Sleep(d); return 1 }()", 1),
        ("once.Do(func() { time.Sleep(d) })", 1),
    ],
)
def test_a_function_of_go_that_is_only_given_back_does_nothing_on_import(body, count):
    source = 'package quays\n\nimport "time"\n\nvar steps = []any{wait(time.Second)}\n\n'
    source += f"func wait(d time.Duration) any {{\n\t{body}\n}}\n"
    assert len(findings_of("arch-import-side-effect", {"quays/quays.go": source})) == count


@pytest.mark.parametrize(
    ("path", "source", "count"),
    [
        ("src/a.ts", "function load(url) {\n  return () => fetch(url);\n}\nexport const x = load(URL);\n", 0),
        ("src/a.ts", "function load(url) {\n  return { now: () => fetch(url) };\n}\nexport const x = load(URL);\n", 0),
        ("src/a.ts", "function load(url) {\n  return fetch(url);\n}\nexport const x = load(URL);\n", 1),
        ("app/a.py", "import requests\ndef load(url):\n    return lambda: requests.get(url)\nX = load(URL)\n", 0),
        ("app/a.py", "import requests\ndef load(url):\n    return {1: lambda: requests.get(url)}\nX = load(URL)\n", 0),
        ("app/a.py", "import requests\ndef load(url):\n    return requests.get(url)\nX = load(URL)\n", 1),
    ],
)
def test_a_function_that_is_only_given_back_does_nothing_on_import(path, source, count):
    importers = {"src/b.ts": "import { x } from './a';\n", "app/b.py": "from app.a import X\n"}
    assert len(findings_of("arch-import-side-effect", {path: source, **importers})) == count


@pytest.mark.parametrize(
    ("scheduler", "count"), [("BackgroundScheduler()", 1), ("BlockingScheduler()", 1), ("Timetable()", 0)]
)
def test_a_scheduler_that_runs_once_the_file_is_imported(scheduler, count):
    name = scheduler.removesuffix("()")
    module = {"BackgroundScheduler": "background", "BlockingScheduler": "blocking"}.get(name, "own")
    source = f"from apscheduler.schedulers.{module} import {name}\nplan = {scheduler}\nplan.start()\n"
    files = {"ferry/plan.py": source, "ferry/trips.py": "from ferry.plan import plan\n"}
    assert [each.line for each in findings_of("arch-import-side-effect", files)] == [3] * count


@pytest.mark.parametrize(
    ("head", "decorator", "count"),
    [
        ("from flask import Blueprint\nbp = Blueprint('admin', __name__)\n", "@bp.post('/quays')", 1),
        ("from django.contrib import admin\n", "@admin.action()", 0),
    ],
)
def test_routes_called_admin_are_handlers_like_others(head, decorator, count):
    admin = f"{head}from sqlalchemy import select\nfrom ferry.models import Quay\n\n{decorator}\n"
    admin += "def close():\n    quay = session.get(Quay, 1)\n    quay.is_open = False\n    session.commit()\n"
    trips = "from flask import Blueprint\nfrom ferry.services import trips\nbp = Blueprint('t', __name__)\n\n"
    trips += "@bp.get('/trips')\ndef all_trips():\n    return trips.all()\n"
    files = {
        "ferry/models.py": "class Quay(Base):\n    __tablename__ = 'quay'\n",
        "ferry/web/admin.py": admin,
        "ferry/web/trips.py": trips,
        "ferry/services/trips.py": "def all():\n    return []\n",
    }
    assert [each.line for each in findings_of("arch-controller-uses-orm", files)] == [8] * count


@pytest.mark.parametrize(("decorator", "count"), [('@app.middleware("http")', 0), ('@app.get("/ships")', 1)])
def test_what_commits_around_each_request_is_no_handler(decorator, count):
    main = "from sqlalchemy.orm import Session\nfrom ferry.models import Ship\n"
    main += f"from fastapi import FastAPI\nfrom ferry.services import trips\napp = FastAPI()\n\n{decorator}\n"
    main += "async def ships(request, call_next):\n    session = Session()\n    ship = session.get(Ship, 1)\n"
    main += "    ship.seen = True\n    session.commit()\n    return ship\n"
    files = {"ferry/main.py": main, "ferry/services/trips.py": "def all():\n    return []\n"}
    handlers = "from fastapi import APIRouter\nfrom ferry.services import trips\nrouter = APIRouter()\n\n"
    files["ferry/trips.py"] = f"{handlers}@router.get('/trips')\ndef show():\n    return trips.all()\n"
    assert len(findings_of("arch-controller-uses-orm", files)) == count
