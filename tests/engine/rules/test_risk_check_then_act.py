import pytest

from tests.engine.rules import orms
from tests.engine.rules.reading import findings_of, lines_of
from tests.engine.rules.shop import findings, lines

RULE = "risk-check-then-act"

FLAGGED = [
    ("def f(r):\n    if not Order.objects.filter(reference=r).exists():\n        Order.objects.create(reference=r)", 3),
    (
        "def f(r):\n    if "
        "Order.objects.filter(reference=r).exists():\n"
        "        raise Taken\n"
        "    Order.objects.create(reference=r)",
        4,
    ),
    ("def f(r):\n    if not Order.objects.filter(reference=r).exists():\n        Order(reference=r).save()", 3),
]
FINE = [
    "def f(r):\n    Order.objects.get_or_create(reference=r)",
    "def f(r):\n    if not Order.objects.filter(reference=r).exists():\n        Line.objects.create(amount=1)",
    "def f(r):\n    if not Order.objects.filter(reference=r).exists():\n        return None",
    "def f(r):\n    try:\n"
    "        if not "
    "Order.objects.filter(reference=r).exists():\n"
    "            Order.objects.create(reference=r)\n"
    "    except IntegrityError:\n        pass",
    "def f(r):\n    "
    "Customer.objects.select_for_update().get(pk=1)\n"
    "    if not Order.objects.filter(reference=r).exists():\n"
    "        Order.objects.create(reference=r)",
]


@pytest.mark.parametrize(("source", "line"), FLAGGED)
def test_a_row_looked_for_and_then_made_is_found_where_it_is_made(source, line):
    assert lines(RULE, source) == [line]


@pytest.mark.parametrize("source", FINE)
def test_atomic_or_handled_ways_are_fine(source):
    assert lines(RULE, source) == []


def test_a_unique_column_makes_it_worth_knowing():
    source = (
        "def f(c):\n    if "
        "Region.objects.filter(code=c).exists():\n"
        "        raise Taken\n"
        "    Region.objects.create(code=c)"
    )
    (finding,) = findings(RULE, source)
    assert finding.severity == "info"


def test_the_message_and_the_fix_name_the_columns():
    (finding,) = findings(RULE, FLAGGED[0][0])
    assert finding.message.startswith("`Order` is looked for on line 4 and created here")
    assert finding.suggestion == (
        "Use an atomic operation (`get_or_create`, `ON CONFLICT`) backed by a unique constraint on reference."
    )
    assert (finding.severity, finding.confidence) == ("warning", "medium")


VIEW = "import os\nfrom rest_framework.views import APIView\nclass A(APIView):\n    def get(self, request):\n        "


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("if not os.path.exists(path):\n            os.makedirs(path)", 1),
        ("if os.path.exists(path):\n            os.remove(path)", 1),
        ("if not path.exists():\n            path.mkdir(parents=True)", 1),
        ("os.makedirs(path, exist_ok=True)", 0),
        ("if not os.path.exists(path):\n            os.makedirs(path, exist_ok=True)", 0),
        ("if os.path.exists(path):\n            read(path)", 0),
    ],
)
def test_files_are_a_warning_where_others_wait_and_else_worth_knowing(body, count):
    assert [each.severity for each in findings_of(RULE, {"a.py": VIEW + body})] == ["warning"] * count
    elsewhere = "import os\ndef f(path):\n    " + body.replace("        ", "    ")
    expected = ["info"] * count
    assert [each.severity for each in findings_of(RULE, {"a.py": elsewhere})] == expected


LOAD = "async function f(e) {\n  const user = await prisma.customer.findFirst({ where: { name: e } });\n"


@pytest.mark.parametrize(
    ("rest", "severities"),
    [
        ("  if (!user) {\n    await prisma.customer.create({ data });\n  }\n}", ["warning"]),
        ("  if (!user) {\n    throw new NotFound();\n  }\n}", []),
        (
            (
                "  if (!user) {\n    try { await "
                "prisma.customer.create({}); } "
                "catch (e) { if "
                "(e.code !== "
                "'P2002') throw e; }\n  }\n}"
            ),
            [],
        ),
    ],
)
def test_prisma(rest, severities):
    assert [each.severity for each in findings(RULE, LOAD + rest, "shop/work.ts")] == severities


def test_prisma_with_a_unique_column():
    source = LOAD.replace("name:", "email:") + "  if (!user) {\n    await prisma.customer.create({ data });\n  }\n}"
    assert [each.severity for each in findings(RULE, source, "shop/work.ts")] == ["info"]


@pytest.mark.parametrize(
    ("field", "count"),
    [
        ("private final Map<String, Row> rows = new HashMap<>();", 1),
        ("", 0),
        ("private Lock lock; private Map<A, B> rows = x;", 0),
    ],
)
def test_java_maps_that_are_shared(field, count):
    source = (
        f"class A {{\n  {field}\n  void f(K k) {{\n"
        f"    if (!rows.containsKey(k)) {{\n"
        f"      rows.put(k, v);\n    }}\n  }}\n}}"
    )
    assert len(findings_of(RULE, {"A.java": source})) == count


GO = """package a
import "os"

func main() {
	if _, err := os.Stat(p); os.IsNotExist(err) {
		os.%s(p, 0o755)
	}
}
"""


def test_go_files():
    assert lines_of(RULE, GO % "Mkdir", "go") == [6]
    assert lines_of(RULE, GO % "MkdirAll", "go") == []


ALCHEMY = "def f(session, e):\n    user = session.query(User).filter_by(email=e).first()\n"
MORE_PYTHON = [
    (ALCHEMY + "    if not user:\n        session.add(User(email=e))", 4),
    (ALCHEMY + "    if user is None:\n        user = User(email=e)\n        session.add(user)", 5),
    (ALCHEMY + "    if user:\n        raise Taken\n    user = User(email=e)\n    session.add(user)", 6),
    (
        "def f(e):\n    if User.objects.filter(email=e).count() == 0:\n        u = User(email=e)\n        u.save()",
        4,
    ),
    ("def f(e):\n    user = User.query.filter_by(email=e).first()\n    if not user:\n        db.add(User(email=e))", 4),
    (
        "async def f(s, e):\n    found = await s.scalar(select(User).where(User.email == e).limit(1))\n"
        "    if found is None:\n        s.add(User(email=e))",
        4,
    ),
    (
        "def f(e):\n    try:\n        return User.objects.get(email=e)\n    except User.DoesNotExist:\n"
        "        return User.objects.create(email=e)",
        5,
    ),
    ("def f(p):\n    if not os.path.exists(p):\n        with open(p, 'w') as file:\n            write(file)", 3),
    ("def f(p):\n    if p.exists():\n        raise Taken\n    p.write_text('a')", 4),
]


