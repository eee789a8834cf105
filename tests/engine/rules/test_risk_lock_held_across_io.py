import pytest

from tests.engine.rules.reading import findings_of, lines_of

RULE = "risk-lock-held-across-io"
GO = 'package a\nimport "net/http"\n\nfunc (s *Store) load() {\n\ts.mu.Lock()\n\t%s\n}\n'


@pytest.mark.parametrize(
    ("source", "language", "lines"),
    [
        ("import requests\nwith lock:\n    rows = 1\n    requests.get(url, timeout=5)\n", "python", [4]),
        (
            "import time\nclass A:\n    def f(self):\n        with self._lock:\n            time.sleep(1)\n",
            "python",
            [5],
        ),
        ("import requests\nwith lock:\n    rows = list(seen)\nrequests.get(url, timeout=5)\n", "python", []),
        ("import requests\nwith connection_lock:\n    requests.get(url, timeout=5)\n", "python", []),
        ("import requests\nwith lock:\n    def later():\n        requests.get(url, timeout=5)\n", "python", []),
        (GO % "http.Get(u)\n\ts.mu.Unlock()", "go", [6]),
        (GO % "defer s.mu.Unlock()\n\thttp.Get(u)", "go", [7]),
        (GO % "s.rows = 1\n\ts.mu.Unlock()\n\thttp.Get(u)", "go", []),
        ("class A { void f() {\n  synchronized (this) {\n    Thread.sleep(5);\n  }\n} }\n", "java", [3]),
        ("class A { void f() {\n  synchronized (this) {\n    rows.add(5);\n  }\n} }\n", "java", []),
        ("class A { void f() {\n  synchronized (this) {\n    queue.add(5);\n  }\n} }\n", "java", []),
    ],
)
def test_slow_calls_under_a_lock(source, language, lines):
    assert lines_of(RULE, source, language) == lines


@pytest.mark.parametrize(
    ("language", "source", "lines"),
    [
        ("java", "class A {\nsynchronized void f() throws Exception {\nThread.sleep(5);\n} }", [3]),
        ("java", "class A {\nvoid f() throws Exception {\nguard.lock();\nThread.sleep(5);\nguard.unlock();\n} }", []),
        ("java", "class A {\nvoid f() throws Exception {\nlock.lock();\nThread.sleep(5);\nlock.unlock();\n} }", [4]),
        ("python", "import time\ndef f(lock):\n    lock.acquire()\n    time.sleep(1)\n    lock.release()", [4]),
        ("python", "def f(lock, cursor):\n    with lock:\n        cursor.execute(q)", [3]),
        ("python", "def f(lock, path):\n    with lock:\n        path.write_text(a)", [3]),
        ("python", "import threading\nlock = threading.Lock()\nasync def f():\n    with lock:\n        await g()", [5]),
        (
            "python",
            "import asyncio\nlock = asyncio.Lock()\nasync def f():\n    async with lock:\n        await g()",
            [],
        ),
        (
            "go",
            'package a\nimport "os"\nfunc (s *S) f() {\ns.mu.RLock()\ndefer s.mu.RUnlock()\nos.ReadFile(p)\n}\n',
            [6],
        ),
        ("go", 'package a\nimport "os"\nfunc (s *S) f() {\ns.mu.RLock()\ns.mu.RUnlock()\nos.ReadFile(p)\n}\n', []),
    ],
)
def test_more_locks_and_more_that_is_slow(language, source, lines):
    assert lines_of(RULE, source, language) == lines


@pytest.mark.parametrize(
    ("language", "source", "lines"),
    [
        (
            "python",
            "import threading\nclass A:\n    def __init__(self):\n        self._guard = threading.RLock()\n"
            "    def f(self, x):\n        with self._guard:\n            self.rows[x] = self.client.get(x)\n",
            [7],
        ),
        (
            "python",
            "class A:\n    def f(self, x):\n        with self._guard:\n            self.rows[x] = self.client.get(x)\n",
            [],
        ),
        (
            "go",
            'package a\nimport ("net/http"; "sync")\ntype A struct {\n\tmu sync.Mutex\n\tclient *http.Client\n}\n'
            "func (a *A) f(r *http.Request) {\n\ta.mu.Lock()\n\tdefer a.mu.Unlock()\n\ta.client.Do(r)\n}\n",
            [10],
        ),
        (
            "java",
            "class A {\n private final JdbcTemplate jdbc;\n synchronized void f(String s) {\n"
            '  jdbc.update("x", s);\n }\n}',
            [4],
        ),
        (
            "java",
            "class A {\n void f() {\n  synchronized (monitor) {\n   client.send(request, handler);\n  }\n }\n}",
            [4],
        ),
        (
            "java",
            "class A {\n void f() {\n  synchronized (monitor) {\n   clients.put(request, handler);\n  }\n }\n}",
            [],
        ),
    ],
)
def test_clients_and_locks_by_what_they_are_declared_as(language, source, lines):
    assert lines_of(RULE, source, language) == lines


