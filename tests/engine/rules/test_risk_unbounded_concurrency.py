import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "risk-unbounded-concurrency"


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("await Promise.all(users.map((u) => mailer.send(u)));", [2]),
        ("await Promise.all(users.map(async (u) => { await fetch(u.url); }));", [2]),
        ("await Promise.all([a, b].map((u) => mailer.send(u)));", []),
        ("const two = [a, b]; await Promise.all(two.map((u) => mailer.send(u)));", []),
        ("await Promise.all(users.map((u) => limit(() => mailer.send(u))));", []),
        ("await Promise.all(users.map((u) => u.name));", []),
        ("await pMap(users, (u) => mailer.send(u), { concurrency: 8 });", []),
        ("await Promise.all([load(), save()]);", []),
    ],
)
def test_script(body, lines):
    assert lines_of(RULE, f"async function f(users) {{\n{body}\n}}", "typescript") == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("await asyncio.gather(*[send(x) for x in xs])", [5]),
        ("await asyncio.gather(*(send(x) for x in xs))", [5]),
        ("await asyncio.gather(*[guarded(x) for x in xs])", []),
        ("await asyncio.gather(*[send(x) for x in range(3)])", []),
        ("await asyncio.gather(send(1), send(2))", []),
    ],
)
def test_python(body, lines):
    head = "import asyncio\nasync def guarded(x):\n    async with semaphore: await send(x)\n"
    assert lines_of(RULE, f"{head}async def f(xs):\n    {body}\n") == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("for _, x := range xs {\ngo send(x)\n}", [4]),
        ("sem := make(chan int, 3)\nfor _, x := range xs {\nsem <- 1\ngo send(x)\n}", []),
        ("for i := 0; i < 3; i++ {\ngo send(i)\n}", []),
        ("for {\nconn := l.Accept()\ngo serve(conn)\n}", []),
    ],
)
def test_go(body, lines):
    assert lines_of(RULE, f"package a\nfunc f(xs []int) {{\n{body}\n}}\n", "go") == lines


def test_java():
    head = "import java.util.concurrent.Executors;\nclass A { void f() {\n"
    assert lines_of(RULE, head + "Executors.newCachedThreadPool(); } }", "java") == [3]
    assert lines_of(RULE, head + "Executors.newFixedThreadPool(8); } }", "java") == []


def test_in_a_script_it_is_worth_knowing_only():
    source = "export async function f(users) {\n  await Promise.all(users.map((u) => mailer.send(u)));\n}\n"
    assert [str(each.severity) for each in findings_of(RULE, {"src/f.ts": source})] == ["warning"]
    assert [str(each.severity) for each in findings_of(RULE, {"scripts/f.ts": source})] == ["info"]


@pytest.mark.parametrize(
    ("language", "source", "lines"),
    [
        ("python", "async def f(xs):\n    for x in xs:\n        asyncio.create_task(send(x))", [4]),
        ("python", "async def f():\n    for x in range(3):\n        asyncio.create_task(send(x))", []),
        (
            "python",
            "async def f(xs, semaphore):\n    for x in xs:\n        asyncio.create_task(send(x, semaphore))",
            [],
        ),
        ("python", "def f(xs):\n    for x in xs:\n        threading.Thread(target=send, args=(x,)).start()", [4]),
        ("java", "class A { void f(List<X> xs) {\nfor (X x : xs) {\nnew Thread(() -> g(x)).start();\n} } }", [3]),
        (
            "typescript",
            "async function f(xs) {\nconst jobs = [];\nfor (const x of xs) {\njobs.push(fetch(x));\n}\n"
            "await Promise.all(jobs);\n}",
            [4],
        ),
        (
            "typescript",
            "async function f(xs) {\nconst jobs = [];\nfor (const x of xs) {\njobs.push(double(x));\n}\n"
            "await Promise.all(jobs);\n}",
            [],
        ),
    ],
)
def test_one_operation_for_each_round_of_a_loop(language, source, lines):
    head = "import asyncio, threading\n" if language == "python" else ""
    assert lines_of(RULE, head + source, language) == lines


