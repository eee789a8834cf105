import pytest

from tests.engine.rules.reading import findings_of, lines_of

RULE = "perf-serial-await"


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("for (const id of ids) {\nout.push(await api.load(id));\n}", [3]),
        ("for (const id of ids) {\nconst x = await api.load(id);\nuse(x);\n}", [3]),
        ("for (const id of ids) {\nawait axios.put(id);\n}", [3]),
        ("for (const id of ids) {\nawait queue.put(id);\n}", []),
        ("for (const id of ids) {\nif (await api.load(id)) break;\n}", []),
        ("for (const id of ids) {\nlastOne = await api.load(id);\n}", []),
        ("for (const id of ids) {\nawait sleep(10); await api.load(id);\n}", []),
        ("for await (const id of ids) {\nawait api.load(id);\n}", []),
        ("for (const id of ids) {\nawait tx.item.create(id);\n}", []),
        ("await api.$transaction(async (rows) => {\nfor (const id of ids) {\nawait load(rows, id);\n}\n});", []),
        ("await api.$transaction(async (rows) => {\nfor (const id of ids) {\nawait api.load(id);\n}\n});", [4]),
        ("await api.$tx(async () => {\nfor (const id of ids) {\nawait service.load(id);\n}\n});", []),
        ("for (const id of ids) {\nawait api.txClient().$executeRaw(id);\n}", []),
        ("while (more()) {\nawait api.load(id);\n}", []),
        ("await Promise.all(ids.map((id) => api.load(id)));", []),
        ("let i = 0;\nwhile (i < ids.length) {\nawait api.load(ids[i]);\ni += 1;\n}", [4]),
        ("let at = 0;\nwhile (at < end) {\nat = await api.load(at);\n}", []),
        ("while (ids.length) {\nconst id = ids.pop();\nawait api.load(id);\n}", [4]),
        ("for (const id of await list()) {\nawait api.load(id);\n}", [3]),
        ("for (const id of ids) {\njobs.push(async () => await api.load(id));\n}", []),
    ],
)
def test_script(body, lines):
    assert lines_of(RULE, f"async function f(ids, out, jobs, lastOne) {{\n{body}\n}}", "typescript") == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("out.append(await load(x))", [3]),
        ("state = await load(state, x)", []),
        ("await asyncio.sleep(x)", []),
        ("await session.execute(x)", []),
        ("await load(session, x)", []),
    ],
)
def test_python(body, lines):
    assert lines_of(RULE, f"async def f(xs, out):\n    for x in xs:\n        {body}\n") == lines


def test_in_a_handler_it_is_a_warning():
    source = "@app.get('/x')\nasync def show(xs):\n    for x in xs:\n        await load(x)\n"
    assert [str(finding.severity) for finding in findings_of(RULE, {"app/views.py": source})] == ["warning"]
    source = source.replace("@app.get('/x')\n", "")
    assert [str(finding.severity) for finding in findings_of(RULE, {"app/views.py": source})] == ["info"]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (
            "const a = await api.getUser(id);\nconst b = await api.getOrders(id);\nconst c = await api.getNotes(id);",
            [2],
        ),
        ("const a = await getUser(id);\nconst b = await getOrders(a.id);\nconst c = await getNotes(b);", []),
        ("const a = await getUser(id);\nconst b = await getOrders(id);", []),
        (
            "const a = await getA(id);\nif (!a) return;\nconst b = await getB(id);\nconst c = await getC(id);",
            [],
        ),
        ("await saveUser(id);\nawait saveOrders(id);\nawait saveNotes(id);", []),
        (
            "const a = await tx.a.findMany();\nconst b = await tx.b.findMany();\nconst c = await tx.c.findMany();",
            [],
        ),
    ],
)
def test_three_questions_in_a_row(body, lines):
    assert lines_of(RULE, f"async function f(id) {{\n{body}\n}}", "typescript") == lines


def test_three_questions_in_a_row_of_python():
    source = "async def f(client):\n" + "".join(f"    {name} = await client.get('/{name}')\n" for name in "abc")
    assert lines_of(RULE, source) == [2]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("return [await client.get(x) for x in ids]", [2]),
        ("for x in ids:\n        out.append(await client.get(x, timeout=5))", [3]),
        ("for x in ids:\n        await x()", []),
        ("for x in ids:\n        await walk(x)", []),
        ("for x in ids:\n        await load(x, tx)", []),
    ],
)
def test_what_a_round_awaits(body, lines):
    assert lines_of(RULE, f"async def walk(client, ids, out):\n    {body}\n") == lines