def test_a_lock_by_any_name_and_a_client_by_its_type():
    python = "import threading\nguard = threading.Lock()\n\n\ndef f():\n    with guard:\n        requests.get(url)\n"
    assert lines_of(RULE, python) == [7]
    assert lines_of(RULE, python.replace("threading.Lock()", "Door()")) == []
    java = "class A {\nprivate RestTemplate rest;\nsynchronized void f() {\nrest.getForObject(url, String.class);\n} }"
    assert lines_of(RULE, java, "java") == [4]


def test_a_catalogue_is_no_log():
    source = "def f():\n    with {}:\n        requests.get(url)\n"
    assert lines_of(RULE, source.format("catalogue_lock")) == [3]
    assert lines_of(RULE, source.format("log_lock")) == []


def test_a_lock_that_is_named_after_what_it_starts():
    source = "import subprocess\ndef f():\n    with {}:\n        subprocess.run(['x'])\n"
    assert lines_of(RULE, source.format("rates_lock")) == [4]
    assert lines_of(RULE, source.format("spawn_lock")) == []


@pytest.mark.parametrize(("owner", "count"), [("FileStore", 0), ("Registry", 1)])
def test_who_keeps_files_guards_them(owner, count):
    source = (
        'package a\nimport ("os"; "sync")\n'
        f"func (s *{owner}) save(b []byte) {{\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n"
        "\tos.WriteFile(s.path, b, 0o644)\n}\n"
    )
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(("path", "count"), [("internal/filesession/a.go", 0), ("internal/session/a.go", 1)])
def test_a_module_that_keeps_files_guards_them(path, count):
    source = (
        'package a\nimport ("os"; "sync")\n'
        "func (s *Sessions) read() {\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\tos.ReadFile(s.path)\n}\n"
        "func (s *Sessions) count() int {\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\treturn s.open\n}\n"
    )
    assert len(findings_of(RULE, {path: source})) == count


@pytest.mark.parametrize(("made", "count"), [("FileLock(path)", 0), ("threading.Lock()", 1)])
def test_a_lock_of_a_file_is_none_of_the_process(made, count):
    source = f"def f(path):\n    lock = {made}\n    with lock:\n        requests.get(path)\n"
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(("lock", "count"), [("mail_lock", 0), ("state_lock", 1)])
def test_a_lock_that_is_named_after_the_letters_it_sends(lock, count):
    source = f"def f(mailer, message):\n    with {lock}:\n        mailer.send(message)\n"
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(("owner", "lines"), [("RateLimiter", []), ("Poller", [6])])
def test_who_limits_a_rate_makes_others_wait(owner, lines):
    source = f"import time\n\nclass {owner}:\n    def take(self):\n        with self.lock:\n            time.sleep(1)\n"
    assert lines_of(RULE, source) == lines


@pytest.mark.parametrize(("release", "count"), [("s.mu.Unlock()\n\t", 0), ("", 1)])
def test_a_lock_that_is_let_go_before_the_call(release, count):
    body = f"defer s.mu.Unlock()\n\tfor s.busy {{\n\t{release}time.Sleep(1)\n\ts.mu.Lock()\n\t}}"
    assert len(lines_of(RULE, (GO % body).replace("net/http", "time"), "go")) == count


@pytest.mark.parametrize(("more", "count"), [("", 0), ("\trows map[string]int\n", 1)])
def test_a_struct_of_a_lock_and_one_connection(more, count):
    struct = f"type Store struct {{\n\tconn *sql.DB\n\tmu sync.Mutex\n{more}}}\n"
    body = "defer s.mu.Unlock()\n\ts.conn.QueryRow(q)"
    assert len(lines_of(RULE, struct + GO % body, "go")) == count


