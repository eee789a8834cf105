import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "rel-unchecked-optional"


@pytest.mark.parametrize(
    ("statement", "lines"),
    [
        ("x = re.match(p, s).group(1)", [2]),
        ("x = re.search(p, s)[0]", [2]),
        ("x = User.objects.filter(a=1).first().name", [2]),
        ("x = User.objects.first().name", [2]),
        ("m = re.match(p, s)", []),
        ("x = User.objects.first()", []),
        ("x = letters.first().name", []),
        ("if re.match(p, s): x = re.match(p, s).group(1)", []),
        ("try: x = re.match(p, s).group(1)\nexcept AttributeError: x = None", []),
        ("m = re.match(p, s)\nx = m.group(1)", [3]),
        ("m = re.match(p, s)\nif m: x = m.group(1)", []),
        ("m = re.match(p, s)\nx = m.group(1) if m else None", []),
        ("d = json.loads(s)\na = d.get('k')\nx = a.get('t') if isinstance(a, dict) else None", []),
        ("d = json.loads(s)\na = d.get('k')\nx = (\n  a.get('t') if isinstance(a, dict) else None,\n  1)", []),
        ("d = json.loads(s)\na = d.get('k')\nif isinstance(a, dict): x = a.get('t')", []),
        ("d = json.loads(s)\na = d.get('k')\nx = a.get('t')", [4]),
        ("m = re.match(p, s)\nassert m\nx = m.group(1)", []),
        ("if len(qs) > 0: x = qs.first().name", []),
        ("x = os.environ.get('A').lower()", [2]),
        ("x = os.environ.get('A', '').lower()", []),
        ("x = request.GET.get('page').strip()", [2]),
        ("x = requests.get(url).text", []),
        ("d = dict(a)\nx = d.get('k').y", [3]),
        ("d = dict(a)\nd['k'] = y\nx = d.get('k').y", []),
        ("if 'k' in d: x = d.get('k').y", []),
        ("SPACE = re.compile(rb'\\s*')\nx = SPACE.match(s).end()", []),
        ("x = client.get('k').y", []),
        ("x = session.get(User, 1).name", [2]),
        ("x = session.execute(q).scalar_one_or_none().name", [2]),
        ("x = Order.objects.filter(a=1)[0].name", [2]),
        ("x = cursor.fetchall()[0]", [2]),
        ("x = db.execute('SELECT version()').fetchone()[0]", []),
        ("x = db.execute('SELECT name FROM a').fetchone()[0]", [2]),
        ("if re.match('[0-9]+ d', t):\n  s = t[0:5]\n  x = re.match('[0-9]+', s).group()", []),
        ("if re.match('[0-9]+ d', t):\n  s = u[0:5]\n  x = re.match('[0-9]+', s).group()", [4]),
        ("if re.match(pattern=P, string=s):\n  x = re.search(P, s).group(1)", []),
        ("if re.match(P, s):\n  x = re.search(pattern=P, string=s).group(1)", []),
        ("if re.match(pattern=P, string=t):\n  x = re.search(P, s).group(1)", [3]),
        ("if re.match(P, t):\n  x = re.search(pattern=P, string=s).group(1)", [3]),
        ("if a:\n  x = 1\nelif re.match(pattern=P, string=s):\n  x = f'{re.search(P, s).group(1)}'", []),
        ("if a:\n  x = 1\nelif b:\n  x = re.search(P, s).group(1)", [5]),
        ("x = payload.get('a').get('b')", [2]),
        ("x = payload.get('a', {}).get('b')", []),
        ("x = config.get('a').get('b')", []),
    ],
)
def test_python(statement, lines):
    assert lines_of(RULE, f"import re\n{statement}\n") == lines


@pytest.mark.parametrize(
    ("statement", "lines"),
    [
        ("const x = users.find((u) => u.id === id).name;", [1]),
        ("const x = users.find((u) => u.id === id)?.name;", []),
        ("const x = users.find((u) => u.id === id);", []),
        ("const x = users.find((u) => u.id === id)!.name;", []),
        ("const x = $('a').find('b').text();", []),
        ("try { x = users.find((u) => u.id === id).name; } catch (e) { fail(e); }", []),
        ("const u = users.find((u) => u.id === id);\nshow(u.name);", [2]),
        ("const u = users.find((u) => u.id === id) || {};\nshow(u.name);", []),
        ('const u = users.find((u) => u.id === id);\nlog({ "u.id": id });', []),
        ("const u = users.find((u) => u.id === id);\nif (!u) return;\nshow(u.name);", []),
        ("const x = (await users.findOne({ id })).name;", [1]),
        ("const x = (await users.findOne({ id }))?.name;", []),
        ("const u = await User.findOne({ id });\nshow(u.name);", [2]),
        ("const u = await User.findOne({ id });\nif (u) show(u.name);", []),
        ("const u = await this.findOne({ id });\nshow(u.name);", []),
        ("const rows = await db.query(q);\nshow(rows[0].name);", [2]),
        ("const rows = await db.query(q);\nif (rows.length) show(rows[0].name);", []),
        ("const r = await db.raw('SELECT COUNT(*) FROM a');\nshow(r.rows[0].count);", []),
        ("const r = await db.raw('SELECT name FROM a');\nshow(r.rows[0].name);", [2]),
        ("const n = (await db.query('SELECT MAX(price) AS top FROM a WHERE b = 1'))[0].top;", []),
        ("const n = (await db.query('SELECT MAX(price) AS top FROM a GROUP BY b'))[0].top;", [1]),
        ("const n = (await db.query('SELECT b FROM a WHERE c = (SELECT MAX(c) FROM a)'))[0].b;", [1]),
        ("const q = `SELECT COUNT(*) AS n FROM a`;\nconst r = await db.execute(q, {});\nshow(r[0].n);", []),
        ("const q = `SELECT n FROM a`;\nconst r = await db.execute(q, {});\nshow(r[0].n);", [3]),
        ("const m = new Map();\nm.set(k, []);\nrows.forEach((r) => { m.get(k).push(r); });", []),
        ("const m = new Map();\nfill(m);\nm.get(k).call();", [3]),
        ("const m = new Map();\nif (m.has(k)) m.get(k).call();", []),
        ("function f(m: Map<string, User>, k: string) { return m.get(k).name; }", [1]),
        ("const x = text.match(/a(b)/)[1];", [1]),
        ("const m = text.match(/a(b)/);\nshow(m[1]);", [2]),
        ("const m = text.match(/a(b)/);\nif (m) show(m[1]);", []),
        ("const x = text.match(/^(.*)$/)[1];", []),
        ("const x = ({}).toString.call(a).match(/\\s([a-z]+)/)[1];", []),
        ("if (/a(b)/.test(text)) show(text.match(/a(b)/)[1]);", []),
    ],
)
def test_script(statement, lines):
    assert lines_of(RULE, statement, "typescript") == lines