def test_changes_by_functions_of_the_project_count_on_the_request_path_only():
    source = "@app.get('/x')\nasync def show(xs):\n    for x in xs:\n        await update_total(x)\n"
    (finding,) = findings_of(RULE, {"app/views.py": source})
    assert finding.confidence == "low"
    assert findings_of(RULE, {"app/views.py": source.replace("@app.get('/x')\n", "")}) == []


def test_a_call_that_may_stay_in_the_process_is_a_guess():
    source = "async def f(ids):\n    for x in ids:\n        await {0}(x)\n"
    files = [{"app/work.py": source.format(callee)} for callee in ("client.get", "measure")]
    assert [each.confidence for file in files for each in findings_of(RULE, file)] == ["medium", "low"]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("while (i < ids.length) {\nout.push(await api.load(ids[i]));\ni++;\n}", [3]),
        ("while (ids.length) {\nconst id = ids.pop();\nout.push(await api.load(id));\n}", [4]),
        ("while (ids.length) {\nconst id = ids.pop();\nids.push(...(await api.load(id)));\n}", []),
        ("for (const id of ids) {\nawait api.update(id, connection);\n}", []),
        ("for (const path of ids) {\nawait plugins.loadPlugin(path);\n}", []),
        (
            "const a = (await axios.get('/a')).data;\nconst b = (await axios.get('/b')).data;\n"
            "const c = (await axios.get('/c')).data;",
            [2],
        ),
        ("await mailClient.send(x);\nawait smsClient.send(x);\nawait pushClient.send(x);", [2]),
        ("await client.sendHead(x);\nawait client.sendBody(x);\nawait client.sendEnd(x);", []),
        ("await client.query('A');\nawait client.query('B');\nawait client.query('C');", []),
    ],
)
def test_what_each_round_and_each_statement_waits_for(body, lines):
    assert lines_of(RULE, f"async function f(ids, out, x, i) {{\n{body}\n}}", "typescript") == lines


def test_steps_of_an_upgrade_run_once():
    source = "async function f(ids) {\n  for (const id of ids) {\n    await api.load(id);\n  }\n}\n"
    assert len(findings_of(RULE, {"src/work.js": source})) == 1
    assert findings_of(RULE, {"src/upgrades/1.10.0/work.js": source}) == []


@pytest.mark.parametrize(("third", "lines"), [("`/notes?order=${id}`", [2]), ("`/notes/${order.id}`", [])])
def test_a_word_in_quotes_is_no_use_of_a_result(third, lines):
    source = (
        "async function f(id) {\n  const order = await api.get(id);\n  const owner = await api.get(`/of/${id}`);\n"
        f"  const notes = await api.get({third});\n  return [order, owner, notes];\n}}"
    )
    assert lines_of(RULE, source, "typescript") == lines


@pytest.mark.parametrize(("head", "found"), [("i < pages.length", 1), ("i < pages.length && !full", 0)])
def test_rounds_that_find_out_whether_there_is_another_one(head, found):
    body = "    const page = await api.fetchPage(pages[i]);\n    full = page.size > 9;\n"
    source = f"async function f(pages) {{\n  let full = false;\n  for (let i = 0; {head}; i++) {{\n{body}  }}\n}}\n"
    assert len(findings_of(RULE, {"work.js": source})) == found


@pytest.mark.parametrize(("condition", "found"), [("!known.has(id)", 0), ("id > 9", 1)])
def test_what_is_remembered_is_asked_once(condition, found):
    body = f"    if ({condition}) {{\n      known.set(id, await api.fetchPage(id));\n    }}\n"
    source = f"async function f(ids, known) {{\n  for (const id of ids) {{\n{body}  }}\n}}\n"
    assert len(findings_of(RULE, {"work.js": source})) == found


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("let page = known.get(id);\n    if (page === undefined) {", 0),
        ("let page = known.get(id);\n    if (!page) {", 0),
        ("let page = known.get(id);\n    if (id > 9) {", 1),
    ],
)
def test_a_map_that_is_asked_before(asked, found):
    body = f"    {asked}\n      page = await api.fetchPage(id);\n      known.set(id, page);\n    }}\n"
    source = f"async function f(ids, known) {{\n  for (const id of ids) {{\n{body}  }}\n}}\n"
    assert len(findings_of(RULE, {"work.js": source})) == found


