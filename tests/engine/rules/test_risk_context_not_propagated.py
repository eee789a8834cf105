import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "risk-context-not-propagated"


def go(body, parameters="ctx context.Context", name="load"):
    imports = 'import ("context"; "net/http"; "database/sql"; "os/exec")'
    return f"package a\n{imports}\nfunc {name}({parameters}) error {{\n{body}\n}}\n"


FLAGGED = [
    "return get(context.Background())",
    "return get(context.TODO())",
    "return shelf.Newest(context.TODO())",
    'req, err := http.NewRequest("GET", u, nil)',
    'rows, err := db.Query("q")',
    'cmd := exec.Command("ls")',
    "ctx, _ := context.WithCancel(ctx)",
]
FINE = [
    "return get(ctx)",
    "shelf := store.NewShelf(context.Background())",
    "ctx, cancel := context.WithCancel(ctx)",
    'req, err := http.NewRequest("GET", u, nil)\nreq = req.WithContext(ctx)',
    'req, err := http.NewRequest("GET", u, nil)\nif err != nil {\nreturn err\n}\nreturn send(ctx, c, req)',
    'rows, err := db.QueryContext(ctx, "q")',
    "if ctx == nil {\nctx = context.Background()\n}",
    "go func() { get(context.Background()) }()",
    "server.Shutdown(context.Background())",
    "// The work must finish even if the caller is gone, so it is detached.\nreturn get(context.Background())",
    "// remove the context from the copies\nset(a, 1)\nset(b, context.Background())",
    "metrics.DefaultWorkflow.Reminded(context.Background(), name)",
    "s.wakeCtx, s.cancelWake = context.WithCancel(context.Background())",
    "// The context of the caller is too short for this.\nreturn get(context.Background())",
    "ctx, cancel := context.WithTimeout(withValues(context.Background(), ctx), limit)\ndefer cancel()",
]


@pytest.mark.parametrize("body", FLAGGED)
def test_a_context_that_stops_here_is_marked(body):
    assert lines_of(RULE, go(body), "go") == [4]


@pytest.mark.parametrize("body", FINE)
def test_contexts_that_are_passed_on_are_fine(body):
    assert lines_of(RULE, go(body), "go") == []


def test_a_request_has_a_context_too():
    assert lines_of(RULE, go(FLAGGED[0], "w http.ResponseWriter, r *http.Request"), "go") == [4]
    assert lines_of(RULE, go(FLAGGED[0], "id string"), "go") == []


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("for range xs {\n\t\tctx = context.WithValue(ctx, key, 1)\n\t}", [6]),
        ("for range xs {\n\t\tctx, cancel := context.WithTimeout(ctx, 1)\n\t\tload(ctx)\n\t\tcancel()\n\t}", []),
        ("ctx, cancel := context.WithTimeout(ctx, 1)\n\tif x {\n\t\treturn\n\t}\n\tload(ctx)\n\tcancel()", [5]),
        ("ctx, cancel := context.WithTimeout(ctx, 1)\n\tdefer cancel()\n\tif x {\n\t\treturn\n\t}\n\tload(ctx)", []),
        ('http.NewRequestWithContext(nil, "GET", u, nil)', [5]),
        ('http.NewRequestWithContext(ctx, "GET", u, nil)', []),
    ],
)
def test_contexts_that_grow_are_never_cancelled_or_missing(body, lines):
    head = 'package a\nimport "context"\nimport "net/http"\nfunc f(ctx context.Context, xs []int) {\n\t'
    assert lines_of(RULE, f"{head}{body}\n}}\n", "go") == lines


def test_without_a_context_it_counts_on_the_way_of_a_request():
    source = (
        'package a\nimport ("database/sql"; "net/http")\n'
        "func show(w http.ResponseWriter, r *http.Request) {\n\tload(1)\n}\n"
        'func load(id int) {\n\tdb.Query("q", id)\n}\nfunc Routes() { http.HandleFunc("/", show) }\n'
    )
    assert [(each.line, each.confidence) for each in findings_of(RULE, {"a/a.go": source})] == [(7, "medium")]
    assert findings_of(RULE, {"a/a.go": source.replace("\tload(1)\n", "")}) == []


