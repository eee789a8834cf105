import pytest

from tests.engine.rules.reading import findings_of, lines_of

RULE = "risk-lock-not-released"


def go(body, name="f"):
    return f"package a\nfunc (s *S) {name}() error {{\n{body}\n}}\n"


GO_FLAGGED = [
    "s.mu.Lock()\nreturn x()",
    "s.mu.Lock()\nif y { return z }\ns.mu.Unlock()\nreturn nil",
    "s.mu.Lock()\ns.mu.Unlock()",
    "defer s.mu.Lock()",
    "s.mu.RLock()\nv := s.v\ns.mu.Unlock()",
]
GO_FINE = [
    "s.mu.Lock()\ndefer s.mu.Unlock()\nreturn x()",
    "s.mu.Lock()\nv := s.v\ns.mu.Unlock()\nreturn v",
    "s.mu.Lock()\nif y {\ns.mu.Unlock()\nreturn z }\ns.v = 1\ns.mu.Unlock()\nreturn nil",
    "s.mu.Lock()\ndefer func() { s.mu.Unlock() }()\nreturn x()",
    "s.mu.Lock()\nv := s.v\ns.mu.Unlock()\nif v { return z }\ns.mu.Lock()\ns.v = 1\ns.mu.Unlock()\nreturn nil",
    "if a {\ns.mu.Lock()\nv := s.v\ns.mu.Unlock()\nif !v {\nreturn z\n}\n}\nif b {\nreturn y\n}\nreturn nil",
    "s.mu.RLock()\ndefer s.mu.RUnlock()\nreturn x()",
]


@pytest.mark.parametrize("body", GO_FLAGGED)
def test_go_locks_with_a_way_out_are_marked_where_they_are_taken(body):
    assert lines_of(RULE, go(body), "go") == [3]


@pytest.mark.parametrize("body", GO_FINE)
def test_go_locks_that_are_released_are_fine(body):
    assert lines_of(RULE, go(body), "go") == []


def test_a_lock_that_is_handed_over_by_contract_is_fine():
    assert lines_of(RULE, go("s.mu.Lock()\nreturn nil", "LockAll"), "go") == []


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("lock.lock(); x();", [2]),
        ("lock.lock(); x(); lock.unlock();", [2]),
        ("lock.lock(); try { x(); } finally { lock.unlock(); }", []),
        ("if (lock.tryLock()) { x(); }", [2]),
        ("door.lock();", []),
    ],
)
def test_java(body, lines):
    assert lines_of(RULE, f"class A {{ void f() {{\n{body}\n}} }}", "java") == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("lock.acquire()\n    x()", [2]),
        ("lock.acquire()\n    x()\n    lock.release()", [2]),
        ("lock.acquire()\n    try:\n        x()\n    finally:\n        lock.release()", []),
        ("with lock:\n        x()", []),
        ("if lock.acquire(timeout=1): x()", [2]),
        ("pool.acquire()", []),
    ],
)
def test_python(body, lines):
    assert lines_of(RULE, f"def f(lock, pool):\n    {body}\n") == lines


def test_the_other_half_of_a_pair_releases():
    pair = "package a\nfunc (p *Pool) CheckIn() {\np.mu.Lock()\n}\nfunc (p *Pool) CheckOut() {\np.mu.Unlock()\n}\n"
    assert lines_of(RULE, pair, "go") == []
    assert lines_of(RULE, pair.replace("p.mu.Unlock()", "p.n++"), "go") == [3]


@pytest.mark.parametrize(
    ("rest", "lines"),
    [
        ("await work();\n  release();", [2]),
        ("await work();", [2]),
        ("try { await work(); } finally { release(); }", []),
        ("return release;", []),
    ],
)
def test_script(rest, lines):
    source = f"async function f() {{\n  const release = await mutex.acquire();\n  {rest}\n}}"
    assert lines_of(RULE, source, "typescript") == lines


def test_a_second_lock_that_was_meant_to_unlock_is_told_once():
    assert lines_of(RULE, go("s.mu.Lock()\ndefer s.mu.Lock()\nreturn x()"), "go") == [4]