@pytest.mark.parametrize(("lock", "count"), [("refreshLock", 0), ("stateLock", 1)])
def test_a_lock_that_is_named_after_what_it_lets_happen_once(lock, count):
    source = f"def f(session):\n    with {lock}:\n        session.post(url)\n"
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(("made", "count"), [("cache.lock('a', timeout=9)", 0), ("threading.Lock()", 1)])
def test_a_lock_of_a_cache_is_none_of_the_process(made, count):
    source = (
        f"import time\ndef f(cache):\n    lock = {made}\n    lock.acquire()\n    time.sleep(1)\n    lock.release()\n"
    )
    assert len(lines_of(RULE, source)) == count


def test_a_lock_that_is_taken_once_may_be_there_for_the_call():
    source = (
        "import requests\nclass A:\n    def load(self):\n        with self.lock:\n"
        "            requests.get(url, timeout=5)\n"
    )
    more = "    def rows(self):\n        with self.lock:\n            return list(self.all)\n"
    assert [each.confidence for each in findings_of(RULE, {"a.py": source})] == ["low"]
    assert [each.confidence for each in findings_of(RULE, {"a.py": source + more})] == ["medium"]


@pytest.mark.parametrize(("name", "count"), [("stop", 0), ("poll", 1)])
def test_who_ends_waits_for_the_rest(name, count):
    source = f"class A {{ synchronized void {name}() {{ Thread.sleep(1000); }} }}"
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(("lock", "count"), [("nonce_lock", 0), ("state_lock", 1)])
def test_a_lock_that_keeps_an_order(lock, count):
    assert len(lines_of(RULE, f"def f(self):\n    with self.{lock}:\n        self.session.post(url)\n")) == count


ASKS = (
    "    def load(self, key):\n        with self.lock:\n{}            self.rows[key] = requests.get(key, timeout=5)\n"
)
READS = "    def row(self, key):\n        with self.lock:\n            return self.rows[key]\n"
MADE = "import threading, requests\nclass A:\n    def __init__(self):\n        self.lock = threading.Lock()\n"


@pytest.mark.parametrize(
    ("source", "confidences"),
    [
        (MADE + ASKS.format("") + READS, ["medium"]),
        (
            MADE + ASKS.format("            if key in self.rows:\n                return self.rows[key]\n") + READS,
            [],
        ),
        (MADE + ASKS.format(""), []),
        (MADE + ASKS.format("") + READS.replace("self.rows[key]", "requests.get(key)"), []),
        (MADE + ASKS.format("").replace("requests.get(key, timeout=5)", "self.session.execute(key)") + READS, ["low"]),
    ],
)
def test_what_else_the_lock_guards_tells_who_waits_without_need(source, confidences):
    assert [each.confidence for each in findings_of(RULE, {"shop/a.py": source})] == confidences


@pytest.mark.parametrize(("lock", "count"), [("v.lock", 0), ("s.lock", 1)])
def test_a_lock_of_one_entry_keeps_nobody_else_out(lock, count):
    source = (
        'package a\nimport "net/http"\nfunc (s *Store) load(v *item) {\n'
        f"\t{lock}.Lock()\n\tdefer {lock}.Unlock()\n\thttp.Get(v.url)\n}}\n"
    )
    assert len(lines_of(RULE, source, "go")) == count


def test_only_scripts_fetch_by_that_name():
    source = "package a\nfunc (s *Store) load(fetch func() int) {\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\tfetch()\n}\n"
    assert lines_of(RULE, source, "go") == []


@pytest.mark.parametrize(("slow", "count"), [("time.sleep(1)", 1), ("open(self.path)", 0)])
def test_a_lock_by_a_name_of_its_own_protects_no_sleep(slow, count):
    source = (
        "import threading, time\n_print_lock = threading.Lock()\nclass A:\n    def mark(self):\n"
        f"        with _print_lock:\n            self.done += 1\n            {slow}\n"
        "    def count(self):\n        with _print_lock:\n            return self.done\n"
    )
    assert len(findings_of(RULE, {"shop/a.py": source})) == count


def test_what_a_function_of_go_does_after_the_lock_is_not_done_under_it():
    count = "\n\nfunc (s *Store) save() {\n\ts.mu.Lock()\n\tn := len(s.rows)\n\ts.mu.Unlock()\n\thttp.Get(n)\n}\n"
    (found,) = findings_of(RULE, {"a/a.go": GO % "defer s.mu.Unlock()\n\thttp.Get(u)" + count})
    assert (found.line, found.confidence) == (7, "medium")


