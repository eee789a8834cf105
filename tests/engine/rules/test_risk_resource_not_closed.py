import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "risk-resource-not-closed"

FLAGGED = [
    "f = open(p)\n    print(f.name)",
    "text = open(p).read()",
    "data = json.load(open(p))",
    "f = open(p)\n    data = json.load(f)",
    "f = open(p)\n    data = json.load(\n        f,\n    )",
    "s = socket.create_connection(p)\n    s.send(b'x')",
    "z = ZipFile(p)\n    z.extractall()",
]
FINE = [
    "with open(p) as f: f.read()",
    "f = open(p)\n    return f",
    "self.f = open(p)",
    "f = open(p)\n    self.f = f",
    "f = open(p)\n    try:\n        f.read()\n    finally:\n        f.close()",
    "f = open(p)\n    register(f)",
    "f = open(p)\n    return read(\n        p,\n        f,\n    )",
    "f = open(p)\n    read(\n        f\n    )",
    "f = stack.enter_context(open(p))",
    "with closing(open(p)) as f: f.read()",
    "return open(p)",
    "f = StringIO()",
    "f = open(p)\n    yield f",
]
HEAD = "import json, socket\nfrom zipfile import ZipFile\ndef g(self, p, stack):\n    "


@pytest.mark.parametrize("body", FLAGGED)
def test_resources_that_nobody_closes_are_marked_where_they_are_opened(body):
    assert lines_of(RULE, HEAD + body) == [4]


@pytest.mark.parametrize("body", FINE)
def test_resources_that_are_closed_or_given_away_are_fine(body):
    assert lines_of(RULE, HEAD + body) == []


def test_a_close_that_an_error_jumps_over_is_less_certain():
    (mark,) = marks_of(RULE, HEAD + "f = open(p)\n    f.write(x())\n    f.close()")
    assert mark.confidence == "medium"


JAVA_FLAGGED = [
    "FileReader r = new FileReader(p); r.read();",
    "BufferedReader r = new BufferedReader(new FileReader(p)); r.readLine();",
    "Stream<String> s = Files.lines(p); s.count();",
    "Scanner r = new Scanner(new BufferedReader(new FileReader(p))); r.next();",
]
JAVA_FINE = [
    "try (FileReader r = new FileReader(p)) { r.read(); }",
    "FileReader r = new FileReader(p); return r;",
    "FileReader r = new FileReader(p); try { r.read(); } finally { r.close(); }",
    "this.r = new FileReader(p);",
    "StringReader r = new StringReader(p); r.read();",
    "Scanner r = new Scanner(new InputStreamReader(stream)); r.next();",
    "Scanner r = new Scanner(new BufferedReader(new InputStreamReader(stream, UTF_8))); r.next();",
]
JAVA_HEAD = (
    "import java.io.FileReader;\nimport java.util.Scanner;\nimport java.nio.file.Files;\n"
    "class A { Object f(String p) {\n"
)


@pytest.mark.parametrize("body", JAVA_FLAGGED)
def test_java(body):
    assert lines_of(RULE, JAVA_HEAD + body + " } }", "java") == [5]


@pytest.mark.parametrize("body", JAVA_FINE)
def test_java_that_closes_is_fine(body):
    assert lines_of(RULE, JAVA_HEAD + body + " } }", "java") == []


CHECK = "\nif err != nil { return err }\n"


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("f, err := os.Open(p)" + CHECK + "f.Stat()", [4]),
        ("resp, err := http.Get(p)" + CHECK + "x(resp.StatusCode)", [4]),
        ("f, err := os.Open(p)" + CHECK + "defer f.Close()", []),
        ("resp, err := http.Get(p)" + CHECK + "defer resp.Body.Close()", []),
        ("f, err := os.Open(p)" + CHECK + "return f, nil", []),
        ("f, err := os.Open(p)" + CHECK + "s.f = f", []),
        ("f, err := os.Open(p)" + CHECK + "return &R{f}, nil", []),
    ],
)
def test_go(body, lines):
    assert (
        lines_of(RULE, f'package a\nimport ("os"; "net/http")\nfunc f(p string) error {{\n{body}\n}}\n', "go") == lines
    )


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("const c = await pool.connect();\nawait c.query('x');", [2]),
        ("const c = await pool.connect();\nawait c.query('x'); c.release();", [2]),
        ("const c = await pool.connect();\ntry { await c.query('x'); } finally { c.release(); }", []),
        ("return await pool.connect();", []),
    ],
)
def test_script(body, lines):
    assert lines_of(RULE, f"async function f(pool) {{\n{body}\n}}", "typescript") == lines


