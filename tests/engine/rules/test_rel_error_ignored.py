import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "rel-error-ignored"


IMPORTS = '("bufio"; "encoding/binary"; "encoding/json"; "fmt"; "io"; "net/url"; "os"; "strconv")'
FUNCTIONS = "func save() error { return x() }; func keep() error { return nil }"


def go(body):
    return f"package a\nimport {IMPORTS}\n{FUNCTIONS}\nfunc f() {{\n{body}\n}}\n"


FLAGGED = [
    "save()",
    "go save()",
    "defer save()",
    'os.Rename("a", "b")',
    "json.NewEncoder(w).Encode(v)",
    "tx.Commit()",
    "_ = save()",
    "err := save()\nerr = x()\nuse(err)",
    "save() //nolint:errcheck",
    "_ = save() // debt: ignore[rel-error-ignored] it may fail",
    'v, _ := os.Open("a")\nuse(v)\nuse(v)',
    "n, _ := strconv.Atoi(a)\nuse(n)\nuse(a)",
    "db.Exec(a)",
    "_, _ = db.Exec(a)",
    "v, err := os.Open(a)\nw, err := os.Open(b)\nuse(v, w, err)",
    "rows.Scan(&a)",
    "v, _ := json.Marshal(order)\nuse(v)\nuse(v)",
    "v, _ := io.ReadAll(body)\nuse(v)\nuse(v)",
    "a, _ := url.Parse(address)\nuse(a)\nuse(a)",
    "go srv.ListenAndServe()",
    'os.Remove("a")',
    'rows, _ := db.Query("a")\nuse(rows)\nuse(a)',
    "answer, _ := client.Do(a)\nuse(answer)\nuse(a)",
    "tx, _ := db.Begin()\nuse(tx)\nuse(a)",
    'fmt.Sscanf(a, "%d", &n)',
]
FINE = [
    "if err := save(); err != nil { panic(err) }",
    "err := save()\nreturn err",
    'fmt.Println("a")',
    "unknown()",
    "_ = save() // the cache is rebuilt anyway",
    "defer tx.Rollback()",
    "defer f.Close()",
    "err := save()\nerr = wrap(err)\nuse(err)",
    "// the cache is rebuilt anyway\n_ = save()",
    "n, _ := strconv.Atoi(a)\nif n < 1 { n = 1 }\nuse(n)",
    "v, _ := pair()\nuse(v)\nuse(v)",
    "f, err := os.Open(a)\nuse(err)\ndefer f.Close()\nio.ReadAll(f)",
    "f, err := os.Create(a)\nuse(err)\nf.Close()",
    "f, err := os.Create(a)\nuse(err)\ndefer f.Close()\nfill(f)\nerr = f.Close()\nuse(err)",
    "if err := save(); err != nil { save(); panic(err) }",
    "if err := save(); err != nil { _ = save(); panic(err) }",
    'v, _ := os.ReadFile("a")\nif string(v) == "" { return }\nif len(v) == 0 { return }\nuse(v)',
    'v, _ := os.Readlink("a")\nif v == "" { return }\nuse(v)',
    "delete(a, b)",
    'defer os.Remove("a")',
    "answer, _ := other.Do(a)\nuse(answer)\nuse(a)",
    "keep()",
    'a, _ := url.Parse("/orders")\nuse(a)\nuse(a)',
    "_ = keep()",
    "v, _ := strconv.ParseBool(a)\nuse(v)\nuse(v)",
    'labels := map[string]string{"a": b}\nv, _ := json.Marshal(labels)\nuse(v)',
    'v, _ := io.ReadAll(resp.Body)\nreturn fmt.Errorf("%d: %s", resp.StatusCode, v)',
    "s.Commit(1, 2)",
    "buf := new(bytes.Buffer)\n_ = binary.Write(buf, order, 1)",
    "var buf bytes.Buffer\nio.WriteString(&buf, a)",
    "sum := md5.New()\nio.WriteString(sum, a)",
    "var sum hash.Hash\nbinary.Write(sum, order, 1)",
    "a.groups = []string{}\nv, _ := json.Marshal(a.groups)\nuse(v)\nuse(v)",
]


@pytest.mark.parametrize("body", FLAGGED)
def test_errors_that_nobody_reads_are_marked(body):
    assert lines_of(RULE, go(body), "go") == [5]