@pytest.mark.parametrize(
    ("language", "declared", "count"),
    [
        ("python", "guard = threading.RLock()", 1),
        ("python", "guard = asyncio.Semaphore(3)", 1),
        ("python", "guard = Turnstile()", 0),
        ("java", "private final ReentrantLock guard = new ReentrantLock();", 1),
        ("java", "private final Semaphore guard = new Semaphore(3);", 1),
        ("java", "private final Turnstile guard = new Turnstile();", 0),
    ],
)
def test_a_lock_of_any_name(language, declared, count):
    if language == "python":
        source = f"{declared}\ndef f(x):\n    guard.acquire()\n    work(x)\n    guard.release()\n"
    else:
        taken = "guard.acquire();\n work();\n guard.release();"
        if "Lock" in declared:
            taken = taken.replace("acquire", "lock").replace("release", "unlock")
        source = f"class A {{\n{declared}\nvoid f() {{\n {taken}\n}} }}"
    assert len(lines_of(RULE, source, language)) == count


def test_a_name_that_speaks_of_starting_excuses_no_way_out():
    early = "class A {{ void startJob() {{\nlock.lock(); if (x) return; {} }} }}"
    assert lines_of(RULE, early.format("lock.unlock();"), "java") == [2]
    assert lines_of(RULE, early.format(""), "java") == []


def test_a_lock_that_is_taken_again_for_a_deferred_release():
    source = (
        'package a\nimport "sync"\nvar mu sync.RWMutex\nfunc f() {\n\tmu.RLock()\n\tdefer mu.RUnlock()\n'
        "\tfor wait() {\n\t\tmu.RUnlock()\n\t\tpark()\n\t\tmu.RLock()\n\t}\n}\n"
    )
    assert lines_of(RULE, source, "go") == []


def test_a_lock_that_runs_what_it_is_given():
    source = "class A {{\nvoid f(Long id) {{\n rowLock.lock({});\n work();\n}} }}"
    assert lines_of(RULE, source.format("id, LIMIT, () -> change(id)"), "java") == []
    assert lines_of(RULE, source.format(""), "java") == [3]


def test_a_function_that_is_called_with_the_lock_held_releases_it():
    source = (
        'package a\nimport "sync"\nfunc (s *S) set(n int) error {\n\ts.mu.Lock()\n\tif n == 0 {\n'
        "\t\ts.clear()\n\t\treturn nil\n\t}\n"
        "\ts.n = n\n\ts.mu.Unlock()\n\treturn nil\n}\nfunc (s *S) clear() {\n\ts.n = 0\n%s}\n"
    )
    assert lines_of(RULE, source % "\ts.mu.Unlock()\n", "go") == []
    assert lines_of(RULE, source % "", "go") == [4]


def test_a_lock_that_the_next_round_releases():
    source = (
        'package a\nimport "sync"\nfunc (s *S) f() {\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n\tfor {\n'
        "\t\ts.mu.Unlock()\n\t\twait()\n\t\ts.mu.Lock()\n\t}\n}\n"
        "func (s *S) g() {\n\tfor {\n\t\ts.mu.Unlock()\n\t\twait()\n\t\ts.mu.Lock()\n\t}\n}\n"
    )
    assert lines_of(RULE, source, "go") == []


def test_a_lock_of_a_script_that_runs_what_it_is_given():
    source = "async function f(key) {{\n  await rowLock.acquire({});\n  work();\n}}"
    assert lines_of(RULE, source.format("key, async () => change(key)"), "typescript") == []
    assert lines_of(RULE, source.format("key"), "typescript") == [2]
    assert lines_of(RULE, source.format("key, ttlMs"), "typescript") == []


def test_a_lock_that_a_block_of_java_closes():
    source = "class A {{\nvoid f() {{\n {}\n lock.lock();\n work();\n }}\n}} }}"
    assert lines_of(RULE, source.format("try (CloseableLock lock = locks.of(key)) {"), "java") == []
    assert lines_of(RULE, source.format("Lock lock = locks.of(key); {"), "java") == [4]


