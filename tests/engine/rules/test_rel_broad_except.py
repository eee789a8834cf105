import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "rel-broad-except"


def python(header, body, name="read"):
    return f"def {name}():\n    try:\n        x()\n    {header}\n        {body}\n"


FLAGGED = [
    ("except:", "y = 1"),
    ("except Exception:", "log.warning('failed')"),
    ("except BaseException:", "return 0"),
    ("except (ValueError, Exception):", "y = 1"),
    ("except Exception as e:", "log.error('failed')"),
    ("except Exception:  # noqa: BLE001", "y = 1"),
    ("except Exception:  # pylint: disable=broad-except", "y = 1"),
]
FINE = [
    ("except Exception:", "raise"),
    ("except Exception as e:", "raise OrderError from e"),
    ("except Exception:", "log.exception('failed')"),
    ("except Exception:", "log.error('failed', exc_info=True)"),
    ("except Exception:", "logger.log_trace('failed')"),
    ("except Exception as e:", "log.error('failed: %s', e)"),
    ("except Exception:", "messages.error(request, 'failed')"),
    ("except Exception:  # the parser raises whatever it likes", "y = 1"),
    ("except ValueError:", "y = 1"),
    ("except Exception:", "pass"),
]
JAVA_FLAGGED = [
    "catch (Throwable t) { count(); }",
    "catch (NullPointerException e) { return 0; }",
    "catch (Exception e) { count(); }",
    "catch (final Error e) { log.warn(e.getMessage()); }",
]
JAVA_FINE = [
    'catch (Throwable t) { log.error("x", t); }',
    "catch (Throwable t) { throw new A(t); }",
    'catch (Exception e) { Failure.throwException("x"); }',
    "catch (IOException e) { count(); }",
    'catch (Exception e) { log.warn("x", e); }',
    "catch (RuntimeException e) { count(); }",
]


@pytest.mark.parametrize(("header", "body"), FLAGGED)
def test_a_handler_that_takes_everything_is_marked_at_its_line(header, body):
    assert lines_of(RULE, python(header, body)) == [4]


@pytest.mark.parametrize(("header", "body"), FINE)
def test_handlers_that_tell_or_are_narrow_are_fine(header, body):
    assert lines_of(RULE, python(header, body)) == []


@pytest.mark.parametrize("name", ["main", "run", "worker_loop", "__del__", "handle_message"])
def test_at_a_boundary_errors_must_stop(name):
    assert lines_of(RULE, python("except Exception:", "y = 1", name)) == []


def test_a_task_is_a_boundary():
    source = "@app.task\n" + python("except Exception:", "y = 1")
    assert lines_of(RULE, source) == []


@pytest.mark.parametrize("handler", JAVA_FLAGGED)
def test_java(handler):
    assert lines_of(RULE, f"class A {{ int f() {{ try {{ x(); }}\n{handler} }} }}", "java") == [2]


@pytest.mark.parametrize("handler", JAVA_FINE)
def test_java_handlers_that_tell_or_are_narrow_are_fine(handler):
    assert lines_of(RULE, f"class A {{ int f() {{ try {{ x(); }}\n{handler} }} }}", "java") == []


def test_a_comment_above_the_try_may_say_why():
    source = "# The reader raises its own kinds and those of zlib.\n"
    assert lines_of(RULE, source + "try:\n    x()\nexcept Exception:\n    y = 1\n") == []


@pytest.mark.parametrize(
    ("throws", "tried", "lines"),
    [
        ("throws IOException", "x();", [2]),
        ("throws Exception", "x();", []),
        ("throws IOException", "task.call();", []),
    ],
)
def test_java_code_that_may_throw_anything_leaves_no_choice(throws, tried, lines):
    source = (
        f"class A {{ void x() {throws} {{ }} int f() {{ try {{ {tried} }}\ncatch (Exception e) {{ count(); }} }} }}"
    )
    assert lines_of(RULE, source, "java") == lines