@pytest.mark.parametrize(("source", "line"), MORE_PYTHON)
def test_sqlalchemy_handlers_and_files_of_python(source, line):
    assert lines_of(RULE, "import os\n" + source) == [line + 1]


@pytest.mark.parametrize(
    "source",
    [
        ALCHEMY + "    if not user:\n        raise Missing",
        ALCHEMY + "    if user:\n        send(user)\n    session.add(User(email=e))",
        ALCHEMY.replace(".first()", ".with_for_update().first()")
        + "    if not user:\n        session.add(User(email=e))",
        "def f(p):\n    if os.path.exists(p):\n        with open(p) as file:\n            read(file)",
        "def f(p):\n    if p.exists():\n        try:\n            p.unlink()\n        except FileNotFoundError:\n"
        "            pass",
    ],
)
def test_what_makes_no_second_row_or_file_is_fine(source):
    assert lines_of(RULE, "import os\n" + source) == []


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("if (await User.exists({ email })) throw taken;\n  await User.create({ email });", [3]),
        ("const u = await repo.findOne({ email });\n  if (u) {\n    throw taken;\n  }\n  await repo.save(x);", [6]),
        ("const u = await User.findOne({ email });\n  if (!u) {\n    await new User({ email }).save();\n  }", [4]),
        ("const u = await repo.findOne({ email });\n  if (u) {\n    log(u);\n  }\n  await repo.save(x);", []),
        ("if (!fs.existsSync(d)) {\n    fs.mkdirSync(d);\n  }", [3]),
        ("if (!fs.existsSync(d)) {\n    fs.mkdirSync(d, { recursive: true });\n  }", []),
    ],
)
def test_script_guards_and_files(body, lines):
    assert lines_of(RULE, f"async function f(email) {{\n  {body}\n}}", "typescript") == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("if (users.existsByEmail(e)) { throw new Taken(); }\nuserRepository.save(u);", []),
        ("if (userRepository.existsByEmail(e)) { throw new Taken(); }\nuserRepository.save(u);", [4]),
        ("Optional<User> u = userRepository.findByEmail(e);\nif (u.isEmpty()) {\nuserRepository.save(n);\n}", [5]),
        ("User u = userMapper.selectByName(e);\nif (u == null) {\nuserMapper.insert(n);\n}", [5]),
        ("User u = userRepository.findById(i);\nif (u == null) {\nuserRepository.save(n);\n}", []),
        ("if (!Files.exists(p)) {\nFiles.createFile(p);\n}", [4]),
        ("if (!Files.exists(p)) {\nFiles.createDirectories(p);\n}", []),
    ],
)
def test_java_rows_and_files(body, lines):
    assert lines_of(RULE, f"class A {{\nvoid f(String e) {{\n{body}\n}}\n}}", "java") == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("s.mu.RLock()\nv, ok := s.rows[k]\ns.mu.RUnlock()\nif ok {\nreturn v\n}\ns.mu.Lock()\ns.rows[k] = x", [10]),
        (
            "s.mu.RLock()\nv, ok := s.rows[k]\ns.mu.RUnlock()\nif ok {\nreturn v\n}\ns.mu.Lock()\n"
            "if v, ok := s.rows[k]; ok {\nreturn v\n}\ns.rows[k] = x",
            [],
        ),
        ("if errors.Is(err, gorm.ErrRecordNotFound) {\ndb.Create(&row)\n}", [4]),
        ("if err == sql.ErrNoRows {\nreturn nil\n}", []),
        ("db.Model(&Seat{}).Count(&n)\nif n == 0 {\ndb.Create(&row)\n}", [5]),
        ("db.Model(&Seat{}).Count(&n)\nif n > 0 {\nreturn taken\n}\ndb.Create(&row)", [7]),
        ("db.Model(&Seat{}).Count(&n)\nif n > 0 {\ndb.Create(&row)\n}", []),
        ("n := len(rows)\nif n == 0 {\ndb.Create(&row)\n}", []),
        (
            "s.mu.RLock()\nv, ok := s.rows[k]\ns.mu.RUnlock()\nif ok {\nreturn v\n}\ns.mu.Lock()\n"
            "if len(s.rows) > 900 {\nclear(s.rows)\n}\ns.rows[k] = x",
            [13],
        ),
        (
            'q := "SELECT count(*) FROM seats WHERE no = $1"\nif err := db.GetContext(ctx, &n, q, k); err != nil {\n'
            'return err\n}\nif n == 0 {\ndb.ExecContext(ctx, "INSERT INTO seats (no) VALUES ($1)", k)\n}',
            [8],
        ),
        (
            'q := "SELECT count(*) FROM seats WHERE no = $1"\nif err := db.GetContext(ctx, &n, q, k); err != nil {\n'
            'return err\n}\nif n == 0 {\ndb.ExecContext(ctx, "INSERT INTO parcels (no) VALUES ($1)", k)\n}',
            [],
        ),
        ("_, err := os.Stat(p)\nif os.IsNotExist(err) {\nos.Mkdir(p, 0o755)\n}", [5]),
    ],
)
def test_go_maps_and_rows(body, lines):
    assert lines_of(RULE, f"package a\nfunc (s *Store) f(k string) {{\n{body}\n}}\n", "go") == lines


def test_a_failure_that_is_handled_is_fine():
    source = "import os\ndef f(path):\n    if os.path.isfile(path):\n        try:\n            os.remove(path)\n"
    assert findings_of(RULE, {"a.py": source + "        except OSError:\n            log(path)\n"}) == []


@pytest.mark.parametrize(("declared", "count"), [("UserRepository", 1), ("Set<String>", 0)])
def test_a_java_repository_by_its_type(declared, count):
    source = f"""class Work {{
  private final {declared} users;
  void f(String e) {{
    if (!users.existsByEmail(e)) {{
      users.save(e);
    }}
  }}
}}"""
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("if ((await db.seat.count({ where: { no } })) === 0) {\n  await db.seat.create({ data: { no } });\n}", 2),
        ("if ((await db.seat.count({ where: { no } })) > 0) {\n  await db.seat.create({ data: { no } });\n}", 0),
        (
            "const s = await seats.findOne({ no });\nif (s) throw x;\nconst n = seats.create({ no });\nseats.save(n);",
            4,
        ),
        ("const s = await Seat.findOne({ no });\nif (!s) {\n  const n = new Seat({ no });\n  await n.save();\n}", 4),
    ],
)
def test_the_act_is_where_the_row_is_written(source, line):
    assert lines_of(RULE, f"async function f(no) {{\n{source}\n}}", "typescript") == [line + 1] * (line > 0)