@pytest.mark.parametrize(
    ("parameter", "given"),
    [
        ("c *gin.Context", "c.Request.Context()"),
        ("c echo.Context", "c.Request().Context()"),
        ("c *fiber.Ctx", "c.Context()"),
    ],
)
def test_the_context_of_a_router_is_at_hand(parameter, given):
    source = f"package a\nfunc (h *H) Show({parameter}) {{\n\th.load(context.Background())\n}}\n"
    (mark,) = marks_of(RULE, source.replace("package a", 'package a\nimport "context"'), "go")
    assert given in mark.message


def test_what_a_handler_starts_goes_on_without_it():
    source = (
        'package a\nimport ("database/sql"; "net/http")\n'
        "func show(w http.ResponseWriter, r *http.Request) {\n\tgo runImport(1)\n}\n"
        'func runImport(id int) {\n\tdb.Query("q", id)\n}\nfunc Routes() { http.HandleFunc("/", show) }\n'
    )
    assert findings_of(RULE, {"a/a.go": source}) == []


def test_a_handle_of_gorm_carries_its_context():
    source = go('db.Exec("q")').replace('"os/exec"', '"os/exec"; "gorm.io/gorm"')
    assert lines_of(RULE, source, "go") == []


@pytest.mark.parametrize("first", ["ctx", "r.Context()", "queryCtx"])
def test_a_driver_whose_methods_take_a_context_is_given_it(first):
    assert lines_of(RULE, go(f'rows, err := c.conn.Query({first}, "q")'), "go") == []
    assert lines_of(RULE, go('rows, err := c.conn.Query(name, "q")'), "go") == [4]


def test_a_context_that_has_ended_is_replaced():
    body = "if ctx.Err() != nil {\n\t\tctx, cancel := context.WithTimeout(context.Background(), limit)\n\t}"
    assert lines_of(RULE, go(body), "go") == []
    assert lines_of(RULE, go(body.replace("ctx.Err() != nil", "slow")), "go") == [5]
    assert lines_of(RULE, go("return get(context.Background())", name="abortUpload"), "go") == []


@pytest.mark.parametrize(
    ("before", "lines"), [("ws, err := upgrader.Upgrade(w, r, nil)\n", []), ("w.WriteHeader(200)\n", [5])]
)
def test_the_context_of_a_request_whose_connection_was_taken_over(before, lines):
    source = go(before + "return get(context.Background())", "w http.ResponseWriter, r *http.Request")
    assert lines_of(RULE, source, "go") == lines


@pytest.mark.parametrize(
    ("name", "sent", "count"),
    [("send", "send(id)", 1), ("send", "go send(id)", 0), ("newStore", "newStore(id)", 0)],
)
def test_what_is_started_or_set_up_waits_for_nobody(name, sent, count):
    source = f"""package a
import ("database/sql"; "net/http")
func Handle(w http.ResponseWriter, r *http.Request) {{
	{sent}
}}
func {name}(id string) {{
	db.Exec("insert into a values (?)", id)
}}
"""
    assert len(findings_of(RULE, {"a/a.go": source})) == count


@pytest.mark.parametrize(("waited", "lines"), [("requestCtx", []), ("otherCtx", [5])])
def test_a_function_that_waits_for_the_end_of_the_request(waited, lines):
    body = (
        f"c, cancel := context.WithCancel(context.Background())\nrequestCtx := r.Context()\n<-{waited}.Done()\ncancel()"
    )
    source = go("\n" + body, "w http.ResponseWriter, r *http.Request")
    assert lines_of(RULE, source, "go") == lines


@pytest.mark.parametrize(("head", "lines"), [("_, key := range keys", []), ("i := 0; i < n; i++", [5])])
def test_a_value_for_each_key(head, lines):
    assert lines_of(RULE, go(f"for {head} {{\n\t\tctx = context.WithValue(ctx, key, find(key))\n\t}}"), "go") == lines