@pytest.mark.parametrize("body", FINE)
def test_errors_that_are_read_or_explained_are_fine(body):
    assert lines_of(RULE, go(body), "go") == []


@pytest.mark.parametrize(("body", "severity"), [("tx.Commit()", "critical"), ("save()", "")])
def test_a_dropped_error_of_a_write_is_critical(body, severity):
    (mark,) = marks_of(RULE, go(body), "go")
    assert mark.severity == severity


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("f, err := os.Create(a)\nuse(err)\ndefer f.Close()\nfill(f)", 7),
        ("f, err := os.OpenFile(a, os.O_WRONLY, 0)\nuse(err)\nf.Write(b)", 7),
        ("w := bufio.NewWriter(f)\nfill(w)\nw.Flush()", 7),
        ("err := save()\nuse(err)\nerr = save()", 7),
    ],
)
def test_what_was_written_is_lost_when_closing_fails(body, line):
    assert lines_of(RULE, go(body), "go") == [line]


METHODS = "package a\ntype Store struct{}\nfunc (s *Store) save() error { return x() }\nfunc (s *Store) count() {}\n"


def test_methods_of_the_receiver_are_known():
    source = METHODS + "func (s *Store) Close() {\ns.save()\ns.count()\n}\n"
    assert lines_of(RULE, source, "go") == [6]


@pytest.mark.parametrize(
    ("call", "confidences"),
    [("saveAll()", ["high"]), ("_ = saveAll()", ["low"]), ("saveNone()", []), ("s.saveOne()", ["high"])],
)
def test_functions_of_other_files_of_the_package_are_known(call, confidences):
    stored = (
        "package a\nfunc saveAll() error { return x() }\nfunc saveNone() {}\n"
        "func (s *Store) saveOne() error { return x() }\n"
    )
    caller = f"package a\ntype Store struct{{}}\nfunc (s *Store) Close() {{\n{call}\n}}\n"
    found = findings_of(RULE, {"shop/a.go": caller, "shop/b.go": stored})
    assert [(each.file, each.line, each.confidence) for each in found] == [
        ("shop/a.go", 4, confidence) for confidence in confidences
    ]


SENDS = """package a

func (s *Store) send(id int) error {
	if err := s.open(); err != nil {
		%s
		return err
	}
	if id == 0 {
		s.log().Warn("no such order",
			"id", id,
		)
		return errors.New("no such order")
	}
	return nil
}
"""
ADAPTS = """package a

func adapt(order Order) (Row, error) {
	return Row{
		Id: order.Id,
	}, nil
}
"""


@pytest.mark.parametrize("is_elsewhere", [False, True])
@pytest.mark.parametrize(
    ("callee", "call", "count"),
    [
        (SENDS % 's.log().Error("not opened", "err", err)', "s.send(1)", 0),
        (SENDS % 'slog.Error("not opened", "err", err)', "s.send(1)", 0),
        (SENDS % 'use("not opened")', "s.send(1)", 1),
        (SENDS % 'slog.Debug("not opened", "err", err)', "s.send(1)", 1),
        (ADAPTS, "row, _ := adapt(o)\nuse(row)\nuse(row)", 0),
    ],
)
def test_a_callee_that_never_fails_or_has_told_of_it(callee, call, count, is_elsewhere):
    caller = f"type Store struct{{}}\nfunc (s *Store) Close() {{\n{call}\n}}\n"
    files = {"shop/b.go": callee, "shop/a.go": f"package a\n{caller}"}
    if not is_elsewhere:
        files = {"shop/a.go": callee + caller}
    assert len(findings_of(RULE, files)) == count


def test_what_is_copied_to_a_client_is_a_guess():
    (client,) = marks_of(RULE, go("io.Copy(w, r.Body)"), "go")
    (file,) = marks_of(RULE, go("io.Copy(target, r.Body)"), "go")
    assert (client.confidence, file.confidence) == ("low", "")