def test_a_repository_of_java_is_known_by_its_type():
    source = (
        "class A { private final SeatRepository seats;\nSeat f(String no) {\nOptional<Seat> found = "
        "seats.findByNo(no);\n"
        "if (found.isEmpty()) {\nreturn seats.save(new Seat(no));\n}\nreturn found.get(); } }"
    )
    assert lines_of(RULE, source, "java") == [5]


@pytest.mark.parametrize(
    ("field", "count"),
    [
        ("private final Map<K, V> rows = new ConcurrentHashMap<>();", 1),
        ("private final Map<K, V> rows = new HashMap<>();", 0),
        ("private static final Map<K, V> rows = new HashMap<>();", 1),
        ("", 0),
    ],
)
def test_a_value_of_a_map_that_is_tested_for_null(field, count):
    local = "" if field else "Map<K, V> rows = load();\n"
    body = (
        f"{local}V row = rows.get(key);\nif (row == null) {{\n row = make(key);\n rows.put(key, row);\n}}\nreturn row;"
    )
    assert len(lines_of(RULE, f"class A {{\n{field}\nV f(K key) {{\n{body}\n}} }}", "java")) == count


def test_a_lock_elsewhere_guards_no_concurrent_map():
    source = """import java.util.concurrent.locks.ReentrantLock;
class A {
  private static final ConcurrentHashMap<String, Long> RATES = new ConcurrentHashMap<>();
  private final ReentrantLock reportLock = new ReentrantLock();
  long rate(String code) {
    if (!RATES.containsKey(code)) { RATES.put(code, load(code)); }
    return RATES.get(code);
  }
}
"""
    assert lines_of(RULE, source, "java") == [6]
    assert lines_of(RULE, source.replace("ConcurrentHashMap", "HashMap"), "java") == []


def test_a_temporary_file_is_removed_by_nobody_else():
    source = "import os\ndef f(name):\n    path = {}\n    if os.path.exists(path):\n        os.remove(path)\n"
    assert [each.line for each in findings_of(RULE, {"a.py": source.format("folder + name")})] == [5]
    assert findings_of(RULE, {"a.py": source.format("tempfile.mktemp(name)")}) == []
    assert findings_of(RULE, {"a.py": source.format("f'{tmp.name}.zip'")}) == []
    assert len(findings_of(RULE, {"a.py": source.format("template(name)")})) == 1
    kept = "import os\npath = {}\ndef f():\n    if os.path.exists(path):\n        os.remove(path)\n"
    assert findings_of(RULE, {"a.py": kept.format("tempfile.mkdtemp()")}) == []
    assert len(findings_of(RULE, {"a.py": kept.format("folder()")})) == 1
    assert findings_of(RULE, {"packages/cli/a.py": kept.format("folder()")}) == []


def test_a_method_that_runs_with_the_lock_is_alone():
    source = """class A {{ private final SeatRepository seats;
void {}(String no) {{
if (!seats.existsByNo(no)) {{ seats.save(new Seat(no)); }} }} }}"""
    assert lines_of(RULE, source.format("addWithLock"), "java") == []
    assert lines_of(RULE, source.format("addBlock"), "java") == [3]


@pytest.mark.parametrize(("path", "count"), [("tool/magefile.go", 0), ("tool/main_file.go", 1)])
def test_a_build_runs_alone(path, count):
    source = (
        'package a\nimport "os"\nfunc Clean(path string) {\n'
        "\tif _, err := os.Stat(path); err == nil {\n\t\tos.Remove(path)\n\t}\n}\n"
    )
    assert len(findings_of(RULE, {path: source})) == count


def test_a_constructor_is_alone_with_its_map():
    source = """class A {{
  private final Map<String, String> rows = new ConcurrentHashMap<>();
  {}(String key) {{ if (!rows.containsKey(key)) {{ rows.put(key, load(key)); }} }}
}}"""
    assert lines_of(RULE, source.format("A"), "java") == []
    assert lines_of(RULE, source.format("void fill"), "java") == [3]


@pytest.mark.parametrize(("name", "count"), [("init_store", 0), ("initial_store", 1), ("store", 1)])
def test_what_starts_the_process_is_alone(name, count):
    source = f"import os\ndef {name}(path):\n    if not os.path.exists(path):\n        os.makedirs(path)\n"
    assert len(findings_of(RULE, {"a.py": source})) == count


@pytest.mark.parametrize(("name", "count"), [("init", 0), ("addUser", 1)])
def test_a_row_that_is_made_once_when_the_process_starts(name, count):
    source = (
        f"class A {{\n void {name}(String email) {{\n  if (!userRepository.existsByEmail(email)) {{\n"
        "   userRepository.save(new User(email));\n  }\n }\n}\n"
    )
    assert len(findings_of(RULE, {"src/A.java": source})) == count


@pytest.mark.parametrize(("asked", "count"), [("info.ModTime()", 0), ("true", 1)])
def test_a_stat_that_is_asked_for_the_age(asked, count):
    source = (
        "package a\nfunc F(w http.ResponseWriter, r *http.Request) error {\n\tinfo, err := os.Stat(path)\n"
        f"\tif err == nil {{\n\t\tuse({asked})\n\t\treturn os.Remove(path)\n\t}}\n\treturn nil\n}}\n"
    )
    assert len(findings_of(RULE, {"a.go": source})) == count


@pytest.mark.parametrize(("path", "count"), [("internal/generate/a.go", 0), ("internal/store/a.go", 1)])
def test_a_generator_of_code_runs_alone(path, count):
    source = (
        "package a\nfunc F() {\n\tif _, err := os.Stat(dir); os.IsNotExist(err) {\n\t\tos.Mkdir(dir, 0o755)\n\t}\n}\n"
    )
    assert len(findings_of(RULE, {path: source})) == count


@pytest.mark.parametrize(("other", "count"), [("os.remove(path)", 0), ("skip(path)", 1)])
def test_a_check_of_which_kind_it_is(other, count):
    source = (
        "import os, shutil\ndef f(path):\n    if os.path.isdir(path):\n        shutil.rmtree(path)\n"
        f"    else:\n        {other}\n"
    )
    assert len(findings_of(RULE, {"shop/work.py": source})) == count