@pytest.mark.parametrize("call", ["assignment.delay()", "fetch(rows)"])
def test_names_of_other_languages_say_nothing_in_java(call):
    assert lines_of(RULE, f"class A {{ synchronized void f() {{\n{call};\n}} }}", "java") == []


def test_a_client_by_its_name_only_is_a_guess():
    source = "class A {\nsynchronized void f() {\nclient.send(a);\n}\nsynchronized int g() {\nreturn n;\n}\n}\n"
    assert [each.confidence for each in findings_of(RULE, {"src/A.java": source})] == ["low"]


def test_a_sleep_that_is_awaited_under_a_lock_of_threads():
    source = (
        "import asyncio\nimport threading\n\nlock = threading.Lock()\n\n\nasync def f():\n    with lock:\n"
        "        await asyncio.sleep(1)\n"
    )
    assert [each.line for each in findings_of(RULE, {"a.py": source})] == [9]


STORE = (
    'package a\nimport (\n"net/http"\n"os"\n"gorm.io/gorm"\n)\ntype S struct {\nmu sync.Mutex\nweb *http.Client\norm'
    " *gorm.DB\nn int\n}\nfunc (s *S) N() int {\ns.mu.Lock()\ndefer s.mu.Unlock()\nreturn s.n\n}\n"
    "func (s *S) f() error {\n%s\n}\n"
)


@pytest.mark.parametrize(
    ("body", "is_told"),
    [
        ("s.mu.Lock()\ndefer s.mu.Unlock()\n_, err := s.web.Do(q)\nreturn err", True),
        ("s.mu.Lock()\ndefer s.mu.Unlock()\nreturn s.orm.WithContext(ctx).Model(&Row{}).Update(a, 1).Error", True),
        ("s.mu.Lock()\ndefer s.mu.Unlock()\nreturn s.orm.Create(&row).Error", True),
        (
            "s.mu.Lock()\nif bad {\ns.mu.Unlock()\nreturn nil\n}\nos.WriteFile(p, b, 0)\ns.mu.Unlock()\nreturn nil",
            True,
        ),
        (
            "s.mu.Lock()\nif bad {\ns.mu.Unlock()\nreturn os.Remove(p)\n}\ns.mu.Unlock()\nreturn os.WriteFile(p, b, 0)",
            False,
        ),
        ("s.mu.Lock()\nn := s.n\ns.mu.Unlock()\n_, err := s.web.Do(q)\nreturn err", False),
        ("s.mu.Lock()\ndefer s.mu.Unlock()\nreturn s.orm.Where(a)", False),
        ("s.mu.Lock()\nn := s.n\ns.mu.Unlock()\nreturn s.orm.Create(&row).Error", False),
    ],
)
def test_clients_and_statements_of_go(body, is_told):
    assert [bool(each) for each in findings_of(RULE, {"app/a.go": STORE % body})] == [True] * is_told


@pytest.mark.parametrize(
    ("declared", "lines"), [("final ReentrantLock guard = new ReentrantLock();", [4]), ("final Guard guard;", [])]
)
def test_what_java_declares_as_a_lock(declared, lines):
    source = (
        f"class A {{ {declared}\nvoid f() throws Exception {{\nguard.lock();\nThread.sleep(5);\nguard.unlock();\n}} }}"
    )
    assert lines_of(RULE, source, "java") == lines


@pytest.mark.parametrize(("kind", "count"), [("VisitRepository", 1), ("List<Visit>", 0)])
def test_what_java_declares_as_a_repository_is_the_database(kind, count):
    source = f"class A {{\nprivate {kind} visits;\nsynchronized void f(Visit visit) {{\nvisits.save(visit);\n}} }}"
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(("inside", "count"), [("seen = code;", 1), ("seen = ok.newCall(next).execute().code();", 0)])
def test_another_function_is_slow_only_in_the_block_that_takes_the_lock(inside, count):
    source = (
        "class A {\n  private final Object guard = new Object();\n  int first() {\n    synchronized (guard) {\n"
        "      return ok.newCall(next).execute().code();\n    }\n  }\n"
        "  void second() {\n    int code = ok.newCall(next).execute().code();\n    synchronized (guard) {\n"
        f"      {inside}\n    }}\n  }}\n}}\n"
    )
    assert len([each for each in findings_of(RULE, {"src/A.java": source}) if each.line == 5]) == count


