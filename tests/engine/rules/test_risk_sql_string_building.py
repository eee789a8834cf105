import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "risk-sql-string-building"


def function(body):
    return f"def find(cursor, name, ids):\n    {body}\n"


FLAGGED = [
    "cursor.execute(f\"SELECT * FROM user WHERE name = '{name}'\")",
    "cursor.execute('SELECT * FROM user WHERE name = %s' % name)",
    "cursor.execute('DELETE FROM user WHERE name = ' + name)",
    "cursor.execute('SELECT 1 FROM user WHERE name = {}'.format(name))",
    "User.objects.raw(f'SELECT * FROM user WHERE name = {name}')",
    "sql = f'SELECT * FROM user WHERE name = {name}'; cursor.execute(sql)",
    "sql = 'SELECT * FROM user'; sql += ' WHERE name = ' + name; cursor.execute(sql)",
]
FINE = [
    "cursor.execute('SELECT * FROM user WHERE name = %s', [name])",
    "cursor.execute('SELECT * FROM user ' + 'WHERE a = 1')",
    "cursor.execute(f'SELECT * FROM user LIMIT {LIMIT}')",
    "cursor.execute(f\"SELECT * FROM user WHERE id IN ({','.join('?' * len(ids))})\", ids)",
    "marks = ','.join('?' * len(ids)); cursor.execute(f'SELECT * FROM user WHERE id IN ({marks})', ids)",
    "cursor.execute(f'SELECT * FROM {connection.ops.quote_name(name)}')",
    "cursor.execute(name)",
    "log.info(f'SELECT * FROM user WHERE name = {name}')",
    "queue.execute(f'hello {name}')",
    "order = 'a'; cursor.execute(f'SELECT * FROM user ORDER BY {order}')",
    "sql, params = query.parts(); cursor.execute(f'SELECT * FROM ({sql}) WHERE a = 1', params)",
    "where = ['a = %s']; where.append('b = %s'); cursor.execute('DELETE FROM user WHERE ' + ' AND '.join(where), ids)",
    "if name in ALLOWED: cursor.execute(f'SELECT * FROM user ORDER BY {name}')",
]
SCRIPT_FLAGGED = [
    "prisma.$queryRawUnsafe(`SELECT * FROM user WHERE name = ${name}`)",
    "pool.query('SELECT * FROM user WHERE name = ' + name)",
    "knex.raw(`DELETE FROM user WHERE id = ${id}`)",
]
SCRIPT_FINE = [
    "prisma.$queryRaw`SELECT * FROM user WHERE name = ${name}`",
    "pool.query('SELECT * FROM user WHERE name = $1', [name])",
    "pool.query(sql`SELECT * FROM user WHERE name = ${name}`)",
    "$('a').query(`hello ${name}`)",
]


@pytest.mark.parametrize("body", FLAGGED)
def test_values_in_sql_text_are_marked_at_the_call_that_runs_it(body):
    (mark,) = marks_of(RULE, function(body))
    assert (mark.line, mark.severity) == (2, "")
    assert "`name`" in mark.message


@pytest.mark.parametrize("body", FINE)
def test_parameters_constants_and_checked_names_are_fine(body):
    assert lines_of(RULE, function(body)) == []


@pytest.mark.parametrize("body", SCRIPT_FLAGGED)
def test_script(body):
    assert lines_of(RULE, f"async function find(name, id) {{\n  await {body};\n}}", "typescript") == [2]


@pytest.mark.parametrize("body", SCRIPT_FINE)
def test_script_that_passes_parameters_is_fine(body):
    assert lines_of(RULE, f"async function find(name, id) {{\n  await {body};\n}}", "typescript") == []


def test_java():
    head = "class A { void f(String name) {\n"
    assert lines_of(RULE, head + 'em.createQuery("select u from User u where u.name = " + name); } }', "java") == [2]
    assert lines_of(RULE, head + 'em.createQuery("select u from User u where u.name = :n"); } }', "java") == []
    assert lines_of(RULE, head + 'String s = "select a " + "from b";\nst.executeQuery(s); } }', "java") == []


def test_a_number_that_a_java_method_gives_holds_no_sql():
    source = """class A {{
  void f(String name) {{
    jdbc.execute("UPDATE settings SET version = " + number(name));
  }}
  private {given} number(String name) {{
    return read(name);
  }}
}}"""
    assert lines_of(RULE, source.format(given="long"), "java") == []
    assert lines_of(RULE, source.format(given="String"), "java") == [3]


def test_go():
    head = "package a\nfunc f(ctx context.Context, name string) {\n"
    sprintf = 'db.Query(fmt.Sprintf("SELECT * FROM user WHERE name = %s", name)) }'
    assert lines_of(RULE, head.replace("\n", '\nimport "fmt"\n', 1) + sprintf, "go") == [4]
    assert lines_of(RULE, head + 'db.ExecContext(ctx, "DELETE FROM user WHERE name = " + name) }', "go") == [3]
    assert lines_of(RULE, head + 'db.Query("SELECT * FROM user WHERE name = $1", name) }', "go") == []


def test_a_list_with_a_value_in_it_is_marked():
    where = "where = ['a = 1']; where.append(f'b = {name}'); "
    body = where + "cursor.execute('DELETE FROM user WHERE ' + ' AND '.join(where))"
    assert lines_of(RULE, function(body)) == [2]


def test_go_lists_of_conditions_with_placeholders_are_fine():
    head = 'package a\nimport "strings"\nfunc f(db *sql.DB, name string) {\n'
    conditions = """where, args := []string{"1 = 1"}, []any{}
where, args = append(where, "`name` = "+placeholder(len(args)+1)), append(args, name)
"""
    run = 'db.Exec("DELETE FROM user WHERE "+strings.Join(where, " AND "), args...) }'
    assert lines_of(RULE, head + conditions + run, "go") == []
    assert lines_of(RULE, head + conditions + 'where = append(where, "b = "+name)\n' + run, "go") == [7]


def test_names_of_tables_are_a_warning():
    (mark,) = marks_of(RULE, "def f(c, table):\n    c.execute(f'SELECT * FROM {table} WHERE a = 1')")
    assert (mark.severity, mark.confidence) == ("warning", "low")


def test_in_a_script_it_is_a_warning():
    source = "from flask import Flask\napp = Flask(__name__)\n@app.get('/')\n" + function(FLAGGED[0])
    assert [str(each.severity) for each in findings_of(RULE, {"app/users.py": source})] == ["critical"]
    assert [str(each.severity) for each in findings_of(RULE, {"scripts/users.py": source})] == ["warning"]


def test_who_defines_tables_chooses_their_names():
    source = "def f(c, table):\n    c.execute(f'%s {table}')\n"
    assert findings_of(RULE, {"app/a.py": source % "TRUNCATE TABLE"}) == []
    view = "from flask import Flask\napp = Flask(__name__)\n@app.get('/')\n"
    assert [each.confidence for each in findings_of(RULE, {"app/a.py": view + source % "DELETE FROM"})] == ["low"]
    assert findings_of(RULE, {"app/a.py": view + source % "TRUNCATE TABLE"}) == []


