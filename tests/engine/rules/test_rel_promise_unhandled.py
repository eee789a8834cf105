import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "rel-promise-unhandled"

FLAGGED = [
    "load().then(show);",
    "load()\n.then(a)\n.then(b);",
    "load().finally(stop);",
    "import('./x').then(use);",
    "const all = Promise.all(items);",
    "Promise.all(items.map(async (item) => { await load(item); })).then(show);",
]
FINE = [
    "load().then(show).catch(report);",
    "load().then(show, report);",
    "load().then(show, report).finally(stop);",
    "load().catch(report).then(stop);",
    "load(`a${b}`, {\n})\n.then((r) => {\nuse(r);\n})\n.catch((e) => {\nreport(e);\n})\n.finally(() => {\nstop();\n});",
    "return load().then(show);",
    "await load().then(show);",
    "void load().then(show);",
    "const p = load().then(show); use(p);",
    "run(() => load().then(show));",
    "cy.get('x').then(show);",
    "if (require.main === module) { load().then(stop); }",
    "when({ order }, ask).then(step);",
    "Promise.all(items.map(async (item) => { try { await load(item); } catch { return null; } })).then(show);",
    "builder.model(x).then<Model>(show);",
    "const all = Promise.all(items); await all;",
]


@pytest.mark.parametrize("statement", FLAGGED)
def test_chains_without_a_handler_are_marked(statement):
    assert lines_of(RULE, f"async function f(items) {{\n{statement}\n}}", "typescript") == [2]


@pytest.mark.parametrize("statement", FINE)
def test_handled_returned_and_awaited_chains_are_fine(statement):
    assert lines_of(RULE, f"async function f(items) {{\n{statement}\n}}", "typescript") == []


@pytest.mark.parametrize(
    ("chain", "count"),
    [("save(a).then(show);", 0), (f"save({{ {'a: 1, ' * 80} }}).then(show);", 0), ("save(a).unwrap().then(show);", 1)],
)
def test_a_hook_keeps_the_error_of_its_mutation(chain, count):
    source = f"function Page() {{\nconst [save, {{ error }}] = useSaveMutation();\nasync () => {{ {chain} }};\n}}"
    assert len(lines_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(
    ("chain", "confidence"),
    [("fetch(url).then(show);", ""), ("own().then(show);", ""), ("unknown().then(show);", "medium")],
)
def test_it_is_certain_where_the_callee_is_known_to_give_a_promise(chain, confidence):
    (mark,) = marks_of(RULE, f"async function own() {{ await x(); }}\n{chain}", "typescript")
    assert mark.confidence == confidence


def test_a_rejection_that_was_taken_before_is_handled():
    source = "load()\n  // first\n  .then(keep)\n  .catch(() => false)\n  // then\n  .then(show);"
    assert lines_of(RULE, source, "typescript") == []


def test_what_never_fails_needs_no_handler():
    assert lines_of(RULE, "app.whenReady().then(open);", "typescript") == []


def test_of_a_long_chain_the_beginning_is_named():
    given = ", ".join(f"key{index}: 'a value'" for index in range(60))
    (mark,) = marks_of(RULE, f"ask.open({{ {given} }}).then(show);", "typescript")
    assert mark.message == "Nothing takes the rejection of `ask.open().then`"


@pytest.mark.parametrize(
    ("source", "confidences"),
    [
        ("const { get } = useLazyGet();\nget(a).then(show);", ["low"]),
        ("const { get } = load();\nget(a).then(show);", ["medium"]),
        ("const { mutateAsync } = useMutation(save);\nmutateAsync(a).then(show);", ["medium"]),
        ("Notification.requestPermission().then(show);", []),
        ("async function get(a) { return fetch(a).then(read).catch(none); }\nget(a).then(show);", []),
        ("async function get(a) { warm(a).catch(none); return fetch(a); }\nget(a).then(show);", ["low"]),
        ("async function get(a) { return fetch(a); }\nget(a).then(show);", [""]),
    ],
)
def test_who_keeps_its_errors_is_asked_as_a_guess(source, confidences):
    assert [each.confidence for each in marks_of(RULE, source, "typescript")] == confidences


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ("{ title: 'Sure?' }", 0),
        (f"{{ title: '{'Sure? ' * 90}' }}", 0),
        ("{ title: 'Sure?', preConfirm: () => drop(a) }", 1),
    ],
)
def test_a_dialog_that_only_asks_does_not_fail(options, count):
    assert len(lines_of(RULE, f"Swal.fire({options}).then(show);", "typescript")) == count


@pytest.mark.parametrize(("end", "count"), [(".catch(report)", 0), ("", 1)])
def test_a_function_of_another_file_may_take_its_rejections(end, count):
    files = {
        "src/rows.ts": f"export async function save(a) {{ return api.put(a){end}; }}",
        "src/page.ts": "import { save } from './rows';\nfunction f(a) { save(a).then(show); }",
    }
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("async () => { await load<{ a: number }>(`x${y}`, { z: 1 }).then(show); };", 0),
        ("Promise.all(rows.map((row) => load(row).catch(() => row))).then(show);", 0),
        ("Promise.all(rows.map((row) => load(row))).then(show);", 1),
        ("function f() { p = load().then(a).catch(b);\np.finally(stop); }", 0),
        ("function f() { p = load().then(a);\np.finally(stop); }", 1),
    ],
)
def test_rejections_that_are_taken_elsewhere(source, count):
    assert len(lines_of(RULE, source, "tsx")) == count