@pytest.mark.parametrize(
    ("body", "confidences"),
    [
        ("if not lock.acquire(timeout=5):\n        return\n    work()", ["high"]),
        ("if lock.acquire(timeout=5):\n        work()\n        lock.release()", ["medium"]),
        ("if lock.acquire(False):\n        try:\n            work()\n        finally:\n            lock.release()", []),
        ("got = lock.acquire(timeout=5)\n    return got", []),
        ("return lock.acquire(timeout=5)", []),
    ],
)
def test_a_lock_that_is_taken_in_a_condition(body, confidences):
    source = f"import threading\nlock = threading.Lock()\ndef f():\n    {body}\n"
    assert [each.confidence for each in findings_of(RULE, {"a.py": source})] == confidences


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("if (lock.tryLock()) {\n work();\n lock.unlock();\n}", [2]),
        ("if (lock.tryLock(5, TimeUnit.SECONDS)) {\n try { work(); } finally { lock.unlock(); }\n}", []),
        ("if (!lock.tryLock()) { return; }\nwork();", [2]),
        ("return lock.tryLock();", []),
        ("boolean got = lock.tryLock();\nreturn got;", []),
    ],
)
def test_a_lock_of_java_that_is_tried(body, lines):
    assert lines_of(RULE, f"class A {{ boolean f() {{\n{body}\n}} }}", "java") == lines


def test_a_lock_that_is_handed_on_or_taken_at_the_top():
    source = "import threading\nlock = threading.Lock()\ndef f():\n    lock.acquire()\n    {}\n"
    assert lines_of(RULE, source.format("finish(key, lock)")) == []
    assert lines_of(RULE, source.format("finish(key, block)")) == [4]
    assert lines_of(RULE, "import threading\nlock = threading.Lock()\nlock.acquire()\nwork()\n") == []


def test_a_lock_by_its_name_only_is_less_certain():
    source = "{}\ndef f():\n    row_lock.acquire()\n    work()\n"
    for head, confidence in (("row_lock = threading.Lock()", "high"), ("from shop import row_lock", "medium")):
        assert [each.confidence for each in findings_of(RULE, {"a.py": source.format(head)})] == [confidence]


def test_a_lock_whose_release_the_answer_holds():
    body = "lock.lock();\nreturn new Held() { public void close() { lock.unlock(); } };"
    assert lines_of(RULE, f"class A {{ Held f() {{\n{body}\n}} }}", "java") == []
    assert lines_of(RULE, f"class A {{ Held f() {{\n{body.replace('return', 'keep(')}\n}} }}", "java") == [2]


def test_a_lock_that_is_only_asked_whether_it_is_free():
    source = "def f(lock):\n    if lock.acquire(False):\n        {}lock.release()\n        return go()\n"
    assert lines_of(RULE, source.format("")) == []
    assert lines_of(RULE, source.format("x()\n        ")) == [2]


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("const release = await mutex.acquire();\nrelease();", 0),
        ("const release = await mutex.acquire();\nawait x();\nrelease();", 1),
        ("mutex.acquire().then((r) => {\nrelease = r;\nreturn x();\n}).finally(() => release());", 0),
        ("mutex.acquire().then((r) => {\nrelease = r;\nreturn x();\n});", 1),
        (
            "const release = await mutex.acquire();\ntry {\nawait x();\nrelease();\n} catch (error) {\nrelease();\n"
            "throw error;\n}",
            0,
        ),
    ],
)
def test_ways_to_release_in_a_script(body, count):
    assert len(lines_of(RULE, f"async function f(mutex) {{\n{body}\n}}\n", "typescript")) == count


@pytest.mark.parametrize(("given", "lines"), [("s.cfg = c", []), ("use(c)", [5])])
def test_a_locked_value_that_is_put_where_the_release_is_deferred(given, lines):
    body = f"s.cfg.mu.Lock()\ndefer s.cfg.mu.Unlock()\nc.mu.Lock()\n{given}\nreturn nil"
    assert lines_of(RULE, go(body), "go") == lines


@pytest.mark.parametrize(("second", "lines"), [("mu.Unlock()\nreturn nil", []), ("return nil", [3])])
def test_each_case_releases_for_itself(second, lines):
    body = f"mu.Lock()\nselect {{\ncase queue <- 1:\nmu.Unlock()\ncase <-late:\n{second}\n}}\nreturn wait()"
    assert lines_of(RULE, go(body), "go") == lines


