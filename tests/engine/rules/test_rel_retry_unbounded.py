import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "rel-retry-unbounded"


def retry(handler, call="return client.fetch(key)"):
    return (
        f"def load(client, key):\n    while True:\n        try:\n            {call}\n        except "
        f"OSError:\n            {handler}\n"
    )


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        (retry("continue"), [2]),
        (retry("pass"), [2]),
        (retry("raise"), []),
        (retry("time.sleep(2)"), [2]),
        (retry("continue").replace("while True", "while time.time() < deadline"), []),
        (retry("continue").replace("while True", "for attempt in range(3)"), [2]),
        (retry("time.sleep(2)").replace("while True", "for attempt in range(3)"), []),
        (retry("continue").replace("while True", "for attempt in range(3)").replace("OSError", "IntegrityError"), []),
        (retry("continue", "return client.fetch(keys[n])").replace("while True", "for n in range(3)"), []),
        (retry("continue", "return client.fetch(key)").replace("while True", "for key in keys"), []),
        (retry("continue", "self.handle(queue.get())"), []),
        ("def load(a):\n    try:\n        return client.get(a)\n    except OSError:\n        return load(a)\n", [5]),
        ("def load(a):\n    try:\n        return client.get(a)\n    except OSError:\n        return load(a[1:])\n", []),
        (
            "def load(a, left):\n    try:\n        return client.get(a)\n    except OSError:\n"
            "        return load(a, left - 1)\n",
            [],
        ),
        ("import backoff\n@backoff.on_exception(backoff.expo, OSError)\ndef f(): ...\n", [2]),
        ("import backoff\n@backoff.on_exception(backoff.expo, OSError, max_tries=5)\ndef f(): ...\n", []),
        ("@app.task(max_retries=None)\ndef f(): ...\n", [1]),
        (retry("continue", "return int(key)"), []),
        (retry("continue").replace("True:", "True:\n        if time.monotonic() - start > 9: exit()"), []),
        (retry("continue", "return client.fetch(key, timeout=5)"), [2]),
        (retry("continue", "client.connect(); done = True").replace("while True", "while not done"), [2]),
        (retry("continue", "client.connect(); other = True").replace("while True", "while not done"), []),
        (retry("continue").replace("def load", "def worker_loop"), []),
        ("import tenacity\n@tenacity.retry\ndef f(): ...\n", [2]),
        ("from tenacity import retry\n@retry()\ndef f(): ...\n", [2]),
        ("from tenacity import retry\n@retry(stop=a, wait=b)\ndef f(): ...\n", []),
        ("from tenacity import retry\n@retry(wait=b)\ndef f():\n    send()\n", [2]),
        ("from tenacity import retry\n@retry(wait=b)\ndef f():\n    while True:\n        take()\n", []),
        ("from other import retry\n@retry()\ndef f(): ...\n", []),
    ],
)
def test_python(source, lines):
    assert [each.line for each in findings_of(RULE, {"shop/a.py": source})] == lines


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("async function f() { while (true) { try { return await client.load(); } catch (e) { continue; } } }", [1]),
        ("for (let i = 0; i < 3; i++) { try { client.load(); } catch (e) { } }", []),
        ("const o = { retries: Infinity };", [1]),
        ("const o = { retries: 3 };", []),
        ("retry(load, { forever: true });", [1]),
        ("for (let i = 0; i < 3; i++) { try { return await api.load(); } catch (e) { log(e); } }", [1]),
        ("for (let i = 0; i < 3; i++) { try { return await api.load(); } catch (e) { await sleep(i); } }", []),
    ],
)
def test_script(source, lines):
    assert lines_of(RULE, source, "typescript") == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("v, err := client.Fetch(key)\nif err != nil {\ncontinue\n}\nreturn v", [3]),
        ("v, err := client.Fetch(key)\nif err != nil {\ntime.Sleep(time.Second)\ncontinue\n}\nreturn v", [3]),
        ("v, err := client.Fetch(key)\nif err != nil {\nreturn nil\n}\nreturn v", []),
        (
            "rows, err := client.Query(key)\nif err != nil {\nreturn nil\n}\nfor _, row := range rows {\n"
            "if err := client.Send(row); err != nil {\ncontinue\n}\n}\nif len(rows) == 0 {\nbreak\n}",
            [],
        ),
        ("if ctx.Err() != nil { return nil }\nv, err := client.Fetch(key)\nif err != nil {\ncontinue\n}\nreturn v", []),
    ],
)
def test_go(body, lines):
    assert lines_of(RULE, f"package a\nfunc load(key string) *V {{\nfor {{\n{body}\n}}\n}}\n", "go") == lines