@pytest.mark.parametrize(
    ("statement", "lines"),
    [
        ("repository.findById(id).get();", [2]),
        ("xs.stream().filter(a).findFirst().get();", [2]),
        ("repository.findById(id).orElseThrow();", []),
        ("map.get(key);", []),
        ("Optional<User> u = repository.findById(id);\nshow(u.get());", [3]),
        ("Optional<User> u = repository.findById(id);\nif (u.isPresent()) show(u.get());", []),
        ("Optional<User> u = Optional.of(x);\nshow(u.get());", []),
        ("Optional<User> u;\nwhile ((u = find(next(1))).isPresent()) {\nshow(u.get()); }", []),
        ("Optional<User> u;\nif (!(u = find(id)).isEmpty()) show(u.get());", []),
        ("Optional<User> u;\nu = find(of(v).isPresent());\nshow(u.get());", [4]),
        ("Optional<User> u;\nwhile ((v = find(1)).isPresent()) {\nshow(u.get()); }", [4]),
        ("if (repository.findById(id).isPresent()) { repository.findById(id).get(); }", []),
        ("future.get();", []),
        ("try { dao.findById(id).get(); } catch (ExecutionException e) { throw x(e); }", []),
        ("dao.findByIdAsync(id).get();", []),
    ],
)
def test_java(statement, lines):
    assert lines_of(RULE, f"class A {{ void f() {{\n{statement} }} }}", "java") == lines


@pytest.mark.parametrize(
    ("given", "count"),
    [("Supplier<Optional<String>>", 0), ("Optional<String>", 1), ("Optional<List<String>>", 1)],
)
def test_a_supplier_of_an_optional_is_none_of_java(given, count):
    source = f"class A {{ void f({given} wanted) {{ show(wanted.get()); }} }}"
    assert len(lines_of(RULE, source, "java")) == count


HANDLER = """package a
import "net/http"
func show(w http.ResponseWriter, r *http.Request) {
%s
}
"""


@pytest.mark.parametrize(
    ("statement", "lines"),
    [
        ("id := r.Context().Value(key).(int)", [4]),
        ("out := eval()\nshow(out.Value().(string))", [5]),
        ("out := eval()\nif out.Type() != text { return }\nshow(out.Value().(string))", []),
        ("id, ok := r.Context().Value(key).(int)", []),
        ('id := claims["id"].(string)', [4]),
        ('name, ok := given["id"]\nuse(name, ok)\nid := token.Claims.(Map)["id"].(string)', []),
        ('name, ok := given["name"]\nuse(name, ok)\nid := token.Claims.(Map)["id"].(string)', [6]),
        ('v := session.Get("id")\nuse(v.(int))', [5]),
        ('v := session.Get("id")\nif v == nil { return }\nuse(v.(int))', []),
        ("use(value.(int))", []),
        ("switch v := x.(type) { case int: use(v) }", []),
    ],
)
def test_go_on_the_request_path(statement, lines):
    found = findings_of(RULE, {"a.go": HANDLER % statement})
    assert [each.line for each in found] == lines


def test_go_elsewhere_is_fine():
    source = (HANDLER % "use(ctx.Value(key).(int))").replace("w http.ResponseWriter, r *http.Request", "ctx C")
    assert findings_of(RULE, {"a.go": source}) == []


def test_constant_tables_are_a_guess():
    (mark,) = marks_of(RULE, "const x = SIZES.find((s) => s.id === id).name;", "typescript")
    assert mark.confidence == "low"


def test_a_choice_asks_behind_what_it_chooses():
    source = "import re\n\n\ndef f(text):\n    found = re.search('a(b)', text)\n    add(\n        found.group(1)\n"
    assert lines_of(RULE, source + "        if found\n        else text\n    )\n") == []
    assert lines_of(RULE, source + "    )\n") == [7]


@pytest.mark.parametrize(
    ("before", "confidences"),
    [
        ("", ["low"]),
        ("if (!sizes.containsKey(key)) return 0;", []),
        ("sizes.put(key, load(key));", []),
        ("if (!weights.containsKey(key)) return 0;", []),
        ("Map<String, Size> other = load();", ["low"]),
    ],
)
def test_a_java_map_gives_null_for_what_it_does_not_hold(before, confidences):
    source = f"""class A {{
  private final Map<String, Size> sizes = new HashMap<>();
  int f(String key) {{
    {before}
    return sizes.get(key).width();
  }}
}}"""
    assert [mark.confidence for mark in marks_of(RULE, source, "java")] == confidences


@pytest.mark.parametrize(
    ("query", "count"),
    [("select name from users where id = %s", 1), ("select count(*) from users", 0), ("insert into a returning id", 0)],
)
def test_one_row_that_may_not_be_there(query, count):
    source = f"def f(cursor, pk):\n    cursor.execute('{query}', [pk])\n    return cursor.fetchone()[0]\n"
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(
    "taken",
    [
        "const { rows } = await db.query(q, [id]);\n  return rows[0].name;",
        "const result = await db.query(q, [id]);\n  return result.rows[0].name;",
    ],
)
def test_the_first_row_of_a_script(taken):
    assert lines_of(RULE, f"async function f(db, id) {{\n  {taken}\n}}", "typescript") == [3]
    checked = taken.replace("return", "if (rows.length) return").replace(
        "(rows", "(rows" if "{ rows }" in taken else "(result.rows"
    )
    assert lines_of(RULE, f"async function f(db, id) {{\n  {checked}\n}}", "typescript") == []


def test_a_text_that_another_pattern_has_tested_fits():
    source = (
        "import re\ndef f(text):\n    if re.match(STRICT, text):\n"
        "        found = re.search(LOOSE, text)\n        use(found.start())\n"
    )
    assert lines_of(RULE, source) == []
    assert lines_of(RULE, source.replace("STRICT, text", "STRICT, other")) == [5]


def test_a_form_that_was_validated():
    source = (
        "from flask import request\ndef f(form):\n    if not form.validate():\n"
        "        return\n    use(request.form.get('a').strip())\n"
    )
    assert lines_of(RULE, source) == []
    assert lines_of(RULE, source.replace("form.validate()", "form.pages()")) == [5]