def test_a_script_gives_everything_back_at_its_end():
    source = HEAD + FLAGGED[0]
    assert [str(each.severity) for each in findings_of(RULE, {"scripts/a.py": source})] == ["info"]
    assert [str(each.severity) for each in findings_of(RULE, {"app/a.py": source})] == ["warning"]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("f, err := os.Open(p)\nif err != nil {\nreturn err\n}\nif bad() {\nreturn errBad\n}\nf.Close()", [4]),
        ("f, err := os.Open(p)\nif err != nil {\nreturn err\n}\ndefer f.Close()\nif bad() {\nreturn errBad\n}", []),
        ('listener, err := net.Listen("tcp", a)\nserver.Serve(listener)', []),
        ("var f *os.File\nrun(func() {\nf, err = os.Open(p)\n})", []),
    ],
)
def test_go_ways_out(body, lines):
    source = f'package a\nimport ("net"; "os")\nfunc g(p string) error {{\n{body}\nreturn nil\n}}\n'
    assert lines_of(RULE, source, "go") == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("Statement s = connection.createStatement();\ns.execute(q);", [3]),
        ("try (Statement s = connection.createStatement()) {\ns.execute(q);\n}", []),
        ("Connection c = dataSource.getConnection();\ntry {\nrun(c.name());\n} finally {\nc.close();\n}", []),
    ],
)
def test_jdbc(body, lines):
    assert lines_of(RULE, f"class A {{\nvoid f() throws Exception {{\n{body}\n}} }}", "java") == lines


def test_a_connection_of_node():
    source = (
        "import mysql from 'mysql2/promise';\nasync function f() {\n"
        "  const c = await mysql.createConnection(o);\n  %s\n}"
    )
    assert lines_of(RULE, source % "await c.query(q);", "typescript") == [3]
    assert lines_of(RULE, source % "try { await c.query(q); } finally { await c.end(); }", "typescript") == []


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("return Files.lines(p).count();", 1),
        ("try (var rows = Files.lines(p)) { return rows.count(); }", 0),
        ("return Files.readAllLines(p).size();", 0),
        ("return Files.lines(p);", 0),
    ],
)
def test_a_java_stream_of_a_file_that_nobody_holds(body, count):
    source = f"import java.nio.file.*;\nclass A {{\n  Object f(Path p) throws Exception {{\n    {body}\n  }}\n}}\n"
    assert len(lines_of(RULE, source, "java")) == count


def test_what_lives_in_memory_or_ends_with_another_stream():
    archive = (
        "from io import BytesIO\nfrom zipfile import ZipFile\ndef f(rows):\n"
        "    out = {}\n    archive = ZipFile(out, 'w')\n    archive.writestr('a', rows)\n"
    )
    assert lines_of(RULE, archive.format("BytesIO()")) == []
    assert lines_of(RULE, archive.format("rows.path")) == [5]
    socket = "import net from 'net';\nfunction f(a) {\n  const b = net.connect(1, 'h');\n  {}\n}\n"
    assert lines_of(RULE, socket.replace("{}", "b.pipe(a);"), "typescript") == []
    assert lines_of(RULE, socket.replace("{}", "b.write(a);"), "typescript") == [3]


def test_a_go_file_behind_an_interface():
    source = """package a
import "os"
func f(p string) {
	h, err := os.OpenFile(p, os.O_WRONLY, 0600)
	use(err)
	defer h.(*os.File).Close()
	log.SetOutput(h.Name())
}
"""
    assert lines_of(RULE, source, "go") == []


def test_a_path_opens_files_too():
    body = "    f = Path(p).open()\n    return f.readline()"
    assert lines_of(RULE, f"from pathlib import Path\ndef g(p):\n{body}", "python") == [3]
    assert lines_of(RULE, f"from work import Path\ndef g(p):\n{body}", "python") == []