@pytest.mark.parametrize(
    ("made", "count"),
    [
        ("if own == nil {\n\t\town, _ = context.WithTimeout(context.Background(), limit)\n\t}", 0),
        ("if own == nil {\n\t\town, _ = context.WithCancel(context.Background())\n\t}", 1),
        ("own, _ = context.WithTimeout(context.Background(), limit)", 1),
    ],
)
def test_the_one_context_of_a_program_that_ends_by_itself(made, count):
    source = (
        f'package a\nimport "context"\nvar own context.Context\nfunc f() context.Context {{\n\t{made}\n\treturn own\n}}'
    )
    assert len(marks_of(RULE, source, "go")) == count


def test_the_end_of_the_work_needs_no_context_of_its_caller():
    assert lines_of(RULE, go("a.signal(context.Background(), syscall.SIGTERM)"), "go") == []
    assert lines_of(RULE, go("a.signal(context.Background(), syscall.SIGHUP)"), "go") == [4]


def test_the_context_of_a_function_that_is_given_is_not_at_hand():
    given = "find func(ctx context.Context, id string) error"
    assert lines_of(RULE, go("return find(context.Background(), id)", given), "go") == []
    assert lines_of(RULE, go("return find(context.Background(), id)", given + ", ctx context.Context"), "go") == [4]


@pytest.mark.parametrize(("body", "confidence"), [(FLAGGED[0], "medium"), (FLAGGED[3], "")])
def test_that_work_outlives_its_caller_may_be_meant(body, confidence):
    assert [mark.confidence for mark in marks_of(RULE, go(body), "go")] == [confidence]


@pytest.mark.parametrize(("network", "count"), [("udp", 0), ("unix", 0), ("tcp", 1)])
def test_a_datagram_or_local_socket_waits_for_nobody(network, count):
    source = 'package a\nimport ("context"; "net")\nfunc f(ctx context.Context, to string) {\n'
    source += f'\tconn, err := net.Dial("{network}", to)\n\tuse(conn, err)\n}}\n'
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("t := begin(context.Background(), a)\n\tgo func() {\n\t\tt.push()\n\t}()", 0),
        ("t := begin(context.Background(), a)\n\tt.push()", 1),
        ("return oidc.NewProvider(context.Background(), a)", 0),
        ('req, err := http.NewRequestWithContext(context.Background(), "GET", a, nil)', 1),
        ("if err := load(ctx); err != nil {\n\t\tsetStatus(context.Background(), a)\n\t}", 0),
        ("if err := load(context.Background()); err != nil {\n\t\tuse(a)\n\t}", 1),
    ],
)
def test_what_lives_on_and_what_follows_an_error(body, count):
    source = f'package a\nimport ("context"; "net/http")\nfunc f(ctx context.Context, a string) {{\n\t{body}\n}}\n'
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("own, cancel := context.WithCancel(context.Background())\n\tkeep(a, cancel)\n\tqueue(own)", 0),
        ("own, cancel := context.WithCancel(context.Background())\n\tdefer cancel()\n\tqueue(own)", 1),
        ("own, end := context.WithCancelCause(context.Background())\n\tdefer end(errDone)\n\tqueue(own)", 1),
        (
            "own, end := context.WithCancelCause(context.Background())\n\tdefer end(errDone)\n"
            "\tqueue(own, func() { end(errDone) })",
            0,
        ),
        ("row, err := load(context.Background(), a)\n\tuse(row, err)", 1),
        ("inject(carry(context.Background(), a), r)", 0),
        ("inject(carry(context.Background(), a), b)", 1),
        ('cmd := exec.Command("a")\n\terr := cmd.Start()\n\tuse(err)', 0),
        ('cmd := exec.Command("a")\n\terr := cmd.Start()\n\tcmd.Wait()', 1),
        ('conn := upgrader.Upgrade(w, r, nil)\n\tcmd := exec.Command("a")\n\tcmd.Run()', 0),
    ],
)
def test_jobs_processes_and_what_only_carries_a_value(body, count):
    source = 'package a\nimport ("context"; "net/http"; "os/exec")\n'
    source += f"func f(w http.ResponseWriter, r *http.Request) {{\n\t{body}\n}}\n"
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(("package", "count"), [("testing", 0), ("text/template", 1)])
def test_a_helper_of_tests(package, count):
    source = f'package a\nimport ("context"; "{package}")\n'
    source += "func open(ctx context.Context) error {\n\treturn load(context.TODO())\n}\n"
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(("start", "count"), [("go relaunch(own)", 0), ("relaunch(own)", 1)])
def test_a_fresh_context_for_a_goroutine(start, count):
    source = 'package a\nimport "context"\nfunc f(ctx context.Context) {\n'
    source += f"\town := context.Background()\n\tuse(ctx)\n\t{start}\n}}\n"
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("made", "confidence"),
    [
        ("own, cancel := context.WithTimeout(context.Background(), limit)", "low"),
        ("own, end := context.WithCancelCause(context.Background())", "low"),
        ("own := context.Background()", "medium"),
    ],
)
def test_a_limit_of_its_own_may_be_meant(made, confidence):
    source = f'package a\nimport "context"\nfunc f(ctx context.Context) {{\n\t{made}\n\tuse(ctx, own)\n}}\n'
    assert [mark.confidence for mark in marks_of(RULE, source, "go")] == [confidence]