@pytest.mark.parametrize(
    ("after", "found"),
    [
        ("if (blocked) throw refuse();", 0),
        ("if (blocked.now) {\n      throw refuse();\n    }", 0),
        ("log(blocked);", 1),
    ],
)
def test_the_first_bad_answer_ends_the_loop(after, found):
    body = f"    const blocked = await api.fetchBlocked(id);\n    {after}\n"
    source = f"async function f(ids) {{\n  for (const id of ids) {{\n{body}  }}\n}}\n"
    assert len(findings_of(RULE, {"work.js": source})) == found


@pytest.mark.parametrize(("name", "found"), [("adapters", 0), ("orders", 1)])
def test_rounds_that_ask_their_own_object(name, found):
    source = f"async function f({name}) {{\n  for (const each of {name}) {{\n    await each.load(each.id);\n  }}\n}}\n"
    assert len(findings_of(RULE, {"src/a.js": source})) == found


def test_one_connection_is_serial():
    source = "async def f(ids, db):\n    for key in ids:\n        await users.load({0})\n"
    assert len(findings_of(RULE, {"a/a.py": source.format("key")})) == 1
    assert findings_of(RULE, {"a/a.py": source.format("key, db")}) == []


@pytest.mark.parametrize(("given", "found"), [("key", 1), ("key, db", 0)])
def test_questions_in_a_row_on_one_connection(given, found):
    asked = "".join(f"    {name} = await service.get_{name}({given})\n" for name in ("user", "team", "order"))
    assert len(findings_of(RULE, {"a/a.py": f"async def f(key, db):\n{asked}    return user, team, order\n"})) == found


def test_functions_of_packages_that_ask_over_the_network_are_known_by_what_they_are_imported_from():
    rows = "".join(f"  const {name} = await ask(`/{name}`);\n" for name in "abc")
    source = f"import {{ request as ask }} from 'undici';\nasync function f() {{\n{rows}  return [a, b, c];\n}}\n"
    assert lines_of(RULE, source, "typescript") == [3]
    assert findings_of(RULE, {"src/a.ts": source.replace("undici", "./mine")}) == []


def test_a_session_of_aiohttp_has_many_connections():
    source = "{0}\nasync def f(session, ids):\n    return [await session.get(x) for x in ids]\n"
    assert lines_of(RULE, source.format("import aiohttp")) == [3]
    assert lines_of(RULE, source.format("import sqlalchemy")) == []


def test_a_name_that_begins_like_a_word_for_order_says_nothing_of_it():
    source = "async function f(serials) {\nfor (const serial of serials) {\n{0}\nawait api.load(serial);\n}\n}"
    assert lines_of(RULE, source.replace("{0}", ""), "typescript") == [4]
    assert lines_of(RULE, source.replace("{0}", "// serially, they share a lock"), "typescript") == []


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("for (const user of users) {\nuser.avatar = await api.load(user.id);\n}", [3]),
        ("for (const user of users) {\nstate.last = await api.load(user.id, state.last);\n}", []),
        ("const a = await api.getA();\n// the second\nconst b = await api.getB();\nconst c = await api.getC();", [2]),
        ("const a = await api.getA();\n// in this order\nconst b = await api.getB();\nconst c = await api.getC();", []),
    ],
)
def test_objects_that_are_filled_and_comments_between_questions(body, lines):
    assert lines_of(RULE, f"async function f(users, state) {{\n{body}\n}}", "typescript") == lines


@pytest.mark.parametrize(("items", "lines"), [("_.difference(wanted, had)", []), ("had.concat(wanted)", [3])])
def test_what_differs_is_little(items, lines):
    source = f"async function f(wanted, had) {{\n  for (const id of {items}) {{\n    await api.add(id);\n  }}\n}}\n"
    assert lines_of(RULE, source, "typescript") == lines