@pytest.mark.parametrize(
    ("used", "count"),
    [
        ("return io.ReadAll(file)", 1),
        ("return json.NewDecoder(file).Decode(&row)", 1),
        ("lines := bufio.NewScanner(file)\n\tfor lines.Scan() {\n\t\tuse(lines.Text())\n\t}\n\treturn nil", 1),
        ("lines := bufio.NewScanner(file)\n\treturn lines", 0),
        ("return bufio.NewReader(file)", 0),
        ("defer file.Close()\n\treturn io.ReadAll(file)", 0),
        ("return keep(file)", 0),
    ],
)
def test_who_reads_a_file_of_go_does_not_close_it(used, count):
    body = f"file, err := os.Open(path)\n\tif err != nil {{\n\t\treturn err\n\t}}\n\t{used}"
    source = f'package a\nimport ("bufio"; "encoding/json"; "io"; "os")\nfunc f(path string) any {{\n\t{body}\n}}\n'
    assert len(lines_of(RULE, source, "go")) == count


def test_a_close_in_the_return_a_file_of_a_loop_and_a_stream_of_a_url():
    go = """package a
import "net/http"
func f() error {
	resp, err := http.Get(url)
	if err != nil {
		log(err)
		return err
	}
	return resp.Body.Close()
}
"""
    assert lines_of(RULE, go, "go") == []
    assert lines_of(RULE, "def f(path):\n    for line in open(path):\n        use(line)\n") == [2]
    java = (
        "class A { int f(String u) throws IOException {\nInputStream in = new URL(u).openStream();\n"
        "return in.read(); } }"
    )
    assert lines_of(RULE, java, "java") == [2]


def test_what_is_only_read_in_the_return_is_not_given_away():
    source = "import gzip\ndef f(path):\n    handle = gzip.open(path)\n    return {}\n"
    assert lines_of(RULE, source.format("[line for line in handle]")) == [3]
    assert lines_of(RULE, source.format("[handle]")) == []


def test_a_caller_that_is_given_the_function_that_closes():
    source = (
        'package a\nimport "net"\nfunc f() (string, func()) {\n\tl, err := net.Listen("tcp", ":0")\n'
        "\tif err != nil {\n\t\tpanic(err)\n\t}\n\treturn l.Addr().String(), func() {\n\t\tl.Close()\n\t}\n}\n"
    )
    assert lines_of(RULE, source, "go") == []


def test_a_body_that_a_deferred_function_literal_closes():
    source = (
        'package a\nimport ("io"; "net/http")\n'
        "func f(c *http.Client, r *http.Request) ([]byte, error) {\n\tresp, err := c.Do(r)\n"
        "\tif err != nil {\n\t\treturn nil, err\n\t}\n\tdefer func(b io.ReadCloser) {\n"
        "\t\t_ = b.Close()\n\t}(resp.Body)\n"
        "\treturn io.ReadAll(resp.Body)\n}\n"
    )
    assert lines_of(RULE, source.replace("c.Do", "http.Get").replace("(r)", "(u)"), "go") == []


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("rows = Files.lines(path).skip(1);", 0),
        ("return Files.lines(path).filter(x -> true);", 0),
        ("return Files.lines(path).count();", 1),
        ("long n = Files.lines(path).count();", 1),
    ],
)
def test_a_stream_of_java_that_is_still_one_when_it_is_handed_on(statement, count):
    source = f"import java.nio.file.Files;\nclass A {{\nObject f(Path path) throws Exception {{\n{statement}\n}} }}"
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(
    ("call", "count"), [("client.Get(ctx, name)", 0), ("client.Get(url)", 1), ("client.Do(req)", 1)]
)
def test_only_a_client_of_http_gives_a_body(call, count):
    source = (
        f'package a\nimport "net/http"\nfunc f(ctx C, name string) {{\n\tr, err := {call}\n\tuse(err, r.Name)\n}}\n'
    )
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("try (Connection c = ds.open()) {\nStatement s = c.createStatement();\ns.execute(q);\n}", ("info", "low")),
        (
            "Connection c = ds.open();\ntry {\nStatement s = c.createStatement();\ns.execute(q);\n} finally {\n"
            "c.close();\n}",
            ("info", "low"),
        ),
        ("Statement s = c.createStatement();\ns.execute(q);", ("warning", "high")),
    ],
)
def test_a_statement_ends_with_its_connection(body, told):
    source = f"class A {{\nvoid f(Connection c) throws Exception {{\n{body}\n}} }}"
    found = findings_of(RULE, {"src/main/java/A.java": source})
    assert [(each.severity, each.confidence) for each in found] == [told]