@pytest.mark.parametrize(
    ("starts", "limit", "count"),
    [
        ("go f(ctx, a)", "WithTimeout", 0),
        ("go func() {\n\t\tf(ctx, a)\n\t}()", "WithDeadline", 0),
        ("go f(ctx, a)", "WithCancel", 1),
        ("f(ctx, a)", "WithTimeout", 1),
    ],
)
def test_what_is_started_beside_with_a_limit_of_its_own(starts, limit, count):
    source = f'package a\nimport "context"\nfunc g(ctx context.Context) {{\n\t{starts}\n}}\n'
    source += "func f(ctx context.Context, a string) {\n\tlog(ctx, a)\n"
    source += f"\town, cancel := context.{limit}(context.Background(), limit)\n\tdefer cancel()\n\tload(own, a)\n}}\n"
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("work", "count"),
    [
        ("case <-own.Done():\n\t\treturn own.Err()", 0),
        ('case <-own.Done():\n\t\tlogger.ErrorContext(own, "too late")', 0),
        ("case <-own.Done():\n\t\treturn save(own)", 1),
        ("case <-ended:\n\t\treturn nil", 1),
    ],
)
def test_a_watch_over_the_time_under_which_no_work_runs(work, count):
    source = 'package a\nimport ("context"; "time")\nfunc f(ctx context.Context) error {\n\tuse(ctx)\n'
    source += "\town, cancel := context.WithTimeout(\n\t\tcontext.Background(),\n\t\tlimit,\n\t)\n"
    source += f"\tdefer cancel()\n\tselect {{\n\t{work}\n\t}}\n\treturn nil\n}}\n"
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(("ends", "count"), [("signal.NotifyContext(own, os.Interrupt)", 0), ("mark(own)", 1)])
def test_what_a_signal_to_the_process_ends(ends, count):
    source = 'package a\nimport ("context"; "os"; "os/signal")\nfunc f(ctx context.Context) {\n\tuse(ctx)\n'
    source += "\town, cancel := context.WithTimeout(context.Background(), limit)\n\tdefer cancel()\n"
    source += f"\town, _ = {ends}\n\tload(own)\n}}\n"
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(("fresh", "count"), [("TODO", 1), ("Background", 0)])
def test_what_is_not_decided_yet_is_no_clean_up(fresh, count):
    source = f'package a\nimport "context"\nfunc f(ctx context.Context) {{\n\tflush(context.{fresh}())\n}}\n'
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("parameters", "given", "count"),
    [
        ("ctx context.Context, id int", "nil, 3", 1),
        ("ctx context.Context, id int", "context.TODO(), 3", 0),
        ("rows []int, id int", "nil, 3", 0),
    ],
)
@pytest.mark.parametrize("asks", ["", "\tif ctx != nil {\n\t\tsay(ctx)\n\t}\n"])
def test_nil_for_the_context_of_a_function_of_the_project(parameters, given, count, asks):
    store = f'package store\nimport "context"\ntype Store struct{{}}\nfunc (s *Store) Load({parameters}) {{\n{asks}}}\n'
    shop = f'package shop\nimport "example.org/a/store"\nfunc Show(s *store.Store) {{\n\ts.Load({given})\n}}\n'
    files = {"go.mod": "module example.org/a\n\ngo 1.22\n", "store/store.go": store, "shop/shop.go": shop}
    assert len(findings_of(RULE, files)) == (0 if asks else count)