@pytest.mark.parametrize(
    ("parameters", "body", "count"),
    [
        ("near, far net.Conn", "_, _ = io.Copy(near, far)", 0),
        ("near, far net.Conn", "go io.Copy(near, far)", 0),
        ("near net.Conn", "far, err := net.Dial(kind, to)\nuse(err)\nio.Copy(near, far)", 0),
        ("near net.Conn, far *os.File", "_, _ = io.Copy(near, far)", 1),
        ("near *os.File, far net.Conn", "_, _ = io.Copy(near, far)", 1),
    ],
)
def test_a_tunnel_ends_when_one_of_its_sides_does(parameters, body, count):
    source = f'package shop\nimport ("io"; "net"; "os")\nfunc join({parameters}) {{\n{body}\n}}\n'
    assert len(findings_of(RULE, {"shop/a.go": source})) == count


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("json.NewEncoder(w).Encode(v)", ("low", "info")),
        ("if v {\njson.NewEncoder(w).Encode(v)\nreturn\n}\ncount(v)", ("low", "info")),
        ("json.NewEncoder(w).Encode(v)\ncount(v)", ("high", "critical")),
        ("json.NewEncoder(file).Encode(v)", ("high", "critical")),
    ],
)
def test_the_last_write_of_an_answer_fails_when_the_client_is_gone(body, told):
    (finding,) = findings_of(RULE, {"shop/a.go": go(body)})
    assert (finding.confidence, finding.severity) == told


@pytest.mark.parametrize(
    ("after", "count"),
    [
        ('return fmt.Errorf("no rows")', 0),
        ('log.Info("a")\nreturn errors.New("b")', 0),
        ("return nil", 1),
        ("use(a)", 1),
    ],
)
def test_cleaning_up_on_the_way_out_with_another_error(after, count):
    assert len(lines_of(RULE, go(f"if a == 0 {{\n_ = save()\n{after}\n}}"), "go")) == count


def test_what_is_left_over_is_a_guess():
    (mark,) = marks_of(RULE, go('_ = os.Remove("a")'), "go")
    assert mark.confidence == "low"


def test_methods_of_what_a_field_holds():
    store = "package store\ntype Store struct{}\nfunc (s *Store) Notify(id int) error { return send(id) }\n"
    api = """package api
import "example.org/shop/store"
type Handler struct{ store *store.Store }
func (h *Handler) Pay(id int) {
	h.store.Notify(id)
}
"""
    manifest = "module example.org/shop\n"
    found = findings_of(RULE, {"go.mod": manifest, "store/store.go": store, "api/api.go": api})
    assert [(each.file, each.line) for each in found] == [("api/api.go", 5)]
    silent = store.replace("error { return send(id) }", "{ send(id) }")
    assert findings_of(RULE, {"go.mod": manifest, "store/store.go": silent, "api/api.go": api}) == []


def test_processes_fail():
    source = (
        'package a\nimport "os/exec"\nfunc f() string {\n\tout, _ := exec.Command("ls").Output()\n'
        "\tlog(out)\n\treturn string(out)\n}\n"
    )
    assert lines_of(RULE, source, "go") == [4]


def test_any_method_of_a_field_whose_signature_is_visible():
    store = "package store\ntype Store struct{}\nfunc (s *Store) Scan(id int) error { return send(id) }\n"
    head = 'package api\nimport "example.org/shop/store"\ntype Api struct{ store *store.Store }\n'
    files = {"go.mod": "module example.org/shop\n", "store/store.go": store}
    own = "func (a *Api) Scan(id int) error { return nil }\n"
    source = head + "func (a *Api) Pay(id int) {\n\ta.store.Scan(id)\n}\n"
    assert [each.line for each in findings_of(RULE, files | {"api/api.go": source})] == [5]
    other = {"go.mod": "module example.org/shop\n", "api/api.go": source + own}
    assert findings_of(RULE, other) == []  # its own method of that name is not meant


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ('defer func() {\nos.Remove("a")\n}()', 0),
        ('func() {\nos.Remove("a")\n}()', 1),
        ('_ = os.Chdir("a") // best effort, where it is does not matter\nos.Remove("b")', 1),
        ('// best effort, who needs it makes it anew\nos.Remove("b")', 0),
        ("tx.Commit(ctx)", 1),
        ("plan.Commit(ctx)", 0),
        ("// digits alone get here\na, _ := strconv.Atoi(b)\nc, _ := strconv.Atoi(d)\nuse(a, c)", 0),
        ("use(b)\na, _ := strconv.Atoi(b)\nc, _ := strconv.Atoi(d)\nuse(a, c)", 2),
    ],
)
def test_deferred_clean_ups_and_one_comment_for_several_lines(body, count):
    assert len(lines_of(RULE, go(body), "go")) == count