def test_main_gives_everything_back_at_its_end():
    source = "import java.io.*;\nclass A {\npublic static void %s(String[] a) {\nWriter w = new FileWriter(a[0]);\n"
    source += "w.write(a[1]);\nw.close();\n} }"
    for name, severity in (("main", "info"), ("export", "warning")):
        found = findings_of(RULE, {"src/main/java/A.java": source % name})
        assert [each.severity for each in found] == [severity]


@pytest.mark.parametrize(
    ("used", "count"),
    [
        ("return rows.filter(p -> p.isAbsolute()).map(Path::toString);", 0),
        ("return rows.map(Path::toString).toList();", 1),
        ("return rows.count();", 1),
    ],
)
def test_a_local_stream_that_is_given_back(used, count):
    body = f"Stream<Path> rows = Files.list(p);\n{used}"
    source = f"import java.nio.file.*;\nclass A {{\nObject f(Path p) throws Exception {{\n{body}\n}} }}"
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(("handler", "count"), [("s.close()\n        return False", 0), ("return False", 1)])
def test_a_socket_that_is_closed_on_both_ways(handler, count):
    attempt = "try:\n        s.connect(p)\n        s.close()\n    except OSError:"
    body = f"s = socket.socket()\n    {attempt}\n        {handler}"
    assert len(lines_of(RULE, HEAD + body)) == count


@pytest.mark.parametrize(("kind", "count"), [("PreparedStatement", 1), ("var", 1), ("QueryRenderer", 0)])
def test_what_is_prepared_is_a_statement(kind, count):
    source = f"class A {{\nvoid f() {{\n{kind} s = strategy.prepareStatement(q);\ns.run();\n}} }}"
    assert len(lines_of(RULE, source, "java")) == count


def test_the_branch_of_the_error_may_hold_blocks():
    head = 'package a\nimport "os"\nfunc f(p string) error {\n\tt, err := os.CreateTemp(p, "x")\n\tif err != nil {\n'
    branch = "\t\tif os.IsPermission(err) {\n\t\t\treturn errDenied\n\t\t}\n\t\treturn err\n\t}\n"
    end = "\tt.Close()\n\treturn nil\n}\n"
    assert lines_of(RULE, head + branch + end, "go") == []
    assert lines_of(RULE, head + branch + "\tif bad() {\n\t\treturn errBad\n\t}\n" + end, "go") == [4]


@pytest.mark.parametrize(("after", "lines"), [("\tdefer closeIt()\n", []), ("", [4])])
def test_a_closer_that_is_deferred(after, lines):
    closer = "\tcloseIt := func() {\n\t\tif done {\n\t\t\treturn\n\t\t}\n\t\t_ = f.Close()\n\t}\n"
    source = 'package a\nimport "os"\nfunc g(p string) error {\n\tf, err := os.Open(p)\n'
    source += "\tif err != nil {\n\t\treturn err\n\t}\n" + closer
    assert lines_of(RULE, source + after + "\treturn work()\n}\n", "go") == lines


@pytest.mark.parametrize(("close", "count"), [("f.Close()", 0), ("f.Sync()", 1)])
def test_a_file_that_the_next_round_closes(close, count):
    source = f'package a\nimport "os"\nfunc f(f *os.File, p string) {{\n\tvar err error\n\tfor next() {{\n\t\t{close}\n'
    source += "\t\tf, err = os.OpenFile(p, 1, 2)\n\t\tcheck(err)\n\t}\n}\n"
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(("last", "count"), [("", 0), ("            check(path)\n", 1)])
def test_handlers_of_the_opening_alone(last, count):
    source = "def f(path):\n    try:\n        t = open(path)\n    except OSError as exc:\n        raise Bad(exc)\n"
    source += f"    else:\n{last}            t.close()\n"
    assert len(marks_of(RULE, source, "python")) == count