@pytest.mark.parametrize(
    ("body", "confidence"),
    [
        ("cursor.execute(f\"SELECT a FROM t WHERE column_value = '{column}'\")", ""),
        ("cursor.execute(f'SELECT a FROM {name} WHERE a = 1')", "low"),
        ("cursor.execute('SELECT a FROM %s WHERE a = %s' % (table, name))", ""),
    ],
)
def test_the_place_in_the_text_tells_values_from_names(body, confidence):
    (mark,) = marks_of(RULE, function(body))
    assert mark.confidence == confidence


def test_numbers_and_names_of_the_object_are_fine():
    assert lines_of(RULE, function("cursor.execute('SELECT a FROM t WHERE a = %d' % name)")) == []
    assert lines_of(RULE, function("cursor.execute(f'SELECT a FROM {self.table} WHERE a = 1')")) == []


def test_a_name_of_a_table_is_told_where_nobody_knows_who_chose_it():
    source = "def size(c, table):\n    c.execute(f'SELECT count(*) FROM {table}')\n"
    assert [each.severity for each in findings_of(RULE, {"app/a.py": source})] == ["warning"]
    known = source + "\n\ndef sizes(c):\n    return size(c, 'a'), size(c, 'b')\n"
    assert findings_of(RULE, {"app/a.py": known}) == []
    own = source.replace("def size(c, table):", "def size(c):").replace("{table}", "{table_of(c)}")
    assert findings_of(RULE, {"app/a.py": own}) == []


@pytest.mark.parametrize(
    ("declared", "confidence"),
    [("Long id", "low"), ("int id", "low"), ("String id", "low"), ("Object id", "low")],
)
def test_a_number_breaks_nothing(declared, confidence):
    source = f'class A {{ void f({declared}) {{\nst.executeQuery("SELECT a FROM t WHERE id = " + id); }} }}'
    assert [each.confidence for each in findings_of(RULE, {"src/main/java/A.java": source})] == [confidence]
    go = declared.replace("Long", "int64").replace("String", "string").replace("Object", "any").split()
    body = f'func F(db *sql.DB, id {go[0]}) {{\n\tdb.Query(fmt.Sprintf("SELECT a FROM t WHERE id = %v", id))\n}}\n'
    found = findings_of(RULE, {"a/a.go": 'package a\nimport ("database/sql"; "fmt")\n' + body})
    assert [each.confidence for each in found] == [confidence]


@pytest.mark.parametrize(("kind", "confidence"), [("Integer", "low"), ("String", "low")])
def test_a_list_of_numbers_breaks_nothing(kind, confidence):
    source = f"""class A {{ void f(List<{kind}> ids) {{
String all = StringUtils.join(ids, ",");
st.executeQuery("SELECT a FROM t WHERE id in (" + all + ")"); }} }}"""
    assert [each.confidence for each in findings_of(RULE, {"src/main/java/A.java": source})] == [confidence]


def test_a_constant_of_another_go_package_is_fine():
    head = 'package a\nimport "shop/consts"\nfunc f(db *sql.DB) {\n'
    source = head + '\tdb.Query("SELECT a FROM t WHERE a = \'" + %s + "\'")\n}\n'
    assert lines_of(RULE, source % "consts.Space", "go") == []
    assert lines_of(RULE, source % "form.Space", "go") == [4]


@pytest.mark.parametrize(
    ("part", "count"),
    [("strconv.Itoa(size)", 0), ("b.buildSorting()", "low"), ("escapeSql(name)", 0), ("b.title()", "medium")],
)
def test_parts_of_a_builder(part, count):
    source = (
        f'package a\nfunc (b *B) f(db *sql.DB) {{\n\tdb.Query("SELECT a FROM t LIMIT 5 " + {part}, b.args...)\n}}\n'
    )
    assert [mark.confidence for mark in marks_of(RULE, source, "go")] == ([] if count == 0 else [count])


def test_a_condition_on_a_column_of_the_same_name_checks_nothing():
    body = "cur.execute(\"SELECT id FROM users WHERE name = '%s'\" % name)"
    assert lines_of(RULE, f"def f(cur, name):\n    {body}", "python") == [2]


@pytest.mark.parametrize(("where", "count"), [("f\"title = '{title}'\"", 1), ('"title = %s"', 0)])
def test_conditions_of_extra(where, count):
    assert len(lines_of(RULE, f"def f(title):\n    Book.objects.extra(where=[{where}])", "python")) == count


@pytest.mark.parametrize(
    ("clauses", "count"),
    [
        ('["a = :a"]', 0),
        ("[f\"a = '{a}'\"]", 1),
    ],
)
def test_a_local_text_that_joins_fixed_conditions(clauses, count):
    joined = f'clauses = {clauses}\n    where = " AND ".join(clauses)'
    source = f'def f(cur, a, p):\n    {joined}\n    cur.execute(f"SELECT a FROM t WHERE {{where}}", p)'
    assert len(lines_of(RULE, source, "python")) == count


@pytest.mark.parametrize(("row", "count"), [("($${i * 2 + 1}, $${i * 2 + 2})", 0), ("($${i + 1}, '${row.name}')", 1)])
def test_numbered_placeholders_of_a_list(row, count):
    source = (
        f"async function f(prisma, rows) {{\n  const values = rows.map((row, i) => `{row}`).join(', ');\n"
        "  await prisma.$executeRawUnsafe(`INSERT INTO t (a, b) VALUES ${values}`, ...rows);\n}"
    )
    assert len(lines_of(RULE, source, "typescript")) == count


def test_the_name_of_a_table_in_quotes_is_still_a_name():
    body = "cur.execute(\"SELECT n FROM pg_class WHERE relname = '%s'\" % {})"
    assert lines_of(RULE, f"def f(cur, model):\n    {body.format('model._meta.db_table')}", "python") == []
    assert lines_of(RULE, f"def f(cur, model):\n    {body.format('model')}", "python") == [2]


@pytest.mark.parametrize(("appended", "count"), [("name", 1), ('"x"', 0), ("LIMIT_TEXT", 0)])
def test_what_a_string_builder_was_given(appended, count):
    body = (
        'StringBuilder sql = new StringBuilder("SELECT a FROM t WHERE 1 = 1");\n'
        f'sql.append(" AND name = \'").append({appended}).append("\'");\njdbc.queryForList(sql.toString());'
    )
    assert len(lines_of(RULE, f"class A {{\nvoid f(JdbcTemplate jdbc, String name) {{\n{body}\n}} }}", "java")) == count


@pytest.mark.parametrize(
    ("language", "call", "count"),
    [
        ("typescript", "knex('t').whereRaw(`name = '${name}'`)", 1),
        ("typescript", "knex('t').whereRaw('name = ?', [name])", 0),
        ("typescript", 'db.all("SELECT a FROM t WHERE name = \'" + name + "\'", done)', 1),
        ("typescript", "Promise.all([name + 'x'])", 0),
        ("python", "pd.read_sql(f\"SELECT a FROM t WHERE name = '{name}'\", conn)", 1),
        ("python", 'pd.read_sql("SELECT a FROM t WHERE name = ?", conn, params=[name])', 0),
    ],
)
def test_more_that_runs_sql(language, call, count):
    source = f"def f(name, conn):\n    return {call}" if language == "python" else f"function f(name) {{\n  {call};\n}}"
    assert len(lines_of(RULE, source, language)) == count