def test_a_list_of_java_maps_is_no_map():
    source = "class A {\n  int f(List<Map<String, Size>> rows) {\n    return rows.get(0).size();\n  }\n}\n"
    assert lines_of(RULE, source, "java") == []


def test_what_runs_before_a_handler_sets_as_far_as_anybody_sees():
    (given,) = marks_of(RULE, HANDLER % "show(r.Context().Value(key).(int))", "go")
    (held,) = marks_of(RULE, HANDLER % "show(session.Get(key).(int))", "go")
    assert (given.confidence, held.confidence) == ("low", "medium")


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("row = await session.get(Row, a)\n    return row.name", 1),
        ("return (await session.get(Row, a)).name", 1),
        ("row = await session.get(Row, a)\n    return row", 0),
        ("return Row.query.filter_by(a=a).first().name", 1),
        ("return Row.query.get(a).name", 1),
        ("return NUMBER.match(a).group(1)", 1),
        ("found = NUMBER.search(a)\n    return found.group(1)", 1),
        ("found = NUMBER.search(a)\n    return found and found.group(1)", 0),
        ("return other.match(a).group(1)", 0),
        ("return re.compile(a).match(a).group(1)", 1),
        ("return os.getenv(a).split()", 1),
        ("return os.getenv(a, '').split()", 0),
        ("return next((each for each in a if each), None).name", 1),
        ("return next(each for each in a if each).name", 0),
        ("row = rows.find_one({'a': a})\n    return row['name']", 1),
        ("row = rows.find_one({'a': a})\n    return row['name'] if row else ''", 0),
    ],
)
def test_more_look_ups_of_python(body, count):
    source = f"import os\nimport re\n\nNUMBER = re.compile('[0-9]+')\n\n\nasync def f(a, session, rows):\n    {body}\n"
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("const { name } = await rows.findById(id);", 1),
        ("const { name } = await this.names.load(id);", 0),
        ("const found = /(a+)b/.exec(text); use(found[1]);", 1),
        ("const found = /(a+)b/.exec(text); if (found) use(found[1]);", 0),
        ("const name = /(a+)b/.exec(text)[1];", 1),
        ("const rows = new Map(); const f = (key) => { const row = rows.get(key); return row.run(); };", 1),
        ("const rows = new Map(); const f = (key) => { const row = rows.get(key); return row?.run(); };", 0),
    ],
)
def test_more_look_ups_of_script(source, count):
    assert len(lines_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("return rows.findById(id).orElse(null).name();", 1),
        ("return rows.findById(id).orElse(EMPTY).name();", 0),
        ("return entityManager.find(Row.class, id).name();", 1),
        ("var row = rows.findById(id); return row.get();", 1),
        ("var row = rows.findById(id); return row.isPresent() ? row.get() : null;", 0),
        ("return jdbc.query(sql, mapper).get(0);", 1),
        ('return jdbc.query("select count(*) from rows", mapper).get(0);', 0),
        ("List<Row> found = jdbc.query(sql, mapper); return found.get(0);", 1),
        ("List<Row> found = jdbc.query(sql, mapper); return found.isEmpty() ? null : found.get(0);", 0),
        ("List<Row> found = list(id); return found.get(0);", 0),
    ],
)
def test_more_look_ups_of_java(body, count):
    assert len(lines_of(RULE, f"class A {{ Row f(String id) {{ {body} }} }}", "java")) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("return herds.findByFarm(id).get(0);", 1),
        ("List<Herd> found = herds.findByFarm(id); return found.get(0);", 1),
        ("List<Herd> found = herds.findByFarm(id); if (found.isEmpty()) { return null; } return found.get(0);", 0),
        ("return barns.findByFarm(id).get(0);", 0),
    ],
)
def test_what_a_declared_repository_finds_may_be_nothing(body, count):
    source = f"class A {{ HerdRepository herds; List<Barn> barns; Object f(String id) {{ {body} }} }}"
    assert len(lines_of(RULE, source, "java")) == count


def test_rows_that_a_helper_has_counted_are_there():
    source = "class A { Row f() { List<Row> found = em.createQuery(q).getResultList(); %s return found.get(0); } }"
    assert len(lines_of(RULE, source % "", "java")) == 1
    assert lines_of(RULE, source % "if (CollectionUtils.isEmpty(found)) { return null; }", "java") == []


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ('for (Map<String, Object> row : list) { use(row.get("id").toString()); }', 0),
        ("Map<String, Row> rows = list.stream().collect(toMap(Row::id, it)); use(rows.get(id).name());", 0),
        ("Map<String, Row> rows = load(); use(rows.get(id).name());", 1),
    ],
)
def test_rows_have_their_columns_and_collected_maps_their_elements(body, count):
    assert len(lines_of(RULE, f"class A {{ void f(String id) {{ {body} }} }}", "java")) == count


def test_of_several_objects_there_is_one():
    source = (
        "try:\n    row = Row.objects.get(a=a)\nexcept Row.%s:\n    rows = Row.objects.filter(a=a)\n    row = rows[0]\n"
    )
    assert lines_of(RULE, source % "MultipleObjectsReturned") == []
    assert lines_of(RULE, source % "DoesNotExist") == [5]


def test_a_key_or_keyword_of_the_same_name_is_no_use():
    script = "async function f() {\n  const patient = await Patient.findOne({ a });\n"
    assert lines_of(RULE, script + "  return Visit.find({ patient: patient.id });\n}\n", "typescript") == [3]
    assert lines_of(RULE, script + "  return Visit.find({ patient: patient });\n}\n", "typescript") == []
    python = "def f(a):\n    member = Member.query.filter_by(a=a).first()\n"
    assert lines_of(RULE, python + "    return Loan(member=member.id)\n") == [3]
    assert lines_of(RULE, python + "    member = member or Member()\n    return member.id\n") == []


def test_flask_sqlalchemy_by_key():
    source = "def f(a):\n    member = Member.query.get(a)\n    member.credits += 1\n"
    assert lines_of(RULE, source) == [3]
    assert lines_of(RULE, source.replace("get(", "get_or_404(")) == []


@pytest.mark.parametrize(("asked", "count"), [("if Row.objects.filter(a=a).count():", 0), ("if a:", 1)])
def test_rows_that_were_counted_are_there(asked, count):
    source = f"def f(a):\n    {asked}\n        return Row.objects.filter(a=a, b=1)[0]\n"
    assert len(lines_of(RULE, source)) == count