@pytest.mark.parametrize(
    ("source", "confidences"),
    [
        ("Promise.resolve().then(() => { show(); });", []),
        ("Promise.resolve(load()).then(() => { show(); });", [""]),
        ("api.rows.all().then((result) => { if (result.error) { report(); } show(result); });", ["low"]),
        ("api.rows.all().then((result) => { show(result); });", ["medium"]),
    ],
)
def test_a_later_task_and_a_result_that_says_whether_it_worked(source, confidences):
    assert [each.confidence for each in marks_of(RULE, source, "typescript")] == confidences


def test_a_modal_page_does_not_reject():
    source = "import NiceModal from '@ebay/nice-modal-react';\n%s.show(Page).then(show);"
    assert lines_of(RULE, source % "NiceModal", "typescript") == []
    assert lines_of(RULE, source % "Other", "typescript") == [2]


@pytest.mark.parametrize(
    ("given", "count"), [("(resolve)", 0), ("resolve", 0), ("async (resolve)", 0), ("(resolve, reject)", 1)]
)
def test_a_promise_that_nothing_can_reject(given, count):
    files = {
        "src/rows.ts": f"export const wait = (a) => {{\n  return new Promise({given} => {{ later(resolve); }});\n}};",
        "src/page.ts": "import { wait } from './rows';\nfunction f(a) { wait(a).then(show); }",
    }
    assert len(findings_of(RULE, files)) == count


def test_a_promise_inside_says_nothing_of_the_function():
    source = (
        "export function load(a) { const wait = () => new Promise((resolve) => later(resolve)); return api.get(a); }"
    )
    files = {"src/rows.ts": source, "src/page.ts": "import { load } from './rows';\nload(a).then(show);"}
    assert len(findings_of(RULE, files)) == 1


@pytest.mark.parametrize(("path", "count"), [("scripts/load.ts", 0), ("src/load.ts", 1)])
def test_a_script_ends_with_its_error(path, count):
    assert len(findings_of(RULE, {path: "load().then(show);"})) == count


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("#!/usr/bin/env node\nload().then(show);", 0),
        ("#!/usr/bin/env node\nfunction start() { load().then(show); }", 1),
    ],
)
def test_what_is_run_by_its_name_ends_with_its_error(source, count):
    assert len(findings_of(RULE, {"backend/check.js": source})) == count


def test_a_rejection_that_was_taken_needs_nobody_at_the_end():
    assert (
        lines_of(
            RULE,
            "made\n  .catch((error) => {\n    tell(error);\n  })\n  .finally(() => {\n    stop();\n  });",
            "typescript",
        )
        == []
    )


@pytest.mark.parametrize(
    ("callee", "confidence"), [("this.router.navigateByUrl", "low"), ("this.rows.fill", "low"), ("load", "medium")]
)
def test_a_library_may_resolve_whatever_happens(callee, confidence):
    files = {
        "src/rows.ts": "export function load(a) { return fetch(a); }\n",
        "src/page.ts": f"import {{ load }} from './rows';\nclass Page {{ f() {{ {callee}(a).then(show); }} }}\n",
    }
    assert [each.confidence for each in findings_of(RULE, files)] == [confidence]


def test_a_comment_may_say_that_the_rejection_is_to_be_seen():
    assert lines_of(RULE, "wait(a).then(() => {}); // Its unhandled rejection is to be seen.", "typescript") == []


@pytest.mark.parametrize(("body", "count"), [("process.exit(2)", 0), ("stop()", 1)])
def test_a_process_that_ends_hears_of_no_rejection(body, count):
    assert len(lines_of(RULE, f"pool.end().finally(() => {body});", "typescript")) == count


@pytest.mark.parametrize(("head", "count"), [("export const", 0), ("const", 1)])
def test_a_promise_that_is_exported_is_used_elsewhere(head, count):
    assert len(lines_of(RULE, f"{head} ready = Promise.all([load()]);", "typescript")) == count


def test_an_element_that_is_updated_does_not_reject():
    assert lines_of(RULE, "this.updateComplete.then(show);", "typescript") == []


def test_what_settles_may_fail_in_what_comes_then():
    (finding,) = findings_of(
        RULE, {"src/a.ts": "export function f(runs) {\n  Promise.allSettled(runs).then((rows) => show(rows));\n}\n"}
    )
    assert finding.confidence == "low"