@pytest.mark.parametrize(
    ("held", "call", "lines"),
    [
        ("rows *sql.DB", "s.rows.QueryRow(q)", [5]),
        ("rows *sqlx.Tx", "s.rows.Exec(q)", [5]),
        ("rows *sql.DB", "s.rows.QueryRowContext(ctx, q)", []),
        ("rows *cache.Rows", "s.rows.Exec(q)", []),
    ],
)
def test_a_handle_of_the_database_by_any_name(held, call, lines):
    source = (
        'package a\nimport ("context"; "database/sql"; "github.com/jmoiron/sqlx")\n'
        f"type shop struct {{ {held} }}\nfunc (s *shop) load(ctx context.Context, q string) {{\n{call}\n}}\n"
    )
    assert lines_of(RULE, source, "go") == lines


@pytest.mark.parametrize(("starts", "count"), [("ticker := time.NewTicker(hour)\n\t<-ticker.C", 0), ("wait()", 1)])
def test_what_a_clock_starts_as_well_belongs_to_no_request(starts, count):
    source = (
        'package a\nimport ("net/http"; "time")\n'
        "func (b *beat) serve(w http.ResponseWriter, r *http.Request) {\n\tb.send()\n}\n"
        f"func (b *beat) run() {{\n\tfor {{\n\t{starts}\n\tb.send()\n\t}}\n}}\n"
        'func (b *beat) send() {\n\treq, _ := http.NewRequest("GET", b.url, nil)\n\tb.client.Do(req)\n}\n'
    )
    assert len(findings_of(RULE, {"a/beat.go": source})) == count


@pytest.mark.parametrize(
    ("imported", "kind", "asked", "count"),
    [
        ("database/sql", "*sql.DB", 'h.db.Exec("q", 1)', 1),
        ("database/sql", "*sql.DB", "h.db.Ping()", 1),
        ("database/sql", "*sql.DB", 'h.db.ExecContext(r.Context(), "q", 1)', 0),
        ("gorm.io/gorm", "*gorm.DB", 'h.db.Exec("q", 1)', 0),
        ("example.org/a/rows", "rows.Log", 'h.db.Query("q")', 0),
    ],
)
def test_a_handle_that_another_file_of_the_package_declares(imported, kind, asked, count):
    files = {
        "go.mod": "module example.org/a\n\ngo 1.22\n",
        "web/api.go": f'package web\nimport "{imported}"\ntype Handler struct {{\n\tdb {kind}\n}}\n',
        "web/show.go": (
            'package web\nimport "net/http"\n'
            f"func (h *Handler) show(w http.ResponseWriter, r *http.Request) {{\n\t{asked}\n}}\n"
        ),
    }
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(
    ("call", "better"),
    [
        ("t.conn.Beginx()", "BeginTxx"),
        ("t.conn.MustBegin()", "MustBeginTx"),
        ("t.conn.Queryx(q)", "QueryxContext"),
        ("t.conn.NamedExec(q, row)", "NamedExecContext"),
        ("t.conn.Get(&row, q)", "GetContext"),
        ("t.conn.Select(&rows, q)", "SelectContext"),
        ("t.conn.GetContext(ctx, &row, q)", ""),
        ("t.kept.Get(&row, q)", ""),
    ],
)
def test_methods_that_sqlx_adds(call, better):
    source = (
        'package a\nimport ("context"; "github.com/jmoiron/sqlx"; "example.org/kept")\n'
        "type table struct {\n\tconn *sqlx.DB\n\tkept kept.Values\n}\n"
        f"func (t *table) load(ctx context.Context, q string) {{\n\t{call}\n}}\n"
    )
    assert [each.suggestion for each in marks_of(RULE, source, "go")] == (
        [f"Use `{better}` with `ctx`."] if better else []
    )


def test_get_and_select_of_others_than_sqlx():
    source = (
        'package a\nimport ("context"; "database/sql"; "example.org/kept")\n'
        "func load(ctx context.Context, db *kept.Values, q string) {\n\tdb.Get(&row, q)\n}\n"
    )
    assert lines_of(RULE, source, "go") == []