def test_a_file_read_once_at_the_start():
    assert [mark.severity for mark in marks_of(RULE, "TEXT = open('a').read()\n", "python")] == ["info"]
    assert [mark.severity for mark in marks_of(RULE, "def f():\n    return open('a').read()\n", "python")] == [""]


@pytest.mark.parametrize(("path", "count"), [("github.com/ory/dockertest/v3", 0), ("github.com/ory/store", 1)])
def test_a_helper_of_tests_with_containers(path, count):
    source = f'package a\nimport ("os"; "{path}")\n'
    source += "func f(p string) {\n\tf, err := os.Open(p)\n\tcheck(f.Stat(), err)\n}\n"
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(("comment", "count"), [("", 0), (" // made below the folder of uploads", 0)])
def test_a_comment_before_the_error_check(comment, count):
    source = f'package a\nimport "os"\nfunc f(p string) error {{\n\tf, err := os.Create(p){comment}\n'
    source += "\tif err != nil {\n\t\treturn err\n\t}\n\tf.Write(x)\n\tf.Close()\n\treturn nil\n}\n"
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(("result", "count"), [("(resp *http.Response, err error)", 0), ("(code int, err error)", 1)])
def test_a_named_result_is_handed_on(result, count):
    source = f'package a\nimport "net/http"\nfunc get(u string) {result} {{\n\tresp, err = http.Get(u)\n\treturn\n}}\n'
    if count:
        source = source.replace("resp, err =", "resp, err :=")
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(("use", "count"), [("os.dup2(out.fileno(), 1)", 0), ("show(out.fileno())", 1)])
def test_a_file_handed_over_to_a_standard_stream(use, count):
    assert len(marks_of(RULE, f"def f():\n    out = open('a', 'a')\n    {use}\n", "python")) == count


@pytest.mark.parametrize(("deferred", "count"), [("defer closeBody(resp.Body)", 0), ("defer done(url)", 1)])
def test_a_deferred_helper_that_closes(deferred, count):
    source = 'package a\nimport "net/http"\nfunc f(url string) error {\n\tresp, err := http.Get(url)\n'
    source += f"\tif err != nil {{\n\t\treturn err\n\t}}\n\t{deferred}\n\tuse(resp.StatusCode)\n\treturn nil\n}}\n"
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(("back", "count"), [("res.Body, err", 0), ("res.StatusCode, err", 1)])
def test_a_body_that_is_returned(back, count):
    source = 'package a\nimport "net/http"\nfunc f(u string) (any, error) {\n'
    source += f"\tres, err := http.Get(u)\n\treturn {back}\n}}\n"
    assert len(lines_of(RULE, source, "go")) == count


def test_the_main_part_of_a_file_ends_soon():
    source = "import json\nif __name__ == '__main__':\n    rows = json.load(open('a'))\n"
    assert [str(each.severity) for each in findings_of(RULE, {"shop/a.py": source})] == ["info"]


@pytest.mark.parametrize(
    ("between", "count"),
    [
        ("if err != nil {\n\t\treturn err\n\t}", 0),
        ("cancel()\n\tif err != nil {\n\t\treturn err\n\t}", 0),
        ("if err != nil {\n\t\treturn err\n\t}\n\tif res.StatusCode != 200 {\n\t\treturn failed\n\t}", 1),
        ("if err != nil || res.StatusCode != 200 {\n\t\treturn failed\n\t}", 1),
    ],
)
def test_a_body_that_is_closed_behind_a_way_out(between, count):
    source = 'package a\nimport "net/http"\nfunc f(client *http.Client, r *http.Request) error {\n'
    source += f"\tres, err := client.Do(r)\n\t{between}\n\tdefer res.Body.Close()\n\treturn read(r)\n}}\n"
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("done", "count"),
    [
        ("fs.read(fd, room, 0, 9, 0, then);", 1),
        ("fs.read(fd, room, 0, 9, 0, () => fs.close(fd, then));", 0),
        ("fs.fstat(fd, then); keep(fd);", 0),
        ("then({ fd });", 0),
    ],
)
def test_descriptors_that_a_callback_is_given(done, count):
    source = f'const fs = require("fs");\nfs.open(path, "r", (err, fd) => {{\n  if (err) throw err;\n  {done}\n}});\n'
    assert len(lines_of(RULE, source, "javascript")) == count


