import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "rel-cancellation-swallowed"


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ('log.warn("x");', [2]),
        ("handleFailure(e);", []),
        ("return false;", [2]),
        ("Thread.currentThread().interrupt();", []),
        ("throw new A(e);", [2]),
        ("throw e;", []),
        ("throw new CancelledException(e);", []),
    ],
)
def test_java(body, lines):
    source = (
        f"class A {{ boolean f() {{ try {{ Thread.sleep(1); }}\ncatch (InterruptedException e) {{ {body} }} g(); }} }}"
    )
    assert lines_of(RULE, source, "java") == lines


def test_a_thread_that_ends_right_after_is_fine():
    source = "class A { public void run() { try { q.take(); } catch (InterruptedException e) { log(e); } } }"
    assert lines_of(RULE, source, "java") == []


@pytest.mark.parametrize(
    ("header", "body", "lines"),
    [
        ("except asyncio.CancelledError:", "pass", [4]),
        ("except BaseException:", "log.exception('x')", [4]),
        ("except:", "y = 1", [4]),
        ("except asyncio.CancelledError:", "raise", []),
        ("except ValueError:", "pass", []),
    ],
)
def test_python(header, body, lines):
    assert lines_of(RULE, f"async def f():\n    try:\n        await x()\n    {header}\n        {body}\n") == lines


def test_the_cancellation_of_a_task_that_this_function_cancelled_is_its_answer():
    source = (
        "async def f(task):\n    task.cancel()\n    try:\n        await task\n    except "
        "asyncio.CancelledError:\n        pass\n"
    )
    assert lines_of(RULE, source) == []


def test_outside_of_coroutines_there_is_nothing_to_cancel():
    assert lines_of(RULE, "def f():\n    try:\n        x()\n    except BaseException:\n        pass\n") == []


@pytest.mark.parametrize(
    ("tried", "caught", "lines"),
    [
        ("Thread.sleep(1);", "Exception e", [2]),
        ("TimeUnit.SECONDS.sleep(1);", "Throwable t", [2]),
        ("latch.await();", "Exception e", [2]),
        ("load();", "Exception e", []),
        ("Thread.sleep(1);", "IOException e", []),
    ],
)
def test_a_broad_catch_around_a_wait_takes_the_interrupt_too(tried, caught, lines):
    source = f"class A {{ void f() {{ try {{ {tried} }}\ncatch ({caught}) {{ log(1); }} g(); }} }}"
    assert lines_of(RULE, source, "java") == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("if ctx.Err() != nil {\ncontinue\n}", [4]),
        ("if err := ctx.Err(); err != nil {\ncontinue\n}", [4]),
        ("if ctx.Err() != nil {\nreturn\n}", []),
        ("if ctx.Err() != nil {\nbreak\n}", []),
        ("select {\ncase <-ctx.Done():\nbreak\ncase v := <-c:\nuse(v)\n}", [5]),
        ("select {\ncase <-ctx.Done():\nreturn\ncase v := <-c:\nuse(v)\n}", []),
    ],
)
def test_go_loops_end_with_their_context(body, lines):
    assert lines_of(RULE, f"package a\nfunc f(ctx C, c chan int) {{\nfor {{\n{body}\n}}\n}}\n", "go") == lines


def test_a_go_walk_that_has_seen_the_end_and_goes_on_working():
    source = "package a\nfunc f(ctx C, c chan int) {\nfor v := range c {\nif ctx.Err() != nil {\n%s\n}\nuse(v)\n}\n}\n"
    assert lines_of(RULE, source % "log()", "go") == [4]
    assert lines_of(RULE, source % "continue", "go") == []


@pytest.mark.parametrize(
    ("handled", "after", "lines"),
    [
        ("return", "", ["low"]),
        ("log.warning('stopped')", "", ["low"]),
        ("return 0", "", [""]),
        ("pass", "    flush()\n", [""]),
        ("raise", "", []),
    ],
)
def test_the_loop_of_a_task_may_end_where_it_is_cancelled(handled, after, lines):
    source = (
        "import asyncio\nasync def watch():\n    try:\n        while True:\n            await asyncio.sleep(1)\n"
        f"    except asyncio.CancelledError:\n        {handled}\n{after}"
    )
    assert [each.confidence for each in marks_of(RULE, source)] == lines