def test_a_table_of_functions_is_of_the_program():
    source = 'package a\nfunc f() {\nwrite := rows["a"].(%s)\nuse(write)\n}'
    assert lines_of(RULE, source % "func(string) error", "go") == []
    assert lines_of(RULE, source % "string", "go") == [3]


def test_what_a_comment_says_is_no_use():
    source = "const row = rows.find((each) => each.id === id);\n// row.name may be missing\nshow(%s);"
    assert lines_of(RULE, source % "row", "typescript") == []
    assert lines_of(RULE, source % "row.name", "typescript") == [3]


@pytest.mark.parametrize(("pattern", "confidence"), [("/^(.+?)$/", "low"), ("/a(b)/", "medium")])
def test_a_pattern_that_nearly_all_texts_match_is_a_guess(pattern, confidence):
    (mark,) = marks_of(RULE, f"const x = {pattern}.exec(text)[1];", "typescript")
    assert mark.confidence == confidence


def test_the_step_before_lets_through_what_has_the_key():
    step = "rows.filter(r -> { Map<String, Row> m = t(r); return m.%s(r); }).map(r -> { Map<String, Row> m = t(r); "
    source = "class A { void f() { " + step + "return m.get(r).name(); }); } }"
    assert lines_of(RULE, source % "containsKey", "java") == []
    assert len(lines_of(RULE, source % "known", "java")) == 1


def test_what_must_be_there_is_there():
    assert marks_of(RULE, GIN % 'c.MustGet("user").(*User)', "go") == []
    assert len(marks_of(RULE, GIN % 'c.Request.Context().Value("user").(*User)', "go")) == 1


GIN = """package a
import "github.com/gin-gonic/gin"
func routes(r *gin.Engine) { r.GET("/a", show) }
func show(c *gin.Context) {
	user := %s
	use(user)
}
"""


@pytest.mark.parametrize(("pattern", "confidences"), [("^[ ]*", []), ("^(.+)$", ["low"]), ("^[0-9]+", ["high"])])
def test_a_compiled_pattern_that_cannot_fail(pattern, confidences):
    source = f'import re\n_BEGIN = re.compile(r"{pattern}")\nx = _BEGIN.match(line).group(0)\n'
    assert [each.confidence for each in marks_of(RULE, source)] == confidences


@pytest.mark.parametrize(("asked", "count"), [("unknown helper", 0), ("helper", 1)])
def test_who_asked_for_the_words_of_a_pattern(asked, count):
    source = f"if (e.message.includes('{asked}')) {{ const name = e.message.match(/unknown helper (\\w*)/)[1]; }}"
    assert len(lines_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(("store", "confidence"), [("this.usersRepository", "low"), ("User", "medium")])
def test_a_store_of_the_project_may_throw_for_what_is_missing(store, confidence):
    (mark,) = marks_of(RULE, f"const user = await {store}.findById(id);\nshow(user.name);", "typescript")
    assert mark.confidence == confidence


def test_as_many_keys_as_there_are():
    source = "class A { void f(Map<Integer, Row> rows) { for (int i = 0; i < %s; i++) { use(rows.get(i).name()); } } }"
    assert lines_of(RULE, source % "rows.size()", "java") == []
    assert len(lines_of(RULE, source % "9", "java")) == 1


@pytest.mark.parametrize(("context", "confidence"), [("c.Request.Context()", "low"), ("c.Keys()", "medium")])
def test_a_value_of_the_context_of_a_request_is_set_before(context, confidence):
    source = GIN.replace("user :=", f"ctx := {context}\n\tuser :=") % 'ctx.Value("user").(*User)'
    assert [each.confidence for each in marks_of(RULE, source, "go")] == [confidence]


@pytest.mark.parametrize(("asked", "count"), [("if row.get('a', {}).get('b'):", 0), ("if row.ready:", 1)])
def test_a_key_that_was_asked_for_with_a_default(asked, count):
    assert len(lines_of(RULE, f"def f(row):\n    {asked}\n        return row.get('a').get('b')\n")) == count


@pytest.mark.parametrize(("name", "confidence"), [("data", "low"), ("claims", "medium")])
def test_a_map_of_the_program_holds_what_was_put_there(name, confidence):
    source = GIN % f'{name}["language"].(string)'
    assert [each.confidence for each in marks_of(RULE, source, "go")] == [confidence]


@pytest.mark.parametrize(
    ("query", "count"), [("SHOW timeout", 0), ("SELECT to_regclass('a')", 0), ("SELECT a FROM b", 1)]
)
def test_what_a_server_always_answers(query, count):
    assert len(lines_of(RULE, f'x = cur.execute("{query}").fetchone()[0]\n')) == count


@pytest.mark.parametrize(("key", "count"), [("user", 0), ("team", 1)])
def test_a_value_that_the_file_puts_into_the_context(key, count):
    put = f'func with(c *gin.Context) {{ use(context.WithValue(c, "{key}", load(c))) }}\n'
    source = GIN % 'c.Request.Context().Value("user").(*User)' + put
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("found", "confidence"), [("rows.stream().filter(a).findAny()", "low"), ("rows.findById(id)", "medium")]
)
def test_who_walks_over_a_list_mostly_knows_it(found, confidence):
    (mark,) = marks_of(RULE, f"class A {{ Row f(String id) {{ return {found}.get(); }} }}", "java")
    assert mark.confidence == confidence