def test_a_verb_alone_and_a_name_alone_are_guesses():
    loaded = "const f = async () => {{\n  const rows = await db.row.findMany({{}});\n"
    loaded += "  await Promise.all(rows.map((x) => {}(x)));\n}}"
    (known,) = marks_of(RULE, loaded.format("fetch"), "typescript")
    (guessed,) = marks_of(RULE, loaded.format("createFile"), "typescript")
    (named,) = marks_of(RULE, "const f = (ids) => Promise.all(ids.map((x) => fetch(x)));", "typescript")
    assert (known.confidence, guessed.confidence, named.confidence) == ("", "low", "low")


@pytest.mark.parametrize(
    ("language", "source", "lines"),
    [
        ("typescript", "const jobs = ids.map((id) => fetch(id));\nawait Promise.all(jobs);", [2]),
        ("typescript", "await Promise.all(ids.map((id) => tx.user.update(id)));", []),
        ("typescript", "await Promise.all(plugins.map((plugin) => fetch(plugin)));", []),
        ("python", "async def f(xs):\n    tasks = [load(x) for x in xs]\n    await asyncio.gather(*tasks)\n", [4]),
        ("python", "async def f(xs):\n    await asyncio.gather(*map(load, xs))\n", [3]),
        (
            "python",
            "sem = asyncio.Semaphore(9)\nasync def load(x):\n    async with sem:\n        return x\n"
            "async def f(xs):\n    await asyncio.gather(*[load(x) for x in xs])\n",
            [],
        ),
        ("java", "import java.util.concurrent.*;\nclass A { Executor a = Executors.newCachedThreadPool(); }", [2]),
    ],
)
def test_other_ways_to_start_everything_at_once(language, source, lines):
    head = "import asyncio\n" if language == "python" else ""
    assert lines_of(RULE, head + source, language) == lines


@pytest.mark.parametrize(("limit", "lines"), [("", [5]), ("g.SetLimit(8)", [])])
def test_a_group_of_go_without_a_limit(limit, lines):
    source = (
        'package a\nimport "golang.org/x/sync/errgroup"\nfunc f(urls []string) {\n'
        f"var g errgroup.Group; {limit}\nfor _, u := range urls {{ g.Go(func() error {{ return get(u) }}) }}\n}}"
    )
    assert lines_of(RULE, source, "go") == lines


def test_a_thread_for_each_request_of_java():
    source = (
        '@RestController class A {\n@PostMapping("/x")\nvoid f(@RequestBody Job job) {\n'
        "new Thread(() -> job.run()).start();\n}\n}"
    )
    assert [each.line for each in findings_of(RULE, {"A.java": source})] == [4]
    assert findings_of(RULE, {"A.java": source.replace('@PostMapping("/x")', "")}) == []


def test_browsers_open_few_connections_at_once():
    source = "export const f = (ids) => Promise.all(ids.map((id) => fetch(id)));"
    assert len(findings_of(RULE, {"src/orders.ts": source})) == 1
    assert findings_of(RULE, {"frontend/orders.ts": source}) == []
    page = {"apps/shop/package.json": '{"dependencies": {"react": "18"}}', "apps/shop/src/orders.ts": source}
    assert findings_of(RULE, page) == []
    server = {"apps/shop/package.json": '{"dependencies": {"express": "4"}}', "apps/shop/src/orders.ts": source}
    assert len(findings_of(RULE, server)) == 1


@pytest.mark.parametrize(
    ("queue", "count"), [("new LinkedBlockingQueue<>()", 1), ("new LinkedBlockingQueue<>(500)", 0)]
)
def test_an_executor_whose_queue_has_no_end(queue, count):
    made = f"new ThreadPoolExecutor(4, 8, 1, TimeUnit.MINUTES, {queue})"
    source = f"import java.util.concurrent.*;\nclass A {{\n private final ExecutorService pool = {made};\n}}"
    assert len(lines_of(RULE, source, "java")) == count


def test_the_semaphore_may_stand_in_another_file():
    mail = "limit = asyncio.Semaphore(9)\n\n\nasync def send(to):\n    async with limit:\n        await post(to)\n"
    work = (
        "import asyncio\nfrom shop import mail\n\n\nasync def f(users):\n"
        "    await asyncio.gather(*[mail.send(u) for u in users])\n"
    )
    assert findings_of(RULE, {"shop/mail.py": mail, "shop/work.py": work}) == []
    free = mail.replace("async with limit", "if to")
    assert [each.line for each in findings_of(RULE, {"shop/mail.py": free, "shop/work.py": work})] == [6]