@pytest.mark.parametrize(("call", "counts"), [("api.removeOrder(id)", (0, 1)), ("api.loadOrder(id)", (1, 1))])
def test_a_page_may_do_things_one_by_one(call, counts):
    source = f"export async function f(ids: string[]) {{\n  for (const id of ids) {{\n    await {call};\n  }}\n}}\n"
    page = {"web/package.json": '{"dependencies": {"react": "19"}}', "web/src/orders.ts": source}
    server = {"api/package.json": '{"dependencies": {"express": "5"}}', "api/src/orders.ts": source}
    assert (len(findings_of(RULE, page)), len(findings_of(RULE, server))) == counts


def test_people_answer_one_by_one_and_few_are_written_out():
    source = "async function f(items) {{\n  for (const item of {}) {{\n    await {}(item);\n  }}\n}}\n"
    assert lines_of(RULE, source.format("items", "api.load"), "typescript") == [3]
    assert lines_of(RULE, source.format("items", "api.authenticate"), "typescript") == []
    assert lines_of(RULE, source.format("['a', 'b'] as const", "api.load"), "typescript") == []


def test_calls_with_types_are_awaited_like_others():
    rounds = "async function f(ids) {\n  for (const id of ids) {\n    all.push(await api.load<Row>(id));\n  }\n}\n"
    row = "async function f() {\nconst a = await api.getA<A>();\nconst b = await api.getB<B>();\n"
    row += "const c = await api.getC();\n}"
    assert lines_of(RULE, rounds, "typescript") == [3]
    assert lines_of(RULE, row, "typescript") == [2]


@pytest.mark.parametrize(
    ("second", "count"),
    [
        ("await tides.height(quay)", 1),
        ("await tides.report(quay)", 0),
        ("await tides.known(quay)", 0),
        ("await tides.height(first)", 0),
    ],
)
def test_functions_of_another_file_that_only_ask(second, count):
    tides = (
        "import httpx\n\nasync def height(quay):\n    async with httpx.AsyncClient() as link:\n"
        '        return await link.get(f"/heights/{quay}")\n\n'
        "async def report(quay):\n    async with httpx.AsyncClient() as link:\n"
        '        return await link.post(f"/reports/{quay}")\n\nasync def known(quay):\n    return KNOWN[quay]\n'
    )
    source = (
        "from harbour import tides\n\nasync def show(quay, other, last):\n    first = await tides.height(other)\n"
        f"    second = {second}\n    third = await tides.height(last)\n    return first, second, third\n"
    )
    files = {"harbour/tides.py": tides, "harbour/show.py": source}
    assert [(each.line, each.confidence) for each in findings_of(RULE, files)] == [(4, "low")] * count


@pytest.mark.parametrize(
    ("work", "lines"),
    [
        ("this.kept.set(id, make(id));", []),
        ("const made = make(id);\nif (!made) throw new Error(`no ${id}`);\nthis.kept[id] = made;", []),
        ("this.kept.set(id, await ask(id));", [4]),
        ("return ask(id);", [4]),
        ("return new Promise((done) => ask(id, done));", [4]),
    ],
)
def test_a_method_that_does_all_at_once_keeps_nobody_waiting(work, lines):
    source = (
        "class Loader {\nasync all(ids) {\nfor (const id of ids) {\nawait this.loadOne(id);\n}\n}\n"
        f"async loadOne(id) {{\n{work}\n}}\n}}\n"
    )
    assert lines_of(RULE, source, "typescript") == lines


def test_a_coroutine_that_does_all_at_once_keeps_nobody_waiting():
    source = (
        "async def load_one(x):\n    return parse(x)\n\n\n"
        "async def load(xs):\n    for x in xs:\n        await load_one(x)\n"
    )
    assert lines_of(RULE, source) == []
    assert lines_of(RULE, source.replace("return parse", "return await parse")) == [7]


@pytest.mark.parametrize(("base", "lines"), [("AsyncWebsocketConsumer", []), ("Mailer", [7])])
def test_messages_of_a_socket_keep_their_order(base, lines):
    source = (
        f"from shop.net import {base}\n\n\nclass Feed({base}):\n    async def show(self, xs):\n        for x in xs:\n"
        "            await self.send(text_data=x.json())\n"
    )
    assert lines_of(RULE, source) == lines
    assert lines_of(RULE, "async def f(xs, websocket):\n    for x in xs:\n        await websocket.send(x)\n") == []