@pytest.mark.parametrize(("key", "count"), [("this.id", 0), ("{ id: this.id }", 0), ("this.ownerId", 1)])
def test_what_looks_itself_up_is_there(key, count):
    source = f"class Row {{ async f() {{ const row = await Rows.findOne({key});\nreturn row.name; }} }}"
    assert len(lines_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(("key", "count"), [("self.id", 0), ("self.owner_id", 1)])
def test_an_object_of_python_is_there_too(key, count):
    assert len(lines_of(RULE, f"def f(self):\n    return session.get(Row, {key}).name\n")) == count


@pytest.mark.parametrize(
    ("query", "count"), [("SELECT EXISTS (SELECT 1 FROM a)", 0), ("SELECT b FROM a WHERE c = 1", 1)]
)
def test_a_question_of_sql_is_always_answered(query, count):
    source = f"def f(db):\n    query = '{query}'\n    row = db.execute(text(query)).first()\n    return row[0]\n"
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(("key", "confidence"), [("req.params.id", "medium"), ("id", "low")])
def test_a_request_may_ask_for_anything(key, confidence):
    (mark,) = marks_of(RULE, f"const name = rows.find((row) => row.id === {key}).name;", "typescript")
    assert mark.confidence == confidence


def test_the_type_of_what_a_method_gives_is_not_that_of_its_parameter():
    source = "class A { Optional<Change> f(AtomicReference<Row> row) { return row.get().change(); } }"
    assert lines_of(RULE, source, "java") == []
    assert lines_of(RULE, source.replace("AtomicReference", "Optional"), "java") == [1]


def test_a_class_with_a_method_get_is_no_map():
    source = "class Rows { rows = new Map();\nf(key) { return this.%s(key).name; } }"
    assert lines_of(RULE, source % "get", "typescript") == []
    assert lines_of(RULE, source % "rows.get", "typescript") == [2]


@pytest.mark.parametrize(("key", "confidence"), [("req.params.id", "medium"), ("id", "low")])
def test_who_asks_a_map_mostly_knows_it(key, confidence):
    source = f"const rows = new Map();\nexport function f(req, id) {{ return rows.get({key}).name; }}\n"
    assert [each.confidence for each in marks_of(RULE, source, "typescript")] == [confidence]


@pytest.mark.parametrize(("asked", "count"), [("os.getenv('PORT', None)", 0), ("os.getenv('HOST')", 1)])
def test_a_variable_of_the_environment_that_was_asked_for(asked, count):
    source = f"import os\nif {asked}:\n    port = os.getenv('PORT').strip()\n"
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(("column", "count"), [("MIN(id)", 0), ("id", 1)])
def test_an_aggregate_gives_a_row(column, count):
    asked = f"cur.execute('SELECT {column} FROM a')\n    rows = cur.fetchall()"
    assert len(lines_of(RULE, f"def f(cur):\n    {asked}\n    return rows[0][0]\n")) == count


@pytest.mark.parametrize(
    ("declared", "key", "count"),
    [
        ("Map<String, Size> sizes = load();", "name", 1),
        ("static final Map<String, Size> sizes = all();", "name", 0),
        ("Map<Kind, Size> sizes = load();", "Kind.LARGE", 0),
    ],
)
def test_who_wrote_the_key_wrote_the_map(declared, key, count):
    source = f"class A {{ {declared}\n int f(String name) {{ return sizes.get({key}).width(); }} }}"
    assert len(marks_of(RULE, source, "java")) == count


def test_a_pattern_that_the_file_asks_elsewhere_may_be_known_to_match():
    source = "import re\nA = re.compile('a(b)')\ndef f(x):\n    m = A.match(x)\n    return m.group(1)\n"
    asked = "def g(xs):\n    return [f(x) for x in xs if A.match(x)]\n"
    assert [each.confidence for each in findings_of(RULE, {"a.py": source})] == ["medium"]
    assert findings_of(RULE, {"a.py": source + asked}) == []


@pytest.mark.parametrize(
    ("function", "count"),
    [
        ("int width(String key) { return sizes.get(key).width(); }", 1),
        ("private int width(String key) { return sizes.get(key).width(); }", 0),
        ("int width() { return sizes.get(name).width(); }", 0),
        ("int width(List<Row> rows) { rows.forEach(r -> show(sizes.get(r.key()).width())); return 0; }", 0),
    ],
)
def test_a_guess_is_told_where_callers_ask_for_the_key(function, count):
    source = f"class A {{ private Map<String, Size> sizes = load();\n{function} }}"
    assert len(findings_of(RULE, {"src/A.java": source})) == count


@pytest.mark.parametrize(
    ("function", "count"),
    [
        ("export function width(key: string) { return sizes.get(key).width; }", 1),
        ("export function width(rows: Row[], key: string) { return rows.find((r) => r.key === key).width; }", 1),
        ("export function width(rows: Row[]) { return rows.find((r) => r.isFirst).width; }", 0),
        (
            "export function width(rows: Row[], key: string) {\n"
            "  const row = rows.find((r) => r.key === key);\n  return row.width;\n}",
            1,
        ),
        ("class A { private width(key: string) { return sizes.get(key).width; } }", 0),
        ("const byKind: Map<Kind, Size> = load();\nexport function f(k: Kind) { return byKind.get(k).width; }", 0),
    ],
)
def test_a_guess_is_told_where_callers_of_script_ask_for_it(function, count):
    assert len(findings_of(RULE, {"src/a.ts": f"const sizes = new Map<string, Size>();\n{function}\n"})) == count


@pytest.mark.parametrize(
    ("body", "confidences"),
    [
        ("return self.rooms.get(day).name", ["medium"]),
        ("return self.rooms.get(TODAY).name", []),
        ("return self.clients.get(day).name", []),
        ("self.rooms[day] = load(day)\n        return self.rooms.get(day).name", []),
    ],
)
def test_a_dictionary_that_objects_keep(body, confidences):
    source = (
        "class A:\n    def __init__(self):\n        self.rooms: dict[str, Room] = {}\n\n"
        "    def of(self, day):\n        "
    )
    assert [each.confidence for each in marks_of(RULE, source + body + "\n")] == confidences


@pytest.mark.parametrize(
    ("between", "count"),
    [
        ("", 1),
        ("if len(rows) == 0 { return }", 0),
        ("rows = more(rows)", 0),
        ("for _, row := range rows { show(row) }", 0),
    ],
)
def test_the_first_row_of_go(between, count):
    source = (
        f"package a\nfunc f() {{\n\tvar rows []Row\n\tdb.Where(q).Find(&rows)\n\t{between}\n\tshow(rows[0].Name)\n}}\n"
    )
    assert len(marks_of(RULE, source, "go")) == count
    assert marks_of(RULE, source.replace("db.Where(q).Find", "json.Unmarshal"), "go") == []


@pytest.mark.parametrize(("path", "count"), [("shop/management/commands/sample_data.py", 0), ("shop/work.py", 1)])
def test_made_up_rows_are_there(path, count):
    assert len(findings_of(RULE, {path: "User.objects.filter(a=1).first().delete()\n"})) == count


@pytest.mark.parametrize(
    ("body", "flagged"),
    [
        ("    row = await conn.fetchrow('SELECT a FROM t WHERE id = $1', key)\n    return row['a']", True),
        ("    row = await conn.fetchrow('SELECT count(*) FROM t WHERE id = $1', key)\n    return row[0]", False),
        ("    cur.execute('SELECT a FROM t WHERE id = %s', (key,))\n    return cur.fetchone()[0]", True),
        ("    cur.execute('SELECT count(*) FROM t')\n    return cur.fetchone()[0]", False),
        ("    result = await session.execute(q)\n    return result.scalar_one_or_none().a", True),
        ("    result = await session.execute(q)\n    return result.scalar_one().a", False),
    ],
)
def test_rows_of_python_by_their_key(body, flagged):
    assert bool(findings_of(RULE, {"app/a.py": f"async def f(conn, cur, session, key):\n{body}\n"})) is flagged


@pytest.mark.parametrize(("annotation", "flagged"), [(": dict[str, str]", True), ("", False)])
def test_a_dictionary_that_is_given(annotation, flagged):
    source = f"def f(names{annotation}, key: str):\n    return names.get(key).strip()\n"
    assert bool(findings_of(RULE, {"app/a.py": source})) is flagged


@pytest.mark.parametrize(
    ("body", "flagged"),
    [
        ("User u = em.find(User.class, id);\nreturn u.name();", True),
        ("User u = repo.findById(id).orElse(null);\nreturn u.name();", True),
        ("User u = em.find(User.class, id);\nif (u == null) { return null; }\nreturn u.name();", False),
        ("List<User> rows = repo.findByName(id);\nreturn rows.get(0).name();", True),
        (
            "List<User> rows = repo.findByName(id);\nif (rows.isEmpty()) { return null; }\nreturn rows.get(0).name();",
            False,
        ),
        ("Matcher m = P.matcher(id);\nm.find();\nreturn m.group(1);", True),
        ("Matcher m = P.matcher(id);\nif (m.find()) { return m.group(1); }\nreturn null;", False),
    ],
)
def test_what_java_keeps_in_a_variable_first(body, flagged):
    source = f"class A {{\nString f(String id) {{\n{body}\n}}\n}}\n"
    assert bool(findings_of(RULE, {"src/main/java/a/A.java": source})) is flagged


@pytest.mark.parametrize(("check", "flagged"), [("", True), ("if len(list) == 0 {\nreturn T{}, errNone\n}\n", False)])
def test_the_first_of_what_a_store_has_given_in_go(check, flagged):
    source = (
        "package a\nfunc (s *S) first(ctx C, ids []int) (T, error) {\nlist, err := s.parcels.Many(ctx, ids)\n"
        f"if err != nil {{\nreturn T{{}}, err\n}}\n{check}return list[0], nil\n}}\n"
    )
    assert bool(findings_of(RULE, {"a/a.go": source})) is flagged


@pytest.mark.parametrize(("given", "flagged"), [("req.params.id", True), ("own.id", False)])
def test_who_catches_all_still_answers_for_what_a_request_asks(given, flagged):
    source = (
        "app.get('/x', async (req, res) => {\ntry {\n"
        f"const {{ rows }} = await pool.query('SELECT a FROM t WHERE id = $1', [{given}]);\n"
        "res.json(rows[0].a);\n} catch (e) { res.sendStatus(500); }\n});\n"
    )
    assert bool(findings_of(RULE, {"src/a.ts": source})) is flagged


@pytest.mark.parametrize(("name", "flagged"), [("handleSelected", False), ("titleOf", True)])
def test_a_page_knows_what_it_shows(name, flagged):
    source = (
        f"export const {name} = (key: string) => {{\n"
        f"  const kind = tabs.find((t) => t.key === key).kind;\n  show(kind);\n}};\n"
    )
    assert bool(findings_of(RULE, {"src/a.tsx": source})) is flagged


@pytest.mark.parametrize(("check", "flagged"), [("", True), ("if (!row) return null;\n", False)])
def test_the_first_row_of_a_query_builder(check, flagged):
    source = (
        f"export async function f(id) {{\nconst row = await knex('t').where({{ id }}).first();\n"
        f"{check}return row.a;\n}}\n"
    )
    assert bool(findings_of(RULE, {"src/a.js": source})) is flagged


@pytest.mark.parametrize(
    ("body", "flagged"),
    [
        ("return (await db.scalars(wanted)).first().name", True),
        ("row = (await db.scalars(wanted)).first()\n    return row.name", True),
        ("row = (await db.execute(wanted)).scalar_one_or_none()\n    return row.name", True),
        ("rows = await db.scalars(wanted)\n    row = rows.first()\n    return row.name", True),
        ("row = (await db.scalars(wanted)).first()\n    return row.name if row else None", False),
        ("row = (await db.scalars(wanted)).one()\n    return row.name", False),
        ("row = (await load(wanted)).first()\n    return row.name", False),
    ],
)
def test_a_row_of_what_was_awaited(body, flagged):
    assert bool(findings_of(RULE, {"app/a.py": f"async def f(db, wanted):\n    {body}\n"})) is flagged


@pytest.mark.parametrize(
    ("filled", "used", "count"),
    [
        ("db.Where(q).Limit(1).Find(&rows)", "first := rows[0]", 1),
        ("db.NewSelect().Model(&rows).Where(q).Scan(ctx)", "show(rows[0].Name)", 1),
        ("db.NewSelect().Model(&rows).Where(q).Scan(ctx)", "if len(rows) > 0 { show(rows[0].Name) }", 0),
        ("db.NewInsert().Model(&rows).Exec(ctx)", "show(rows[0].Name)", 0),
        ("db.Where(q).Limit(1).Find(&rows)", "if rows[0] == other { show() }", 0),
    ],
)
def test_the_first_row_of_bun_and_one_that_is_given_a_name(filled, used, count):
    source = f"package a\nfunc f() {{\n\tvar rows []Row\n\t{filled}\n\t{used}\n}}\n"
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("filled", "count"),
    [
        ("rows, err := pgx.CollectRows(found, pgx.RowTo[int])", 1),
        ("err := db.\n\t\tWhere(q).\n\t\tFind(&rows).Error", 1),
        ("rows, err := strings.Fields(text)", 0),
    ],
)
def test_the_first_row_of_pgx_and_of_a_chain_over_several_lines(filled, count):
    source = f"package a\nfunc f() {{\n\t{filled}\n\tshow(rows[0].Name)\n}}\n"
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("first", "second", "flagged"),
    [
        ("if not page:\n        return show()", "", False),
        ("", "", True),
        ("if not page:\n        return show()", "def other(request):\n    return listed(request)\n", True),
        ("if not page:\n        return None", "from shop.listed import rows", False),
    ],
)
def test_who_calls_has_asked_for_the_same(first, second, flagged):
    source = (
        f'def view(request):\n    page = request.GET.get("page")\n    {first}\n'
        '    return {"all": listed}["all"](request)\n\n'
        f'{second}\ndef listed(request):\n    return request.GET.get("page").strip()\n'
    )
    assert bool(lines_of(RULE, source)) is flagged