@pytest.mark.parametrize(("given", "count"), [("fns ...func() error", 0), ("fns []func() error", 1)])
def test_functions_that_the_caller_lists(given, count):
    body = "g := errgroup.Group{}\n\tfor _, fn := range fns {\n\t\tg.Go(fn)\n\t}\n\treturn g.Wait()"
    source = f'package a\nimport "golang.org/x/sync/errgroup"\nfunc run({given}) error {{\n\t{body}\n}}\n'
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(("each", "count"), [("task", 0), ("send(task)", 1)])
def test_tasks_that_run_already(each, count):
    source = f"import asyncio\nasync def f(rows):\n    await asyncio.gather(*[{each} for task in rows])\n"
    assert len(lines_of(RULE, source, "python")) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("const first = name.slice(0, 3);\n  await Promise.all(ids.map((id) => fetch(id)));", 1),
        ("const pool = open(limit(name));\n  await Promise.all(ids.map((id) => fetch(id)));", 1),
        ("await Promise.all(ids.map((id) => send(id, batch)));", 1),
        ("const few = ids.slice(0, 9);\n  await Promise.all(few.map((id) => fetch(id)));", 0),
        ("for (const part of chunk(ids, 9)) await Promise.all(part.map((id) => fetch(id)));", 0),
        ("while (ids.length) await Promise.all(ids.splice(0, 9).map((id) => fetch(id)));", 0),
        ("if (ids.length > 50) throw new Error();\n  await Promise.all(ids.map((id) => fetch(id)));", 0),
        ("if (ids.length > 0) log(ids);\n  await Promise.all(ids.map((id) => fetch(id)));", 1),
        ("await Promise.all(ids.map((id) => bucket.getSignedUrl(id)));", 0),
    ],
)
def test_a_limit_of_something_else_limits_nothing(body, count):
    assert len(lines_of(RULE, f"async function f(ids, name, batch) {{\n  {body}\n}}", "typescript")) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("    pool = open_pool()\n    await asyncio.gather(*[load(x) for x in ids])", 1),
        ("    async with semaphore:\n        log(ids)\n    await asyncio.gather(*[load(x) for x in ids])", 1),
        ("    loop = now()\n    await asyncio.gather(*[loop.run_in_executor(None, load, x) for x in ids])", 0),
        ("    async with semaphore:\n        await asyncio.gather(*[load(x) for x in ids])", 0),
        ("    part = ids[:9]\n    await asyncio.gather(*[load(x) for x in part])", 0),
    ],
)
def test_limits_of_python(body, count):
    assert len(lines_of(RULE, f"import asyncio\nasync def f(ids, semaphore):\n{body}\n")) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("done <- 1\nfor _, id := range ids {\ngo send(id)\n}", 1),
        ("for _, id := range ids {\nroom <- 1\ngo send(id)\n}", 0),
        ("for _, id := range ids {\ngo func() {\nsend(id)\ndone <- 1\n}()\n}", 1),
        ("for _, id := range ids {\ngo func() {\nsem <- 1\nsend(id)\n<-sem\n}()\n}", 0),
        ("for _, id := range ids {\ngo send(id, done)\n<-done\n}", 0),
        ("for _, id := range ids {\ngo send(id, done)\n}\n<-done", 1),
        ("if len(ids) > 20 {\nreturn\n}\nfor _, id := range ids {\ngo send(id)\n}", 0),
    ],
)
def test_limits_of_go(body, count):
    source = f"package a\nfunc f(ids []int, pool *Pool, done, room, sem chan int) {{\n{body}\n}}\n"
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(("name", "count"), [("closeAll", 0), ("closest", 1)])
def test_what_ends_the_process_closes_all(name, count):
    source = f"export const {name} = (clients) => Promise.all(clients.map((c) => c.client.close()));"
    assert len(findings_of(RULE, {"src/a.ts": source.replace("clients", "rows")})) == count