@pytest.mark.parametrize(("kept", "count"), [("this.held = ", 0), ("const held = ", 1)])
def test_a_lock_that_is_kept_in_a_field(kept, count):
    source = f"class A {{\n  async f() {{\n    {kept}await this.redlock.acquire(['a']);\n    await x();\n  }}\n}}\n"
    assert len(lines_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("p.mu.Unlock()\nask()\np.mu.Lock()\nreturn p.row", []),
        ("p.mu.Unlock()\ndefer func() {\np.mu.Lock()\n}()\nask()", []),
        ("p.mu.Lock()\np.n++\np.mu.Unlock()\nask()\np.mu.Lock()\nreturn p.row", [7]),
    ],
)
def test_a_lock_that_is_taken_again_for_the_caller(body, lines):
    assert lines_of(RULE, go(body), "go") == lines


@pytest.mark.parametrize(("how", "count"), [("blocking=False", 0), ("timeout=1", 1)])
def test_a_lock_that_the_first_one_takes_for_good(how, count):
    source = f"def f(lock):\n    if lock.acquire({how}) is False:\n        return\n    stop()\n"
    assert len(lines_of(RULE, source.replace(" is False", "") if count else source)) == count


@pytest.mark.parametrize(("name", "count"), [("journalFilled", 0), ("journalLock", 1)])
def test_a_semaphore_by_which_another_thread_speaks(name, count):
    source = f"class A {{ private final Semaphore {name};\nvoid f() {{ {name}.acquire();\nread(); }} }}"
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (
            "for {\nselect {\ncase <-a:\ns.mu.Lock()\nfor range b {\nuse()\n}\ns.mu.Unlock()\n"
            "case <-done:\nreturn nil\n}\n}",
            0,
        ),
        (
            "select {\ncase <-late:\ns.mu.Lock()\ns.over = true\ns.mu.Unlock()\nreturn nil\n"
            "case <-done:\nreturn nil\n}",
            0,
        ),
        ("if a {\ns.mu.Lock()\n}\nif b {\nreturn nil\n}\ns.mu.Unlock()\nreturn nil", 0),
        (
            "s.mu.Lock()\nswitch a {\ncase 1:\ns.mu.Unlock()\nreturn nil\ncase 2:\nreturn nil\n}\n"
            "s.mu.Unlock()\nreturn nil",
            1,
        ),
        ("s.mu.Lock()\nfor _, x := range xs {\nif x == nil {\nreturn nil\n}\n}\ns.mu.Unlock()\nreturn nil", 1),
        ("s.mu.Lock()\nfor {\nif done() {\nbreak\n}\n}\ns.mu.Unlock()\nreturn nil", 0),
    ],
)
def test_ways_through_a_function_of_go(body, count):
    assert len(lines_of(RULE, go(body), "go")) == count


@pytest.mark.parametrize(("path", "count"), [("shop/close.go", 0), ("other/close.go", 1)])
def test_another_file_of_the_package_releases(path, count):
    taken = go("s.mu.Lock()\nif y {\ns.fail()\nreturn z }\ns.mu.Unlock()\nreturn nil")
    fails = "package a\nfunc (s *S) fail() {\ns.mu.Unlock()\n}\n"
    assert len(findings_of(RULE, {"shop/open.go": taken, path: fails})) == count


@pytest.mark.parametrize(("call", "confidence"), [("rows.add(key)", "low"), ("store.save(key)", "medium")])
def test_what_seldom_throws_is_a_guess(call, confidence):
    source = f"class A {{ void f(K key) {{\nlock.lock();\n{call};\nlock.unlock();\n}} }}"
    assert [each.confidence for each in findings_of(RULE, {"src/A.java": source})] == [confidence]


@pytest.mark.parametrize(
    ("rest", "count"),
    [
        ("save(key);\n} catch (Exception e) { lock.unlock(); throw e; }\nlock.unlock();", 0),
        ("save(key).whenComplete((done, error) -> lock.unlock());\n} catch (Exception e) { log(e); }", 0),
        ("save(key);\n} catch (Exception e) { log(e); }\nlock.unlock();", 1),
    ],
)
def test_each_handler_releases(rest, count):
    source = f"class A {{ void f(K key) {{\ntry {{\nlock.lock();\n{rest}\n}} }}"
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(("before", "lines"), [("s.c.L.Unlock()\n", []), ("", [3])])
def test_a_lock_that_is_deferred_for_the_caller(before, lines):
    assert lines_of(RULE, go(f"{before}defer s.c.L.Lock()\nreturn wait()"), "go") == lines


