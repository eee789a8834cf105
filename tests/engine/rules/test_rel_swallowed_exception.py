import pytest

from analysis.engine.extract import extract
from tests.engine.rules.reading import findings_of


def marks(source, language="python"):
    return [mark for mark in extract(source.encode(), language).marks if mark.rule == "rel-swallowed-exception"]


def handled(header, body, guarded="x()"):
    return f"try:\n    {guarded}\n{header}\n    {body}\n"


FLAGGED = [
    ("except Exception:", "pass"),
    ("except:", "..."),
    ("except ValueError as e:", "pass"),
    ("except Exception:", "return None"),
    ("except Exception:", "pass  # ignore"),
]
FINE = [
    ("except Exception:", "log.warning('x')"),
    ("except Exception:", "raise"),
    ("except KeyError:", "pass"),
    ("except Http404:", "pass"),
    ("except ImportError:", "pass"),
    ("except ValueError:", "return None"),
    ("except Exception:", "pass  # the server may be gone already"),
    ("except Exception:", "found = False"),
    ("except Exception as ignored:", "pass"),
]


@pytest.mark.parametrize(("header", "body"), FLAGGED)
def test_a_handler_that_does_nothing_is_marked_at_its_line(header, body):
    assert [mark.line for mark in marks(handled(header, body))] == [3]


@pytest.mark.parametrize(("header", "body"), FINE)
def test_handlers_that_do_or_say_something_are_fine(header, body):
    assert marks(handled(header, body)) == []


@pytest.mark.parametrize(
    ("guarded", "count"),
    [
        ("size = int(text)", 0),
        ("size = int(text)\n    return size", 0),
        ("sizes.append(float(text))", 0),
        ("size = int(text)\n    order.store(size)", 1),
        ("order.store(text)", 1),
        ("return bytes.fromhex(text)", 0),
        ("make(text)\n    pytest.fail('made it')", 0),
        ("body = answer.json()", 0),
        ("check(text)\n    return True", 0),
        ("check(text)\n    known += 1", 0),
        ("order.save()\n    known += 1", 1),
        ("check(text)\n    return text", 1),
    ],
)
def test_a_text_that_is_no_number_is_an_answer(guarded, count):
    assert len(marks(handled("except (ValueError, TypeError):", "pass", guarded))) == count


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("try { load(); } catch (e) { return null; }", 1),
        ("try { load(); } catch { return; }", 1),
        ("try { load(); } catch (e) { return fallback(); }", 0),
        ("try { return JSON.parse(text); } catch { return null; }", 0),
        ("try { return new URL(text); } catch (e) {}", 0),
        ("try { store(JSON.parse(text)); } catch (e) {}", 1),
        ("try { const u = new URL(text); if (u.host.startsWith('[')) { x = u.host; } } catch (e) {}", 0),
        ("try { bcrypt = require('bcrypt'); } catch (e) {}", 0),
        ("try { load(); } catch (_e) {}", 1),
        ("try { load(); } catch (_) { /* ignore */ }", 0),
        ("try { load(); } catch (e) { /* ignore */ }", 1),
        ("let done = false; try { done = copy(x); } catch (e) {} return done;", 0),
        ("try { sockets[id].destroy(); } catch (e) {}", 0),
        ("load().catch(function () {});", 1),
        ("load().catch(noop);", 1),
        ("load().catch(report);", 0),
    ],
)
def test_script(source, count):
    assert len(marks(f"function f() {{ {source} }}", "typescript")) == count


@pytest.mark.parametrize(
    ("handler", "count"),
    [
        ("catch (IOException e) { }", 1),
        ("catch (IOException e) { // ignore\n }", 1),
        ("catch (IOException e) { // the file may be gone already\n }", 0),
        ("catch (IOException ignored) { }", 0),
        ("catch (Exception e) { return null; }", 1),
        ("catch (IOException e) { return null; }", 0),
        ("catch (NumberFormatException e) { }", 0),
    ],
)
def test_java(handler, count):
    assert len(marks(f"class A {{ String f() {{ try {{ x(); }} {handler} }} }}", "java")) == count


def test_what_asks_a_question_may_answer_no():
    source = "def is_open(host):\n    " + handled("except Exception:", "return False").replace("\n", "\n    ")
    assert marks(source) == []
    assert len(marks(source.replace("is_open", "open_it"))) == 1


def test_one_of_several_tries_may_fail():
    source = "for n in range(3):\n    time.sleep(n)\n    " + handled("except OSError:", "pass").replace("\n", "\n    ")
    assert marks(source) == []
    assert len(marks(source.replace("sleep", "show"))) == 1


def test_a_lost_race_for_a_watched_key_is_an_answer():
    assert marks("while True:\n    " + handled("except redis.WatchError:", "continue").replace("\n", "\n    ")) == []