@pytest.mark.parametrize(("head", "lines"), [("while not task.done():", []), ("while True:", [5])])
def test_waiting_for_what_must_be_done_outlives_a_cancellation(head, lines):
    source = (
        f"async def close(task):\n    {head}\n        try:\n            await asyncio.shield(task)\n"
        "        except asyncio.CancelledError:\n            continue\n"
    )
    assert lines_of(RULE, source) == lines


@pytest.mark.parametrize(
    ("body", "after", "confidence"),
    [
        ("pass", "", "medium"),
        ("logger.info('stopped')", "", "medium"),
        ("pass", "    more()\n", ""),
        ("return 1", "", ""),
    ],
)
def test_where_a_task_ends_when_it_is_cancelled_nobody_may_miss_it(body, after, confidence):
    source = (
        "def start():\n    asyncio.create_task(serve())\n\nasync def serve():\n    try:\n        await listen()\n"
        f"    except asyncio.CancelledError:\n        {body}\n{after}"
    )
    (mark,) = marks_of(RULE, source)
    assert mark.confidence == confidence
    (mark,) = marks_of(RULE, source.replace("create_task(serve", "create_task(other"))
    assert mark.confidence == ""


def test_a_loop_of_a_task_that_is_left_when_cancelled():
    source = (
        "def start():\n    asyncio.create_task(serve())\n\nasync def serve():\n    while True:\n        try:\n"
        "            await listen()\n        except asyncio.CancelledError:\n            break\n"
        "    self.logger().info('stopped')\n"
    )
    (mark,) = marks_of(RULE, source)
    assert mark.confidence == "medium"


@pytest.mark.parametrize(
    ("head", "branch", "lines"),
    [
        ("for !s.closed.Load()", "s.Close()", []),
        ("for", "s.Close()", [5]),
        ("for !s.closed.Load()", "s.count()", [5]),
    ],
)
def test_a_branch_that_sets_what_the_head_of_the_loop_asks_for(head, branch, lines):
    source = (
        f"package a\nfunc (s *S) f(ctx context.Context) {{\n{head} {{\nselect {{\n"
        f"case <-ctx.Done():\n{branch}\ncase e := <-s.in:\nuse(e)\n}}\n}}\n}}\n"
    )
    assert lines_of(RULE, source, "go") == lines


@pytest.mark.parametrize(("after", "lines"), [("", []), ("next();", [1])])
def test_the_body_of_a_thread_may_end_there(after, lines):
    tried = 'try { Thread.sleep(9); } catch (InterruptedException e) { log.warn("woken", e); }'
    source = f"class A {{ void f() {{ Thread t = new Thread(() -> {{ {tried} {after} }}); }} }}"
    assert lines_of(RULE, source, "java") == lines


@pytest.mark.parametrize(("said", "confidence"), [("// the flag ends this thread", "low"), ("", "high")])
def test_a_thread_of_its_own_may_say_why_it_goes_on(said, confidence):
    loop = f"while (open) {{ try {{ q.take(); }} catch (InterruptedException e) {{ {said}\n }} step(); }}"
    (mark,) = marks_of(RULE, f"class A {{ public void run() {{ {loop} }} }}", "java")
    assert mark.confidence == confidence


@pytest.mark.parametrize(("head", "lines"), [("for range 2", []), ("for", [5])])
def test_a_loop_of_so_many_rounds_ends(head, lines):
    source = (
        f"package a\nfunc f(ctx context.Context, out chan int) {{\n{head} {{\nselect {{\n"
        "case <-ctx.Done():\ncase out <- 1:\n}\n}\n}\n"
    )
    assert lines_of(RULE, source, "go") == lines


@pytest.mark.parametrize(
    ("body", "count"),
    [("if (cancelled) { break; }", 0), ("running = false;", 0), ("if (late) { break; }", 1)],
)
def test_who_cancels_a_thread_may_set_a_flag(body, count):
    loop = f"while (more()) {{ try {{ Thread.sleep(50); }} catch (InterruptedException e) {{ {body} }} }} end();"
    source = f"class A implements Runnable {{ public void run() {{ {loop} }} }}"
    assert len(marks_of("rel-cancellation-swallowed", source, "java")) == count