@pytest.mark.parametrize(
    ("end", "count"),
    [
        (".then((row) => row, (error) => tell(error))", 0),
        (".then((row) => row, (error) => { throw new Error(error); })", 1),
        (".then((row) => row, retry)", 1),
        (".then((row) => row)", 1),
    ],
)
def test_an_arrow_function_may_give_a_settled_chain(end, count):
    files = {
        "src/rows.ts": f"export const load = (a) =>\n  api.get(a){end};\n",
        "src/page.ts": "import { load } from './rows';\nload(a).then(show);\n",
    }
    found = [each for each in findings_of(RULE, files) if each.file == "src/page.ts"]
    assert len(found) == count


@pytest.mark.parametrize("promise", ["navigator.serviceWorker.ready", "asked.userChoice"])
def test_a_promise_of_the_browser_that_never_rejects(promise):
    assert lines_of(RULE, f"{promise}.then(show);", "typescript") == []


@pytest.mark.parametrize(
    ("promise", "count"),
    [
        ("a ? load(a).catch(() => null) : Promise.resolve(null)", 0),
        ("load(a).catch(() => null)", 0),
        ("load(a)", 1),
        ("new Promise((resolve, reject) => reject(a))", 1),
    ],
)
def test_each_of_several_takes_its_own_rejection(promise, count):
    late = "new Promise((resolve) => setTimeout(() => resolve(null), 2000))"
    assert len(lines_of(RULE, f"Promise.race([{promise}, {late}]).then(show);", "typescript")) == count


@pytest.mark.parametrize(
    ("made", "count"),
    [
        ("rows.map((row) => { const done = wait(row); return { row, done }; })", 0),
        ("rows.map((row) => ({ row }))", 0),
        ("rows.map(function (row) { if (row) { return { row }; } return null; })", 0),
        ("[{ a: 1 }, null]", 0),
        ("rows.map(async (row) => ({ row }))", 1),
        ("rows.map((row) => { if (row) { return load(row); } return { row }; })", 1),
        ("rows.map((row) => { return { then: row }; })", 1),
        ("rows.map((row) => { send(row); })", 0),
        ("rows.map((row) => load(row))", 1),
        ("rows.map(load)", 1),
        ("[{ a: 1 }, load(rows)]", 1),
        ("[]", 1),  # which others may fill
    ],
)
def test_plain_values_have_no_rejection(made, count):
    for source in (f"Promise.all({made}).then(show);", f"const all = {made};\nPromise.all(all).then(show);"):
        assert len(lines_of(RULE, f"function f(rows) {{\n{source}\n}}", "typescript")) == count


@pytest.mark.parametrize("added", ["all.push(load());", "all[0] = load();", "all = load();"])
def test_a_list_of_plain_values_may_get_promises_too(added):
    source = f"function f(rows) {{\nlet all = [{{ a: 1 }}];\n{added}\nPromise.all(all).then(show);\n}}"
    assert lines_of(RULE, source, "typescript") == [4]


@pytest.mark.parametrize(("unwrap", "count"), [("", 0), (".unwrap()", 1)])
def test_a_request_of_the_store_holds_its_error(unwrap, count):
    files = {
        "src/orders.ts": "export async function getOrders(store, data) {\n"
        f"  return store.dispatch(orders.endpoints.getOrders.initiate(data)){unwrap};\n}}\n",
        "src/page.ts": "import { getOrders } from './orders';\nexport function f(store) {\n"
        "  getOrders(store, {}).then(show);\n}\n",
    }
    assert len([each for each in findings_of(RULE, files) if each.file == "src/page.ts"]) == count


@pytest.mark.parametrize(("shown", "count"), [("showMessage(error.text)", 0), ("refresh(error)", 1)])
def test_a_client_that_shows_what_failed(shown, count):
    files = {
        "src/client.ts": "import axios from 'axios';\nexport const client = axios.create();\n"
        f"client.interceptors.response.use((answer) => answer, (error) => {{ {shown}; throw error; }});\n",
        "src/orders.ts": "import { client } from './client';\n"
        "export const getOrders = async (id) => client.get('/orders', { id });\n",
        "src/page.ts": "import { getOrders } from './orders';\nfunction f(id) {\n  getOrders(id).then(show);\n}\n",
    }
    assert len([each for each in findings_of(RULE, files) if each.file == "src/page.ts"]) == count


@pytest.mark.parametrize(
    ("body", "count"), [("try { return await fetch(a); } catch { return null; }", 0), ("return fetch(a);", 1)]
)
def test_what_a_file_gives_by_default(body, count):
    files = {
        "src/load.ts": f"export default async function load(a) {{\n  {body}\n}}\n",
        "src/page.ts": "import load, { Row } from './load';\nexport function f(a) {\n  load(a).then(show);\n}\n",
    }
    assert len([each for each in findings_of(RULE, files) if each.file == "src/page.ts"]) == count


@pytest.mark.parametrize(
    ("path", "source", "count"),
    [
        ("frontend/src/main.ts", "{}", 0),
        ("frontend/src/main.ts", "export function start() {{ {} }}", 1),
        ("src/main.ts", "{}", 1),
    ],
)
def test_a_page_that_does_not_start_shows_it(path, source, count):
    start = 'router.isReady().then(() => app.mount("#app"));'
    assert len(findings_of(RULE, {path: source.format(start)})) == count