def test_a_response_without_a_body_is_an_answer():
    assert marks("const body = await response.json().catch(() => null);", "typescript") == []
    assert len(marks("const body = await load().catch(() => null);", "typescript")) == 1


def test_around_a_write_it_is_critical():
    (mark,) = marks(handled("except Exception:", "pass", "order.save()"))
    assert mark.severity == "critical"


@pytest.mark.parametrize(
    ("statement", "severity"),
    [
        ("cursor.execute('SHOW server_version_num')", ""),
        ('cursor.execute(f"""\n        SELECT name FROM {table}""")', ""),
        ("session.execute(sa.text('select 1'))", ""),
        ("session.execute(select(Order))", ""),
        ("cursor.execute('UPDATE orders SET paid = 1')", "critical"),
        ("cursor.execute(statement)", "critical"),
    ],
)
def test_around_a_statement_that_only_reads_it_is_not(statement, severity):
    (mark,) = marks(handled("except Exception:", "pass", f"{statement}\n    known.add(key)"))
    assert mark.severity == severity


def test_closing_may_fail():
    assert marks(handled("except Exception:", "pass", "connection.close()")) == []


def test_suppressing_everything_is_marked():
    assert len(marks("from contextlib import suppress\nwith suppress(Exception):\n    x()\n")) == 1
    assert marks("from contextlib import suppress\nwith suppress(KeyError):\n    x()\n") == []


@pytest.mark.parametrize(
    ("header", "guarded", "count"),
    [
        ("except FieldDoesNotExist:", "meta.get_field('a')", 0),
        ("except SkipField:", "value = field.read(row)", 0),
        ("except ValueError:", "fields.remove(name)", 0),
        ("except Exception:", "fields.remove(name)", 1),
        ("except Exception:", "hash.update(name)", 1),
    ],
)
def test_exceptions_that_answer_a_question(header, guarded, count):
    assert len(marks(handled(header, "pass", guarded))) == count


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("function expiry(token) { try { const p = jwtDecode(token); return p.exp; } catch { return null; } }", 0),
        ("function verifyToken(t) { try { return check(t); } catch { return null; } }", 0),
        ("function loadToken(t) { try { return check(t); } catch { return null; } }", 1),
        ("function f(a) { return a.filter((x) => { try { return load(x); } catch { return false; } }); }", 0),
        ("async function f(d) { try { await fs.rm(d, { force: true }); } catch { } }", 0),
        ("function f(d) {\n // Best-effort: the badge may be out of reach.\n try { badge(d); } catch { }\n}", 0),
        ("function f(d) {\n // Shows the badge.\n try { badge(d); } catch { }\n}", 1),
    ],
)
def test_script_cannot_catch_one_kind_only(source, count):
    assert len(marks(source, "typescript")) == count


def test_a_digest_is_no_write():
    source = "function f() { try { createHmac('sha1', k).update(a); g(); } catch (e) { } }"
    assert [each.severity for each in marks(source, "typescript")] == ["info"]


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("function f(k) { let v = null; try { v = localStorage.getItem(k); } catch (e) {} return v; }", 0),
        ("function f(k) { try { localStorage.setItem(k, 'a'); } catch { return; } }", 0),
        ("function f(k) { let v; try { v = clean(\n  localStorage.getItem(k),\n); } catch {} return v; }", 0),
        ("function f(v) { try { v = JSON.stringify(JSON.parse(v)); } catch { return; } show(v); }", 0),
        ("function f(k) { try { localStorage.setItem(k, 'a');\n send(k); } catch { return; } }", 1),
        ("const [save, { error }] = useSaveMutation();\nsave(a).unwrap().then(show).catch(() => null);", 0),
        ("const [save, { error }] = useSave();\nsave(a).unwrap().then(show).catch(() => null);", 1),
        ("async function f(u) { try { await assertIsSafe(u); } catch { return null; } return load(u); }", 0),
        ("async function f(p) { const info = await stat(p).catch(() => null); if (!info) return; use(info); }", 0),
        ("async function f(p) { const info = await stat(p).catch(() => null); use(info); }", 1),
        ("async function f(p) { await stat(p).catch(() => null); if (!p) return; }", 1),
    ],
)
def test_what_a_browser_forbids_what_checks_and_what_is_asked_for(source, count):
    assert len(marks(source, "typescript")) == count


@pytest.mark.parametrize("tried", ["from a import b", "import a\n    a.register(b)"])
def test_what_a_module_sets_up_with_an_optional_import(tried):
    assert marks(f"try:\n    {tried}\nexcept Exception:\n    pass\n") == []