def test_java():
    source = (
        "class A { V load() {\nwhile (true) { try { return client.fetch(); } catch (IOException e) { log(e); } } } }"
    )
    assert lines_of(RULE, source, "java") == [2]
    assert lines_of(RULE, source.replace("log(e)", "throw e"), "java") == []


@pytest.mark.parametrize(("change", "lines"), [("", [1]), ("request.setUrl(other());", [])])
def test_another_way_to_the_same_is_no_second_try(change, lines):
    source = (
        "class A { Git load(Request request) { try { return client.fetch(request); } catch (IOException e) { "
        f"{change} return load(request); }} }} }}"
    )
    assert lines_of(RULE, source, "java") == lines


SCRIPTS = [
    (
        "async function load(id) { try { return await api.get(id); } catch (e) { await sleep(9); return load(id); } }",
        [1],
    ),
    (
        "async function poll(id) { try { return await api.get(id); } catch (e) { await sleep(9); return poll(id); } }",
        [],
    ),
    (
        "async function load(id) { if (attempts < MAX_ATTEMPTS) { attempts += 1;"
        " try { return await api.get(id); } catch (e) { await sleep(9); return load(id); } } }",
        [],
    ),
    ("function connect() { client.connect().catch((e) => { log(e); connect(); }); }", [1]),
    ("function connect(left) { client.connect().catch((e) => { log(e); connect(left - 1); }); }", []),
    ("function connect() { client.connect().catch((e) => { log(e); other(); }); }", []),
    ("let i = 0; while (i < 5) { try { return await client.send(x); } catch (e) { i++; } }", [1]),
    ("let i = 0; while (i < 5) { try { await client.send(i++); return i; } catch (e) { log(e); } }", []),
    ("for (let i = 0; i < 3; i++) { try { return await api.load(); } catch (e) { if (i === 2) throw e; } }", [1]),
    ("for (let i = 0; i < 3; i++) { try { return await api.load(); } catch (e) { throw e; } }", []),
    ("do { try { return await api.load(); } catch (e) { log(e); } } while (true);", [1]),
    ("do { try { return await api.load(); } catch (e) { log(e); } } while (more());", []),
    ("retry(load, { retries: Number.MAX_SAFE_INTEGER });", [1]),
]