@pytest.mark.parametrize(("name", "count"), [("listen", 0), ("Init", 0), ("receive", 1)])
def test_the_socket_that_a_server_removes_before_it_listens(name, count):
    source = (
        f"package main\nfunc main() {{\n\t{name}()\n}}\nfunc {name}() {{\n"
        "\tif _, err := os.Stat(path); err == nil {\n\t\tos.Remove(path)\n\t}\n}\n"
    )
    assert len(findings_of(RULE, {"shop/server.go": source})) == count


@pytest.mark.parametrize(("caller", "count"), [("static {", 0), ("void run() {", 1)])
def test_a_map_that_is_filled_when_its_class_is_loaded(caller, count):
    source = (
        f"class A {{\n  private static final Map<String, Row> ROWS = new HashMap<>();\n  {caller} add(key); }}\n"
        "  private static void add(String key) {\n    if (!ROWS.containsKey(key)) {\n      ROWS.put(key, new Row());\n"
        "    }\n  }\n}\n"
    )
    assert len(findings_of(RULE, {"src/A.java": source})) == count


@pytest.mark.parametrize(("store", "count"), [("caKeystore", 0), ("orderStore", 1)])
def test_a_store_of_keys_is_no_table(store, count):
    source = f"class A {{\n void add() {{\n  if (!{store}.exists()) {{\n   {store}.createOne();\n  }}\n }}\n}}\n"
    assert len(findings_of(RULE, {"src/A.java": source})) == count


VIEWS = "from rest_framework.views import APIView\nclass A(APIView):\n    def get(self, request):\n        pass\n"


@pytest.mark.parametrize("body", ["os.makedirs(path)", "os.remove(path)"])
def test_a_file_that_no_request_reaches_is_worth_knowing(body):
    source = f"import os\ndef f(path):\n    if {'not ' * ('make' in body)}os.path.exists(path):\n        {body}\n"
    for others in ({}, {"shop/views.py": VIEWS}):
        (finding,) = findings_of(RULE, {"shop/a.py": source, **others})
        assert (finding.severity, finding.confidence) == ("info", "low")


def test_a_row_that_no_request_is_seen_to_reach_is_less_certain():
    source = FLAGGED[0][0]
    assert [each.confidence for each in findings(RULE, source)] == ["medium"]
    assert [each.confidence for each in findings(RULE, source, others={"shop/views.py": VIEWS})] == ["low"]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("rows = Seat.objects.filter(no=no)\n    if not rows.exists():\n        Seat.objects.create(no=no)", [4]),
        ("rows = Seat.objects.filter(no=no)\n    if len(rows) == 0:\n        Seat.objects.create(no=no)", [4]),
        (
            "rows = Seat.objects.filter(\n        no=no\n    )\n    if rows:\n        return rows[0]\n"
            "    return Seat.objects.create(no=no)",
            [7],
        ),
        ("if not (row := Seat.objects.filter(no=no).first()):\n        row = Seat.objects.create(no=no)", [3]),
        ("if is_open and not Seat.objects.filter(no=no).exists():\n        Seat.objects.create(no=no)", [3]),
        ("if not session.query(Seat).filter(Seat.no == no).first():\n        session.add(Seat(no=no))", [3]),
        (
            "asked = select(Seat).where(Seat.no == no)\n    if session.scalar(asked) is None:\n"
            "        session.execute(insert(Seat).values(no=no))",
            [4],
        ),
        ("rows = Seat.objects.create(no=no)\n    if not rows:\n        Seat.objects.create(no=no)", []),
        ("rows = Seat.objects.filter(no=no)\n    if rows.exists():\n        Seat.objects.create(no=no)", []),
        ("rows = rows_of(no)\n    if not rows.exists():\n        Seat.objects.create(no=no)", []),
    ],
)
def test_a_question_by_way_of_variables(body, lines):
    assert lines_of(RULE, f"def f(session, no, is_open):\n    {body}\n") == lines


GO_ROW = "var row Seat\n\t"


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (
            GO_ROW + "if err := db.Where(q, no).First(&row).Error; err == nil {\n\t\treturn taken\n\t}\n"
            "\treturn db.Create(&Seat{No: no}).Error",
            [7],
        ),
        (
            GO_ROW
            + "err := db.First(&row).Error\n\tif !errors.Is(err, gorm.ErrRecordNotFound) {\n\t\treturn taken\n\t}\n"
            "\treturn db.Create(&Seat{No: no}).Error",
            [8],
        ),
        (
            GO_ROW + "err := db.First(&row).Error\n\tif err == gorm.ErrRecordNotFound {\n"
            "\t\treturn db.Create(&Seat{No: no}).Error\n\t}\n\treturn err",
            [6],
        ),
        (
            'var exists bool\n\tdb.QueryRow("SELECT EXISTS(SELECT 1 FROM seats WHERE no = $1)", no).Scan(&exists)\n'
            '\tif !exists {\n\t\tdb.Exec("INSERT INTO seats (no) VALUES ($1)", no)\n\t}\n\treturn nil',
            [6],
        ),
        (
            'err := db.QueryRow("SELECT id FROM seats WHERE no = $1", no).Scan(&id)\n\tif err == sql.ErrNoRows {\n'
            '\t\t_, err = db.Exec("INSERT INTO audits (no) VALUES ($1)", no)\n\t}\n\treturn err',
            [],
        ),
        ("row, err := load(no)\n\tif err == nil {\n\t\treturn taken\n\t}\n\treturn db.Create(&row).Error", []),
    ],
)
def test_what_go_asks_for_a_row(body, lines):
    assert lines_of(RULE, f"package a\nfunc f(no int) error {{\n\t{body}\n}}\n", "go") == lines


@pytest.mark.parametrize(
    ("value", "told"),
    [("door", ("warning", "medium")), ("UUID.randomUUID()", ("warning", "medium")), ("load(key)", ("info", "low"))],
)
def test_a_shared_map_that_loses_one_of_two_values(value, told):
    source = (
        "@Component\nclass A {\n  private final Map<String, Integer> doors = new ConcurrentHashMap<>();\n"
        "  void f(String key, int door) {\n    if (!doors.containsKey(key)) {\n"
        f"      doors.put(key, {value});\n    }}\n  }}\n}}\n"
    )
    assert [(each.severity, each.confidence) for each in findings_of(RULE, {"src/A.java": source})] == [told]