def test_the_conditions_of_gorm_are_sql():
    source = 'package a\nimport "gorm.io/gorm"\nfunc f(db *gorm.DB, name string) {{\n\tdb.Where({}).Find(&rows)\n}}\n'
    assert lines_of(RULE, source.format("fmt.Sprintf(\"name = '%s'\", name)"), "go") == [4]
    assert lines_of(RULE, source.format('"name = ?", name'), "go") == []
    assert lines_of(RULE, source.format('fmt.Sprintf("a = ? and %s = ?", column), name'), "go") == []


def test_the_conditions_of_a_builder_of_typeorm_are_sql():
    source = "async function f(repo, name) {{\n  return repo.createQueryBuilder('s').where({}).getMany();\n}}\n"
    assert lines_of(
        RULE, source.format("`s.name = '${name}'`").replace("{{", "{").replace("}}", "}"), "typescript"
    ) == [2]
    assert lines_of(RULE, source.format("'s.name = :name', { name }"), "typescript") == []


@pytest.mark.parametrize(("column", "confidences"), [("quoteIdentifier(name)", []), ("pick(name)", ["medium"])])
def test_a_part_that_is_made_of_safe_parts(column, confidences):
    body = f'column := {column}\n\tscore := "(1 - DISTANCE(" + column + ", ?))"\n'
    query = '\trows, err := db.QueryContext(ctx, "SELECT id, "+score+" AS s FROM t", name)'
    source = f"package a\nfunc f(ctx context.Context, db *sql.DB, name string) {{\n\t{body}{query}\n}}\n"
    assert [mark.confidence for mark in marks_of(RULE, source, "go")] == confidences


def test_names_of_tables_behind_quotes_and_prefixes():
    source = 'class A {{\nvoid f(Handle h, String name) {{\nh.createQuery("SELECT a FROM {}".formatted(name));\n}} }}'
    for table in (r"\"%s\".rows", "rows_%s"):
        assert [mark.confidence for mark in marks_of(RULE, source.format(table), "java")] == ["low"]


@pytest.mark.parametrize(("appended", "confidences"), [('" or name = ?"', []), ("names", ["medium"])])
def test_a_string_builder_inside_of_a_text(appended, confidences):
    body = (
        'StringBuilder more = new StringBuilder("name = ?");\n'
        f'more.append({appended});\nString sql = "SELECT a FROM t WHERE b = ? and (" + more + ")";\n'
        "em.createNativeQuery(sql);"
    )
    source = f"class A {{\nvoid f(EntityManager em, String names) {{\n{body}\n}} }}"
    assert [mark.confidence for mark in marks_of(RULE, source, "java")] == confidences


@pytest.mark.parametrize(("part", "confidences"), [("from.UTC().Format(time.DateTime)", []), ("costExpr", ["medium"])])
def test_times_and_pieces_of_sql(part, confidences):
    query = f'fmt.Sprintf("UPDATE t SET cost = %s WHERE a = 1", {part})'
    source = f"package a\nfunc f(db *sql.DB, from time.Time, costExpr string) {{\n\tdb.Exec({query})\n}}\n"
    assert [mark.confidence for mark in marks_of(RULE, source, "go")] == confidences


def test_bindings_that_are_generated():
    query = '"UPDATE OR IGNORE " + table + " SET a = ? WHERE id IN " + inBinding, args...'
    source = f"package a\nfunc f(db *sql.DB, table string) {{\n\tinBinding := marks(3)\n\tdb.Exec({query})\n}}\n"
    assert [mark.confidence for mark in marks_of(RULE, source, "go")] == ["low"]


@pytest.mark.parametrize(
    ("part", "count"),
    [
        ("', '.join([f':val_{n}' for n in ids])", 0),
        ("', '.join([f'$${n}' for n in ids])".replace("$$", "$"), 0),
        ("', '.join([f'{n}' for n in ids])", 1),
        ("'now()' if name else 'null'", 0),
        ("name if ids else 'null'", 1),
        ("literal_string(name)", 0),
        ("'({v})'.format(v=name)", 1),
    ],
)
def test_what_a_formatter_puts_in(part, count):
    body = f"cursor.execute('INSERT INTO t (a) VALUES ({{v}})'.format(v={part}))"
    assert len(lines_of(RULE, function(body))) == count


@pytest.mark.parametrize(("row", "count"), [("($${n++}::uuid, DATE($${n++}))", 0), ("($${n++}, '${row.name}')", 1)])
def test_placeholders_that_are_pushed_into_a_list(row, count):
    source = (
        "async function f(db, rows) {\n  const values: string[] = [];\n  let n = 1;\n"
        f"  for (const row of rows) values.push(`{row}`);\n"
        "  await db.execute(`INSERT INTO t (a, b) VALUES ${values.join(',')}`, rows);\n}"
    )
    assert len(lines_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(
    ("given", "confidences"),
    [('"id = " + name', [""]), ('"id = ?"', []), ('"SELECT id FROM u WHERE " + conditions', ["low"])],
)
def test_a_local_text_inside_of_a_text(given, confidences):
    query = f'inner := {given}\n\trows, err := db.Query("SELECT a FROM t WHERE id IN (" + inner + ")", args...)'
    source = f"package a\nfunc f(db *sql.DB, name, conditions string) {{\n\t{query}\n}}\n"
    assert [mark.confidence for mark in marks_of(RULE, source, "go")] == confidences


@pytest.mark.parametrize(("form", "confidence"), [("id IN (%s)", "low"), ("id = '%s'", "")])
def test_a_subquery_is_no_value_but_in_quotes(form, confidence):
    query = f'fmt.Sprintf("SELECT a FROM t WHERE {form}", subquery)'
    source = f"package a\nfunc f(db *sql.DB, subquery string) {{\n\tdb.Exec({query})\n}}\n"
    assert [mark.confidence for mark in marks_of(RULE, source, "go")] == [confidence]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('"ALTER TABLE `" + old + "` RENAME TO `" + name + "`"', ("warning", "low")),
        ('"ALTER TABLE t ADD COLUMN a text DEFAULT (\'" + name + "\')"', ("", "")),
        ('"SELECT a FROM t WHERE name LIKE \'%" + columnName + "%\'"', ("warning", "medium")),
        ('"SELECT a FROM t WHERE name LIKE \'%" + name + "%\'"', ("", "")),
    ],
)
def test_definitions_and_names_of_things(text, told):
    source = f"package a\nfunc f(db *sql.DB, old, name, columnName string) {{\n\tdb.Exec({text})\n}}\n"
    assert [(mark.severity, mark.confidence) for mark in marks_of(RULE, source, "go")] == [told]


@pytest.mark.parametrize(
    ("pushed", "told"),
    [
        ("`name = '${name}'`", [""]),
        ("`name = $${values.length}`", []),
        ("conditionFor(name)", ["low"]),
    ],
)
def test_values_in_a_list_of_conditions(pushed, told):
    source = (
        "async function find(db, name, values) {\n  const where = ['1 = 1'];\n"
        f"  where.push({pushed});\n"
        "  return db.query('SELECT a FROM t WHERE b = 1 AND (' + where.join(' AND ') + ')', values);\n}"
    )
    assert [mark.confidence for mark in marks_of(RULE, source, "typescript")] == told