def test_who_tries_to_take_a_lock_is_no_other_half_of_a_pair():
    leaves = go("s.mu.Lock()\nif y { return z }\ns.mu.Unlock()\nreturn nil")
    tries = "func (s *S) g() bool {\nif !s.mu.TryLock() {\nreturn false\n}\ndefer s.mu.Unlock()\nreturn true\n}\n"
    assert lines_of(RULE, leaves + tries, "go") == [3]
    found = findings_of(RULE, {"a/a.go": leaves, "a/b.go": f"package a\n{tries}"})
    assert [each.line for each in found] == [3]


@pytest.mark.parametrize(("answer", "lines"), [("lock", []), ("true", [2])])
def test_a_lock_that_the_caller_is_given(answer, lines):
    body = f"if (!lock.tryLock()) {{ throw new X(); }}\nreturn {answer};"
    assert lines_of(RULE, f"class A {{ Object f(Lock lock) {{\n{body}\n}} }}", "java") == lines


PAIR = "func (s *S) lock() {\ns.mu.Lock()\n}\nfunc (s *S) unlock() {\ns.mu.Unlock()\n}\n"


@pytest.mark.parametrize(
    ("others", "lines"),
    [(PAIR, [3]), ("", [3]), ("func (s *S) leave() {\ns.mu.Unlock()\n}\n", [])],
)
def test_what_only_releases_belongs_to_what_only_takes(others, lines):
    drop = "func (s *S) drop() bool {\ns.mu.Lock()\nif bad {\nreturn false\n}\ns.mu.Unlock()\nreturn true\n}\n"
    source = f"package a\n{drop}{others}"
    assert lines_of(RULE, source, "go") == lines


@pytest.mark.parametrize(
    ("made", "lines"),
    [
        ("const gate = new Mutex();", [3]),
        ("const gate: Mutex = new Mutex();", [3]),
        ("const gate = new Semaphore(3);", [3]),
        ("const gate = withTimeout(new Mutex(), 100);", [3]),
        ("const gate = new Turnstile();\nconst other = new Mutex();", []),
    ],
)
def test_what_a_script_makes_as_a_lock(made, lines):
    held = "const done = await gate.acquire();\nawait run();\ndone();"
    source = f"{made}\nexport async function f(run) {{\n{held}\n}}"
    assert [line - made.count("\n") for line in lines_of(RULE, source, "typescript")] == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("if k not in self.rows:\n            self.lock.release()\n            return None", []),
        ("if k not in self.rows:\n            return None", [3]),
    ],
)
def test_each_way_out_releases(body, lines):
    source = (
        "class A:\n    def f(self, k):\n        self.lock.acquire()\n        "
        f"{body}\n        row = self.rows[k]\n        self.lock.release()\n        return row\n"
    )
    assert lines_of(RULE, source) == lines


@pytest.mark.parametrize(("other", "count"), [("await this.lock.release();", 0), ("await this.gate.release();", 1)])
def test_a_lock_of_a_script_that_another_method_releases(other, count):
    source = (
        "class Queue {\n  async process() {\n    if (!(await this.lock.acquire())) return;\n    this.work();\n  }\n"
        f"  async work() {{\n    try {{ await send(); }} finally {{ {other} }}\n  }}\n}}\n"
    )
    assert len(lines_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(
    ("between", "count"),
    [("free = most;\n      lock.unlock();", 0), ("free = most;", 1), ("free = read(most);\n      lock.unlock();", 1)],
)
def test_java_that_releases_on_each_way_out(between, count):
    source = (
        "class Desk {\n  private final Lock lock = new ReentrantLock();\n  int shrink(int most) {\n    lock.lock();\n"
        f"    if (free > most) {{\n      {between}\n      return most;\n    }}\n"
        "    lock.unlock();\n    return 0;\n  }\n}\n"
    )
    assert len(lines_of(RULE, source, "java")) == count