@pytest.mark.parametrize(
    ("loaded", "made", "count"),
    [
        ("var row Seat\n\terr := db.First(&row).Error", "&row", 1),
        ("var row Seat\n\terr := db.First(&row).Error", "&Seat{No: 1}", 1),
        ("var row Setting\n\terr := db.First(&row).Error", "&Seat{No: 1}", 0),
        ("err := db.Model(&Setting{}).First(&row).Error", "&Seat{No: 1}", 0),
    ],
)
def test_another_row_that_is_made(loaded, made, count):
    source = (
        f"package a\nfunc f() error {{\n\t{loaded}\n\tif errors.Is(err, gorm.ErrRecordNotFound) {{\n"
        f"\t\treturn db.Create({made}).Error\n\t}}\n\treturn err\n}}\n"
    )
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("value", "confidence"), [("new Queue()", "medium"), ("new DateFormat(key)", "low"), ("load(key)", "low")]
)
def test_which_of_two_values_a_map_keeps_may_be_the_same(value, confidence):
    source = (
        "class A {\n  private final Map<K, V> rows = new ConcurrentHashMap<>();\n  void f(K key) {\n"
        f"    if (!rows.containsKey(key)) {{ rows.put(key, {value}); }}\n  }}\n}}"
    )
    assert [each.confidence for each in findings_of(RULE, {"src/A.java": source})] == [confidence]


@pytest.mark.parametrize(("column", "severity"), [("{ unique: true }", "info"), ("", "warning")])
def test_a_repository_of_typeorm_knows_its_entity(column, severity):
    entity = (
        "import { Entity, Column } from 'typeorm';\n@Entity()\nexport class Seat {\n"
        f"  @PrimaryGeneratedColumn() id: number;\n  @Column({column}) no: string;\n}}\n"
    )
    service = (
        "export class Seats {\n  constructor(private repo: Repository<Seat>) {}\n  async add(no: string) {\n"
        "    const seat = await this.repo.findOne({ where: { no } });\n    if (!seat) {\n"
        "      await this.repo.save({ no });\n    }\n  }\n}\n"
    )
    found = findings_of(RULE, {"src/seat.entity.ts": entity, "src/seats.ts": service})
    assert [each.severity for each in found] == [severity]


@pytest.mark.parametrize(("asked", "severity"), [("existsByTitle(t)", "info"), ("findByNote(t) != null", "warning")])
def test_a_repository_of_java_knows_the_keys_of_its_table(asked, severity):
    files = {
        "a/Menu.java": (
            'import jakarta.persistence.*;\n@Entity\n@Table(name = "menu")\npublic class Menu {\n  @Id\n'
            '  private long id;\n  @Column(name = "the_title")\n  private String title;\n  private String note;\n}\n'
        ),
        "a/MenuRepository.java": "interface MenuRepository extends JpaRepository<Menu, Long> {}\n",
        "sql/all.sql": (
            "CREATE TABLE `menu` (\n  `id` bigint NOT NULL,\n  `the_title` varchar(99),\n  `note` varchar(99),\n"
            "  PRIMARY KEY (`id`),\n  UNIQUE KEY `uniq_title` (`the_title`),\n  KEY `idx_note` (`note`)\n);\n"
        ),
        "a/Menus.java": (
            "class Menus {\n  private final MenuRepository menuRepository;\n  void add(Menu menu, String t) {\n"
            f"    if (menuRepository.{asked}) {{\n      throw new Taken();\n    }}\n"
            "    menuRepository.save(menu);\n  }\n}\n"
        ),
    }
    (finding,) = findings_of(RULE, files)
    assert finding.severity == severity
    assert finding.message.endswith("the second one fails") == (severity == "info")


@pytest.mark.parametrize(("path", "count"), [('"/srv/x/" + name', 1), ('"/srv/x/y"', 0)])
def test_a_path_that_is_put_together_is_not_written_out(path, count):
    check = f"import os\n\n\ndef f(name):\n    if not os.path.exists({path}):\n"
    source = f'{check}        with open({path}, "w") as f:\n            f.write("x")\n'
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(("client", "count"), [("fileSystem", 0), ("users", 1)])
def test_files_behind_a_client_are_no_rows(client, count):
    source = f"const found = await {client}.exists(name);\nif (!found) {{\n  await {client}.create(name);\n}}\n"
    assert len(lines_of(RULE, f"async function f(name) {{\n{source}}}\n", "typescript")) == count


@pytest.mark.parametrize(("value", "severity"), [("&compiled", "info"), ("&Pattern{key: key}", "warning")])
def test_of_two_pointers_to_what_is_computed_alike_none_is_lost(value, severity):
    source = f"""package a

func (s *Store) find(key string) *Pattern {{
	s.mu.RLock()
	found, ok := s.patterns[key]
	s.mu.RUnlock()
	if ok {{
		return found
	}}
	compiled := compile(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.patterns[key] = {value}
	return s.patterns[key]
}}
"""
    found = findings_of(RULE, {"a/a.go": source})
    assert [each.severity for each in found] == [severity]


@pytest.mark.parametrize(
    ("head", "body", "lines"),
    [
        ("seat: Seat", "if await self.session.scalar(wanted) is None:\n            self.session.add(seat)", [9]),
        (
            "n",
            "seat = Seat(no=n)\n        if await self.session.scalar(wanted) is None:\n"
            "            self.session.add(seat)",
            [10],
        ),
        ("seat: Row", "if await self.session.scalar(wanted) is None:\n            self.session.add(seat)", []),
        ("seat: Seat", "if await self.session.scalar(wanted) is None:\n            self.session.delete(seat)", []),
        (
            "seat: Seat",
            "if await self.session.scalar(wanted) is None:\n            self.session.add(seat)\n"
            "        try:\n            await self.session.commit()\n        except IntegrityError:\n            pass",
            [],
        ),
    ],
)
def test_a_row_that_was_made_before_the_question(head, body, lines):
    source = (
        "from sqlalchemy import select\nfrom shop.models import Row, Seat\n\n\nclass Seats:\n"
        f"    async def take(self, {head}):\n        wanted = select(Seat.id).where(Seat.no == n)\n        {body}\n"
    )
    assert [each.line for each in findings_of(RULE, {"shop/seats.py": source})] == lines