@pytest.mark.parametrize(("caught", "count"), [("MissingError", 0), ("Exception", 1)])
def test_the_first_of_several_candidates_that_is_right(caught, count):
    source = "def f(names):\n    for name in names:\n        try:\n            ask(name)\n            return name\n"
    assert len(marks(f"{source}        except {caught}:\n            continue\n    return None\n")) == count


@pytest.mark.parametrize(("tried", "count"), [("from a import b", 0), ("import a", 0), ("import a\n        a.b()", 1)])
def test_an_import_that_may_fail_is_optional(tried, count):
    source = f"def load():\n    try:\n        {tried}\n    except Exception:\n        return\n"
    assert len(marks(source)) == count


@pytest.mark.parametrize(
    ("handler", "count"),
    [
        ("() => {}", 1),
        ("() => { /* nothing */ }", 1),
        ("() => { // ignore\n}", 1),
        ("() => { /* the page shows the old prices then */ }", 0),
        ("(e) => { report(e); }", 0),
    ],
)
def test_one_word_in_an_empty_function_explains_nothing(handler, count):
    assert len(marks(f"load().catch({handler});", "typescript")) == count


@pytest.mark.parametrize(
    ("name", "after", "count"),
    [("_is_local", "return False", 0), ("_is_local", "return True", 1), ("load", "return False", 1)],
)
def test_a_question_is_answered_behind_the_try(name, after, count):
    source = f"def {name}():\n    try:\n        look()\n    except RuntimeError:\n        pass\n    {after}\n"
    assert len(marks(source)) == count


def test_a_reader_may_call_itself():
    source = "function asRow(text) { try { return asRow(JSON.parse(text)); } catch { return null; } }"
    assert marks(source, "typescript") == []
    assert len(marks(source.replace("asRow(JSON", "keep(JSON"), "typescript")) == 1


@pytest.mark.parametrize(
    ("removed", "severity"),
    [
        ("shop.getFsOperator()\n.delete(folder);\nHdfsOperator.delete(folder);", ""),
        ("load(); Files.delete(path); note(path);", ""),
        ("load(); file.delete(); note(path);", ""),
        ("load(); fileRepository.delete(file); note(path);", "critical"),
        ("load(); orders.delete(order); note(path);", "critical"),
    ],
)
def test_a_file_that_stays_behind_is_no_lost_write(removed, severity):
    (mark,) = marks(f"class A {{ void f() {{ try {{ {removed} }} catch (Exception e) {{ }} }} }}", "java")
    assert (mark.severity, mark.confidence) == (severity, "")


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("try { x(); } finally { try { // stop it\n client.stop(); } catch (Exception e) { } }", 0),
        ("try { x(); } finally { try { client.stop(); y(); } catch (Exception e) { } }", 1),
        ("try { client.stop(); y(); } catch (Exception e) { }", 1),
    ],
)
def test_what_is_stopped_at_the_end_whatever_happened(body, count):
    assert len(marks(f"class A {{ void f() {{ {body} }} }}", "java")) == count


@pytest.mark.parametrize(("call", "severity"), [("delete(picture)", ""), ("rows.delete(row)", "critical")])
def test_a_delete_of_no_owner_is_no_write(call, severity):
    (mark,) = marks(handled("except RuntimeError:", "pass", call))
    assert mark.severity == severity


@pytest.mark.parametrize(
    ("comment", "count"), [("# the name is taken already, the next one will do", 0), ("# TODO", 1)]
)
def test_a_comment_right_above_the_handler_explains(comment, count):
    source = f"try:\n    row.save()\n\n{comment}\nexcept IntegrityError:\n    pass\n"
    assert len(marks(source)) == count


def test_a_check_of_a_text_answers_no():
    source = (
        "check((text) => { try {\nconst row = JSON.parse(text);\nif (!row) { return false; }\n"
        "return true;\n} catch { return false; } });"
    )
    assert marks(source, "typescript") == []
    assert len(marks(source.replace("JSON.parse", "store"), "typescript")) == 1


def test_a_question_in_the_middle_of_a_name():
    source = "const pageHasInput = (text) => { try { return look(text); } catch { return false; } };"
    assert marks(source, "typescript") == []
    assert len(marks(source.replace("pageHasInput", "pageInput"), "typescript")) == 1


SAID = "/** %s */\nexport function zone(name) {\n  try { return known(name); } catch { return null; }\n}\n"
DOC = (
    'def zone(name):\n    """%s"""\n    try:\n        return known(name)\n    except Exception:\n        return None\n'
)


@pytest.mark.parametrize(
    ("said", "count"), [("The zone, null when the name is invalid.", 0), ("The zone of a name, or null.", 1)]
)
def test_what_a_function_gives_when_it_fails_may_be_documented(said, count):
    assert len(marks(SAID % said, "typescript")) == count
    assert len(marks(DOC % said.replace("null", "None"))) == count
    assert len(marks((DOC % said.replace("null", "None")).replace("return known(name)", "name.save()"))) == 1