@pytest.mark.parametrize(
    ("body", "flagged"),
    [
        ("return this.pool.one(sql(id));", False),
        ("return this.rows.findOne({ id });", True),
        ("return this.builder(id).getOne();", True),
    ],
)
def test_a_finder_of_the_project_may_raise_for_what_is_missing(body, flagged):
    files = {
        "src/orders.ts": f"export class Orders {{\n  async findById(id: string) {{\n    {body}\n  }}\n}}\n",
        "src/a.ts": "async function f(id: string) {\n  const { name } = await orders.findById(id);\n  show(name);\n}\n",
    }
    assert bool(findings_of(RULE, files)) is flagged


@pytest.mark.parametrize(
    ("look_up", "count"),
    [
        ("const found = await models.rows.query().count('* as total').first();", 0),
        ("const found = await models.rows.query().first();", 1),
        ("const found = await models.rows.query().count().groupBy('kind').first();", 1),
    ],
)
def test_a_number_of_rows_is_always_given(look_up, count):
    assert len(lines_of(RULE, f"{look_up}\nshow(found.total);", "javascript")) == count


@pytest.mark.parametrize(("key", "flagged"), [("req.user.id", False), ("req.params.id", True)])
def test_who_is_signed_in_is_there(key, flagged):
    source = (
        "app.get('/x', async (req, res) => {\ntry {\n"
        f"const user = await User.findById({key});\nres.json(user.name);\n"
        "} catch (e) { res.sendStatus(500); }\n});\n"
    )
    assert bool(findings_of(RULE, {"src/a.ts": source})) is flagged