def test_the_number_of_a_placeholder():
    source = "async function find(db, name, at) {{\n  return db.query(`SELECT a FROM t WHERE name = {}`, [name]);\n}}"
    assert lines_of(RULE, source.format("$${at}"), "typescript") == []
    assert lines_of(RULE, source.format("${at}"), "typescript") == [2]


@pytest.mark.parametrize(
    ("part", "count"),
    [
        ('prefix(COLUMNS, "t")', 0),
        ("prefix(COLUMNS, name)", 1),
        ("dialect.now()", 0),
        ("request.now()", 1),
        ('"x" + dialect.now()', 0),
    ],
)
def test_texts_that_the_program_makes(part, count):
    query = f'"SELECT a FROM t WHERE 1 = 1 AND at <= " + {part}'
    source = f"class A {{ void f(String name) {{\njdbc.queryForList({query}); }} }}"
    assert len(lines_of(RULE, source, "java")) == count


def test_a_call_of_the_driver_in_quotes_is_a_value():
    source = "function f(db, day) {{\n  return db.raw(`SELECT a FROM t WHERE at > {}`);\n}}"
    assert lines_of(RULE, source.format("'${db.nameOf(day)}'"), "typescript") == [2]
    assert lines_of(RULE, source.format("'${day.toISOString()}'"), "typescript") == []


def test_a_piece_that_the_callers_of_the_file_write():
    source = "def _pause(conn, ids_expression):\n    conn.execute(f'UPDATE u SET a = 1 WHERE id IN {ids_expression}')\n"
    known = "\n\ndef pause(conn):\n    _pause(conn, '(1, 2)')\n"
    assert [each.confidence for each in findings_of(RULE, {"app/a.py": source})] == ["low"]
    assert findings_of(RULE, {"app/a.py": source + known}) == []


@pytest.mark.parametrize(
    ("text", "confidences"),
    [
        ('fmt.Sprintf("SELECT a FROM t u WHERE a = 1 and %s.zone = ?", name)', []),
        ('"SELECT a FROM t u WHERE a = 1 and " + name + ".zone = ?"', []),
        ('"SELECT a FROM t u WHERE a = 1 and zone = " + name', [""]),
        ('"SELECT a FROM t u WHERE a = 1 and zone = \'" + pick() + "\'"', [""]),
        ('"SELECT a FROM t u WHERE a = 1 and zone = " + pick()', ["medium"]),
        ('"SELECT a FROM t u WHERE routine = \'" + funcName + "\'"', ["medium"]),
    ],
)
def test_aliases_and_where_a_value_comes_from(text, confidences):
    source = f"package a\nfunc f(db *sql.DB, name, funcName string) {{\n\tdb.Query({text})\n}}\n"
    assert [mark.confidence for mark in marks_of(RULE, source, "go")] == confidences


def test_a_subquery_with_its_arguments_beside_it():
    query = 'db.Query("SELECT a FROM t WHERE id in (" + subText + ")", subArgs...)'
    source = f"package a\nfunc f(db *sql.DB) {{\n\tsubText, subArgs, err := q.ToSql()\n\tuse(err)\n\t{query}\n}}\n"
    assert lines_of(RULE, source, "go") == []


@pytest.mark.parametrize(
    ("language", "head", "count"),
    [
        ("typescript", "const columns = ['city', 'zone']", 0),
        ("typescript", "const columns = await readColumns()", 1),
        ("typescript", "const columns = ['city', given]", 1),
    ],
)
def test_a_name_that_goes_over_a_list_of_literals(language, head, count):
    source = f"async function f(db, given) {{\n{head}\nfor (const column of columns) {{\n"
    source += "await db.query(`SELECT a FROM t WHERE zone = '${column}'`)\n}\n}\n"
    assert len(lines_of(RULE, source, language)) == count


@pytest.mark.parametrize(
    ("loop", "count"),
    [
        ("for zone in ('north', 'south'):", 0),
        ("for zone in ZONES:", 0),
        ("for zone in read():", 1),
        ("for zone, text in ZONES.items():", 0),
    ],
)
def test_a_name_that_goes_over_literals_in_python(loop, count):
    source = f"def f(cursor):\n    {loop}\n        cursor.execute(f\"SELECT a FROM t WHERE zone = '{{zone}}'\")\n"
    assert len(lines_of(RULE, source, "python")) == count


@pytest.mark.parametrize(
    ("typed", "text", "confidences"),
    [
        ("limit: number", "SELECT a FROM t LIMIT ${limit}", []),
        ("limit?: number", "SELECT a FROM t LIMIT ${limit}", []),
        ("limit: string", "SELECT a FROM t WHERE b = ${limit}", [""]),
        ("days: number", "SELECT a FROM t WHERE at > now() - INTERVAL '${days} days'", ["low"]),
        ("days: number | string", "SELECT a FROM t WHERE at > '${days} days'", [""]),
    ],
)
def test_what_typescript_declares_as_a_number(typed, text, confidences):
    source = f"async function f(db: Db, {typed}) {{\n  await db.query(`{text}`)\n}}\n"
    assert [mark.confidence for mark in marks_of(RULE, source, "typescript")] == confidences


@pytest.mark.parametrize(
    ("text", "confidences"),
    [
        ("UPDATE t SET a = 1 WHERE id = '${this.id}'", ["medium"]),
        ("UPDATE t SET a = 1 WHERE name = '${this.name}'", [""]),
        ("SELECT 1 FROM sqlite_master WHERE name = '${triggerName}'", ["low"]),
        ("SELECT 1 FROM shop WHERE name = '${triggerName}'", ["medium"]),
        ("SELECT a FROM t WHERE b IN (${ROLES.map((role) => `'${role}'`)})", []),
        ("${insert.toString()} ON CONFLICT (id) DO UPDATE SET a = 1 WHERE b = 1", ["low"]),
        ("SELECT a FROM t WHERE b = 1 AND ${matching} AND c = 1", ["low"]),
        ("SELECT a FROM t WHERE b = 1 AND ${req.query.q} AND c = 1", [""]),
        ("SELECT a FROM t WHERE b BETWEEN 1 AND ${matching} AND c = 1", ["medium"]),
    ],
)
def test_what_the_program_itself_chose(text, confidences):
    source = f"class A {{\n  async f(db, triggerName, req) {{\n    await db.query(`{text}`)\n  }}\n}}\n"
    assert [mark.confidence for mark in marks_of(RULE, source, "typescript")] == confidences


@pytest.mark.parametrize(
    ("text", "confidences"),
    [
        ("f\"SELECT a FROM t WHERE type = '{Kinds.Closed}'\"", []),
        ("f\"SELECT a FROM t WHERE type = '{kinds.closed}'\"", [""]),
        ('"SELECT a FROM t WHERE b = 1 AND " + (NAME + "_users")', []),
        ('"SELECT a FROM t WHERE type = \'" + (name + "_users\'")', [""]),
        ('"SELECT a FROM t WHERE b = ? AND (%s)" % (" OR ".join(where_clauses))', ["low"]),
        ('"SELECT a FROM t WHERE b = ? AND (%s)" % (" OR ".join("(c = ?)" for _ in rows))', []),
        ('"SELECT a FROM t WHERE b = ? AND (%s)" % (" OR ".join("(c = %s)" % each for each in rows))', ["medium"]),
        ('"INSERT INTO %s (%s) VALUES (?)" % ("t", ", ".join(keys))', ["low"]),
        ('"SELECT min(%s) FROM t" % (rowid)', ["low"]),
    ],
)
def test_constants_of_classes_clauses_and_columns(text, confidences):
    source = f"from shop.kinds import Kinds\n\n\ndef f(cursor, name, kinds, rows):\n    cursor.execute({text})\n"
    assert [mark.confidence for mark in marks_of(RULE, source, "python")] == confidences