@pytest.mark.parametrize(
    ("tried", "count"),
    [
        ("const rows = JSON.parse(text); if (Array.isArray(rows)) return rows.map((r) => r.a).join();", 0),
        ("new Intl.DateTimeFormat(undefined, { timeZone }); return timeZone;", 0),
        ("node.parentNode;", 0),
        ("node.remove();", 1),
    ],
)
def test_texts_zones_and_members_that_may_not_be_read(tried, count):
    assert (
        len(marks(f"function f(node, text) {{ try {{ {tried} }} catch (e) {{ return null; }} }}", "typescript"))
        == count
    )


@pytest.mark.parametrize(
    ("tried", "count"), [("expect(shown()).toBe(1);", 1), ("await load();", 1), ("x = load();", 0)]
)
def test_a_test_that_takes_what_it_asserts_or_tries_cannot_fail(tried, count):
    files = {"src/a.test.ts": f"it('shows', async () => {{ try {{ {tried} }} catch (e) {{}} show(); }});"}
    assert [each.severity for each in findings_of("rel-swallowed-exception", files)] == ["info"] * count


@pytest.mark.parametrize(
    ("header", "count"),
    [("except (StreamConsumedError, StreamClosedError):", 0), ("except StreamError:", 1)],
)
def test_what_is_closed_already_is_an_answer(header, count):
    assert len(marks(handled(header, "pass"))) == count


@pytest.mark.parametrize(("name", "count"), [("ignoreWhenUndefined", 0), ("ignored", 0), ("problem", 1)])
def test_a_variable_may_say_that_it_is_ignored(name, count):
    assert (
        len(marks(f"class A {{ void f() {{ try {{ x(); }} catch (OrderException {name}) {{}} }} }}", "java")) == count
    )


@pytest.mark.parametrize(("name", "count"), [("getIfPossible", 0), ("loadOrNull", 0), ("safeLoad", 0), ("loadAll", 1)])
def test_a_name_may_say_that_nothing_is_an_answer(name, count):
    source = f"class A {{ Object {name}() {{ try {{ return x(); }} catch (Exception e) {{ return null; }} }} }}"
    assert len(marks(source, "java")) == count


@pytest.mark.parametrize(
    ("header", "after", "confidences"),
    [
        ("except HTTPError:", "return load_other()", []),
        ("except Exception:", "return load_other()", ["low"]),
        ("except HTTPError:", "return None", ["low"]),
    ],
)
def test_another_way_to_the_same(header, after, confidences):
    source = f"def f():\n    try:\n        return load()\n    {header}\n        pass\n    {after}\n"
    assert [each.confidence for each in marks(source)] == confidences


@pytest.mark.parametrize(
    ("source", "confidences"),
    [
        ("async function f() { try { show(await load()); hide(); } catch (e) {} }", ["medium"]),
        ("try { load(); show(); } catch (e) {}", ["low"]),
        ("try { load(); } catch (e) {}", ["low"]),
        ("function f() { try { return load(); } catch (e) { return null; } }", ["low"]),
        ("load().catch(() => {});", ["low"]),
        ("order.save().catch(() => {});", ["medium"]),
        ("load().then(show).catch(() => {});", ["medium"]),
        ("show(await load().catch(() => null));", ["low"]),
    ],
)
def test_script_cannot_say_which_error_it_means(source, confidences):
    assert [each.confidence for each in marks(source, "typescript")] == confidences


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("try { const host = localStorage.getItem(KEY); if (host) current = host; } catch (e) {}", 0),
        ("try { window\n.sessionStorage.setItem('path', path + (query || '')); } catch (e) {}", 0),
        ("try { const host = localStorage.getItem(KEY); \n if (host) connect(host); } catch (e) {}", 1),
        ("fs.promises.unlink(path).catch(() => {});", 0),
        ("fs.promises.writeFile(path).catch(() => {});", 1),
        ("function f(a) { try { return made(JSON.parse(a)); } catch { return null; }\n return null; }", 0),
        ("function f(a) { try { return made(JSON.parse(a)); } catch { return null; }\n return 1; }", 1),
        ("function doesUserOwn(a) { try { return owns(a); } catch { return false; } }", 0),
    ],
)
def test_stores_of_a_browser_clean_up_and_texts(source, count):
    assert len(marks(source, "typescript")) == count


@pytest.mark.parametrize(
    ("source", "confidences"),
    [
        ("function f(a) { try { return a.text(short); } catch {}\n return a.text(long); }", ["low"]),
        ("try {\n player.unbind(END);\n player.unbind(PAUSE);\n // no-empty\n} catch (e) {}", []),
        ("try {\n player.unbind(END);\n player.send(PAUSE);\n} catch (e) {}", ["low"]),
    ],
)
def test_another_way_of_script_and_listeners_that_let_go(source, confidences):
    assert [each.confidence for each in marks(source, "typescript")] == confidences