@pytest.mark.parametrize(("said", "count"), [("// The interrupt is not to be passed on.\n", 0), ("// Waits.\n", 1)])
def test_a_comment_may_say_that_the_interrupt_ends_here(said, count):
    body = "try { Thread.sleep(5); } catch (InterruptedException e) { tell(e); }"
    source = f"class A {{\n{said}void rest() {{ {body} }} }}"
    assert len(marks_of("rel-cancellation-swallowed", source, "java")) == count


@pytest.mark.parametrize(("kind", "count"), [("BaseException", 1), ("errors.BaseException", 0)])
def test_an_exception_of_the_project_is_no_cancellation(kind, count):
    source = f"async def f():\n    try:\n        await g()\n    except {kind} as e:\n        return e\n"
    assert len(findings_of("rel-cancellation-swallowed", {"a.py": source})) == count


@pytest.mark.parametrize(
    ("head", "body", "count"),
    [
        ("for _, row := range rows", "log.Print(err)", 1),
        ("for row := range rows", "log.Print(err)", 0),  # a channel that has to be emptied
        ("for i, row := range rows", "failed[i] = err", 0),
    ],
)
def test_a_walk_over_a_list_that_goes_on(head, body, count):
    asked = f"\t\tif err := ctx.Err(); err != nil {{\n\t\t\t{body}\n\t\t\tcontinue\n\t\t}}\n\t\twork(row)\n"
    source = f"package a\nfunc f(ctx C) {{\n\t{head} {{\n{asked}\t}}\n}}\n"
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("declared", "tried", "confidences"),
    [
        ("private final BlockingQueue<Job> inbox;", "return inbox.take();", ["medium"]),
        ("private final Future<Job> done;", "return done.get();", ["medium"]),
        ("private final BlockingQueue<Map<Long, List<Job>>> inbox;", "return inbox.take();", ["medium"]),
        ("private final Map<Long, Future<?>> jobs;", "return jobs.put(id, job);", []),
        ("private final Map<Long, Future<List<Job>>> jobs;", "return jobs.get(id);", []),
        ("private final Map<String, Job> jobs;", "return jobs.get(key);", []),
        (
            "private final Thread worker;",
            "try { worker.join(); } catch (InterruptedException e) { Thread.currentThread().interrupt(); }",
            [],
        ),
    ],
)
def test_a_broad_handler_around_what_waits_by_its_type(declared, tried, confidences):
    taken = f"try {{ {tried} }} catch (Exception e) {{ log.warn(e); }}"
    source = f"class A {{ {declared} Job next() {{ {taken} return null; }} }}"
    assert [each.confidence for each in marks_of(RULE, source, "java")] == confidences


@pytest.mark.parametrize(
    ("run", "behind", "count"),
    [("executor.execute", "", 0), ("executor.execute", "next();", 1), ("rows.forEach", "", 1)],
)
def test_what_a_pool_runs_ends_there(run, behind, count):
    source = (
        f"class A {{ void f() {{ {run}(() -> {{ try {{ Thread.sleep(5); }} catch (InterruptedException e) {{ log(e); }}"
        f" finally {{ pool.shutdown(); }} {behind} }}); }} }}"
    )
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(("kind", "count"), [("HttpClient", 1), ("CloseableHttpClient", 0), ("Mailer", 0)])
def test_a_client_that_waits_for_its_answer(kind, count):
    source = (
        f"class A {{\n  private final {kind} http = make();\n  int f() {{\n    try {{\n"
        "      return http.send(request, discarding()).statusCode();\n    } catch (Exception e) {\n"
        "      return -1;\n    }\n  }\n}\n"
    )
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(
    ("call", "count"),
    [
        ("jobs.poll(2, TimeUnit.SECONDS)", 1),
        ("jobs.offer(job, 2, TimeUnit.SECONDS)", 1),
        ("jobs.poll()", 0),  # does not wait
        ("jobs.offer(job)", 0),
    ],
)
def test_what_waits_for_a_time_may_be_interrupted(call, count):
    source = (
        "class Desk {\n  private final BlockingQueue<Job> jobs;\n  void next(Job job) {\n    try {\n"
        f'      {call};\n    }} catch (Exception e) {{\n      log.error("no job", e);\n    }}\n  }}\n}}\n'
    )
    assert len(lines_of(RULE, source, "java")) == count