@pytest.mark.parametrize(("source", "lines"), SCRIPTS)
def test_script_that_tries_again(source, lines):
    assert lines_of(RULE, f"async () => {{ {source} }}" if "function" not in source else source, "typescript") == lines


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        (retry("continue", "return open(key).read()"), [2]),
        (retry("log.warning('attempt failed')"), [2]),
        (retry("tries += 1").replace("while True", "while tries < 3"), [2]),
        (retry("continue", "order.save()\n            return"), [2]),
        (retry("continue", "channel.basic_publish(key)\n            return"), [2]),
        ("from retrying import retry\n@retry\ndef f(): ...\n", [2]),
        ("from retrying import retry\n@retry(stop_max_delay=9)\ndef f(): ...\n", []),
        ("from retry import retry\n@retry(OSError)\ndef f(): ...\n", [2]),
        ("from retry import retry\n@retry(OSError, tries=3)\ndef f(): ...\n", []),
        ("@app.task(retry_kwargs={'max_retries': None})\ndef f(): ...\n", [1]),
        ("import tenacity\nfor attempt in tenacity.Retrying(wait=w):\n    f()\n", [2]),
        ("import tenacity\nfor attempt in tenacity.Retrying(wait=w, stop=s):\n    f()\n", []),
    ],
)
def test_python_that_tries_again(source, lines):
    assert lines_of(RULE, source) == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("v, err := client.Get(key)\nif err != nil {\nreturn load(key)\n}\nreturn v", [5]),
        ("v, err := client.Get(key)\nif errors.Is(err, errBusy) {\nreturn load(key)\n}\nreturn v", [5]),
        ("v, err := client.Get(key)\nif v.StatusCode >= 500 {\nlog(v)\nreturn load(key)\n}\nreturn v", [6]),
        ("v, err := client.Get(key)\nif err == nil {\nreturn load(key)\n}\nreturn v", []),
        ("if ctx.Err() != nil {\nreturn nil\n}\nv, err := client.Get(key)\nif err != nil {\nreturn load(key)\n}", []),
        ("v, err := client.Get(key)\nif errors.Is(err, errConflict) {\nreturn load(key)\n}\nreturn v", []),
        ("v, err := client.Get(key)\nif err != nil {\nreturn load(other)\n}\nreturn v", []),
        ("v, err := client.Get(key)\nif err != nil {\nreturn wrap(key)\n}\nreturn v", []),
        ("for range 3 {\nif err := client.Send(key); err == nil {\nreturn nil\n}\n}\nreturn nil", [3]),
        ("for {\ndb, err := sql.Open(key)\nif err == nil {\nreturn db\n}\nlog(err)\n}", [3]),
        ("err := client.Send(key)\nfor err != nil {\nerr = client.Send(key)\n}\nreturn nil", [4]),
        ("err := open(key)\nfor err != nil {\nlog(err)\nerr = errors.Unwrap(err)\n}\nreturn nil", []),
    ],
)
def test_go_that_tries_again(body, lines):
    assert lines_of(RULE, f"package a\nfunc load(key string) *V {{\n{body}\n}}\n", "go") == lines


@pytest.mark.parametrize(("most", "lines"), [("Integer.MAX_VALUE", [1]), ("5", [])])
def test_retryable(most, lines):
    assert lines_of(RULE, f"class A {{ @Retryable(maxAttempts = {most}) void f() {{}} }}", "java") == lines


def test_a_file_that_is_tried_a_few_times_needs_no_pause():
    source = retry("continue", "return open(key).read()").replace("while True", "for attempt in range(3)")
    assert findings_of(RULE, {"shop/files.py": source}) == []


def test_a_while_loop_that_counts_its_attempts_needs_a_pause():
    source = retry("attempts += 1").replace("while True", "while attempts < 5")
    assert lines_of(RULE, source) == [2]
    assert lines_of(RULE, source.replace("attempts += 1", "attempts += 1\n            time.sleep(2)")) == []


def test_the_limit_of_one_call_is_none_of_the_loop():
    call = "return await fetch(url, { signal: AbortSignal.timeout(100) });"
    source = f"async function f() {{\nwhile (true) {{\ntry {{ {call} }} catch (e) {{ log(e); }}\n}}\n}}"
    assert lines_of(RULE, source, "typescript") == [2]


def test_what_a_function_of_the_project_does_tells_whether_it_is_remote():
    pay = "def pay(order):\n    return requests.post(url, json=order)\n\n\n"
    loop = (
        "def settle(order):\n    while True:\n        try:\n            return pay(order)\n"
        "        except OSError:\n            pass\n"
    )
    assert [each.line for each in findings_of(RULE, {"shop/a.py": "import requests\n" + pay + loop})] == [7]
    assert findings_of(RULE, {"shop/a.py": pay.replace("requests.post(url, json=order)", "order + 1") + loop}) == []


@pytest.mark.parametrize(("asked", "lines"), [("app.prompt('address')", []), ("app.address()", [2])])
def test_a_person_who_is_asked_sets_the_pace(asked, lines):
    assert lines_of(RULE, retry("continue").replace("        try", f"        key = {asked}\n        try")) == lines