def test_java_handlers_of_requests_are_a_boundary():
    source = 'class A { @GetMapping("/x") int f() { try { x(); } catch (Throwable t) { return 0; } } }'
    assert lines_of(RULE, source.replace("return 0;", "count();"), "java") == []


def test_a_question_is_answered_by_the_opposite():
    source = "def {0}():\n    try:\n        load()\n        return {1}\n    except Exception:\n        return {2}\n"
    assert lines_of(RULE, source.format("broken", "False", "True")) == []
    assert lines_of(RULE, source.format("broken", "False", "1")) == [5]
    flag = source.replace("return {1}", "page.loads = {1}").replace("return {2}", "{0}.loads = {2}")
    assert lines_of(RULE, flag.format("page", "True", "False")) == []
    assert lines_of(RULE, flag.format("other", "True", "False")) == [5]


def test_a_log_that_has_the_message_alone_is_worth_knowing():
    source = "class A { void f() { try { x(); } catch (Exception e) { LOG.%s } } }"
    (told,) = marks_of(RULE, source % 'error("not read: {}", e.getMessage());', "java")
    (asked,) = marks_of(RULE, source % 'info("not read");', "java")
    assert (told.severity, asked.severity) == ("info", "")


def test_who_tells_half_is_told_with_less_confidence():
    source = "class A { void f() { try { x(); } catch (Throwable t) { %s } } }"
    told, silent = (marks_of(RULE, source % body, "java") for body in ("tell(t.getMessage());", "count();"))
    assert [told[0].confidence, silent[0].confidence] == ["medium", ""]


@pytest.mark.parametrize(("after", "lines"), [("return task.result()", []), ("return None", [4])])
def test_a_future_that_is_read_right_behind_raises_its_error(after, lines):
    source = (
        "async def wait(task):\n    try:\n        await asyncio.shield(task)\n"
        f"    except BaseException:\n        break_off()\n    {after}\n"
    )
    assert lines_of(RULE, source) == [4]
    loop = (
        "async def wait(task):\n    while True:\n        try:\n"
        "            await asyncio.shield(task)\n        except BaseException:\n            break\n"
        f"    {after}\n"
    )
    assert lines_of(RULE, loop) == [each + 1 for each in lines]


def test_a_message_that_is_stored_is_worth_knowing():
    source = (
        "class A {{ void f() {{ try {{ send(a); }} catch (Exception e) {{ a.set{}(e.getMessage()); a.save(); }} }} }}"
    )
    (mark,) = marks_of(RULE, source.format("ErrorMessage"), "java")
    assert (mark.severity, mark.confidence) == ("info", "medium")
    (mark,) = marks_of(RULE, source.format("Title"), "java")
    assert mark.severity == ""


def test_a_handler_of_logs_has_a_way_to_tell():
    source = (
        "class Lines(Handler):\n    def emit(self, record):\n        try:\n"
        "            write(record)\n        except Exception:\n            self.%s(record)\n"
    )
    assert lines_of(RULE, source % "handleError") == []
    assert lines_of(RULE, source % "forget") == [5]


def test_a_log_without_the_exception_has_no_trace():
    source = 'class A { void f() { try { x(); } catch (Exception e) { LOG.warn("not read"); } } }'
    (mark,) = marks_of(RULE, source, "java")
    assert mark.message == "`catch (Exception e)` takes bugs with the failures, and the log has no trace of it"


def test_a_log_of_python_without_the_exception_has_no_trace():
    source = "def f():\n    try:\n        x()\n    except Exception:\n        {0}\n        return 1\n"
    said = [marks_of(RULE, source.format(each))[0].message for each in ("logger.error('not read')", "count()")]
    assert [each.rpartition(" and ")[2] for each in said] == ["the log has no trace of it", "tells nobody"]


@pytest.mark.parametrize(("route", "count"), [("@app.route('/a')\n", 0), ("", 1)])
def test_what_answers_a_request_is_where_errors_stop(route, count):
    source = (
        f"{route}def book():\n    try:\n        store()\n    except Exception:\n"
        "        log.error('no')\n        return 500\n"
    )
    assert len(findings_of(RULE, {"shop/views.py": source})) == count