@pytest.mark.parametrize(("asked", "flagged"), [("color.startsWith('rgb')", False), ("other", True)])
def test_a_text_that_was_tested_before_matches_mostly(asked, flagged):
    source = (
        "export function f(color: string) {\n"
        f"  if ({asked}) {{\n    const parts = color.match(/[0-9]+/g);\n    return parts.join();\n  }}\n}}\n"
    )
    assert bool(findings_of(RULE, {"src/a.ts": source})) is flagged


@pytest.mark.parametrize(("rows", "flagged"), [("this.state.roles", False), ("this.roles", True)])
def test_a_component_is_asked_for_what_it_shows(rows, flagged):
    body = f"const row = {rows}.find((each) => each.id === id);\n    send(row.id);"
    source = f"class Page {{\n  drop(id) {{\n    {body}\n  }}\n}}\n"
    assert bool(findings_of(RULE, {"src/a.js": source})) is flagged


@pytest.mark.parametrize(("path", "count"), [("tools/a.py", 0), ("shop/a.py", 1)])
def test_who_runs_a_script_sees_it_fail(path, count):
    assert len(findings_of(RULE, {path: "import re\nx = re.match(p, s).group(1)\n"})) == count


@pytest.mark.parametrize(
    ("body", "flagged"),
    [
        ("const rows = await db.select().from(users).where(eq(users.slug, slug));\nreturn rows[0].name;", True),
        ("const [row] = await db.select().from(users).where(eq(users.slug, slug)).limit(1);\nreturn row.name;", True),
        ("return (await db.select().from(users).where(eq(users.slug, slug)))[0].name;", True),
        ("const [row] = await db.select().from(users).where(eq(users.slug, slug));\nreturn row?.name;", False),
        ("const rows = await db.select().from(users).where(eq(users.slug, slug));\nreturn rows.map(show);", False),
        ("const [row] = await db.select({ n: count() }).from(users).where(eq(users.a, a));\nreturn row.n;", False),
        ("const rows = await db.select().from(users);\nif (!rows.length) return '';\nreturn rows[0].name;", False),
    ],
)
def test_the_first_row_of_drizzle(body, flagged):
    source = f"import {{ count, eq }} from 'drizzle-orm';\nexport async function f(slug) {{\n{body}\n}}\n"
    assert bool(findings_of(RULE, {"src/a.ts": source})) is flagged


@pytest.mark.parametrize(
    ("body", "flagged"),
    [
        ("const rows = await prisma.$queryRawUnsafe<Row[]>(text);\nreturn rows[0].name;", True),
        (
            "const rows = await prisma.$queryRaw<Row[]>`select a from t where b = ${id}`;\nreturn rows[0].name;",
            True,
        ),
        ("return (await pool.query<Row>(text)).rows[0].name;", True),
        ("const row = await users.findOne<Row>({ id });\nreturn row.name;", True),
        ("const rows = await prisma.$queryRawUnsafe<Row[]>(text);\nreturn rows[0]?.name;", False),
        ("const [{ n }] = await prisma.$queryRaw<N[]>`select count(*) n from users`;\nreturn n;", False),
    ],
)
def test_rows_of_a_call_with_types(body, flagged):
    assert bool(findings_of(RULE, {"src/a.ts": f"export async function f(id, text) {{\n{body}\n}}\n"})) is flagged


@pytest.mark.parametrize(("options", "flagged"), [("{ rejectOnEmpty: true }", False), ("{ paranoid: false }", True)])
def test_sequelize_may_be_told_to_throw(options, flagged):
    source = f"export async function f(id) {{\nconst row = await Visit.findByPk(id, {options});\nreturn row.at;\n}}\n"
    assert bool(findings_of(RULE, {"src/a.js": source})) is flagged


@pytest.mark.parametrize(
    ("query", "count"),
    [("SELECT gate FROM berths WHERE ship = %s", 1), ("SELECT count(*) FROM berths WHERE ship = %s", 0)],
)
def test_a_row_that_is_read_where_the_statement_is_written(query, count):
    source = f'def gate(conn, ship):\n    return conn.execute("{query}", (ship,)).fetchone()["gate"]\n'
    assert [each.line for each in findings_of(RULE, {"harbour/berths.py": source})] == [2] * count


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ('Bike b = Bike.find("code", code).firstResult();\nreturn b.price;', [3]),
        ('Bike b = Bike.find("code", code).firstResult();\nif (b == null) { return 0; }\nreturn b.price;', []),
        ("return session.createQuery(q).uniqueResult().price;", [2]),
        ('Bike b = Bike.find("code", code).singleResult();\nreturn b.price;', []),
    ],
)
def test_where_no_row_is_null(body, lines):
    source = f"import jakarta.persistence.Entity; class A {{ int f(String code) {{\n{body} }} }}"
    assert lines_of(RULE, source, "java") == lines