@pytest.mark.parametrize(("made", "count"), [("sq.Select(a).\n\t\tFrom(b).\n\t\tToSql()", 0), ("read(a)", 1)])
def test_the_text_of_a_builder(made, count):
    source = f"package a\nfunc f(db *sql.DB) {{\n\tinner, _, err := {made}\n\tuse(err)\n"
    source += '\tdb.Query("SELECT a FROM t WHERE id IN (" + inner + ")")\n}\n'
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(("made", "confidence"), [("info.user()", "medium"), ("request.user()", ""), ("a + b", "")])
def test_what_a_function_of_the_program_answered(made, confidence):
    source = f"class A {{ void f(Info info, Request request) {{\nString user = {made};\n"
    source += 'db.query("SELECT a FROM t WHERE name = \'" + user + "\'"); } }'
    assert [mark.confidence for mark in marks_of(RULE, source, "java")] == [confidence]


def test_null_is_no_value():
    source = "class A {{ void f(Connection connection, String table) {{\nString sql = null;\n"
    source += 'sql = "{}";\nconnection.prepareStatement(sql); }} }}'
    assert lines_of(RULE, source.format("SELECT a FROM t WHERE b = ?"), "java") == []
    told = marks_of(RULE, source.format('DROP TABLE " + table + "'), "java")
    assert [mark.confidence for mark in told] == ["low"]


@pytest.mark.parametrize(("more", "count"), [("' OR b = ?' * (len(ids) - 1)", 0), ("ids * 2", 1)])
def test_a_text_said_several_times_over(more, count):
    source = f"def f(cursor, ids):\n    post = ' AND (b = ?'\n    post += {more}\n"
    source += "    cursor.execute('SELECT a FROM t WHERE c = ?' + post + ' LIMIT 9', ids)\n"
    assert len(lines_of(RULE, source, "python")) == count


def test_what_the_operator_sets():
    source = 'package a\nfunc f(db *sql.DB) {\n\tzone := os.Getenv("ZONE")\n\tif zone == "" {\n\t\tzone = "1"\n\t}\n'
    source += '\tdb.Query("SELECT a FROM t WHERE zone = \'" + zone + "\'")\n}\n'
    assert [mark.confidence for mark in marks_of(RULE, source, "go")] == ["medium"]