@pytest.mark.parametrize(
    ("body", "severities"),
    [
        ('return "not stored: " + e.getMessage();', ["info"]),
        ("answer(ServingStatus.NOT_SERVING);", []),
        ("answer(ServingStatus.SERVING);", [""]),
    ],
)
def test_what_a_handler_answers_tells_of_the_failure(body, severities):
    source = f"class A {{ String f() {{ try {{ store(); }} catch (Exception e) {{ {body} }} }} }}"
    assert [mark.severity for mark in marks_of(RULE, source, "java")] == severities


def test_a_log_of_java_without_the_error_is_no_silence():
    source = 'class A { void f() { try { store(); } catch (Throwable t) { log.error("not stored"); } } }'
    (mark,) = marks_of(RULE, source, "java")
    assert mark.message.endswith("takes even errors that nobody can handle, and the log has no trace of it")


@pytest.mark.parametrize(("name", "count"), [("toString", 0), ("label", 1)])
def test_the_text_of_an_object_must_not_fail(name, count):
    source = (
        f'class A {{ String {name}() {{ try {{ x(); }} catch (Exception e) {{ b.append("no text"); }} return b; }} }}'
    )
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ('try { R.class.getMethod("a"); s = new A(); } catch (Throwable t) { s = new B(); }', 0),
        ('try { Class.forName("shop.A"); s = new A(); } catch (Throwable t) { s = new B(); }', 0),
        ('try { Class.forName("shop.A"); s = new A(); } catch (Throwable t) { log.info("no a"); }', 1),
        ('try { R.class.getMethod("a").invoke(r); } catch (Throwable t) { s = new B(); }', 1),
        ("try { s = new A(); } catch (Throwable t) { s = new B(); }", 1),
    ],
)
def test_a_look_for_what_another_version_may_lack(body, count):
    assert len(lines_of(RULE, f"class A {{ void f() {{ {body} }} }}", "java")) == count


@pytest.mark.parametrize(
    ("imported", "called", "count"),
    [
        ("org.apache.curator.framework.CuratorFramework", "zoo.getData().forPath(path)", 0),
        ("org.apache.karaf.features.FeaturesService", "features.listFeatures()", 0),
        ("org.eclipse.jetty.server.Server", "server.start()", 0),
        ("shop.Server", "server.start()", 1),
        ("org.eclipse.jetty.server.Server", "server.open()", 1),
    ],
)
def test_what_a_library_declares_to_throw_anything(imported, called, count):
    body = f'try {{ {called}; }} catch (Exception e) {{ log.error("no", e.getMessage()); }}'
    source = f"import {imported};\nclass A {{ void f() {{ {body} }} }}"
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(("header", "count"), [("except:", 1), ("except Exception:", 0)])
def test_a_check_of_health_lets_itself_be_stopped(header, count):
    assert len(lines_of(RULE, python(header, "log.warning('no answer')", name="health"))) == count


@pytest.mark.parametrize(
    ("said", "count"),
    [
        ("noqa: BLE001 - what is stored last must not fail", 0),
        ("pylint: disable=broad-except  # what is stored last must not fail", 0),
        ("noqa: BLE001", 1),
        ("pylint: disable=broad-except, too-many-lines", 1),
    ],
)
def test_a_reason_may_stand_behind_the_words_to_a_linter(said, count):
    source = f"def f(e):\n  try:\n    return str(e)\n  except Exception:  # {said}\n    return 'no message'\n"
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(("told", "confidence"), [("log.warning('a %s', e)", "medium"), ("use(e)", "")])
def test_a_handler_in_one_that_has_logged_hides_a_second_failure_only(told, confidence):
    inner = "try:\n      a()\n    except Exception:\n      b()"
    source = f"def f():\n  try:\n    x()\n  except OSError as e:\n    {told}\n    {inner}\n"
    assert [each.confidence for each in marks_of(RULE, source)] == [confidence]