@pytest.mark.parametrize(
    ("done", "count"),
    [
        ("fs.readSync(fd, room);", 1),
        ("fs.readSync(fd, room);\n  fs.closeSync(fd);", 0),
        ("return keep(fd);", 0),
    ],
)
def test_descriptors_in_a_local(done, count):
    source = (
        f'import fs from "node:fs";\nexport function f(path, room) {{\n  const fd = fs.openSync(path);\n  {done}\n}}\n'
    )
    assert len(lines_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(
    ("made", "taken", "confidences"),
    [
        ("new Pool()", "shopPool.connect()", ["medium"]),
        ("new Pool()", "db.connect()", ["medium"]),
        ("open()", "db.connect()", []),
    ],
)
def test_connections_of_pools_by_name_and_by_what_made_them(made, taken, confidences):
    source = f'import {{ Pool }} from "pg";\nconst db = {made};\nconst shopPool = {made};\nasync function f(text) {{\n'
    source += f"  const client = await {taken};\n  await client.query(text);\n  client.release();\n}}\n"
    assert [mark.confidence for mark in marks_of(RULE, source, "typescript")] == confidences


@pytest.mark.parametrize(
    ("used", "count"),
    [
        ("settings.load(in);", 1),
        ("settings.load(in); in.close();", 1),
        ("loader.load(in);", 0),
        ("IOUtils.copy(in, out);", 1),
        ("reader = new Reader(in);", 0),
    ],
)
def test_who_reads_a_stream_of_java_and_leaves_it_open(used, count):
    source = "import java.io.FileInputStream;\nclass A { void f(Properties settings, Loader loader) {\n"
    source += f"FileInputStream in = new FileInputStream(path);\n{used}\n}} }}"
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(("given", "count"), [("f", 0), ("path", 1)])
def test_an_archive_of_an_open_file_goes_with_it(given, count):
    source = (
        "import zipfile\n\ndef read(path):\n    with open(path, 'rb') as f:\n"
        f"        z = zipfile.ZipFile({given})\n        z.extractall('out')\n"
    )
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(
    ("used", "confidences"),
    [
        ("await client.query(text);\n  client.release();", ["medium"]),
        ("try {\n    await client.query(text);\n  } finally {\n    client.release();\n  }", []),
        ("await client.query(text);", []),
    ],
)
def test_a_connection_that_is_given_back_came_from_a_pool(used, confidences):
    source = 'import { reports } from "../db";\nasync function f(text) {\n'
    source += f"  const client = await reports.connect();\n  {used}\n}}\n"
    assert [mark.confidence for mark in marks_of(RULE, source, "typescript")] == confidences


@pytest.mark.parametrize(
    ("field", "request_made", "closed", "count"),
    [
        ("web *http.Client", "build(ctx)", "", 1),
        ("web Doer", 'http.NewRequestWithContext(ctx, "GET", c.url, nil)', "", 1),
        ("web *http.Client", "build(ctx)", "defer resp.Body.Close()", 0),
        ("web Doer", "build(ctx)", "", 0),
        ("web Doer", 'retryable.NewRequest("GET", c.url)', "", 0),
    ],
)
def test_answers_of_a_client_of_any_name(field, request_made, closed, count):
    source = (
        f'package a\n\nimport "net/http"\n\ntype C struct {{\n\turl string\n\t{field}\n}}\n\n'
        f"func (c *C) send(ctx context.Context) error {{\n\treq, err := {request_made}\n\tif err != nil {{\n"
        "\t\treturn err\n\t}\n\tresp, err := c.web.Do(req)\n\tif err != nil {\n\t\treturn err\n\t}\n"
        f"\t{closed}\n\treturn check(resp.StatusCode)\n}}\n"
    )
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("library", "request_made", "count"),
    [
        ("github.com/egirna/icap-client", "lib.NewRequest(ctx, lib.MethodREQMOD, url)", 0),
        ("github.com/hashicorp/go-retryablehttp", 'lib.NewRequest("GET", url, nil)', 1),
        ("github.com/egirna/icap-client", 'http.NewRequest("GET", url, nil)', 1),
        ("github.com/acme/shop", "s.request(ctx, url)", 1),
    ],
)
def test_an_answer_of_another_protocol_has_no_body(library, request_made, count):
    source = (
        f'package a\nimport (\n"net/http"\nlib "{library}"\n)\nfunc (s Scan) run(url string) (int, error) {{\n'
        f"\treq, err := {request_made}\n\tcheck(err)\n\tres, err := s.Client.Do(req)\n\tcheck(err)\n"
        "\treturn res.StatusCode, nil\n}\n"
    )
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("opened", "rest", "told"),
    [
        ("psycopg.connect(p)", "c.execute('SELECT 1')", ["high"]),
        ("psycopg.connect(p)", "n = c.execute('SELECT 1').fetchone()\n    c.close()", ["medium"]),
        ("MySQLdb.connect(p)", "c.cursor().execute('SELECT 1')", ["high"]),
        ("await asyncpg.connect(p)", "return await c.fetch('SELECT 1')", ["high"]),
        ("psycopg.connect(p)", "try:\n        c.execute('SELECT 1')\n    finally:\n        c.close()", []),
        ("psycopg.connect(p)", "return c", []),
        (
            "await asyncpg.connect(p)",
            "try:\n        return await c.fetch('SELECT 1')\n    finally:\n        await c.close()",
            [],
        ),
        ("signals.connect(p)", "c.send()", []),
    ],
)
def test_connections_of_drivers(opened, rest, told):
    source = f"import asyncpg, MySQLdb, psycopg\nasync def f(p):\n    c = {opened}\n    {rest}\n"
    assert [mark.confidence or "high" for mark in marks_of(RULE, source)] == told