def test_what_helps_tests_fails_with_them():
    assert lines_of(RULE, go("db.Exec(a)").replace('"bufio"', '"testing"'), "go") == []


def test_what_is_temporary_may_be_left_over():
    assert lines_of(RULE, go("_ = os.Remove(tempPath)"), "go") == []
    assert lines_of(RULE, go("os.RemoveAll(filepath.Join(TempDir, a))"), "go") == []
    assert len(lines_of(RULE, go("_ = os.Remove(path)"), "go")) == 1


def test_who_is_told_why_all_ends_only_stops():
    stops = "group.Add(run, func(%s) { _ = server.Shutdown(ctx) })"
    assert lines_of(RULE, go(stops % "err error"), "go") == []
    (mark,) = marks_of(RULE, go(stops % "now bool"), "go")
    assert mark.confidence == "low"


@pytest.mark.parametrize(
    ("target", "told"), [("buf := &bytes.Buffer{}", ("low", "info")), ("use(buf)", ("medium", "critical"))]
)
def test_an_encoder_into_memory_fails_for_its_value_only(target, told):
    (mark,) = marks_of(RULE, go(f"{target}\nenc := json.NewEncoder(buf)\n_ = enc.Encode(a)"), "go")
    assert (mark.confidence, mark.severity) == told


@pytest.mark.parametrize(
    ("call", "count"),
    [
        ('time.ParseDuration("30s")', 0),
        ("time.ParseDuration(text)", 1),
        ('time.Parse(time.RFC3339, "2024-01-01T00:00:00Z")', 0),
    ],
)
def test_a_literal_was_tried_when_it_was_written(call, count):
    source = go(f"v, _ := {call}; use(v); use(v)").replace('"strconv"', '"strconv"; "time"')
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("//nolint:errcheck // best-effort answer\nsave()", 0),
        ("// a failure is shown by the next start\n//nolint:errcheck\nsave()", 0),
        ("//nolint:errcheck\nsave()", 1),
        ("// saves the row\nsave()", 1),
        ("defer func() {\nif a == 1 {\n_ = os.Remove(path)\n}\n}()", 0),
    ],
)
def test_what_is_said_of_the_error_of_a_call(body, count):
    assert len(lines_of(RULE, go(body), "go")) == count


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("_, _ = io.Copy(w, f)", ("low", "info")),
        ("_, _ = io.Copy(target, f)", ("medium", "critical")),
        ("b, err := json.Marshal(a)\nuse(err)\n_ = json.Unmarshal(b, &c)", ("low", "info")),
        ("_ = json.Unmarshal(b, &c)", ("medium", "")),
    ],
)
def test_clients_that_are_gone_and_copies_by_way_of_json(body, told):
    (mark,) = marks_of(RULE, go(body), "go")
    assert (mark.confidence, mark.severity) == told


@pytest.mark.parametrize(
    ("after", "count"), [("if err := conn.LastError(); err != nil { use(err) }", 0), ("use(w)", 1)]
)
def test_who_asks_for_the_last_error_right_behind_takes_it(after, count):
    body = f"w := bufio.NewWriter(f)\nuse(f, w)\nw.Flush()\n{after}"
    assert len(lines_of(RULE, go(body), "go")) == count


@pytest.mark.parametrize(("field", "count"), [("Name string", 0), ('Name *string `json:"name"`', 0), ("Body any", 1)])
def test_a_struct_of_plain_fields_can_always_be_written(field, count):
    source = (
        f'package a\nimport "encoding/json"\ntype Row struct {{\n\t{field}\n\tSize int\n}}\n'
        "func (r *Row) Text() string {\nuse(r)\ntext, _ := json.Marshal(r)\nuse(r)\nreturn string(text)\n}\n"
    )
    assert len(lines_of(RULE, source, "go")) == count