@pytest.mark.parametrize(
    ("formats", "count"),
    [("{ day: '%d', month: '%m' }", 0), ("{ day: given }", 1), ("read()", 1), ("{ 'day': '%d' }", 0)],
)
def test_one_of_the_texts_of_a_literal(formats, count):
    source = f"function f(db, unit, given) {{\n  const formats = {formats};\n  const format = formats[unit];\n"
    source += "  return db.raw(`SELECT a FROM t WHERE b = '${format}'`);\n}\n"
    assert len(lines_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(("part", "count"), [("size + 1", 0), ("size + more", 1)])
def test_a_sum_of_numbers_for_the_limit(part, count):
    source = f"def f(cursor, request, size, more):\n    cursor.execute(f'SELECT a FROM t LIMIT {{{part}}}')\n"
    assert len(lines_of(RULE, source, "python")) == count


@pytest.mark.parametrize(
    ("source_of", "part", "confidence"),
    [
        ("system.tables", "database", "low"),
        ("information_schema.columns", "path.getTableName()", "low"),
        ("information_schema.columns", "name", ""),
        ("shop_order", "database", ""),
    ],
)
def test_names_for_the_catalogue_of_a_database(source_of, part, confidence):
    source = "class A { void f(Statement s, String database, Path path, String name) {\n"
    source += (
        f"String sql = String.format(\"SELECT a FROM {source_of} WHERE b = '%s'\", {part});\ns.executeQuery(sql); }} }}"
    )
    assert [mark.confidence for mark in marks_of(RULE, source, "java")] == [confidence]


@pytest.mark.parametrize(
    ("text", "confidences"),
    [
        ("SELECT a FROM t WHERE b = 1 AND ${column} >= ?", ["low"]),
        ("SELECT a FROM t WHERE b = 1 AND ${column} ?", [""]),
        ("SELECT a FROM t WHERE b = '${column}'", [""]),
    ],
)
def test_a_column_before_a_comparison(text, confidences):
    source = f"function f(db, column) {{\n  return db.query(`{text}`);\n}}\n"
    assert [mark.confidence for mark in marks_of(RULE, source, "typescript")] == confidences


@pytest.mark.parametrize(
    ("declared", "confidence"),
    [("ids: z.number().array()", "low"), ("ids: z.array(z.number())", "low"), ("ids: z.string().array()", "medium")],
)
def test_numbers_of_a_schema(declared, confidence):
    source = f"const schema = z.object({{ {declared} }});\nasync function f(db, input) {{\n"
    source += "  const { ids } = schema.parse(input);\n"
    source += "  await db.query(`SELECT a FROM t WHERE b IN (${ids.join(',')})`);\n}\n"
    assert [mark.confidence for mark in marks_of(RULE, source, "typescript")] == [confidence]


def test_numbers_that_are_taken_apart():
    source = "async function f({ id, on }: { id: number; on: boolean }) {\n"
    source += "  await db.query(`UPDATE t SET a = ${on} WHERE b = ${id}`);\n}\n"
    assert [mark.confidence for mark in marks_of(RULE, source, "typescript")] == ["low"]


@pytest.mark.parametrize(("typed", "confidences"), [("int", []), ("String", ["medium"])])
def test_a_piece_that_is_appended_goes_on(typed, confidences):
    source = f"class A {{ void f({typed} most) {{\nStringBuilder sql = new StringBuilder();\n"
    source += 'sql.append("SELECT a FROM t");\nsql.append(" LIMIT ").append(most);\ndb.query(sql.toString()); } }'
    assert [mark.confidence for mark in marks_of(RULE, source, "java")] == confidences


def test_names_for_the_catalogue_could_be_parameters():
    source = "class A { void f(Statement s, String table) {\n"
    source += 's.executeQuery("SELECT a FROM information_schema.tables WHERE name = \'" + table + "\'"); }\n'
    source += 'void g(Statement s) { f(s, "shop"); } }'
    (found,) = findings_of(RULE, {"src/main/java/shop/A.java": source})
    assert (str(found.confidence), str(found.severity)) == ("low", "warning")


@pytest.mark.parametrize(
    ("path", "head", "body", "told"),
    [
        ("app/a.py", "@app.get('/')\n", "c.execute(f\"SELECT a FROM t WHERE b = '{name}'\")", ("critical", "high")),
        ("app/a.py", "@app.get('/')\n", "c.execute('SELECT a FROM t WHERE b = ' + name)", ("critical", "high")),
        ("app/a.py", "@app.get('/')\n", "c.execute('SELECT a FROM t ORDER BY ' + name)", ("warning", "low")),
        ("app/a.py", "", "c.execute(f\"SELECT a FROM t WHERE b = '{name}'\")", ("warning", "low")),
        ("scripts/a.py", "", "c.execute(f\"SELECT a FROM t WHERE b = '{name}'\")", ("warning", "low")),
    ],
)
def test_confidence_follows_who_writes_the_value(path, head, body, told):
    source = f"from flask import Flask\napp = Flask(__name__)\n{head}def find(c, name, row):\n    {body}\n"
    assert [(str(each.severity), str(each.confidence)) for each in findings_of(RULE, {path: source})] == [told]


def test_a_value_in_quotes_that_a_handler_hands_down():
    source = "from flask import Flask\napp = Flask(__name__)\n@app.get('/')\ndef show(name):\n    return find(name)\n"
    query = '\n\ndef find(name):\n    c.execute(f"SELECT a FROM t WHERE b = {}")\n'
    told = [findings_of(RULE, {"app/a.py": source + query.format(part)}) for part in ("'{name}'", "{name}")]
    assert [str(each.confidence) for found in told for each in found] == ["high", "low"]


def test_names_that_the_codebase_calls_the_function_with():
    source = "def size(c, table):\n    c.execute(f'SELECT count(*) FROM {table}')\n"
    caller = "from app.a import size\n\n\ndef show(c):\n    size(c, 'shop')\n"
    assert len(findings_of(RULE, {"app/a.py": source})) == 1
    assert findings_of(RULE, {"app/a.py": source, "app/b.py": caller}) == []


def test_what_stands_without_quotes_is_a_number_unless_it_is_declared_as_text():
    source = (
        "function find(db, {}) {{\n  return db.query(`SELECT a FROM t WHERE b = ${{b}}`);\n}}\nfind(db, rows[0]);\n"
    )
    found = [findings_of(RULE, {"src/a.ts": source.format(typed)}) for typed in ("b", "b: string", "b: number")]
    assert [[str(each.confidence) for each in each_found] for each_found in found] == [[], ["low"], []]


@pytest.mark.parametrize(
    ("part", "count"), [("format_time(day)", 0), ("make_timestamp()", 0), ("row.name()", 1), ("row.name", 1)]
)
def test_what_a_call_makes_in_quotes(part, count):
    source = (
        f"def clean(c, day, row):\n    c.execute(\"DELETE FROM t WHERE a < '%s'\" % ({part}))\n\n\nclean(c, d, r)\n"
    )
    assert len(findings_of(RULE, {"app/a.py": source})) == count


def test_the_end_of_a_long_text_is_no_quote_of_sql():
    lines = " + ".join(f'"join t{number} on (a = b) "' for number in range(9))
    source = (
        f'class A {{ void f(User user) {{\nString sql = "select a from t " + {lines} + "where b = " + user.getId();\n'
    )
    source += "jdbc.query(sql, rows); f(user); } }"
    assert findings_of(RULE, {"src/main/java/A.java": source}) == []


@pytest.mark.parametrize(("kind", "confidence"), [("GraphQLString", "high"), ("GraphQLKind", None)])
def test_values_that_a_schema_of_graphql_lists(kind, confidence):
    source = f"import {{ GraphQLString }} from 'graphql';\nconst schema = {{ kind: {{ type: {kind} }} }};\n"
    source += (
        "function f(args) {\n  return sequelize.literal(`SELECT a FROM t WHERE b = '${args.kind}'`);\n}\nf(rows);\n"
    )
    assert [each.confidence for each in findings_of(RULE, {"src/a.ts": source})] == ([confidence] if confidence else [])


def test_braces_of_sql_are_no_places_of_a_text():
    query = "\"INSERT INTO t VALUES ('%s', %s, '{%s}')\" % (now(), name, ids)"
    source = f"def f(cursor, name, ids):\n    cursor.execute({query})\n"
    source += "\n\nf(c, 1, 2)\n"
    assert findings_of(RULE, {"app/a.py": source}) == []


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("return rows.extra(where=[\"name = '{}'\".format(name)])", 1),
        ("return rows.extra(where=[f\"name = '{name}'\"])", 1),
        ('return rows.extra(where=["name = %s"], params=[name])', 0),
        ("return rows.annotate(x=RawSQL(f\"day AT TIME ZONE '{name}'\", ()))", 1),
        ('return rows.annotate(x=RawSQL("day AT TIME ZONE %s", (name,)))', 0),
    ],
)
def test_pieces_that_django_puts_into_its_statements(body, count):
    source = f"from django.db.models.expressions import RawSQL\ndef f(rows, name: str):\n    {body}\n"
    assert len(findings_of(RULE, {"shop/a.py": source})) == count


@pytest.mark.parametrize(
    ("language", "path", "source", "count"),
    [
        (
            "typescript",
            "a.ts",
            "const w = [`a = '${name}'`, `b = 1`].join(' AND ');\n  return db.query(`SELECT x FROM y WHERE ${w}`);",
            1,
        ),
        (
            "typescript",
            "a.ts",
            "const w = ['a = ?', 'b = ?'].join(' AND ');\n  return db.query(`SELECT x FROM y WHERE ${w}`, [name]);",
            0,
        ),
    ],
)
def test_a_written_list_that_is_joined(language, path, source, count):
    assert len(findings_of(RULE, {path: f"export function f(db: Db, name: string) {{\n  {source}\n}}\n"})) == count


@pytest.mark.parametrize(
    ("check", "count"),
    [
        ("if !slices.Contains(columns, order) {\n\t\treturn nil\n\t}", 0),
        ("if !columns[order] {\n\t\treturn nil\n\t}", 0),
        ("if _, ok := columns[order]; !ok {\n\t\treturn nil\n\t}", 0),
        ("if order == empty {\n\t\treturn nil\n\t}", 1),
    ],
)
def test_names_that_go_checks_against_a_list(check, count):
    source = 'package a\nimport "database/sql"\nfunc Rows(db *sql.DB, order string) *sql.Rows {\n'
    source += f'\t{check}\n\trows, _ := db.Query("SELECT a FROM b ORDER BY " + order)\n\treturn rows\n}}\n'
    assert len(findings_of(RULE, {"a/a.go": source})) == count


@pytest.mark.parametrize(
    ("call", "count"),
    [
        ("db.SelectContext(ctx, &rows, q)", 1),
        ("db.Get(&row, q)", 1),
        ("db.QueryxContext(ctx, q)", 1),
        ('db.SelectContext(ctx, &rows, "SELECT id FROM parcel WHERE no = $1", q)', 0),
    ],
)
def test_sqlx_reads_into_what_it_is_given_before_the_text(call, count):
    source = (
        'package a\nimport "fmt"\nfunc f(db *sqlx.DB, column string) error {\n'
        f'\tq := fmt.Sprintf("SELECT id FROM parcel ORDER BY %s", column)\n\treturn {call}\n}}\n'
    )
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("sql = \"SELECT a FROM t WHERE b = '\" + n + \"'\"\n    cursor.execute(sql + ' LIMIT 9')", 1),
        ("sql = 'SELECT a FROM t'\n    cursor.execute(sql + ' ORDER BY ' + request.args['order'])", 1),
        ("sql = 'SELECT a FROM t WHERE b = %s'\n    cursor.execute(sql + ' LIMIT 9', [n])", 0),
        ("sql = 'SELECT a FROM t WHERE b = %s'\n    cursor.execute(sql + ' LIMIT %d' % n, [n])", 0),
        ("cursor.execute(n + ' LIMIT 9')", 0),
    ],
)
def test_a_statement_that_is_made_longer_where_it_runs(body, count):
    found = findings_of(RULE, {"shop/a.py": f"def f(cursor, request, n):\n    {body}\n"})
    assert len(found) == count