def test_a_connection_in_a_with_statement_is_closed():
    source = "import psycopg\ndef f(p):\n    with psycopg.connect(p) as c:\n        c.execute('SELECT 1')\n"
    assert lines_of(RULE, source) == []


@pytest.mark.parametrize(
    ("library", "declared", "used", "count"),
    [
        ("okhttp3", "Response", "return answer.code() == 200;", 1),
        ("org.apache.http.client.methods", "CloseableHttpResponse", "return answer.getStatusLine() != null;", 1),
        ("okhttp3", "Response", "return answer.body().string();", 0),  # which closes it
        ("okhttp3", "Response", "boolean ok = answer.isSuccessful();\nanswer.close();\nreturn ok;", 0),
        ("okhttp3", "Response", "return answer;", 0),
        ("okhttp3", "Response", "return read(answer);", 0),
        ("shop.jobs", "Response", "return answer.code() == 200;", 0),
    ],
)
def test_the_answer_of_a_client_of_java(library, declared, used, count):
    source = (
        f"import {library}.{declared};\nclass A {{\nObject f(Client client, Request request) throws Exception {{\n"
        f"{declared} answer = client.newCall(request).execute();\n{used}\n}} }}"
    )
    found = marks_of(RULE, source, "java")
    assert [(mark.line, mark.data) for mark in found if "never" in mark.message] == [
        (4, {"kind": "connection"})
    ] * count


@pytest.mark.parametrize(
    ("use", "count"),
    [
        ("return process.stdout.readline()", 1),
        ("out, _ = process.communicate()\n    return out", 0),
        ("line = process.stdout.readline()\n    process.wait()\n    return line", 0),
        ("return process", 0),
        ("return process.stdout", 0),
        ("watch(process)", 0),
    ],
)
def test_a_process_with_a_pipe_that_nobody_waits_for(use, count):
    source = "import subprocess\n\n\ndef first(command):\n"
    source += f"    process = subprocess.Popen(command, stdout=subprocess.PIPE)\n    {use}\n"
    assert lines_of(RULE, source) == [5] * count