@pytest.mark.parametrize(("last", "lines"), [("throw e;", []), ("log(e);", [1])])
def test_a_handler_that_goes_on_for_one_kind_of_error_only(last, lines):
    source = (
        "for (let i = 0; i < 9; i++) { try { return await api.load(); } "
        f"catch (e) {{ if (i === 0) {{ renew(); continue; }} {last} }} }}"
    )
    assert lines_of(RULE, source, "typescript") == lines


@pytest.mark.parametrize(("before", "behind", "count"), [("if (id == 9) { break; }", "", 0), ("", "break;", 1)])
def test_an_end_that_is_asked_for_before_is_that_of_a_walk(before, behind, count):
    tried = f"try {{ r = client.send(id); {behind} }} catch (IOException e) {{ log(e); }}"
    source = f"class A {{ void f() {{ while (true) {{ {before} {tried} }} }} }}"
    assert len(lines_of(RULE, source, "java")) == count


ENDLESS = "while (true) {{ try {{ client.send(x); return; }} catch ({0} e) {{ {1} }} }}"
LOOP = ENDLESS.format("IOException", "log(e);")


@pytest.mark.parametrize(
    ("body", "confidences"),
    [
        (LOOP, [""]),
        ("new Thread(() -> { " + LOOP + " }).start();", ["low"]),
        (ENDLESS.format("DuplicateKeyException", "log(e);"), ["low"]),
        (ENDLESS.format("IOException", "pauses.handle(e);"), ["low"]),
    ],
)
def test_a_loop_that_may_be_meant_to_be_endless_is_a_guess(body, confidences):
    found = marks_of(RULE, f"class A {{ void f() {{ {body} }} }}", "java")
    assert [each.confidence for each in found] == confidences


def test_a_lock_is_waited_for():
    source = f"class A {{ void acquireSeat() {{ {LOOP} }} }}"
    assert [each.confidence for each in marks_of(RULE, source, "java")] == ["low"]


def test_what_helps_tests_waits_for_its_servers():
    body = "for {\nv, err := client.Fetch(key)\nif err != nil {\ntime.Sleep(second)\ncontinue\n}\nreturn v\n}"
    source = f"package a\nimport %s\nfunc load(key string) *V {{\n{body}\n}}\n"
    assert lines_of(RULE, source % '"testing"', "go") == []
    assert lines_of(RULE, source % '"time"', "go") == [4]


@pytest.mark.parametrize(
    ("handler", "count"), [("keys[error.name] = '-'", 0), ("keys.pop()", 0), ("others[error.name] = '-'", 1)]
)
def test_what_is_tried_next_may_be_something_else(handler, count):
    assert len(lines_of(RULE, retry(handler, "return client.fetch(keys)"))) == count


@pytest.mark.parametrize(("seconds", "confidence"), [("60", "low"), ("2", "low")])
def test_who_waits_may_be_meant_to_go_on(seconds, confidence):
    assert [each.confidence for each in marks_of(RULE, retry(f"time.sleep({seconds})"))] == [confidence]


def test_each_round_may_ask_for_the_next_step():
    source = (
        "def find(client, zone):\n    while True:\n        try:\n            return client.fetch(zone)\n"
        "        except OSError:\n            pass\n        zone = zone.parent()\n"
    )
    assert lines_of(RULE, source) == []
    assert lines_of(RULE, source.replace("zone.parent()", "other.parent()")) == [2]


@pytest.mark.parametrize(("body", "count"), [("if late(a): raise TimeoutError(a)", 0), ("tell(a)", 1)])
def test_a_second_try_that_ends_with_a_time_out_has_an_end(body, count):
    handler = f"    except OSError:\n        {body}\n        return load(a)\n"
    source = f"def load(a):\n    try:\n        return client.get(a)\n{handler}"
    assert len(lines_of(RULE, source)) == count


AGAIN = (
    "def load(a):\n    try:\n        return client.get(a)\n    except OSError:\n        %s\n        return load(a)\n"
)