@pytest.mark.parametrize(
    ("round_", "confidence"),
    [
        ("const row = await this.repository.findRow(id);\nshow(row);", "medium"),
        ("const row = await this.repository.findRow(id);\nawait this.repository.updateRow(id, row.version);", "low"),
        ("const row = await this.repository.findRow(id);\nawait this.log.updateRow(id);", "medium"),
        ("await this.roleService.assignRole(set, id);", "low"),
    ],
)
def test_rounds_that_change_what_others_may_read_are_a_guess(round_, confidence):
    source = f"class Roles {{\nasync all(set, ids) {{\nfor (const id of ids) {{\n{round_}\n}}\n}}\n}}"
    found = findings_of(RULE, {"src/roles.ts": source})
    assert [str(each.confidence) for each in found][:1] == [confidence]


@pytest.mark.parametrize(
    ("asks", "count"),
    [("const answer = await fetch(`${URL}/${part}`);\n  return answer.status;", 1), ("return parts[part];", 0)],
)
def test_three_calls_of_a_function_of_the_same_file_that_asks(asks, count):
    source = (
        f"async function read(part) {{\n  {asks}\n}}\n\nexport async function show() {{\n"
        "  const one = await read('one');\n  const two = await read('two');\n  const three = await read('three');\n"
        "  return [one, two, three];\n}\n"
    )
    assert [each.line for each in findings_of(RULE, {"src/show.ts": source})] == [7] * count


@pytest.mark.parametrize(
    ("rest", "count"),
    [("", 1), ("        waiting.append(answer.next)\n", 0)],
)
def test_what_each_round_takes_out_of_a_list(rest, count):
    source = (
        "async def f(ids, client):\n    waiting = list(ids)\n    while waiting:\n"
        f"        answer = await client.post('/x', json=waiting.pop())\n{rest}"
    )
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(
    ("asks", "count"),
    [
        ("const answer = await this.http.get(`/tides/${port}`);\n    return answer.data;", 1),
        ("return this.kept[port];", 0),
    ],
)
def test_three_calls_of_a_method_of_the_same_class_that_asks(asks, count):
    source = (
        f"export class Tides {{\n  async tide(port: string) {{\n    {asks}\n  }}\n\n  async all() {{\n"
        "    const a = await this.tide('a');\n    const b = await this.tide('b');\n"
        "    const c = await this.tide('c');\n"
        "    return [a, b, c];\n  }\n}\n"
    )
    assert [each.message.count("this.tide") for each in findings_of(RULE, {"src/tides.ts": source})] == [3] * count


@pytest.mark.parametrize(
    ("body", "count"), [("return read(`/wind/${at}`);", 1), ("keep(at);\n    return read(`/wind/${at}`);", 0)]
)
def test_methods_that_hand_on_to_the_function_that_asks(body, count):
    files = {
        "src/wind.ts": (
            "async function read(path: string) {\n  const answer = await fetch(BASE + path);\n"
            "  return answer.json();\n}\n"
            f"class Wind {{\n  today(at: string) {{\n    {body}\n  }}\n}}\nexport const wind = new Wind();\n"
        ),
        "src/show.ts": (
            "import { wind } from './wind';\nexport async function show(x, y, z) {\n  const a = await wind.today(x);\n"
            "  const b = await wind.today(y);\n  const c = await wind.today(z);\n  return [a, b, c];\n}\n"
        ),
    }
    assert [each.file for each in findings_of(RULE, files)] == ["src/show.ts"] * count


@pytest.mark.parametrize(
    ("language", "source", "count"),
    [
        ("typescript", "import { setTimeout as nap } from 'timers/promises';\n{loop}    await nap(250);\n  }\n}", 0),
        ("typescript", "import { rest } from './rest';\n{loop}    await rest(RATE.pauseMs);\n  }\n}", 0),
        ("typescript", "import { rest } from './rest';\n{loop}    await rest(2_000);\n  }\n}", 0),
        ("typescript", "import { log } from './log';\n{loop}    log(250);\n  }\n}", 1),
    ],
)
def test_rounds_that_are_paced_by_a_sleep_under_another_name(language, source, count):
    loop = "async function tell(api, ids) {\n  for (const id of ids) {\n    await api.fetchOne(id);\n"
    assert len(lines_of(RULE, source.replace("{loop}", loop), language)) == count