def test_a_function_of_that_name_says_nothing_of_what_a_call_gives():
    source = "package a\ntype Row struct {\n\tgauge *Gauge\n}\nfunc (r *Row) f() {\n%s\n}\n"
    files = {"b.go": "package a\nfunc Store(a int) error { return x() }\n"}
    assert findings_of(RULE, {"a.go": source % "r.gauge.With(a).Store(1)", **files}) == []
    assert len(findings_of(RULE, {"a.go": source % "Store(1)", **files})) == 1


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("_ = os.Mkdir(a, b)", []),
        ("defer func() { _ = server.Shutdown(ctx) }()", []),
        ('_, _ = db.Exec("SELECT pg_notify($1)", a)', [("low", "info")]),
        ('_, _ = db.Exec("DELETE FROM a")', [("medium", "critical")]),
    ],
)
def test_what_others_will_tell_and_what_writes_nothing(body, told):
    assert [(each.confidence, each.severity) for each in marks_of(RULE, go(body), "go")] == told


@pytest.mark.parametrize(("name", "count"), [("usage", 0), ("printRows", 0), ("load", 1)])
def test_who_prints_has_nobody_to_tell(name, count):
    source = (
        f'package a\nimport "io"\nfunc {name}(out io.Writer) {{\nuse(a)\nuse(b)\n_, _ = io.WriteString(out, a)\n}}\n'
    )
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(("path", "count"), [("testutil/a.go", 0), ("store/a.go", 1)])
def test_helpers_of_tests_may_drop_errors(path, count):
    assert len(findings_of(RULE, {path: go("save()")})) == count


@pytest.mark.parametrize(("target", "told"), [("file", [("low", "warning")]), ("w", [])])
def test_errors_of_an_example_are_a_guess(target, told):
    found = findings_of(RULE, {"examples/a.go": go(f"json.NewEncoder({target}).Encode(v)")})
    assert [(each.confidence, each.severity) for each in found] == told


@pytest.mark.parametrize(("path", "severity"), [("cli/update/a.go", "warning"), ("store/a.go", "critical")])
def test_a_file_that_a_command_writes_is_seen_by_who_runs_it(path, severity):
    (finding,) = findings_of(RULE, {path: go("f, err := os.Create(a)\nuse(err)\nio.Copy(f, b)\nreturn")})
    assert finding.severity == severity


def test_a_function_of_another_package_has_results_of_its_own():
    main = 'package main\nimport (\n"example.org/shop/a"\n"example.org/shop/b"\n)\nfunc f() {\n%s.Register()\n}\n'
    files = {
        "go.mod": "module example.org/shop\n",
        "a/a.go": "package a\nfunc Register() {}\n",
        "b/b.go": "package b\nfunc Register() error { return x() }\n",
    }
    assert findings_of(RULE, {"main.go": main % "a", **files}) == []
    assert len(findings_of(RULE, {"main.go": main % "b", **files})) == 1


@pytest.mark.parametrize(("kind", "count"), [("string", 0), ("any", 1)])
def test_a_plain_struct_may_be_made_right_before(kind, count):
    body = f"type row struct {{\n\tName {kind}\n}}\nuse(a)\nr := row{{a}}\ntext, _ := json.Marshal(r)\nuse(text)\n"
    assert len(lines_of(RULE, go(body), "go")) == count


@pytest.mark.parametrize(("asked", "count"), [("if n != 0 {\nuse(n)\n}", 0), ("use(n)\nuse(n)", 1)])
def test_a_number_that_is_asked_for_zero_was_checked(asked, count):
    assert len(lines_of(RULE, go(f"n, _ := strconv.Atoi(a)\n{asked}\nuse(a)"), "go")) == count


