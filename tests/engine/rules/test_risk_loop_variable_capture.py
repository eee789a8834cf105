import pytest

from tests.engine.rules.reading import findings_of, lines_of

RULE = "risk-loop-variable-capture"

FLAGGED = [
    "jobs.append(lambda: run(x))",
    "handlers[x.name] = lambda: run(x)",
    "pool.submit(lambda: run(x))",
    "bus.add_listener(lambda event: run(x))",
    "app.add_exception_handler(404, lambda request, error: run(x))",
    "Thread(target=lambda: run(x)).start()",
    "loop.call_later(1, lambda: run(x))",
]
FINE = [
    "jobs.append(lambda x=x: run(x))",
    "jobs.append(partial(run, x))",
    "best = sorted(xs, key=lambda y: y - x)",
    "run(lambda: x)",
    "bus.add_up(lambda: x)",
    "jobs.append(lambda: run(y))",
    "jobs.append(lambda x: run(x))",
    "jobs.append(lambda: run(self.x))",
]


@pytest.mark.parametrize("body", FLAGGED)
def test_functions_that_outlive_the_round_are_marked_at_the_read(body):
    assert lines_of(RULE, f"for x in xs:\n    {body}\n") == [2]


@pytest.mark.parametrize("body", FINE)
def test_bound_values_and_immediate_calls_are_fine(body):
    assert lines_of(RULE, f"for x in xs:\n    {body}\n") == []


def test_a_named_function_that_is_kept():
    source = "for x in xs:\n    def job():\n        run(x)\n    jobs.append(job)\n"
    assert lines_of(RULE, source) == [3]
    assert lines_of(RULE, source.replace("jobs.append(job)", "job()")) == []


def test_go_before_1_22():
    source = "package a\nfunc f(xs []int) {\nfor _, x := range xs {\ngo func() {\nrun(x)\n}()\n}\n}\n"
    assert lines_of(RULE, source, "go") == [5]
    assert lines_of(RULE, source.replace("go func()", "x := x\ngo func()"), "go") == []
    assert lines_of(RULE, source.replace("go func()", "go func(x int)").replace("}()", "}(x)"), "go") == []
    old = findings_of(RULE, {"a/a.go": source, "go.mod": "module example.org/a\n\ngo 1.21\n"})
    new = findings_of(RULE, {"a/a.go": source, "go.mod": "module example.org/a\n\ngo 1.22\n"})
    assert ([finding.line for finding in old], new) == ([5], [])


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("for (var i = 0; i < 3; i++) {\n  setTimeout(() => log(i), 10);\n}", [2]),
        ("for (let i = 0; i < 3; i++) {\n  setTimeout(() => log(i), 10);\n}", []),
        ("for (var i = 0; i < 3; i++) {\n  jobs.push(function () { return i; });\n}", [2]),
        ("for (var i = 0; i < 3; i++) {\n  rows.map((row) => row + i);\n}", []),
        ("for (const x of xs) {\n  var id = x.id;\n  x.onclick = function () { open(id); };\n}", [3]),
    ],
)
def test_script_with_var(body, lines):
    assert lines_of(RULE, body, "javascript") == lines


def test_a_name_that_the_body_assigns_is_captured_too():
    source = "def f(xs):\n    for x in xs:\n        name = x.name\n        out.append(lambda: name)\n"
    assert lines_of(RULE, source) == [4]


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("g.Go(func() error { return use(x) })", 1),
        ("defer func() { use(x) }()", 1),
        ("fns = append(fns, func() { use(x) })", 1),
        ("x := x; g.Go(func() error { return use(x) })", 0),
        ("func() { use(x) }()", 0),
        ("sort.Slice(ys, func(i, j int) bool { return ys[i] < x })", 0),
    ],
)
def test_functions_of_go_that_are_kept(line, count):
    files = {
        "a.go": f"package a\nfunc f() {{\nfor _, x := range xs {{ {line} }}\n}}",
        "go.mod": "module a\n\ngo 1.21\n",
    }
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(
    ("manifests", "confidence"),
    [
        ({"go.mod": "module a\n\ngo 1.21\n"}, ["high"]),
        ({"go.mod": "module a\n\ngo 1.22\n"}, []),
        ({"go.mod": "module a\n\ngo 1.21\n", "pkg/go.mod": "module b\n\ngo 1.23\n"}, []),
        ({}, ["low"]),
    ],
)
def test_the_nearest_module_says_which_go_it_is(manifests, confidence):
    source = "package a\nfunc f() {\nfor _, x := range xs { go func() { use(x) }() }\n}"
    assert [each.confidence for each in findings_of(RULE, {"pkg/a.go": source, **manifests})] == confidence


@pytest.mark.parametrize(("loop", "lines"), [("for x in rows:\n                use(x)", []), ("use(x)", [4])])
def test_a_function_that_loops_over_the_same_name(loop, lines):
    source = f"def f(xs, out):\n    for x in xs:\n        def g(rows):\n            {loop}\n        out.append(g)\n"
    assert lines_of(RULE, source) == lines


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("scheduler.add_job(lambda: load(shop), 'interval')", 1),
        ("queue.enqueue_call(lambda: load(shop))", 1),
        ("loop.run_in_executor(None, lambda: load(shop))", 1),
        ("schedule.every(5).minutes.do(lambda: load(shop))", 1),
        ("Button(window, command=lambda: load(shop))", 1),
        ("Button(window, command=lambda shop=shop: load(shop))", 0),
        ("Button(window, label=name_of(lambda: load(shop)))", 0),
        ("found(key=lambda row: row[shop])", 0),
    ],
)
def test_schedulers_and_what_is_called_later_by_its_keyword(body, count):
    assert len(lines_of(RULE, f"def f(shops):\n    for shop in shops:\n        {body}\n")) == count


@pytest.mark.parametrize(("kind", "count"), [("var", 1), ("let", 0)])
def test_jobs_of_a_scheduler_of_node(kind, count):
    source = f"for ({kind} i = 0; i < all.length; i++) {{\n  cron.scheduleJob(at, () => load(all[i]));\n}}\n"
    assert len(lines_of(RULE, source, "javascript")) == count