@pytest.mark.parametrize(("name", "count"), [("safeElement", 0), ("element", 1)])
def test_a_safe_function_gives_nothing_when_it_fails(name, count):
    assert len(marks(f"function {name}(d) {{ try {{ return d.load(); }} catch (e) {{ }} }}", "typescript")) == count


@pytest.mark.parametrize(("kind", "count"), [("Exception", 1), ("OrderException", 1)])
def test_a_test_that_takes_one_kind_does_not_ask_for_it(kind, count):
    source = f"class ATest {{ void f() {{ try {{ verify(); assertTrue(x()); }} catch ({kind} e) {{ }} }} }}"
    assert len(findings_of("rel-swallowed-exception", {"src/test/java/ATest.java": source})) == count


@pytest.mark.parametrize(
    ("path", "head", "count"),
    [("shop/a.py", "", 0), ("shop/a.py", "@app.get('/a')\n", 1)],
)
def test_one_kind_may_mean_nothing_unless_a_request_waits_for_it(path, head, count):
    source = f"{head}def f(a):\n    try:\n        return x(a)\n    except OrderGone:\n        pass\n"
    assert len(findings_of("rel-swallowed-exception", {path: source})) == count


@pytest.mark.parametrize(
    ("source", "count"),
    [
        (handled("except ValueError:", "pass", "address = ip_address(text)"), 0),
        (handled("except ValueError:", "continue", "key, value = part.split('=', 1)"), 0),
        (handled("except InvalidToken:", "pass", "opened = box.open(text)"), 0),
        (handled("except UnsupportedFormat:", "pass"), 0),
        (handled("except InvalidRequestError:", "pass"), 1),
        (handled("except Exception:", "pass", "raise error"), 0),
        ("found = None\n" + handled("except Odd:", "pass", "found = look()"), 0),
        ("other = None\n" + handled("except Odd:", "pass", "found = look()"), 1),
        ("try:\n    x()\nfinally:\n    try:\n        y()\n    except Odd:\n        pass\n", 0),
        (handled("except Exception:", "pass", "lock.release()"), 0),
        (handled("except Exception:", "pass", "posthog.capture('paid')"), 0),
    ],
)
def test_answers_defaults_and_what_is_only_told(source, count):
    assert len(marks(source)) == count


@pytest.mark.parametrize(
    ("source", "confidences"),
    [
        (handled("except: # noqa: E722", "pass", "x(); y()"), [""]),
        (handled("except Exception:", "pass", "order.save()"), [""]),
        (handled("except Odd:", "pass"), ["low"]),
        (handled("except OSError:", "pass"), ["medium"]),
        (handled("except Odd:", "pass", "order.save()"), ["low"]),  # it may be an answer
        (
            "def f(a) -> str | None:\n    try:\n        return x(a)\n    except Exception:\n        return None\n",
            ["low"],
        ),
        (
            "def f(a):\n    try:\n        x(a)\n        return True\n    except Exception:\n        return False\n",
            ["low"],
        ),
        ("def f(a):\n    try:\n        return x(a)\n    except Exception:\n        return None\n", ["low"]),
        (
            "def f(a):\n    try:\n        b = x(a)\n        return y(b)\n    except Exception:\n        return None\n",
            ["low"],  # nothing is lost but a value, which may be none
        ),
        (
            "def f(a):\n    try:\n        b = x(a)\n        tell(b)\n    except Exception:\n        return None\n",
            ["medium"],
        ),
    ],
)
def test_how_sure_it_is_that_an_error_is_lost(source, confidences):
    assert [mark.confidence for mark in marks(source)] == confidences


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("async function f() { try { await this.loading; } catch {} }", 0),
        ("async function f() { try { await this.load(); } catch {} }", 1),
        ("// In case it is not supported.\ntry { ask(); } catch {}", 0),
        ("// The hook shows it; swallow the rejection.\nload().catch(() => {});", 0),
        ("// Loads the rows.\nload().catch(() => {});", 1),
        ("logger.flush().catch(() => {});", 0),
        ("async function stop() { try { await client.unsubscribe(); } catch {} }", 0),
    ],
)
def test_what_others_look_after_and_what_a_comment_explains(source, count):
    assert len(marks(source, "typescript")) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("try { return type.getDeclaredMethod(name); } catch (Exception e) { return null; }", 0),
        ("for (F f : ALL) { try { return f.withZone(z).parseTime(text); } catch (Exception e) { } } return null;", 0),
        ("for (F f : ALL) { try { f.store(text); } catch (Exception e) { } } return null;", 1),
        ("try { if (c != null) { c.close(); } } catch (Exception e) { } return null;", 0),
        ("try { if (c != null && c.get() != null) { c.get().close(); } } catch (Exception e) { } return null;", 0),
        ('try { x(); throw new Exception("Should not get here"); } catch (OddException e) { } return null;', 0),
    ],
)
def test_members_formats_and_cleaning_up_of_java(body, count):
    assert len(marks(f"class A {{ Object f() {{ {body} }} }}", "java")) == count