POOL = 'import knex from "knex";\nexport const db = knex({ client: "pg" });\n'
SEATS = (
    'import { db } from "./pool";\n'
    "export async function byNo(no) {\n  return db('seats').where({ no }).first();\n}\n"
    "export async function ofHall(hall) {\n  return db('seats').where({ hall });\n}\n"
    "export async function addSeat(no) {\n  await db('seats').insert({ no });\n}\n"
    "export async function keepSeat(no) {\n  await db('seats').insert({ no }).onConflict('no').ignore();\n}\n"
)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("const s = await byNo(no);\n  if (!s) {\n    await db('seats').insert({ no });\n  }", [(6, "medium")]),
        ("const s = await byNo(no);\n  if (s) throw taken;\n  await db('seats').insert({ no });", [(6, "medium")]),
        ("if (!(await byNo(no))) {\n    await addSeat(no);\n  }", [(5, "low")]),
        (
            "const s = await db('seats').where({ no }).first();\n  if (!s) await db('seats').insert({ no });",
            [(5, "medium")],
        ),
        ("const s = await byNo(no);\n  if (!s) {\n    await keepSeat(no);\n  }", []),
        ("const s = await byNo(no);\n  if (!s) {\n    await db('logs').insert({ no });\n  }", []),
        ("const s = await byNo(no);\n  if (!s) {\n    await addSeat(other);\n  }", []),
        ("const s = await ofHall(no);\n  if (!s) {\n    await addSeat(no);\n  }", []),
        ("const s = await byNo(no);\n  if (!s) throw missing;\n  await addSeat(no);", []),
        (
            "const s = await db('seats').where({ no }).forUpdate().first();\n"
            "  if (!s) await db('seats').insert({ no });",
            [],
        ),
        (
            "const s = await byNo(no);\n  if (!s) await db('seats').insert({ no }).onConflict('no').merge();",
            [],
        ),
    ],
)
def test_what_a_function_or_a_builder_looks_for(body, found):
    source = (
        'import { db } from "./pool";\nimport { addSeat, byNo, keepSeat, ofHall } from "./seats";\n'
        f"export async function f(no, other) {{\n  {body}\n}}\n"
    )
    files = {"src/pool.ts": POOL, "src/seats.ts": SEATS, "src/work.ts": source}
    assert [(each.line, each.confidence) for each in findings_of(RULE, files)] == found


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("const s = await seatRepo.findByNo(no);\nif (!s) {\n  await seatRepo.insert({ no });\n}", 4),
        ("const s = await this.seats.findByNo(no);\nif (s) throw taken;\nawait this.seats.addSeat({ no });", 4),
        ("const s = await things.findByNo(no);\nif (!s) {\n  await things.insert({ no });\n}", 0),
        ("const s = await seatRepo.findAllByNo(no);\nif (!s) {\n  await seatRepo.insert({ no });\n}", 0),
        ("const s = await seatRepo.findByNo(no);\nif (s) {\n  await seatRepo.save(s);\n}", 0),
        ("const s = await seatRepo.findByNo(no);\nif (!s) {\n  await hallRepo.insert({ no });\n}", 0),
    ],
)
def test_a_repository_that_is_given_is_known_by_its_name_or_type(source, line):
    whole = f"class A {{\n  constructor(private seats: SeatRepository) {{}}\n  async f(no) {{\n{source}\n}}\n}}"
    found = findings_of(RULE, {"src/work.ts": whole})
    assert [each.line for each in found] == [line + 2] * (line > 0)


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("n, err := rdb.Exists(ctx, key).Result()\nif n == 0 {\nrdb.Set(ctx, key, owner, ttl)\n}", [5]),
        ("if n := rdb.Exists(ctx, key).Val(); n == 0 {\nrdb.Set(ctx, key, owner, ttl)\n}", [4]),
        ("n, err := rdb.Exists(ctx, key).Result()\nif n == 0 {\nrdb.SetNX(ctx, key, owner, ttl)\n}", []),
        ("n, err := rdb.Exists(ctx, key).Result()\nif n == 0 {\nrdb.Set(ctx, other, owner, ttl)\n}", []),
        ("n, err := rdb.Exists(ctx, key).Result()\nif n == 0 {\nreturn errMissing\n}", []),
        ('n, err := rdb.Exists(ctx, "lane:"+key).Result()\nif n == 0 {\nrdb.Set(ctx, "lane:"+key, owner, ttl)\n}', [5]),
        ("n, err := rdb.LLen(ctx, key).Result()\nif n == 0 {\nrdb.Set(ctx, key, owner, ttl)\n}", []),
    ],
)
def test_a_key_of_redis_that_go_sets_where_it_is_missing(body, lines):
    assert lines_of(RULE, f"package a\nfunc f(key string) {{\n{body}\n}}\n", "go") == lines


ASKS_BUN = 'db.NewSelect().Model((*Seat)(nil)).Where("no = ?", no)'


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (f"found, err := {ASKS_BUN}.Exists(ctx)\nif !found {{\ndb.NewInsert().Model(seat).Exec(ctx)\n}}", [5]),
        (
            f"exists, err := {ASKS_BUN}.Exists(ctx)\nif err != nil {{\nreturn err\n}}\n"
            "if exists {\nreturn errTaken\n}\ndb.NewInsert().Model(seat).Exec(ctx)",
            [10],
        ),
        (f"n, err := {ASKS_BUN}.Count(ctx)\nif n == 0 {{\ndb.NewInsert().Model(seat).Exec(ctx)\n}}", [5]),
        (f"n, err := {ASKS_BUN}.Count(ctx)\nif n == 0 {{\nreturn errNone\n}}", []),
        ("found, err := ask(no)\nif !found {\ndb.NewInsert().Model(seat).Exec(ctx)\n}", []),
    ],
)
def test_rows_that_bun_looks_for_and_makes(body, lines):
    assert lines_of(RULE, f"package a\nfunc f(db *bun.DB, no int) error {{\n{body}\n}}\n", "go") == lines


DRIZZLE_LOADS = {
    "rows": "const rows = await db.select({ n: sql`1` }).from(%(table)s).where(eq(%(table)s.%(column)s, x)).limit(1);",
    "row": "const [row] = await db\n  .select()\n  .from(%(table)s)\n  .where(eq(%(table)s.%(column)s, x));",
    "found": "const found = await db.query.%(table)s.findFirst({ where: eq(%(table)s.%(column)s, x) });",
}