@pytest.mark.parametrize(
    ("call", "count"), [("bucket().put_object(Key=key)", 1), ("bucket().generate_presigned_url(key)", 0)]
)
def test_a_client_of_a_cloud_that_a_function_gives(call, count):
    source = (
        "import threading\n\nimport boto3\n\nlock = threading.Lock()\nsizes = {}\n\n"
        'def bucket():\n    return boto3.client("s3")\n\n'
        f"def put(key):\n    with lock:\n        {call}\n\ndef size(key):\n    with lock:\n        return sizes[key]\n"
    )
    assert lines_of(RULE, source) == [13] * count


@pytest.mark.parametrize(
    ("call", "count"),
    [("rides.between(from, to)", 1), ("counts.between(from, to)", 0)],
)
def test_one_lock_of_a_pair_around_a_repository(call, count):
    source = (
        "class Board {\n  private final ReadWriteLock lock = new ReentrantReadWriteLock();\n"
        "  private final RideRepository rides;\n  private final Counts counts;\n  void load() {\n"
        f"    lock.writeLock().lock();\n    try {{\n      all.addAll({call});\n    }} finally {{\n"
        "      lock.writeLock().unlock();\n    }\n  }\n  boolean take(String code) {\n"
        "    lock.writeLock().lock();\n    try {\n      return all.remove(code);\n    } finally {\n"
        "      lock.writeLock().unlock();\n    }\n  }\n}\n"
    )
    assert [each.line for each in findings_of(RULE, {"src/Board.java": source})] == [8] * count


@pytest.mark.parametrize(("kind", "count"), [("Map<Path, String>", 1), ("Archive", 0)])
def test_who_locks_a_collection_guards_memory(kind, count):
    source = (
        f"class Names {{\n  private final {kind} known = make();\n  String read(Path file) throws IOException {{\n"
        "    synchronized (known) {\n      String name = java.nio.file.Files.readString(file);\n"
        "      known.put(file, name);\n      return name;\n    }\n  }\n}\n"
    )
    assert [each.line for each in findings_of(RULE, {"src/Names.java": source})] == [5] * count


@pytest.mark.parametrize(("name", "count"), [("counts_lock", 1), ("rows_lock", 0), ("lock", 1)])
def test_a_lock_that_is_named_after_other_things_than_the_rows(name, count):
    source = (
        f"import threading\n{name} = threading.Lock()\ndef rows_of(session):\n    with {name}:\n"
        f"        return session.execute(QUERY)\ndef bump():\n    with {name}:\n        seen.clear()\n"
    )
    assert len(findings_of(RULE, {"shop/a.py": source})) == count


@pytest.mark.parametrize(("other", "count"), [("fileMu", 1), ("nameMu", 0)])
def test_files_have_a_lock_of_their_own(other, count):
    source = (
        'package a\nimport ("os"; "sync")\n'
        f"type Log struct {{\n\t{other} sync.Mutex\n\tlastMu sync.Mutex\n\tlast string\n}}\n"
        "func (l *Log) Keep(line string) error {\n\tl.lastMu.Lock()\n\tdefer l.lastMu.Unlock()\n\tl.last = line\n"
        "\treturn os.WriteFile(path, []byte(line), 0o600)\n}\n"
        f"func (l *Log) Write(line string) error {{\n\tl.{other}.Lock()\n\tdefer l.{other}.Unlock()\n"
        "\treturn os.WriteFile(all, []byte(line), 0o600)\n}\n"
    )
    assert len(findings_of(RULE, {"a/a.go": source})) == count


@pytest.mark.parametrize(("kind", "count"), [("RestTemplate", 1), ("Map<String, Row>", 0)])
def test_a_client_of_spring_by_any_name(kind, count):
    source = (
        f"class Rates {{\n  private final {kind} remote;\n  private final Lock lock = new ReentrantLock();\n"
        "  String load() {\n    lock.lock();\n    try {\n      return remote.getForObject(url, String.class);\n"
        "    } finally {\n      lock.unlock();\n    }\n  }\n"
        "  void add() {\n    lock.lock();\n    try {\n      open++;\n    } finally {\n      lock.unlock();\n    }\n"
        "  }\n}\n"
    )
    assert len(findings_of(RULE, {"src/Rates.java": source})) == count