def test_a_test_that_asks_later_expects_the_rejection():
    files = {"src/a.test.ts": "act(() => { save().catch(() => {}); });\nawait wait(() => expect(told).toBe(1));\n"}
    assert findings_of("rel-swallowed-exception", files) == []


@pytest.mark.parametrize(("head", "count"), [("time.monotonic() < deadline", 0), ("rows", 1)])
def test_a_loop_with_a_deadline_tries_again(head, count):
    body = "        try:\n            ask()\n            break\n        except OSError:\n            continue\n"
    assert len(marks(f"def f():\n    while {head}:\n{body}")) == count


def test_the_comment_may_stand_above_the_if_around():
    tried = "    try:\n        store.drop(key)\n    except Exception:\n        pass\n"
    source = f"# If this fails it is done again later.\nif key:\n{tried}"
    assert marks(source) == []
    assert len(marks(source.replace("    try", "    use(key)\n    try"))) == 1


@pytest.mark.parametrize(("given", "count"), [("def", 0), ("null", 1)])
def test_the_caller_may_give_what_stands_for_nothing(given, count):
    body = f"try {{ return load(name); }} catch (Exception e) {{ }} return {given};"
    assert len(marks(f"class A {{ Row f(String name, Row def) {{ {body} }} }}", "java")) == count


@pytest.mark.parametrize(("call", "count"), [("pool?.stop()", 0), ("prisma.$disconnect()", 0), ("pool.load()", 1)])
def test_what_is_stopped_may_fail(call, count):
    assert len(marks(f"{call}.catch(() => {{}});", "typescript")) == count


@pytest.mark.parametrize(
    ("header", "guarded", "count"),
    [
        ("except IntegrityError:", "session.execute(insert(Row))", 0),
        ("except IntegrityError:", "session.commit()", 1),
        ("except Exception:", "timer.cancel()", 0),
    ],
)
def test_a_row_that_is_there_and_a_timer_that_is_stopped(header, guarded, count):
    assert len(marks(handled(header, "pass", guarded))) == count


def test_a_comment_may_say_that_it_must_not_fail():
    assert marks("# One bad row must not end the loop.\n" + handled("except Exception:", "pass")) == []


@pytest.mark.parametrize(("behind", "confidence"), [("try { return b(); } catch (Odd e) { }", "low"), ("stop();", "")])
def test_the_next_way_may_be_tried_behind(behind, confidence):
    body = f"try {{ int a = x(); tell(a); return y(a); }} catch (Exception e) {{ }} {behind} return null;"
    found = marks(f"class A {{ Object f() {{ {body} }} }}", "java")
    assert found[0].confidence == confidence


def test_a_browser_may_forbid_what_is_kept():
    body = "const kept = localStorage.getItem('a');\nshow(kept);\nuse(kept);"
    assert [mark.confidence for mark in marks(f"try {{ {body} }} catch {{ }}", "typescript")] == ["low"]


def test_listeners_and_what_is_closed_with_them():
    assert marks("try { a.removeEventListener('b', c);\na.close(); } catch {}", "typescript") == []


@pytest.mark.parametrize(
    ("guarded", "confidence"),
    [("x()", "low"), ("requests.post(URL, timeout=5)", "medium"), ("send_mail(a)", "medium"), ("order.save()", "")],
)
def test_one_step_is_a_guess_unless_it_sends_or_writes(guarded, confidence):
    assert [mark.confidence for mark in marks(handled("except Exception:", "pass", guarded))] == [confidence]


def test_who_takes_every_error_for_nothing_is_told_everywhere():
    source = (
        "def rates(path):\n    try:\n        return load(path.read_text())\n"
        "    except Exception:\n        return None\n"
    )
    assert [each.confidence for each in findings_of("rel-swallowed-exception", {"shop/a.py": source})] == ["low"]


@pytest.mark.parametrize(
    ("path", "manifest", "count"),
    [("src/rates.ts", "express", 1), ("src/rates.ts", "vue", 0), ("src/components/rates.ts", "express", 0)],
)
def test_a_server_of_script_says_why_there_is_nothing(path, manifest, count):
    source = "export function sum(rows) {\n  try { return rows.reduce(add, 0); } catch {\n  }\n  return 0;\n}\n"
    files = {path: source, "package.json": f'{{"dependencies": {{"{manifest}": "1"}}}}'}
    assert len(findings_of("rel-swallowed-exception", files)) == count