@pytest.mark.parametrize(
    ("name", "rest", "count"),
    [
        ("rows", "if (rows.length > 0) {\n  return null;\n}\nawait db.insert(orders).values({ reference: x });", 1),
        ("rows", "if (rows.length === 0) {\n  await db.insert(orders).values({ reference: x });\n}", 1),
        ("rows", "if (!rows[0]) {\n  await db.insert(orders).values({ reference: x });\n}", 1),
        ("row", "if (!row) {\n  await db.insert(orders).values({ reference: x });\n}", 1),
        ("found", "if (found) throw taken;\nawait db\n  .insert(orders)\n  .values({ reference: x });", 1),
        ("found", "if (!found) throw missing;\nawait db.insert(orders).values({ reference: x });", 0),
        ("row", "if (!row) {\n  await db.insert(lines).values({ orderId: x });\n}", 0),
        ("row", "if (!row) {\n  await db.insert(orders).values({ reference: x }).onConflictDoNothing();\n}", 0),
    ],
)
def test_rows_of_drizzle(name, rest, count):
    body = DRIZZLE_LOADS[name] % {"table": "orders", "column": "reference"} + "\n" + rest
    found = orms.findings(RULE, "drizzle", body)
    assert [each.severity for each in found] == ["warning"] * count
    assert all("onConflictDoNothing" in each.suggestion and "on reference" in each.suggestion for each in found)


def test_a_unique_column_of_drizzle_makes_it_worth_knowing():
    load = DRIZZLE_LOADS["found"] % {"table": "customers", "column": "email"}
    body = f"{load}\nif (!found) {{\n  await db.insert(customers).values({{ email: x }});\n}}"
    assert [each.severity for each in orms.findings(RULE, "drizzle", body)] == ["info"]


@pytest.mark.parametrize(("name", "count"), [("doInit", 0), ("init_rows", 0), ("fill", 1)])
def test_what_sets_up_runs_alone(name, count):
    source = f"from shop.models import Seat\n\n\ndef {name}(no):\n    if not Seat.objects.filter(no=no).exists():\n"
    source += "        Seat.objects.create(no=no)\n"
    assert len(findings_of(RULE, {"shop/a.py": source})) == count


@pytest.mark.parametrize(("lock", "found"), [(" for update", []), ("", [7])])
def test_who_locks_a_row_before_lets_the_second_one_wait(lock, found):
    files = {
        "src/shop/BillRepository.java": (
            "package shop;\nclass BillRepository {\n  void hold(long id) {\n"
            f'    jdbc.queryForObject("select id from customers where id = ?{lock}", Long.class, id);\n  }}\n'
            "  boolean exists(long id) { return asked; }\n  void insert(long id) {}\n}\n"
        ),
        "src/shop/Bills.java": (
            "package shop;\nclass Bills {\n  private final BillRepository bills;\n"
            "  @Transactional\n  public void open(long id) {\n    bills.hold(id);\n"
            "    if (!bills.exists(id)) { bills.insert(id); }\n  }\n}\n"
        ),
    }
    assert [each.line for each in findings_of(RULE, files)] == found


@pytest.mark.parametrize(("caught", "count"), [("OSError as error", 0), ("Exception", 0), ("KeyError", 1)])
def test_a_folder_that_is_there_already_may_be_handled(caught, count):
    source = (
        "import os\n\ndef write(path):\n    try:\n        if not os.path.isdir(path):\n            os.makedirs(path)\n"
        f"    except {caught}:\n        return False\n"
    )
    assert len(findings_of(RULE, {"shop/a.py": source})) == count


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("if (!row) {\n    return orders().save(orders().create({ reference }));\n  }\n  return row;", [5]),
        ("if (row) return row;\n  return orders().save({ reference });", [5]),
        ("if (!row) throw new Error(reference);\n  return orders().save({ ...row, isPaid: true });", []),
    ],
)
def test_a_repository_that_a_function_gives(body, found):
    source = "import { Order } from './entities';\nconst orders = () => source.getRepository(Order);\n"
    source += "export async function place(reference) {\n"
    source += f"  const row = await orders().findOneBy({{ reference }});\n  {body}\n}}\n"
    assert [each.line - 1 for each in findings_of(RULE, orms.TYPEORM | {"src/a.ts": source})] == found


SQL_CHECKS = {
    "at once": 'if conn.execute("SELECT 1 FROM berths WHERE ship = ?", (ship,)).fetchone():\n        return',
    "row": 'row = conn.execute("SELECT 1 FROM berths WHERE ship = ?", (ship,)).fetchone()\n    if row:\n        return',
    "cursor": 'cur.execute("SELECT id FROM berths WHERE ship = %s", [ship])\n    if cur.fetchone():\n        return',
    "asyncpg": 'if await conn.fetchval("SELECT 1 FROM berths WHERE ship = $1", ship):\n        return',
}


@pytest.mark.parametrize("check", SQL_CHECKS.values(), ids=SQL_CHECKS)
@pytest.mark.parametrize(
    ("act", "count"),
    [
        ("INSERT INTO berths (ship) VALUES (?)", 1),
        ("INSERT INTO berths (ship) VALUES (?) ON CONFLICT (ship) DO NOTHING", 0),
        ("INSERT INTO ships (name) VALUES (?)", 0),
    ],
)
def test_rows_that_python_looks_for_and_makes_in_sql(check, act, count):
    source = f'async def berth(conn, cur, ship):\n    {check}\n    conn.execute("{act}", (ship,))\n'
    line = source.count("\n")
    assert [each.line for each in findings_of(RULE, {"harbour/berths.py": source})] == [line] * count


def test_a_table_that_the_code_makes_says_whether_a_row_can_come_twice():
    tables = 'TABLES = """CREATE TABLE berths (id INTEGER PRIMARY KEY, ship TEXT UNIQUE);"""\n'
    source = tables + f"def berth(conn, ship):\n    conn.executescript(TABLES)\n    {SQL_CHECKS['at once']}\n"
    source += '    conn.execute("INSERT INTO berths (ship) VALUES (?)", (ship,))\n'
    assert [str(each.severity) for each in findings_of(RULE, {"harbour/berths.py": source})] == ["info"]