def test_sleeping_is_no_work_that_takes_turns():
    source = "class Gate {\n  synchronized void rest() throws Exception {\n    Thread.sleep(250);\n  }\n}\n"
    assert [each.confidence for each in findings_of(RULE, {"src/Gate.java": source})] == ["low"]


@pytest.mark.parametrize(
    ("name", "does", "confidences"),
    [
        ("_sending", "time.sleep(2)", ["low"]),
        ("_mail_lock", "time.sleep(2)", ["low"]),
        ("_mail_lock", "requests.post(url, timeout=2)", []),
        ("_rate_lock", "time.sleep(2)", []),
    ],
)
def test_sleep_is_no_work_of_what_a_lock_is_named_after(name, does, confidences):
    source = (
        f"import requests, threading, time\n{name} = threading.Lock()\ndef f(url):\n    with {name}:\n        {does}\n"
    )
    assert [each.confidence for each in findings_of(RULE, {"a/a.py": source})] == confidences


@pytest.mark.parametrize(
    ("told", "count"),
    [("send(row)", 1), ("this.send(row)", 1), ("note(row)", 0), ("other.send(row)", 0)],
)
def test_a_method_of_the_same_class_that_asks_a_server(told, count):
    source = (
        "import java.net.http.HttpClient;\nclass Desk {\n  private final HttpClient http = make();\n"
        f"  synchronized void keep(Row row) {{\n    {told};\n    rows.add(row);\n  }}\n"
        "  synchronized int size() {\n    return rows.size();\n  }\n"
        "  private void send(Row row) {\n    http.send(row.request(), discarding());\n  }\n"
        "  private void note(Row row) {\n    seen++;\n  }\n}\n"
    )
    assert [each.confidence for each in findings_of(RULE, {"src/Desk.java": source})] == ["low"] * count


DESK = {
    "go.mod": "module example.org/a\n\ngo 1.22\n",
    "rows/rows.go": (
        'package rows\nimport ("context"; "database/sql")\ntype Table struct{ db *sql.DB }\n'
        "func (t *Table) Load(ctx context.Context, id int) (string, error) {\n"
        '\treturn scan(t.db.QueryRowContext(ctx, "SELECT name FROM rows WHERE id = $1", id))\n}\n'
        "func (t *Table) Check(ctx context.Context, id int) error {\n\treturn ctx.Err()\n}\n"
    ),
}


@pytest.mark.parametrize(
    ("under", "count"),
    [
        ("d.rows.Load(ctx, id)", 1),
        ("d.rows.Check(ctx, id)", 0),
        ("if name, ok := d.seen[id]; ok {\n\t\treturn name\n\t}\n\td.rows.Load(ctx, id)", 0),
    ],
)
def test_a_method_of_another_package_that_reads_rows(under, count):
    source = (
        'package desk\nimport ("context"; "sync"; "example.org/a/rows")\n'
        "type Desk struct {\n\tmu sync.Mutex\n\trows *rows.Table\n\tseen map[int]string\n}\n"
        f"func (d *Desk) Keep(ctx context.Context, id int) string {{\n\td.mu.Lock()\n\tdefer d.mu.Unlock()\n\t{under}\n"
        '\td.seen[id] = "seen"\n\treturn ""\n}\n'
        "func (d *Desk) Name(id int) string {\n\td.mu.Lock()\n\tdefer d.mu.Unlock()\n\treturn d.seen[id]\n}\n"
    )
    assert [each.confidence for each in findings_of(RULE, DESK | {"desk/desk.go": source})] == ["low"] * count


@pytest.mark.parametrize(("called", "count"), [("rate(code)", 1), ("tidy(code)", 0)])
def test_an_imported_function_that_asks_a_server(called, count):
    client = (
        "import requests\ndef rate(code):\n    return requests.get(code, timeout=2).json()\n"
        "def tidy(code):\n    return code.strip()\n"
    )
    source = (
        "import threading\nfrom shop.client import rate, tidy\nlock = threading.Lock()\nrates = {}\n"
        f"def load(code):\n    with lock:\n        rates[code] = {called}\n"
        "def known(code):\n    with lock:\n        return rates[code]\n"
    )
    files = {"shop/__init__.py": "", "shop/client.py": client, "shop/rates.py": source}
    assert len(findings_of(RULE, files)) == count