@pytest.mark.parametrize(
    ("joined", "count"),
    [
        ("','.join(\"'\" + name + \"'\" for name in names)", 1),
        ("','.join([f\"'{name}'\" for name in names])", 1),
        ("','.join('?' for name in names)", 0),
        ("','.join(f':n{i}' for i, name in enumerate(names))", 0),
        ("','.join(str(int(name)) for name in names)", 0),
    ],
)
def test_values_that_are_put_in_quotes_one_by_one(joined, count):
    source = f"def f(cursor, names):\n    listed = {joined}\n"
    source += '    cursor.execute("SELECT id FROM owner WHERE name IN (" + listed + ")")\n'
    assert len(findings_of(RULE, {"shop/a.py": source})) == count


@pytest.mark.parametrize(
    ("handler", "found"),
    [
        ("revenueBy(req.query.column)", ["warning"]),
        ("revenueBy(String(req.query.column || 'day'))", ["warning"]),
        ("revenueBy(column)", ["warning"]),
        ("revenueBy('day')", []),
        ("revenueBy(Number(req.query.column))", []),
        ("revenueBy(columns[0])", []),
        ("revenueBy(other(req.query.column))", []),
    ],
)
def test_what_a_handler_hands_to_a_service(handler, found):
    service = (
        'import { sequelize } from "./models";\nexport function revenueBy(column) {\n'
        "  return sequelize.query(`SELECT ${column}, SUM(cents) FROM visits GROUP BY ${column}`);\n}\n"
        "export function other(column) {\n  return column;\n}\n"
    )
    routes = (
        'import express from "express";\nimport { other, revenueBy } from "./service";\nconst app = express();\n'
        'app.get("/revenue", async (req, res) => {\n  const { column } = req.query;\n'
        f"  res.json(await {handler});\n}});\n"
    )
    told = findings_of(RULE, {"src/service.ts": service, "src/routes.ts": routes})
    assert [str(each.severity) for each in told] == found


@pytest.mark.parametrize(
    ("parameter", "text", "count"),
    [
        ("sort, dir string", 'fmt.Sprintf("SELECT id FROM orders WHERE a = $1 ORDER BY %s %s LIMIT $2", sort, dir)', 1),
        ("orderBy string", '"SELECT id FROM orders ORDER BY " + orderBy', 1),
        ("sort string", 'fmt.Sprintf("SELECT id FROM orders ORDER BY %s", columns[sort])', 0),
        ("other string", 'fmt.Sprintf("SELECT id FROM orders ORDER BY %s", sort)', 0),
        ("rank string", 'fmt.Sprintf("SELECT id FROM orders ORDER BY %s", rank)', 0),
    ],
)
def test_what_a_request_wants_its_rows_sorted_by(parameter, text, count):
    source = (
        'package a\nimport "net/http"\n'
        'func (s *S) List(w http.ResponseWriter, r *http.Request) { s.list(r.URL.Query().Get("sort")) }\n'
        f"func (s *S) list({parameter}) {{\n\tquery := {text}\n\ts.db.QueryContext(ctx, query, 1)\n}}\n"
    )
    found = findings_of(RULE, {"a/a.go": source})
    assert [(each.severity, each.confidence) for each in found] == [("warning", "low")] * count
    assert findings_of(RULE, {"a/a.go": source.replace("s.list(", "s.lost(")}) == [] or "string" in parameter


@pytest.mark.parametrize(
    ("call", "count"),
    [
        ('db.NewSelect().Model(&rows).Where("name = \'" + name + "\'")', 1),
        ('db.NewRaw("SELECT id FROM rows WHERE name = \'" + name + "\'").Scan(ctx, &n)', 1),
        ('db.NewSelect().Model(&rows).Where("name = ?", name)', 0),
        ('db.NewRaw("SELECT id FROM rows WHERE name = ?", name).Scan(ctx, &n)', 0),
    ],
)
def test_clauses_and_texts_of_bun(call, count):
    source = f'package a\nimport "github.com/uptrace/bun"\nfunc f(db *bun.DB, name string) {{\n\t{call}\n}}\n'
    assert len(findings_of(RULE, {"a/a.go": source})) == count


@pytest.mark.parametrize(
    ("value", "severities"), [('r.FormValue("q")', ["critical"]), ('r.PathValue("q")', ["critical"]), ("s.own(1)", [])]
)
def test_what_go_takes_from_a_request(value, severities):
    text = f"fmt.Sprintf(\"SELECT id FROM rows WHERE name = '%s'\", {value})"
    source = (
        'package a\nimport "net/http"\nfunc (s *S) Show(w http.ResponseWriter, r *http.Request) {\n'
        f"\ts.db.QueryContext(ctx, {text})\n}}\n"
    )
    assert [each.severity for each in findings_of(RULE, {"a/a.go": source})] == severities


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("const order = req.query.order ?? 'title';", [("warning", "low")]),
        ("const order = await req.nextUrl.searchParams.get('order');", [("warning", "low")]),
        ("const order = req.query.down ? 'DESC' : 'ASC';", []),
        ("const order = req.query.order;\n  if (!COLUMNS.includes(order)) throw wrong;", []),
        ("const order = Number(req.query.order);", []),
        ("const order = settings.order;", []),
    ],
)
def test_a_local_name_for_what_a_request_brings(given, found):
    run = "await db.execute(sql.raw(`SELECT a FROM t ORDER BY ${order}`));"
    source = f"export async function f(req) {{\n  {given}\n  {run}\n}}\n"
    source += "export const g = () => f(1);\n"
    assert [(each.severity, each.confidence) for each in findings_of(RULE, {"src/f.ts": source})] == found


def test_a_tagged_template_makes_parameters():
    source = "export async function f(name) {\n  await db.execute(sql`SELECT a FROM t WHERE name = ${name}`);\n}\n"
    assert findings_of(RULE, {"src/f.ts": source}) == []