@pytest.mark.parametrize(
    ("line", "confidences"),
    [
        ("go s.audit(a)", ["high"]),
        ("s.audit(a)", ["high"]),
        ('os.Remove(a + ".old")', ["low"]),
        ("os.Remove(tmpName)", []),
        ('os.Remove(path)\n\tl, err := net.Listen("unix", path)', []),
        ("n, _ := strconv.Atoi(body.Size)\n\tuse(n)\n\tuse(n)", ["low"]),
        ("n, _ := strconv.Atoi(other.Size)\n\tuse(n)\n\tuse(n)", []),
        ('n, _ := strconv.Atoi(c.Param("id"))\n\tuse(n)\n\tuse(n)', ["low"]),
        ('n, _ := strconv.Atoi(c.Setting("size"))\n\tuse(n)\n\tuse(n)', []),
        ("n, _ := strconv.Atoi(age[:len(age)-1])\n\tuse(n)\n\tuse(n)", ["low"]),
        ("n, _ := strconv.Atoi(digits[:2])\n\tuse(n)\n\tuse(n)", []),
        ("n, _ := strconv.Atoi(age[0:3])\n\tuse(n)\n\tuse(n)", []),
        ("if !isHex(age) {\n\t\treturn\n\t}\n\tn, _ := strconv.Atoi(age[3:])\n\tuse(n)", []),
        ("line, err := in.Read()\n\tn, _ := strconv.ParseFloat(line[2], 64)\n\tuse(n)\n\tuse(err)", ["low"]),
        ("line, err := in.Next()\n\tn, _ := strconv.ParseFloat(line[2], 64)\n\tuse(n)\n\tuse(err)", []),
    ],
)
def test_what_acts_by_any_name_and_what_others_have_written(line, confidences):
    source = (
        'package a\n\nimport (\n\t"encoding/csv"\n\t"encoding/json"\n\t"net"\n\t"os"\n\t"strconv"\n)\n\n'
        "func (s *Store) audit(a string) error { return s.db.run(a) }\n\n"
        "func (s *Store) keep(a string, body Body) {\n\tif err := json.Unmarshal(raw, &body); err != nil {\n"
        f"\t\treturn\n\t}}\n\t{line}\n}}\n"
    )
    assert [each.confidence for each in findings_of(RULE, {"store/a.go": source})] == confidences


@pytest.mark.parametrize(
    ("field", "flagged"),
    [("run func(Job) error", True), ("run func(Job) (int, error)", True), ("run func(Job) int", False)],
)
def test_a_field_that_holds_a_function_which_may_fail(field, flagged):
    source = (
        f"package a\ntype Pool struct {{\n\t{field}\n}}\nfunc (p *Pool) each(jobs []Job) {{\n"
        f"for _, j := range jobs {{\np.run(j)\n}}\n}}"
    )
    assert bool(findings_of(RULE, {"pool/a.go": source})) is flagged


@pytest.mark.parametrize(
    ("given", "flagged"),
    [
        ('parts := strings.Split(line, ":")', True),
        ("parts := number.FindStringSubmatch(line)", True),
        ("parts := limits()", False),
    ],
)
def test_a_number_that_is_read_out_of_a_line(given, flagged):
    source = (
        f"package a\nfunc f(line string) float64 {{\n{given}\nuse(parts)\n"
        f"v, _ := strconv.ParseFloat(parts[1], 64)\nreturn v\n}}"
    )
    source = source.replace("package a", 'package a\nimport ("strconv"; "strings")')
    assert bool(findings_of(RULE, {"feed/a.go": source})) is flagged


@pytest.mark.parametrize(
    ("body", "flagged"),
    [('v, _ := os.ReadFile("a")\nreturn v', True), ("v, _ := time.Parse(layout, text)\nreturn v", False)],
)
def test_a_shorthand_leaves_out_only_what_the_program_knows(body, flagged):
    source = f'package a\nimport ("os"; "time")\nfunc f() any {{\n{body}\n}}'
    assert bool(findings_of(RULE, {"feed/a.go": source})) is flagged


def test_a_text_for_a_client_may_be_lost():
    source = 'package a\nimport ("io"; "net/http")\nfunc f(w http.ResponseWriter) {\nio.WriteString(w, "x")\n}'
    assert findings_of(RULE, {"feed/a.go": source}) == []


@pytest.mark.parametrize(
    ("call", "flagged"), [("m.Ack(false)", True), ("m.Nack(false, true)", True), ("m.Ack()", False)]
)
def test_a_delivery_that_is_acknowledged(call, flagged):
    source = f"package a\nfunc f(m amqp.Delivery) {{\nwork(m)\n{call}\n}}"
    assert bool(findings_of(RULE, {"feed/a.go": source})) is flagged


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("go t.bell.Ring(a)", 1),
        ("t.bell.Ring(a)", 1),
        ("t.bell.Count(a)", 0),
        ("t.bell.Close()", 0),
        ("defer t.bell.Ring(a)", 0),
        ("go other.bell.Ring(a)", 0),
        ("if err := t.bell.Ring(a); err != nil { use(err) }", 0),
    ],
)
def test_methods_of_an_interface_that_the_file_declares(line, count):
    source = (
        "package a\ntype Bell interface {\n\tRing(a string) error\n\tCount(a string) int\n\tClose() error\n}\n"
        f"type Till struct {{\n\tbell Bell\n}}\nfunc (t *Till) shut(a string) {{\n\t{line}\n}}\n"
    )
    assert len(findings_of(RULE, {"a/a.go": source})) == count