@pytest.mark.parametrize(
    ("tried", "count"),
    [
        ("self.close_month(day)", 1),
        ("self.cancel_order(order)", 1),
        ("self.cancel_task(task)", 0),
        ("self.close_all(True)", 0),
        ("self.terminate_workers()", 0),
    ],
)
def test_what_is_closed_may_be_a_month(tried, count):
    assert len(marks(handled("except OrderError:", "pass", tried))) == count


def test_work_that_one_kind_of_error_ends_is_lost():
    source = (
        "def send(rows):\n    for row in rows:\n        try:\n            row.post()\n"
        "        except Refused:\n            continue\n"
    )
    assert [each.confidence for each in findings_of("rel-swallowed-exception", {"shop/a.py": source})] == ["low"]


def test_a_test_may_raise_what_it_takes():
    source = (
        "def test_a():\n    try:\n        store.fill()\n        raise OddError('x')\n"
        "    except OddError:\n        pass\n"
    )
    assert findings_of("rel-swallowed-exception", {"tests/test_a.py": source}) == []


@pytest.mark.parametrize(("path", "count"), [("src/sendTelemetry.ts", 0), ("src/sendInvoice.ts", 1)])
def test_telemetry_must_harm_nobody(path, count):
    source = "export const send = (row) => {\n  axios.post(url, row).catch(() => {});\n};\n"
    assert len(findings_of("rel-swallowed-exception", {path: source})) == count


@pytest.mark.parametrize(
    ("caught", "tried", "count"),
    [
        ("RuntimeError", "store(a)", 1),
        ("NotImplementedError", "store(a)", 0),
        ("ItemLookupError", "store(a)", 0),
        ("RuntimeError", "registry.unregister(a)", 0),
    ],
)
def test_what_is_not_there_and_what_is_taken_away(caught, tried, count):
    assert len(marks(handled(f"except {caught}:", "pass", tried))) == count


@pytest.mark.parametrize(("behind", "count"), [("raise AssertionError", 0), ("store(b)", 1)])
def test_what_fails_otherwise_expects_the_error(behind, count):
    source = (
        f"def f(a):\n    try:\n        store(a)\n    except RuntimeError:\n        pass\n    else:\n        {behind}\n"
    )
    assert len(marks(source)) == count


@pytest.mark.parametrize(
    ("name", "tried", "count"),
    [("load", "JSON.parse(text).code", 1), ("load", "JSON.parse(text)", 0), ("tryParse", "JSON.parse(text).code", 0)],
)
def test_who_takes_something_of_what_was_read_hides_more_than_a_text(name, tried, count):
    source = (
        f"export function {name}(text) {{\n  try {{\n    return {tried};\n  }} catch (e) {{}}\n  return null;\n}}\n"
    )
    assert len(findings_of("rel-swallowed-exception", {"src/a.js": source})) == count


@pytest.mark.parametrize(("value", "count"), [('", ".join(e["text"] for e in errors)', 0), ("client.load(errors)", 1)])
def test_what_has_a_value_already_keeps_it(value, count):
    source = (
        "from app import client\ndef handle(request, errors):\n    text = 'unknown'\n    try:\n"
        f"        text = {value}\n    except Exception:\n        pass\n    return text\n"
    )
    assert len(findings_of("rel-swallowed-exception", {"app/a.py": source})) == count


def test_what_another_version_has_built_in():
    source = "import importlib\ntry:\n    importlib.reload(sys)\nexcept NameError:\n    pass\n"
    assert findings_of("rel-swallowed-exception", {"app/a.py": source}) == []


@pytest.mark.parametrize(("tried", "count"), [("f.parse(text);\nreturn DAY;", 0), ("f.send(text);\nreturn DAY;", 1)])
def test_a_text_that_is_read_to_learn_its_format(tried, count):
    body = f"try {{ F f = new F(DAY);\n{tried} }} catch (Exception e) {{ }}\nreturn ANY;"
    source = f"class A {{ String f(String text) {{ {body} }} }}"
    assert len(marks(source, "java")) == count


@pytest.mark.parametrize(
    ("condition", "count"), [("app.IS_DEBUG", 0), ("isDev", 0), ("env !== 'development'", 1), ("ready", 1)]
)
def test_what_those_who_develop_may_not_have(condition, count):
    source = (
        f"async function f() {{\n  if ({condition}) {{\n    try {{\n"
        "      const a = await fs.readFile('a.yml');\n      use(a);\n"
        "      tell(a);\n    } catch (err) {\n      // ignore\n    }\n  }\n}\n"
    )
    assert len(marks(source, "javascript")) == count