@pytest.mark.parametrize(("call", "count"), [("express.raw({ type: '*/*' })", 1), ("rows.raw(9, 'a')", 0)])
def test_a_function_that_only_a_package_calls_alike(call, count):
    query = "return source.query(`SELECT a FROM t WHERE b = ${id} ORDER BY ${sort} LIMIT 9`);"
    files = {
        "src/rows.ts": "import { source } from './db';\n"
        f"export async function raw(id: number, sort: string) {{\n  {query}\n}}\n",
        "src/routes.ts": f"import express from 'express';\nimport * as rows from './rows';\nconst body = {call};\n",
    }
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ("order: 'ASC' | 'DESC'", 0),
        ("order: Order", 0),
        ("order: string", 1),
        ("order: 'ASC' | string", 1),
        ("order: Other", 1),
    ],
)
def test_a_parameter_whose_type_lists_its_texts(given, count):
    query = "return db.query(`SELECT a FROM t ORDER BY a ${order}`);"
    source = f"type Order = 'ASC' | 'DESC';\ntype Other = string;\nexport async function f({given}) {{\n  {query}\n}}\n"
    assert len(findings_of(RULE, {"src/f.ts": source})) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("{\n  return way === 'ASC' ? 'asc' : 'desc';\n}", 0),
        ("{\n  if (way === 'ASC') return 'asc';\n  return DOWN;\n}", 0),
        ("{\n  return way === 'ASC' ? 'asc' : way;\n}", 1),
        ("{\n  return way.trim();\n}", 1),
    ],
)
def test_a_function_that_gives_literals_alone(body, count):
    query = "return db.query(`SELECT a FROM t ORDER BY a ${direction(req.query.way)}`);"
    source = f"function direction(way: string): string {body}\nexport async function f(req) {{\n  {query}\n}}\n"
    assert len(findings_of(RULE, {"src/f.ts": source})) == count


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ("req.body.rows.map((row) => `(${[row.a, row.b].map(mysql.escape).join(', ')})`).join(', ')", 0),
        ("req.body.rows.map((row) => `(${[row.a, row.b].map(String).join(', ')})`).join(', ')", 1),
    ],
)
def test_values_that_the_driver_escapes(value, count):
    source = f"export async function f(req) {{\n  await db.execute(`INSERT INTO t (a, b) VALUES ${{{value}}}`);\n}}\n"
    assert len(findings_of(RULE, {"src/f.ts": source})) == count


@pytest.mark.parametrize(("value", "count"), [("randomUUID()", 0), ("owner.key", 1)])
def test_a_key_that_is_made_here(value, count):
    source = "export async function f(owner) {\n"
    source += f"  const key = {value};\n  await db.execute(`INSERT INTO t (a) VALUES ('${{key}}')`);\n}}\n"
    assert len(findings_of(RULE, {"src/f.ts": source})) == count


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("await this.getOrderOrFail(orderId, { lines: true });", ("warning", "low")),
        ("await this.getOrderOrFail(other);", ("critical", "high")),
        ("await this.getOrder(orderId);", ("critical", "high")),
    ],
)
def test_the_key_of_a_row_that_is_there(asked, told):
    query = "await this.orders.query(`UPDATE t SET a = NULL WHERE id = '${orderId}'`);"
    source = f"export class Orders {{\n  async drop(orderId: string) {{\n    {asked}\n    {query}\n  }}\n}}\n"
    routes = "import { Orders } from './orders';\nimport express from 'express';\nconst app = express();\n"
    routes += "app.post('/x', async (req, res) => {\n  await new Orders().drop(req.params.orderId);\n});\n"
    found = findings_of(RULE, {"src/orders.ts": source, "src/routes.ts": routes})
    assert [(each.severity, each.confidence) for each in found] == [told]


@pytest.mark.parametrize(("table", "confidences"), [("req.query.day", ["low"]), ("config.day", [])])
def test_a_request_may_not_say_which_table_goes(table, confidences):
    source = (
        "const app = express();\napp.post('/x', async (req, res) => {\n"
        f"  await pool.query(`DROP TABLE readings_${{{table}}}`);\n  res.end();\n}});\n"
    )
    found = findings_of(RULE, {"src/a.js": source})
    assert [each.confidence for each in found] == confidences


CONTROLLER = """
@Controller("lists")
export class ListController {{
  constructor(private readonly listService: ListService) {{}}
  @Get("/:id")
  async show(@{source} dto: {type}, @UserId() user: User) {{
    return this.listService.find(dto, user);
  }}
}}
"""
SERVICE = """
export class ListService {{
  async find(options: ListOptions, user: User) {{
    {given}
    return this.repository.createQueryBuilder("l").where(`l.repo LIKE '%${{{value}}}%'`).getMany();
  }}
}}
"""
IMPORTS = 'import { ListService } from "./list.service";\n'


@pytest.mark.parametrize(
    ("source", "type_", "given", "value", "told"),
    [
        ("Query()", "ListOptions", "", "options.repo", ("critical", "medium")),
        ("Body()", "ListOptions", "const repo = options.repo ?? 'a';", "repo", ("critical", "medium")),
        ("Query()", "OtherOptions", "", "options.repo", ("warning", "low")),
        ("Session()", "ListOptions", "", "options.repo", ("warning", "low")),
        ("Query()", "ListOptions", "", "user.name", ("warning", "low")),
        ("Query()", "ListOptions", "", "this.name", ("warning", "low")),
    ],
)
def test_a_field_of_what_a_handler_hands_down(source, type_, given, value, told):
    files = {
        "src/list.controller.ts": IMPORTS + CONTROLLER.format(source=source, type=type_),
        "src/list.service.ts": SERVICE.format(given=given, value=value),
    }
    assert [(each.severity, each.confidence) for each in findings_of(RULE, files)] == [told]


@pytest.mark.parametrize(("value", "told"), [("dto.repo", ("critical", "high")), ("user.name", ("warning", "low"))])
def test_a_field_of_what_a_request_brings(value, told):
    source = CONTROLLER.format(source="Query()", type="ListOptions").replace(
        "this.listService.find(dto, user)", f"this.db.query(`SELECT a FROM t WHERE b = '${{{value}}}'`)"
    )
    found = findings_of(RULE, {"src/list.controller.ts": source})
    assert [(each.severity, each.confidence) for each in found] == [told]


@pytest.mark.parametrize(
    ("before", "value", "told"),
    [
        ("@RequestBody Filter filter", "filter.getName()", ("critical", "high")),
        ("@Valid @RequestBody Filter filter", "filter.getName().trim()", ("critical", "high")),
        ("@RequestParam Map<String, String> options", 'options.get("name")', ("critical", "high")),
        ("Filter filter", "filter.getName()", ("warning", "low")),
        ("@RequestBody Filter filter", "other.getName()", ("warning", "low")),
    ],
)
def test_what_spring_fills_from_a_request(before, value, told):
    for java in (
        f'String name = {value}; s.executeQuery("SELECT a FROM t WHERE b = \'" + name + "\'");',
        f's.executeQuery("SELECT a FROM t WHERE b = \'" + {value} + "\'");',
    ):
        source = '@RestController\nclass A {\n  @GetMapping("/a")\n'
        source += f"  List<Row> list({before}) {{ {java} }}\n}}\n"
        found = findings_of(RULE, {"src/main/java/shop/A.java": source})
        assert [(each.severity, each.confidence) for each in found] == [told]


def test_what_spring_hands_down_to_a_service():
    source = (
        "class A {\n  private Store store;\n"
        '  @GetMapping("/a")\n  List<Row> list(@RequestBody Filter filter) { return store.find(filter); }\n}\n'
    )
    store = (
        'class Store {\n  List<Row> find(Filter wanted) {\n    String[] parts = wanted.getName().split(",");\n'
        '    return s.executeQuery("SELECT a FROM t WHERE b = \'" + parts[0] + "\'");\n  }\n}\n'
    )
    files = {"src/main/java/shop/A.java": "package shop;\n" + source}
    files["src/main/java/shop/Store.java"] = "package shop;\n" + store
    assert [(each.severity, each.confidence) for each in findings_of(RULE, files)] == [("critical", "medium")]