@pytest.mark.parametrize(
    ("call", "count"),
    [
        ("reader.CommitMessages(ctx, msg)", 1),
        ("w.WriteMessages(ctx, msg)", 1),
        ("err := reader.CommitMessages(ctx, msg)\nuse(err)", 0),
        ("form.CommitMessages(ctx, msg)", 0),
    ],
)
def test_a_position_in_a_queue_that_is_not_kept(call, count):
    assert len(lines_of(RULE, go(call), "go")) == count


@pytest.mark.parametrize(("columns", "count"), [((2, 3), 2), ((2, 3, 4), 0)])
def test_a_row_of_what_was_measured_has_nought_for_none(columns, count):
    read = "".join(f"v{each}, _ := strconv.ParseFloat(fields[{each}], 64)\nuse(v{each})\n" for each in columns)
    source = (
        f'package a\nimport ("strconv"; "strings")\nfunc f(line string) {{\nfields := strings.Fields(line)\n{read}}}\n'
    )
    assert len(findings_of(RULE, {"feed/a.go": source})) == count


@pytest.mark.parametrize(("method", "count"), [("Close", 0), ("Stop", 0), ("Store", 1)])
def test_nobody_asks_what_is_closed_at_the_end_whether_it_worked(method, count):
    files = {
        "shop/queue.go": (
            f"package shop\ntype Queue struct{{}}\nfunc (q *Queue) {method}() error {{\n\treturn q.end()\n}}\n"
        ),
        "shop/desk.go": (
            "package shop\ntype Desk struct {\n\tlate *Queue\n}\n"
            f"func (d *Desk) leave() {{\n\td.late.{method}()\n\td.tell()\n}}\n"
        ),
    }
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(
    ("maker", "count"),
    [("os.Create(path)", 1), ("os.OpenFile(path, os.O_WRONLY, 0o600)", 1), ("gzip.NewWriter(to)", 0)],
)
def test_a_file_that_is_closed_with_care_still_forgets_what_it_could_not_take(maker, count):
    body = f"\tf, err := {maker}\n\tif err != nil {{\n\t\treturn err\n\t}}\n\tf.Write(row)\n\treturn f.Close()\n"
    source = f'package a\n\nimport ("compress/gzip"; "os")\n\nfunc keep(path string, row []byte) error {{\n{body}}}\n'
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("function", "given", "count"),
    [
        ("Seats", "text", 1),
        ("seats", "text", 0),
        ("ParseSeats", "text", 0),
        ("ToInt", "text", 0),
        ("Seats", "named", 0),
    ],
)
def test_nought_for_a_text_that_callers_give(function, given, count):
    body = f"\tn, _ := strconv.Atoi({given})\n\treturn n\n"
    source = f'package a\n\nimport "strconv"\n\nfunc {function}(text string) int {{\n{body}}}\n'
    assert len(findings_of(RULE, {"go.mod": "", "shop/seats.go": source})) == count


@pytest.mark.parametrize(
    ("method", "comment", "told"),
    [
        ("Import", "", ["warning"]),
        ("Import", " // the next night brings them again", []),
        ("Warm", "", []),
    ],
)
def test_who_asked_is_told_that_it_worked(method, comment, told):
    rows = (
        f"package shop\n\ntype Rows struct{{}}\n\nfunc (r *Rows) {method}(rows []int) error {{\n\treturn k(rows)\n}}\n"
    )
    api = (
        'package shop\n\nimport "net/http"\n\ntype API struct {\n\trows *Rows\n}\n\n'
        f"func (a *API) Post(w http.ResponseWriter, r *http.Request) {{\n\t_ = a.rows.{method}(nil){comment}\n"
        "\tw.WriteHeader(202)\n}\n"
    )
    found = findings_of(RULE, {"shop/rows.go": rows, "shop/api.go": api})
    assert [str(each.severity) for each in found if each.file == "shop/api.go"] == told