def test_an_app_of_a_phone_is_no_server():
    source = "{}import java.util.concurrent.Executors;\nclass A {{ Object pool = Executors.newCachedThreadPool(); }}\n"
    assert len(findings_of(RULE, {"src/A.java": source.format("")})) == 1
    assert findings_of(RULE, {"src/A.java": source.format("import android.os.Handler;\n")}) == []


@pytest.mark.parametrize(("group", "count"), [("sizedwaitgroup.New(4)", 0), ("sync.WaitGroup{}", 1)])
def test_a_group_with_a_size_waits_for_room(group, count):
    source = (
        f"package a\nfunc f(orders []Order) {{\n\twg := {group}\n\tfor _, order := range orders {{\n\t\twg.Add()\n"
        "\t\tgo send(order)\n\t}\n}\n"
    )
    assert len(findings_of(RULE, {"a.go": source})) == count


@pytest.mark.parametrize(("end", "count"), [("finally { pool.shutdownNow(); }", 0), ("finally { done(); }", 1)])
def test_a_pool_that_ends_with_its_call(end, count):
    source = "class A { void f() {\nvar pool = Executors.newCachedThreadPool();\ntry { work(pool); } " + end + "\n} }"
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(
    ("collection", "count"), [("ctx.integrations", 0), ("input.integrations", 1), ("integrations", 0)]
)
def test_parts_of_the_program_or_what_the_caller_gives(collection, count):
    source = (
        f"export async function f(ctx, input) {{\n  await Promise.all({collection}.map((i) => client.send(i)));\n}}\n"
    )
    assert len(lines_of(RULE, source, "typescript")) == count


NOTES = "export async function tell(name: string) {\n  await axios.post(url, { name });\n}\n"
WORK = (
    'import * as notes from "./notes";\nexport async function f(names: string[]) {\n'
    "  await Promise.all(names.map((name) => notes.tell(name)));\n}\n"
)


def test_what_is_called_for_each_asks_a_server():
    (found,) = findings_of(RULE, {"src/notes.ts": NOTES, "src/f.ts": WORK})
    assert (found.line, str(found.confidence)) == (3, "low")
    inside = NOTES.replace("await axios.post(url, { name })", "return name.trim()")
    assert findings_of(RULE, {"src/notes.ts": inside, "src/f.ts": WORK}) == []


def test_where_a_request_brings_them_it_is_more_certain():
    route = 'import { Router } from "express";\nimport { f } from "./f";\nconst router = Router();\n'
    route += 'router.post("/x", (req, res) => f(req.body.names).then(() => res.end()));\n'
    (found,) = findings_of(RULE, {"src/notes.ts": NOTES, "src/f.ts": WORK, "src/routes.ts": route})
    assert str(found.confidence) == "medium"


@pytest.mark.parametrize(
    ("started", "count"),
    [
        ("f.send(driver.URL)", 1),
        ("f.send(drivers[0].URL)", 1),
        ("driver.Start(f)", 0),
        ("driver(f)", 0),
    ],
)
def test_data_is_given_and_parts_are_called_upon(started, count):
    source = "package a\nfunc (f *Fleet) Offer(drivers []Driver) {\n\tfor _, driver := range drivers {\n"
    source += f"\t\tgo func() {{\n\t\t\t{started}\n\t\t}}()\n\t}}\n}}\n"
    source += "func (f *Fleet) send(url string) {\n\tf.client.Do(url)\n}\n"
    assert len(findings_of(RULE, {"fleet/a.go": source})) == count


def test_threads_inside_of_a_function_for_each():
    source = (
        "class A {\nvoid f(List<String> names) {\nnames.forEach(name -> new Thread(() -> call(name)).start());\n}\n"
    )
    source += "void call(String name) { restTemplate.postForObject(url, name, String.class); }\n}"
    assert [each.line for each in findings_of(RULE, {"src/A.java": source})] == [3]


@pytest.mark.parametrize(
    ("started", "count"), [("ask(shop) for shop in shops", 1), ("ask(shop) for shop in self.shops", 0)]
)
def test_lists_that_are_given_to_a_method(started, count):
    source = "import asyncio\nclass A:\n    async def f(self, shops):\n"
    source += f"        await asyncio.gather(*[self.{started}])\n"
    source += "    async def ask(self, shop):\n        await self._client.post(url, json=shop)\n"
    assert len(findings_of(RULE, {"shop/a.py": source})) == count