@pytest.mark.parametrize(("made", "count"), [("return new Version(name);", 0), ("save(new Version(name));", 1)])
def test_a_value_of_a_text_that_may_be_none(made, count):
    source = f"const f = (name) => {{\n  try {{\n    {made}\n  }} catch {{}}\n}};\n"
    assert len(marks(source, "typescript")) == count


@pytest.mark.parametrize(
    ("step", "count"), [("stopRuntime", 0), ("closeConnections", 0), ("closeAccount", 1), ("send", 1)]
)
def test_who_stops_something_may_find_it_gone(step, count):
    assert len(marks(f"app.{step}().catch(() => {{}});", "typescript")) == count


@pytest.mark.parametrize(("path", "confidence"), [("web/components/star.tsx", "low"), ("worker/star.ts", "medium")])
def test_what_a_page_does_not_show_is_seen(path, confidence):
    (finding,) = findings_of(
        "rel-swallowed-exception", {path: "fetch(address).then((a) => show(a)).catch(() => {});\n"}
    )
    assert finding.confidence == confidence


@pytest.mark.parametrize(("said", "count"), [("we do nothing if the copy fails", 0), ("const other = copy(text)", 1)])
def test_a_comment_right_before_the_handler_says_that_it_may_fail(said, count):
    source = (
        "async function copy(text) {\n  try {\n    await clipboard.writeText(text);\n    done(true);\n"
        f"    // {said}\n  }} catch {{}}\n}}\n"
    )
    assert len(marks(source, "typescript")) == count


@pytest.mark.parametrize(
    ("before", "tried", "count"),
    [
        ("name = 'none'", "name = re.findall('dn=(.*)', text)[0]", 0),
        ("other = 'none'", "name = re.findall('dn=(.*)', text)[0]", 1),
        ("name = 'none'", "name = fetch_name(text)", 1),
        ("name = 'none'", "store(name)", 1),
    ],
)
def test_what_is_suppressed_may_keep_the_value_of_the_line_before(before, tried, count):
    source = f"from contextlib import suppress\n\ndef f(text):\n    {before}\n    with suppress(Exception):\n"
    assert len(marks(source + f"        {tried}\n    return name\n")) == count


@pytest.mark.parametrize(
    ("step", "caught", "count"),
    [
        ("mail.send(letter);", "MailException", 1),
        ("check(letter);", "MailException", 0),
        ("mail.send(letter);", "AlreadySentException", 0),
    ],
)
def test_a_letter_that_is_lost_is_no_answer(step, caught, count):
    source = (
        f"class A {{ boolean f(Letter letter) {{ try {{ {step}\n return true; }} catch ({caught} e) {{ }}\n"
        " return false; } }"
    )
    assert len(marks(source, "java")) == count


@pytest.mark.parametrize(("head", "count"), [("@app.task\n", 1), ("@shared_task(name='x')\n", 1), ("", 0)])
def test_a_task_that_gives_nothing_counts_as_done(head, count):
    source = (
        "from celery import Celery, shared_task\n\napp = Celery()\n\n\n"
        f"{head}def remind(key):\n    try:\n        return letters.number_of(key)\n"
        "    except Exception:\n        return None\n"
    )
    found = findings_of("rel-swallowed-exception", {"shop/tasks.py": source})
    assert [(each.confidence, each.severity) for each in found] == [("low", "info")] * count


@pytest.mark.parametrize(("tried", "count"), [("job.call()", 1), ("job.name", 0)])
def test_whatever_it_was_given_to_do_fails_unheard(tried, count):
    source = (
        "class Quiet {\n  <T> T quiet(Callable<T> job) {\n    try {\n"
        f"      return {tried};\n    }} catch (Exception e) {{\n      return null;\n    }}\n  }}\n}}\n"
    )
    assert len(findings_of("rel-swallowed-exception", {"src/main/java/Quiet.java": source})) == count


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("gateway.post(text)\n    except Exception:\n        return None\n", [4]),
        ("gateway.post(text)\n    except Exception:\n        return False\n    return True\n", []),
        ("return gateway.post(text)\n    except Exception:\n        return None\n", []),
    ],
)
def test_a_function_named_for_trying_answers_only_where_it_gives_something(body, lines):
    source = f"def try_post(gateway, text):\n    try:\n        {body}"
    assert [mark.line for mark in marks(source)] == lines


@pytest.mark.parametrize(("opened", "count"), [("Files.newInputStream(path)", 1), ("new StringReader(text)", 0)])
def test_what_java_opens_in_the_head_of_a_try_is_tried_as_well(opened, count):
    source = (
        f"class Names {{\n  String first(Path path, String text) {{\n    try (var in = {opened}) {{\n"
        "      return read(in);\n    } catch (Exception e) {\n      return null;\n    }\n  }\n}\n"
    )
    assert len(findings_of("rel-swallowed-exception", {"src/Names.java": source})) == count