@pytest.mark.parametrize(("behind", "count"), [("AT.remove(name);", 1), ("", 0)])
def test_a_constant_map_whose_keys_come_and_go_is_no_table(behind, count):
    source = (
        "class A {\n  private static final Map<String, Instant> AT = new ConcurrentHashMap<>();\n"
        "  long f(String name) {\n    return AT.get(name).toEpochMilli();\n  }\n"
        f"  void g(String name) {{ {behind} }}\n}}\n"
    )
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(
    ("asked", "confidences"),
    [
        ('v, _ := c.Get("user")\n\tuser := v.(*User)', ["low"]),
        ('v, ok := c.Get("user")\n\tif !ok {\n\t\treturn\n\t}\n\tuser := v.(*User)', []),
        ('v, _ := c.Get("user")\n\tif v == nil {\n\t\treturn\n\t}\n\tuser := v.(*User)', []),
        ('v, _ := load("user")\n\tuser := v.(*User)', []),
    ],
)
def test_a_value_whose_absence_go_throws_away(asked, confidences):
    source = GIN.replace("user := %s", asked)
    assert [each.confidence for each in findings_of(RULE, {"a.go": source})] == confidences


@pytest.mark.parametrize(
    ("before", "count"),
    [
        ("if !known(r) {\n\t\treturn r.Context()\n\t}\n\t", 1),
        ("if !known(r) {\n\t\tnext.ServeHTTP(w, r)\n\t\treturn nil\n\t}\n\t", 1),
        ("if !known(r) {\n\t\treturn nil\n\t}\n\t", 0),
        ("", 0),
    ],
)
def test_a_value_that_the_file_puts_into_the_context_for_some_only(before, count):
    put = (
        f"func with(r *http.Request) context.Context {{\n\t{before}"
        "return context.WithValue(r.Context(), userKey, load(r))\n}\n"
    )
    source = HANDLER % "use(owner(r.Context()))" + put
    source += "func owner(ctx context.Context) *User {\n\treturn ctx.Value(userKey).(*User)\n}\n"
    assert len(findings_of(RULE, {"a.go": source})) == count


@pytest.mark.parametrize(
    ("asked", "confidences"),
    [
        ("name=settings.ROBOT", ["medium", "low"]),
        ("is_default=True", ["medium", "low"]),
        ('kind="robot", is_default=True', ["medium", "low"]),
        ("name=name", ["high", "medium"]),
        ("name=request.GET['name']", ["high", "medium"]),
    ],
)
def test_a_row_that_the_program_names_itself_was_put_there_mostly(asked, confidences):
    source = (
        "def direct(name, request):\n"
        f"    return User.objects.filter({asked}).first().id\n\n\n"
        "def by_variable(name, request):\n"
        f"    user = User.objects.filter({asked}).first()\n    return user.id\n"
    )
    assert [each.confidence for each in findings_of(RULE, {"shop/users.py": source})] == confidences


def test_the_newest_of_many_rows_is_none_that_the_program_names():
    source = "def newest():\n    return Rate.objects.filter(is_real=True).last().value\n"
    assert [each.confidence for each in findings_of(RULE, {"shop/rates.py": source})] == ["high"]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("row = db.scalar(select(Card).where(Card.code == code))\n    return row.owner", [3]),
        ("wanted = select(Card).where(Card.code == code)\n    return db.scalar(wanted).owner", [3]),
        ("row = db.scalar(select(func.count()).where(Card.code == code))\n    return row.real", []),
        ("row = db.scalar(select(Card).where(Card.code == code))\n    return row.owner if row else None", []),
        ("rows = db.scalars(select(Card).where(Card.code == code)).all()\n    return rows[0]", [3]),
        ("return db.query(Card).filter_by(code=code).all()[0]", [2]),
        ("found = db.execute(wanted)\n    rows = found.scalars().all()\n    return rows[0]", [4]),
        ("rows = db.scalars(select(Card).where(Card.code == code)).all()\n    return rows[0] if rows else None", []),
        ('rows = db.execute(text("SELECT count(*) FROM cards")).all()\n    return rows[0]', []),
    ],
)
def test_the_first_row_of_sqlalchemy_may_not_be_there(body, lines):
    assert lines_of(RULE, f"def owner(db, code, wanted):\n    {body}\n") == lines


CARDS = "class Cards:\n    async def by_code(self, code) -> %s:\n        return await self.rows.one(code)\n"


@pytest.mark.parametrize(
    ("gives", "use", "count"),
    [
        ("Card | None", "return (await desk.cards.by_code(code)).owner", 1),
        ("Optional[Card]", "card = await desk.cards.by_code(code)\n    return card.owner", 1),
        ("Card", "return (await desk.cards.by_code(code)).owner", 0),
        ("Card | None", "card = await desk.cards.by_code(code)\n    return card.owner if card else None", 0),
        ("Card | None", "return await desk.cards.by_code(code)", 0),
    ],
)
def test_a_method_that_says_it_may_give_none(gives, use, count):
    files = {"shop/cards.py": CARDS % gives, "shop/desk.py": f"async def owner(desk, code):\n    {use}\n"}
    assert len(findings_of(RULE, files)) == count


def test_methods_of_one_name_that_do_not_all_give_none():
    other = (CARDS % "Card").replace("Cards", "Archive")
    use = "async def owner(desk, code):\n    return (await desk.cards.by_code(code)).owner\n"
    files = {"shop/cards.py": CARDS % "Card | None", "shop/archive.py": other, "shop/desk.py": use}
    assert not findings_of(RULE, files)


@pytest.mark.parametrize(
    ("made", "count"),
    [
        ('store.rows("SELECT * FROM cards WHERE code = ?", code)', 1),
        ("store.rows(BY_CODE, code)", 1),
        ("store.rows(COUNT)", 0),
        ('session.selectList("cards.byCode", code)', 1),
        ('texts.parts(code, ",")', 0),
    ],
)
def test_rows_of_a_select_whoever_runs_it(made, count):
    source = (
        'class Cards {\n  static final String BY_CODE = "SELECT * FROM cards WHERE code = ?";\n'
        '  static final String COUNT = "SELECT count(*) FROM cards";\n'
        f"  Card first(String code) {{\n    List<Card> found = {made};\n    return found.get(0);\n  }}\n}}\n"
    )
    assert len(lines_of(RULE, source, "java")) == count