@pytest.mark.parametrize(
    ("source", "count"),
    [
        (retry("client = next_client()").replace("while True", "for attempt in range(3)"), 0),
        (retry("tell(key)").replace("while True", "for attempt in range(3)"), 1),
        (AGAIN % "self.new = False", 0),
        (AGAIN % "self.tell(a)", 1),
    ],
)
def test_another_server_and_another_way_are_no_second_try(source, count):
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(("end", "count"), [("rows.length", 0), ("3", 1)])
def test_a_walk_over_a_list_is_no_retry(end, count):
    loop = f"for (let i = 0; i < {end}; i += 1) {{ try {{ return await fetch(url); }} catch {{ }} }}"
    source = f"async function f(rows) {{ {loop} }}"
    assert len(lines_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(("beside", "count"), [("factor: 2", 0), ("retries: 3", 1)])
def test_who_waits_longer_each_time_may_go_on(beside, count):
    assert len(lines_of(RULE, f"retry(load, {{ forever: true, {beside} }});", "typescript")) == count


@pytest.mark.parametrize(("made", "count"), [("uuid4()", 0), ("client.key", 1)])
def test_another_random_key_is_another_try(made, count):
    source = (
        f"def add(client):\n    while True:\n        key = {made}\n        try:\n            return client.send(key)\n"
        "        except DuplicateKey:\n            pass\n"
    )
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(("said", "count"), [("# Asks until the server is up.", 0), ("# Asks the server.", 1)])
def test_a_comment_may_say_that_it_goes_on(said, count):
    assert len(lines_of(RULE, retry("continue").replace("    while", f"    {said}\n    while"))) == count


def test_failures_are_counted():
    checked = "        if fail_count > 9:\n            raise Bad\n        try"
    assert lines_of(RULE, retry("fail_count += 1").replace("        try", checked)) == []


@pytest.mark.parametrize(("step", "count"), [("port = after(port, env)", 0), ("port = after(env)", 1)])
def test_each_round_may_try_the_next_of_a_row(step, count):
    source = (
        f"def find(client, port):\n    for i in range(9):\n        {step}\n        try:\n"
        "            return client.fetch(port)\n        except OSError:\n            tell(port)\n"
    )
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(
    ("source", "confidences"),
    [
        (retry("continue"), [""]),
        (retry("time.sleep(pause)"), ["low"]),
        (retry("time.sleep(pause); pause *= 2"), []),
        (retry("log(key)").replace("while True", "for attempt in range(MOST)"), [""]),
        (retry("log(key)").replace("while True", "for round in range(2)"), ["low"]),
        (retry("if late():\n                renew(key)").replace("while True", "for attempt in range(2)"), ["low"]),
    ],
)
def test_sure_is_who_counts_attempts_or_goes_on_at_full_speed(source, confidences):
    assert [each.confidence for each in marks_of(RULE, source)] == confidences


def test_the_counter_that_makes_the_key_is_no_attempt():
    source = retry("tell(key)").replace("while True:", "for attempt in range(3):\n        key = f(attempt)")
    assert lines_of(RULE, source) == []


TRIED = "\n        try:\n            %s\n        except OSError:\n            %s"


@pytest.mark.parametrize(
    ("head", "tried", "failed", "count"),
    [
        ("while conn is None:", "conn = client.connect(a)", "log.warning('no')", 1),
        ("while conn is None:", "conn = client.connect(a)", "wait(monotonic() - start)", 0),
        ("while True:", "return self._session.post(a, timeout=3)", "log.warning('message of %s', a)", 1),
        ("for _ in range(9):", "return self._download(a)", "log.info('late')", 1),
        ("for n in range(9):", "return self._download(n)", "log.info('late')", 0),
    ],
)
def test_loops_that_wait_for_what_is_not_there(head, tried, failed, count):
    source = f"def f(self, a):\n    {head}" + TRIED.replace("%s", tried, 1).replace("%s", failed, 1) + "\n"
    assert len(lines_of(RULE, source)) == count


def test_the_number_of_a_try_may_be_told_to_the_log():
    source = (
        "package a\nfunc f() error {\n\tfor i := 0; i < 9; i++ {\n"
        "\t\terr := client.Send(a)\n\t\tif err != nil {\n"
        '\t\t\tlog.Printf("%d", i)\n\t\t\tcontinue\n\t\t}\n\t\treturn nil\n\t}\n\treturn errGone\n}\n'
    )
    assert len(lines_of(RULE, source, "go")) == 1
    assert lines_of(RULE, source.replace("log.Printf", "choose"), "go") == []


def test_a_time_out_that_is_set_ends_no_loop():
    source = (
        "class A { void f() { boolean up = false; while (!up) {"
        " try { socket.setSoTimeout(20); socket.connect(a); up = true; } catch (IOException e) { log.warn(e); } } } }"
    )
    assert len(lines_of(RULE, source, "java")) == 1


def test_the_time_limit_of_a_call_says_nothing_of_how_often_it_is_made():
    source = (
        "import requests\ndef load(key):\n    try:\n        return requests.get(key, timeout=3)\n"
        "    except requests.ConnectionError:\n        return load(key)\n"
    )
    assert lines_of(RULE, source) == [6]


@pytest.mark.parametrize(
    ("tried", "failed", "count"),
    [
        ("const version = await (await fetch(url)).text(); return version;", "last = error;", 1),
        ("const version = await (await fetch(url)).text(); return version;", "if (error.isConflict) continue;", 0),
        ("const version = await prisma.page.update({ data: { version } }); return version;", "last = error;", 0),
    ],
)
def test_what_another_server_answers_may_be_called_anything(tried, failed, count):
    source = (
        "async function f(url) {\n  for (let attempt = 0; attempt < 4; attempt += 1) {\n"
        f"    try {{ {tried} }} catch (error) {{ {failed} }}\n  }}\n}}\n"
    )
    assert len(lines_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(("kind", "count"), [("RestTemplate", 1), ("Totals", 0)])
def test_the_class_of_a_field_says_that_it_asks_a_server(kind, count):
    source = (
        f"class A {{\n  private final {kind} erp;\n  void push(String all) {{\n    while (true) {{\n      try {{\n"
        '        erp.postForEntity("/totals", all, Void.class);\n        return;\n'
        '      } catch (RestClientException e) {\n        log.warn("again", e);\n      }\n    }\n  }\n}\n'
    )
    found = findings_of(RULE, {"src/A.java": source})
    assert [(each.line, each.severity, each.confidence) for each in found] == [(4, "info", "low")] * count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("try { await api.load(); } catch (e) { log(e); }", 0),  # never fails, so that the loop ends
        ("try { await api.load(); } catch (e) { throw e; }", 1),
        ("await api.load();", 1),
    ],
)
def test_what_handles_its_own_errors_is_not_tried_again(body, count):
    loop = "while (true) { try { await %s; break; } catch (e) { continue; } }"
    own = f"class A {{ async prepare() {{ {body} }}\n  async start() {{ {loop % 'this.prepare()'} }} }}"
    assert len(findings_of(RULE, {"src/a.ts": own})) == count
    files = {
        "src/b.ts": f"export async function prepare() {{ {body} }}",
        "src/a.ts": f"import {{ prepare }} from './b';\nexport async function start() {{ {loop % 'prepare()'} }}",
    }
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(("failed", "count"), [("log(e); last = true;", 0), ("log(e);", 1), ("other = true;", 1)])
def test_a_handler_that_sets_what_the_head_waits_for_ends_the_loop(failed, count):
    source = (
        "async function f() { let last = false; while (!last) {"
        f" try {{ await client.load(page); last = true; }} catch (e) {{ {failed} }} }} }}"
    )
    assert len(lines_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(
    ("counts", "count"),
    [
        ('attempt++; log.warn("again {}", attempt);', 1),
        ('attempt += 1; log.warn("for {}", country);', 1),
        ("if (attempt++ > 5) { throw e; }", 0),
        ("attempt++; pause(attempt);", 0),
    ],
)
def test_a_number_that_nobody_asks_is_no_limit(counts, count):
    source = (
        "class A { String f(String country) {\nint attempt = 0;\nwhile (true) {\n"
        f"try {{ return client.fetch(country); }} catch (IOException e) {{ {counts} }}\n}} }} }}\n"
    )
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(("asked", "count"), [("http.Get(key)", 1), ("sum(key)", 0)])
def test_a_method_of_go_that_calls_itself_when_another_one_fails(asked, count):
    source = (
        'package a\nimport "net/http"\nfunc (m *Mill) grind(key string) error {\n\terr := m.turn(key)\n'
        "\tif errors.Is(err, errStuck) {\n\t\treturn m.grind(key)\n\t}\n\treturn err\n}\n"
        f"func (m *Mill) turn(key string) error {{\n\t_, err := {asked}\n\treturn err\n}}\n"
    )
    assert [each.line for each in findings_of(RULE, {"mill/a.go": source})] == [6] * count


@pytest.mark.parametrize(
    ("name", "count"), [("discount_of", 1), ("account_balance", 1), ("retry_count", 0), ("country_of", 1)]
)
def test_an_account_is_no_count(name, count):
    source = (
        f"class Bank:\n    def {name}(self, key):\n        try:\n            return self.client.get(key)\n"
        f"        except TimeoutError:\n            return self.{name}(key)\n"
    )
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(
    ("asks", "counts", "count"),
    [
        ("if not left: raise LostError", "left -= 1", 0),
        ("if left == 0: raise LostError", "left -= 1", 0),
        ("note(left)", "left -= 1", 1),
        ("if not left: raise LostError", "note(left)", 1),
    ],
)
def test_what_is_counted_down_ends(asks, counts, count):
    source = (
        "def load(left):\n    while True:\n        try:\n            return requests.get(URL)\n"
        f"        except ConnectionError:\n            pass\n        {asks}\n        {counts}\n        time.sleep(2)\n"
    )
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(
    ("opened", "handler", "count"),
    [
        ("new URL(key).openStream()", 'log.warn("not there");', 1),
        ("source.getConnection()", "continue;", 1),
        ("new URL(key).openStream()", "throw new IllegalStateException(e);", 0),
    ],
)
def test_what_java_opens_in_the_head_of_a_try_is_tried_again(opened, handler, count):
    source = (
        f"class Names {{\n  Names load(String key) {{\n    for (;;) {{\n      try (var in = {opened}) {{\n"
        f"        return read(in);\n      }} catch (IOException e) {{\n        {handler}\n      }}\n    }}\n  }}\n}}\n"
    )
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(
    ("given", "first", "count"),
    [("ctx, key", "", 1), ("key", "", 0), ("ctx, key", "if ctx.Err() != nil { return 0 }", 0)],
)
def test_what_is_given_the_context_of_the_caller_goes_out_whoever_is_asked(given, first, count):
    source = (
        f"package a\n\nfunc (b *Box) Load(ctx context.Context, key string) int {{\n\tfor {{\n\t\t{first}\n"
        f"\t\tgot, err := b.quotes.Of({given})\n\t\tif err != nil {{\n\t\t\tcontinue\n\t\t}}\n\t\treturn got\n"
        "\t}\n}\n"
    )
    assert len(findings_of(RULE, {"box.go": source})) == count


@pytest.mark.parametrize(("tried", "count"), [("return await this.quotes.of(key);", 1), ("return this.parse(key);", 0)])
def test_what_is_awaited_of_a_part_of_the_object_goes_out(tried, count):
    source = (
        "class Box {\n  async load(key: string) {\n    while (true) {\n      try {\n"
        f"        {tried}\n      }} catch (error) {{\n        console.warn(error);\n      }}\n    }}\n  }}\n}}\n"
    )
    assert len(findings_of(RULE, {"src/box.ts": source})) == count


@pytest.mark.parametrize(("does", "count"), [("return await fetch(key);", 1), ("return JSON.parse(key);", 0)])
def test_a_function_that_calls_itself_again_may_leave_the_asking_to_another(does, count):
    source = (
        f"async function ask(key: string) {{\n  {does}\n}}\n\nexport async function load(key: string) {{\n  try {{\n"
        "    return await ask(key);\n  } catch (error) {\n    return load(key);\n  }\n}\n\n"
        "export function pull(key: string) {\n  return ask(key).catch((error) => pull(key));\n}\n"
    )
    assert len(findings_of(RULE, {"src/load.ts": source})) == 2 * count