def test_listed_functions_around_a_closure():
    source = 'package a\nimport "golang.org/x/sync/errgroup"\nfunc Both(fs ...func() error) func() error {\n'
    source += "\treturn func() error {\n\t\tvar g errgroup.Group\n\t\tfor _, f := range fs {\n"
    source += "\t\t\tg.Go(func() error { return f() })\n\t\t}\n\t\treturn g.Wait()\n\t}\n}\n"
    assert lines_of(RULE, source, "go") == []
    assert lines_of(RULE, source.replace("...func", "[]func"), "go") == [7]


@pytest.mark.parametrize(
    ("started", "count"),
    [
        ("Order.create(row)", 1),
        ("Order.create(row, { transaction })", 0),
        ("Order.create(row, { transaction: dbTransaction })", 0),
        ("context.loaders.Order.load(row)", 0),
        ("orderOf(row, { loaders: req.loaders })", 0),
    ],
)
def test_one_connection_and_loaders_that_ask_once(started, count):
    source = f"export async function f(rows, req, context) {{\n  await Promise.all(rows.map((row) => {started}));\n}}\n"
    assert len(findings_of(RULE, {"src/a.ts": source})) == count


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ("const rows = await Order.findAll({ where, order });", 1),
        ("const rows = await Order.findAll({ where, order, limit });", 0),
        ("const rows = await db.order.findMany({ where, take: 50 });", 0),
        ("const rows = Array(Math.min(count, 50)).fill(0);", 0),
    ],
)
def test_a_page_of_rows(given, count):
    source = f"async function f(where, order, limit, count) {{\n  {given}\n"
    source += "  await Promise.all(rows.map((row) => client.send(row)));\n}\n"
    assert len(lines_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(("method", "count"), [("findAllInBatches", 0), ("DataLoader", 0), ("within", 1)])
def test_pieces_that_a_function_is_given(method, count):
    source = f"await Order.{method}({{}}, async (orders) => {{\n"
    source += "  await Promise.all(orders.map((order) => client.send(order)));\n});\n"
    assert len(lines_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(("folder", "count"), [("seed", 0), ("shop", 1)])
def test_what_fills_a_database_for_developers(folder, count):
    source = "export const f = (rows) => Promise.all(rows.map((row) => client.send(row)));\n"
    assert len(findings_of(RULE, {f"src/{folder}/rows.ts": source})) == count


@pytest.mark.parametrize(("started", "count"), [("queue.add(() => send(row))", 0), ("send(row)", 1)])
def test_what_is_added_to_a_queue_waits_for_its_turn(started, count):
    source = f"async function f(rows) {{\n  await Promise.all(rows.map((row) => {started}));\n}}\n"
    source = "async function send(row) { await fetch(row.url); }\n" + source
    assert len(findings_of(RULE, {"src/a.ts": source})) == count


@pytest.mark.parametrize(
    ("started", "count"), [("p.run(job)", 1), ("job.run()", 0), ("p.run(ctx)", 0), ("p.watch(job)", 1)]
)
def test_a_goroutine_that_runs_what_it_is_given(started, count):
    source = (
        "package a\n\nfunc (p *Pool) All(ctx context.Context, jobs []Job) {\n"
        f"\tfor _, job := range jobs {{\n\t\tgo {started}\n\t}}\n}}\n"
    )
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(("calls", "count"), [("", 1), ("\tremind.Remind(all)\n", 0)])
def test_what_nobody_is_seen_to_call_may_be_given_any_number(calls, count):
    remind = (
        "package remind\n\nfunc Remind(bookings []Booking, send func(Booking)) {\n"
        "\tfor _, each := range bookings {\n\t\tgo send(each)\n\t}\n}\n"
    )
    main = (
        'package main\n\nimport "net/http"\n\nfunc show(w http.ResponseWriter, r *http.Request) {}\n\n'
        f'func setup() {{\n{calls}\thttp.HandleFunc("/", show)\n}}\n'
    )
    found = findings_of(RULE, {"remind/remind.go": remind, "web/web.go": main})
    assert len(found) == count


@pytest.mark.parametrize(
    ("made", "count"),
    [
        ("Executors.newFixedThreadPool(4, r -> new Thread(r, name))", 0),
        ("Executors.newSingleThreadExecutor(new ThreadFactory() {\n public Thread newThread(Runnable r) {\n"
         "  return new Thread(r);\n }\n})", 0),
        ("() -> new Thread(r, name).start()", 1),
    ],
)  # fmt: skip
def test_a_thread_that_a_pool_asks_for(made, count):
    source = f"class A {{ void f(Runnable r) {{\n Object made = {made};\n}} }}"
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(("source", "count"), [('request.json["hosts"]', 1), ("load()", 0)])
def test_threads_for_what_a_request_brings(source, count):
    text = (
        "import threading\nfrom flask import request\n\n\ndef f():\n"
        f"    hosts = {source}\n    return [threading.Thread(target=ping, args=(h,)) for h in hosts]\n"
    )
    assert len(lines_of(RULE, text)) == count


MAILS = 'import axios from "axios";\nexport class Mails {\n  send(to) {\n    return axios.post("/m", { to });\n  }\n}\n'


@pytest.mark.parametrize(
    ("drivers", "confidences"),
    [
        ("await this.prisma.driver.findMany({ where: { active: true } })", ["medium"]),
        ("await this.prisma.driver.findMany({ take: 20 })", []),
        ("this.registered()", []),
    ],
)
def test_rows_are_no_parts_of_the_program_whatever_they_are_called(drivers, confidences):
    source = (
        'import { Processor, WorkerHost } from "@nestjs/bullmq";\nimport { Mails } from "./mails";\n'
        '@Processor("mails")\nexport class Letters extends WorkerHost {\n'
        "  constructor(private prisma: PrismaService, private mails: Mails) {\n    super();\n  }\n"
        "  async process(job) {\n    return this.tell(job.data.text);\n  }\n"
        f"  private async tell(text) {{\n    const drivers = {drivers};\n"
        "    await Promise.all(drivers.map((d) => this.mails.send(d.email)));\n  }\n}\n"
    )
    found = findings_of(RULE, {"src/mails.ts": MAILS, "src/letters.ts": source})
    assert [str(each.confidence) for each in found] == confidences


@pytest.mark.parametrize(("asked", "count"), [("request({ host }, resolve).end()", 1), ("resolve(host.length)", 0)])
def test_what_a_promise_is_given_runs_at_once(asked, count):
    source = (
        'import { request } from "node:http";\nexport class Hosts {\n'
        f"  ping(host) {{\n    return new Promise((resolve) => {{\n      {asked};\n    }});\n  }}\n"
        "  pingAll(hosts) {\n    return Promise.all(hosts.map((host) => this.ping(host)));\n  }\n}\n"
    )
    assert len(findings_of(RULE, {"src/hosts.ts": source})) == count


@pytest.mark.parametrize(
    ("query", "started", "count"),
    [
        ('db.Select(&subs, "SELECT id FROM subscriptions WHERE shop = $1 LIMIT 1000", shop)', "client.Do(s)", 1),
        ('db.Select(&subs, "SELECT id FROM subscriptions WHERE shop = $1 LIMIT 5", shop)', "client.Do(s)", 0),
        ("fill(&subs)", "client.Do(s)", 0),
        ('db.Select(&subs, "SELECT id FROM subscriptions WHERE shop = $1 LIMIT 1000", shop)', "add(s)", 0),
    ],
)
def test_a_goroutine_for_each_row_that_another_function_loads(query, started, count):
    source = (
        "package a\n\ntype Subs struct{}\n\ntype Bell struct{ subs *Subs }\n\n"
        "func (b *Subs) Of(shop int) ([]Sub, error) {\n\tvar subs []Sub\n"
        f"\terr := {query}\n\treturn subs, err\n}}\n\n"
        "func (b *Bell) Ring(w http.ResponseWriter, r *http.Request) {\n\tsubs, err := b.subs.Of(1)\n"
        f"\tfor _, s := range subs {{\n\t\tgo func() {{ {started} }}()\n\t}}\n}}\n"
    )
    assert len(findings_of(RULE, {"a/a.go": source})) == count


@pytest.mark.parametrize(("kept", "count"), [("all = loaded;", 0), ("use(loaded);", 1)])
def test_what_is_remembered_is_started_once(kept, count):
    source = (
        "let all: Row[] | undefined;\nexport const load = async (ids: string[]) => {\n"
        "  if (all) {\n    return all;\n  }\n"
        f"  const loaded = await Promise.all(ids.map((id) => fetch(id)));\n  {kept}\n  return loaded;\n}};\n"
    )
    assert len(marks_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(
    ("entry", "count"),
    [('@RabbitListener(queues = "alerts")', 1), ("@EventListener", 0), ("@Scheduled(fixedDelay = 9)", 0)],
)
def test_a_thread_for_each_message(entry, count):
    source = f"class A {{\n  {entry}\n  void on(Alert alert) {{\n    new Thread(() -> tell(alert)).start();\n  }}\n}}\n"
    assert [each.line for each in findings_of(RULE, {"src/A.java": source})] == [4] * count


@pytest.mark.parametrize(
    ("started", "count"),
    [("sendMail(each)", 1), ("state.create(each)", 0), ("fs.readFile(each)", 0), ("api.load(each)", 1)],
)
def test_a_verb_alone_may_stay_in_the_process(started, count):
    source = f"export async function f(all: string[]) {{\n  await Promise.all(all.map((each) => {started}));\n}}\n"
    assert len(findings_of(RULE, {"src/a.ts": source})) == count


@pytest.mark.parametrize(
    ("filled", "count"),
    [
        ('db.Where("lent = ?", true).Find(&late)', 1),
        ('db.SelectContext(ctx, &late, "SELECT id, reader FROM books WHERE lent")', 1),
        ('db.NewSelect().Model(&late).Where("lent").Scan(ctx)', 1),
        ('db.Where("lent = ?", true).Limit(10).Find(&late)', 0),
        ('db.SelectContext(ctx, &late, "SELECT id, reader FROM books WHERE lent LIMIT 10")', 0),
        ("db.\n\t\tLimit(10).\n\t\tFind(&late)", 0),
        ("json.Unmarshal(text, &late)", 0),
    ],
)
def test_rows_that_go_reads_into_a_list(filled, count):
    source = (
        'package shelf\nimport "net/http"\nfunc (s Shelf) Remind(ctx context.Context) error {\n\tvar late []Book\n'
        f"\tif err := {filled}.Error; err != nil {{\n\t\treturn err\n\t}}\n"
        "\tfor _, b := range late {\n\t\tgo s.write(b.Reader)\n\t}\n\treturn nil\n}\n"
        "func (s Shelf) write(to string) {\n\thttp.Post(to, kind, nil)\n}\n"
    )
    assert len(findings_of(RULE, {"shelf/a.go": source})) == count


@pytest.mark.parametrize(
    ("export", "given", "count"),
    [
        ("", "[first, second]", 0),
        ("", "[...more, first]", 0),
        ("", "CONTRACTS", 0),
        ("", "handed", 0),
        ("", "loaded", 1),
        ("export ", "[first, second]", 1),
    ],
)
def test_lists_that_the_callers_write_out(export, given, count):
    source = (
        f"{export}async function each(contracts: Contract[]) {{\n"
        "  await Promise.all(contracts.map((one) => fetch(one.url)));\n}\n"
        f"async function some(handed: Contract[], loaded) {{\n  await each({given});\n}}\n"
        "export async function f(rows) {\n  await some([first], rows);\n}\n"
    )
    assert len(findings_of(RULE, {"src/a.ts": source})) == count


@pytest.mark.parametrize(
    ("taken", "each", "count"),
    [
        ("const { codes } = req.body;", "codes", 1),
        ("const countries = req.body.countries;", "countries", 1),
        ("const { codes } = settings;", "codes", 0),
        ("const countries = settings.countries;", "countries", 0),
        ("const { codes } = req.body;", "codes.slice(0, 5)", 0),
    ],
)
def test_what_a_request_brings_is_as_long_as_its_caller_likes(taken, each, count):
    web = (
        "import express from 'express';\nimport { ask } from './ask.js';\nconst router = express.Router();\n"
        f"router.post('/all', async (req, res) => {{\n  {taken}\n"
        f"  res.json(await Promise.all({each}.map(async (code) => ask(code))));\n}});\nexport default router;\n"
    )
    asks = "export async function ask(code) {\n  return fetch(`https://rates.example.org/${code}`);\n}\n"
    assert len(findings_of(RULE, {"src/web.js": web, "src/ask.js": asks})) == count


@pytest.mark.parametrize(("made", "count"), [("axios.create({ timeout: 900 })", 1), ("new Map()", 0)])
def test_a_client_of_another_file_leaves_the_process(made, count):
    web = (
        "import { ask } from './ask.js';\n"
        "export async function all(ids) {\n  return Promise.all(ids.map((id) => ask(id)));\n}\n"
    )
    asks = "import { stock } from './stock.js';\nexport function ask(id) {\n  return stock.get(`/${id}`);\n}\n"
    stock = f"import axios from 'axios';\nexport const stock = {made};\n"
    assert len(findings_of(RULE, {"src/web.js": web, "src/ask.js": asks, "src/stock.js": stock})) == count


@pytest.mark.parametrize(
    ("head", "each", "count"),
    [
        ("@router.post('/all')\nasync def pull_all(batch: Batch):", "batch.rows", 1),
        ("async def pull_all(batch: Batch):", "batch.rows", 0),
        ("@router.post('/all')\nasync def pull_all(body: Batch):", "body.batch", 0),
        ("@router.post('/all')\nasync def pull_all(batch: Batch):", "batch.rows[:5]", 0),
    ],
)
def test_the_body_of_a_request_is_no_piece_by_its_name(head, each, count):
    source = (
        "import asyncio\nimport httpx\nfrom fastapi import APIRouter\nrouter = APIRouter()\n"
        "async def pull(row):\n    return await httpx.AsyncClient().get(row)\n"
        f"{head}\n    return await asyncio.gather(*[pull(row) for row in {each}])\n"
    )
    assert len(findings_of(RULE, {"shop/web.py": source})) == count


@pytest.mark.parametrize(
    ("before", "started", "count"),
    [
        ("", "serve(conn)", 1),
        ("", "func() { serve(conn) }()", 1),
        ("", "count()", 0),
        ("room <- struct{}{}", "serve(conn)", 0),
    ],
)
def test_connections_that_go_accepts_are_worth_knowing(before, started, count):
    source = (
        'package a\nimport "net"\nfunc listen(l net.Listener) error {\n\tfor {\n'
        f"\t\tconn, err := l.Accept()\n\t\tif err != nil {{\n\t\t\treturn err\n\t\t}}\n\t\t{before}\n"
        f"\t\tgo {started}\n\t}}\n}}\n"
    )
    assert [each.severity for each in findings_of(RULE, {"a/a.go": source})] == ["info"] * count


@pytest.mark.parametrize(
    ("asked", "started", "confidences"),
    [
        ("orders.findByState(OPEN)", "rest.postForObject(URL, each, String.class)", ["medium"]),
        ("orders.findByState(OPEN)", "seen.count(each)", []),
        ("orders.findTop10ByState(OPEN)", "rest.postForObject(URL, each, String.class)", []),
        ("desk.waiting()", "rest.postForObject(URL, each, String.class)", []),
    ],
)
def test_a_thread_for_each_row_by_whatever_name(asked, started, confidences):
    files = {
        "src/Order.java": "import jakarta.persistence.*;\n@Entity\nclass Order {\n  @Id Long id;\n  String state;\n}\n",
        "src/OrderRepository.java": "interface OrderRepository extends JpaRepository<Order, Long> {\n"
        "  List<Order> findByState(String state);\n  List<Order> findTop10ByState(String state);\n}\n",
        "src/Jobs.java": "import org.springframework.data.jpa.repository.JpaRepository;\n@Component\nclass Jobs {\n"
        "  private final OrderRepository orders;\n  private final RestTemplate rest;\n"
        f'  @Scheduled(cron = "0 0 4 * * *")\n  void scan() {{\n    List<Order> waiting = {asked};\n'
        f"    for (Order each : waiting) {{\n      new Thread(() -> {started}).start();\n    }}\n  }}\n}}\n",
    }
    assert [each.confidence for each in findings_of(RULE, files)] == confidences