GO_SEATS = """package hall

import "database/sql"

type Seats struct{ db *sql.DB }

func (s *Seats) Taken(ctx context.Context, no int) (bool, error) {
	var taken bool
	err := s.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM seats WHERE no = $1)`, no).Scan(&taken)
	return taken, err
}

func (s *Seats) ByNo(ctx context.Context, no int) (Seat, error) {
	var seat Seat
	err := s.db.QueryRowContext(ctx, `SELECT id, no FROM seats WHERE no = $1`, no).Scan(&seat.ID, &seat.No)
	return seat, err
}

func (s *Seats) Add(ctx context.Context, seat Seat) error {
	_, err := s.db.ExecContext(ctx, `INSERT INTO seats (no) VALUES ($1)`, seat.No)
	return err
}

func (s *Seats) AddHall(ctx context.Context, seat Seat) error {
	_, err := s.db.ExecContext(ctx, `INSERT INTO halls (no) VALUES ($1)`, seat.Hall)
	return err
}
"""


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (
            "taken, err := d.seats.Taken(ctx, seat.No)\nif taken {\nreturn errTaken\n}\nreturn d.seats.Add(ctx, seat)",
            [7],
        ),
        ("taken, err := d.seats.Taken(ctx, seat.No)\nif !taken {\nreturn d.seats.Add(ctx, seat)\n}", [5]),
        ("taken, err := d.seats.Taken(ctx, seat.No)\nif taken {\nlog(seat)\n}\nreturn d.seats.Add(ctx, seat)", []),
        ("taken, err := d.seats.Taken(ctx, seat.No)\nif !taken {\nreturn d.seats.AddHall(ctx, seat)\n}", []),
        ("taken, err := d.seats.Taken(ctx, seat.No)\nif !taken {\nreturn d.seats.Add(ctx, other)\n}", []),
        ("mu.Lock()\ntaken, err := d.seats.Taken(ctx, seat.No)\nif !taken {\nreturn d.seats.Add(ctx, seat)\n}", []),
        (
            "taken, err := d.seats.Taken(ctx, seat.No)\nif taken {\nreturn errTaken\n}\n"
            "err = d.seats.Add(ctx, seat)\nif db.IsUnique(err) {\nreturn errTaken\n}",
            [],
        ),
        (
            "_, err := d.seats.ByNo(ctx, seat.No)\nif errors.Is(err, errNone) {\nreturn d.seats.Add(ctx, seat)\n}",
            [5],
        ),
        ("_, err := d.seats.ByNo(ctx, seat.No)\nif err == nil {\nreturn errTaken\n}\nd.seats.Add(ctx, seat)", [7]),
        ("_, err := d.seats.ByNo(ctx, seat.No)\nif err != nil {\nreturn err\n}\nd.seats.Add(ctx, seat)", []),
    ],
)
def test_what_a_service_of_go_asks_its_store(body, lines):
    desk = f"package hall\n\nfunc (d *Desk) Book(ctx context.Context, seat Seat) error {{\n{body}\n}}\n"
    desk = desk.replace("\n\nfunc", "\nfunc") + "\ntype Desk struct{ seats *Seats }\n"
    found = findings_of(RULE, {"hall/seats.go": GO_SEATS, "hall/desk.go": desk})
    assert [each.line for each in found] == lines


@pytest.mark.parametrize(
    ("cases", "lines"),
    [
        (
            "case err == nil:\nreturn nil\ncase !errors.Is(err, gorm.ErrRecordNotFound):\nreturn err\n}\ndb.Create(&s)",
            [11],
        ),
        ("case errors.Is(err, gorm.ErrRecordNotFound):\nreturn db.Create(&s).Error\n}", [7]),
        ("case err == nil:\nlog(s)\ncase !errors.Is(err, gorm.ErrRecordNotFound):\nreturn err\n}\ndb.Create(&s)", []),
        ("case errors.Is(err, gorm.ErrRecordNotFound):\nreturn errMissing\n}\ndb.Create(&s)", []),
    ],
)
def test_cases_of_go_that_tell_what_is_missing(cases, lines):
    source = (
        "package a\nfunc f(db *gorm.DB, no int) error {\nvar s Seat\n"
        f'err := db.Where("no = ?", no).First(&s).Error\nswitch {{\n{cases}\nreturn nil\n}}\n'
    )
    assert lines_of(RULE, source, "go") == lines


@pytest.mark.parametrize(("asks", "count"), [("findByIdOptional(key)", 0), ("findByNameOptional(key)", 1)])
def test_a_row_of_java_that_is_asked_for_by_its_key(asks, count):
    source = (
        "class Vaults {\n  @POST\n  Response add(Key key) {\n    var found = accessRepo." + asks + ";\n"
        "    if (found.isPresent()) {\n      return ok();\n    } else {\n      accessRepo.persist(new Access(key));\n"
        "      return created();\n    }\n  }\n}\n"
    )
    assert len(findings_of(RULE, {"Vaults.java": source})) == count


@pytest.mark.parametrize(("parameter", "confidence"), [("", "low"), ("key", "medium")])
def test_a_job_that_is_given_nothing_runs_alone(parameter, confidence):
    source = (
        "from celery import shared_task\nfrom shop.models import Notice\n\n\n@shared_task\n"
        f"def remind({parameter}):\n    if not Notice.objects.filter(kind=1).exists():\n"
        "        Notice.objects.create(kind=1)\n"
    )
    files = {"shop/__init__.py": "", "shop/tasks.py": source}
    assert [str(each.confidence) for each in findings_of(RULE, files)] == [confidence]


@pytest.mark.parametrize(("failure", "count"), [("QueryFailedError", 0), ("TypeError", 1)])
def test_a_failure_of_typeorm_that_is_caught(failure, count):
    source = (
        "import express from 'express';\nconst app = express();\nconst guests = dataSource.getRepository(Guest);\n"
        "app.post('/x', async (req, res) => {\n  const known = await guests.findOneBy({ email });\n"
        "  if (known) return known;\n  try {\n    return await guests.save(guests.create({ email }));\n"
        f"  }} catch (error) {{\n    if (error instanceof {failure}) return guests.findOneBy({{ email }});\n"
        "    throw error;\n  }\n});\n"
    )
    assert len(findings_of(RULE, {"src/a.ts": source})) == count


@pytest.mark.parametrize(("made", "count"), [("Instant.now()", 1), ("title.toLowerCase()", 0)])
def test_a_value_of_a_map_that_a_variable_holds(made, count):
    source = (
        "import org.springframework.stereotype.Component;\n\n@Component\nclass Visits {\n"
        "  private final Map<String, Object> seen = new ConcurrentHashMap<>();\n\n"
        '  @PostMapping("/x")\n  public void visit(String title) {\n    Object at = seen.get(title);\n'
        f"    if (at == null) {{\n      at = {made};\n      seen.put(title, at);\n    }}\n  }}\n}}\n"
    )
    assert len(findings_of(RULE, {"src/Visits.java": source})) == count
