import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "risk-shared-mutable-state"

FLASK = "from flask import Flask\napp = Flask(__name__)\n"


@pytest.mark.parametrize(
    ("state", "body", "count"),
    [
        ("VISITS = []", "VISITS.append(1)", 1),
        ("totals: dict[str, int] = {}", "totals['a'] += 1", 1),
        ("hits = 0", "global hits\n    hits += 1", 1),
        ("counter = 0", "global counter\n    counter += 1", 1),
        ("hits = 0", "hits = 1", 0),
        ("VISITS = []", "return len(VISITS)", 0),
        ("VISITS = []", "with lock:\n        VISITS.append(1)", 0),
        ("VISITS = []", "VISITS = []\n    VISITS.append(1)", 0),
        ("_cache = {}", "_cache['a'] = 1", 0),
        ("REGISTRY = {}", "REGISTRY['a'] = 1", 0),
        ("NAMES = ('a', 'b')", "return NAMES", 0),
    ],
)
def test_state_of_a_python_module(state, body, count):
    source = f"{FLASK}{state}\n\n@app.get('/x')\ndef handle():\n    {body}\n"
    assert len(findings_of(RULE, {"shop/views.py": source})) == count


def test_state_that_no_request_changes_is_fine():
    source = "VISITS = []\n\ndef fill():\n    VISITS.append(1)\n\nfill()\n"
    assert findings_of(RULE, {"shop/start.py": source}) == []


def test_the_finding_stands_at_the_declaration_and_names_the_handler():
    source = f"{FLASK}current_user = {{}}\n\n@app.get('/x')\ndef handle():\n    current_user['id'] = 5\n"
    (finding,) = findings_of(RULE, {"shop/views.py": source})
    assert finding.line == 3
    assert finding.message == (
        "`current_user` is shared by everything in the process and changed by requests, in `handle`"
    )
    assert (finding.severity, finding.confidence) == ("critical", "medium")


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("class A:\n    rows = []\n\n    def add(self, row):\n        self.rows.append(row)\n", [2]),
        (
            "class A:\n    rows = []\n\n    def __init__(self):\n        self.rows = []\n\n"
            "    def add(self, row):\n        self.rows.append(row)\n",
            [],
        ),
        ("class A:\n    rows = []\n\n    def all(self):\n        return self.rows\n", []),
        ("class A:\n    rows = ()\n\n    def all(self):\n        return self.rows\n", []),
    ],
)
def test_a_list_of_the_class(source, lines):
    assert [each.line for each in findings_of(RULE, {"a.py": source})] == lines


@pytest.mark.parametrize(
    ("state", "body", "count"),
    [
        ("const visits = [];", "visits.push(req.ip);", 1),
        ("let hits = 0;", "hits += 1;", 1),
        ("let editor = 'nobody';", "editor = req.body.name;", 1),
        ("let editor = 'nobody';", "res.json(editor);", 0),
        ("const rooms = new Map();", "rooms.set(req.id, 1);", 1),
        ("const visits = [];", "const visits = []; visits.push(1);", 0),
        ("const cache = new Map();", "cache.set(req.id, 1);", 0),
        ("const names = ['a'];", "res.json(names);", 0),
    ],
)
def test_state_of_a_script_module(state, body, count):
    source = f"const app = express();\n{state}\napp.get('/x', (req, res) => {{\n  {body}\n}});\n"
    assert len(findings_of(RULE, {"shop/routes.js": source})) == count


@pytest.mark.parametrize(
    ("field", "count"),
    [
        ('private static final SimpleDateFormat FORMAT = new SimpleDateFormat("yyyy");', 1),
        ("private static final DateTimeFormatter FORMAT = DateTimeFormatter.ISO_DATE;", 0),
        ("private static final ThreadLocal<SimpleDateFormat> FORMAT = x;", 0),
        ("private final SimpleDateFormat format = x;", 0),
    ],
)
def test_static_objects_that_one_thread_may_use(field, count):
    assert len(findings_of(RULE, {"A.java": f"class A {{\n  {field}\n}}\n"})) == count


BEAN = """
package shop;
import org.springframework.web.bind.annotation.*;

@RestController
class Orders {
  %s
  @GetMapping("/x")
  public String show(String name) {
    %s
    return name;
  }
}
"""


@pytest.mark.parametrize(
    ("field", "body", "count"),
    [
        ("private String last;", "last = name;", 1),
        ("private int visits;", "this.visits++;", 1),
        ("private final AtomicInteger visits = x;", "visits.incrementAndGet();", 0),
        ("private String last;", "synchronized (this) { last = name; }", 0),
        ("@Autowired\n  private Rows rows;", "rows.find(name);", 0),
    ],
)
def test_fields_of_spring_beans(field, body, count):
    assert len(findings_of(RULE, {"Orders.java": BEAN % (field, body)})) == count


LAZY = """
class A {
  private static %s A instance;
  static A get() {
    if (instance == null) {
      synchronized (A.class) {
        if (instance == null) { instance = new A(); }
      }
    }
    return instance;
  }
}
"""


def test_double_checked_locking_needs_volatile():
    assert [each.line for each in findings_of(RULE, {"A.java": LAZY % ""})] == [6]
    assert findings_of(RULE, {"A.java": LAZY % "volatile"}) == []


GO = """package shop

import "net/http"

var visits = map[string]int{}

func show(w http.ResponseWriter, r *http.Request) {
	%s
	visits[r.URL.Path]++
	visits["a"] = 1
}
"""


def test_maps_of_a_go_package():
    assert [each.line for each in findings_of(RULE, {"shop/show.go": GO % ""})] == [5]
    assert findings_of(RULE, {"shop/show.go": GO % "mu.Lock()\n\tdefer mu.Unlock()"}) == []


def test_what_is_made_on_first_use_is_no_state():
    head = "from flask import Flask\napp = Flask(__name__)\n_client = None\nVISITS = {}\n\n\n@app.get('/')\n"
    lazy = "def f():\n    global _client\n    if _client is None:\n        _client = make()\n    return _client\n"
    counted = "def f(k):\n    VISITS[k] = VISITS.get(k, 0) + 1\n"
    assert findings_of(RULE, {"shop/views.py": head + lazy}) == []
    assert [each.line for each in findings_of(RULE, {"shop/views.py": head + counted})] == [4]


def test_a_go_map_that_handlers_count_in():
    source = """package a
import "net/http"
var seen = map[string]int{}
func count(w http.ResponseWriter, r *http.Request) {
	seen[r.URL.Path]++
}
func Init() { http.HandleFunc("/", count) }
"""
    assert [each.line for each in findings_of(RULE, {"a/a.go": source})] == [3]
    locked = source.replace("\tseen[", "\tmu.Lock()\n\tdefer mu.Unlock()\n\tseen[")
    assert findings_of(RULE, {"a/a.go": locked}) == []


def test_one_run_for_all_who_ask_at_once_is_meant():
    head = "const app = express();\nlet {0} = null;\n"
    source = head + "app.get('/', (req, res) => {{\n  {0} = start(req);\n  res.end();\n}});\n"
    assert findings_of(RULE, {"src/a.ts": source.format("inFlight")}) == []
    assert [each.line for each in findings_of(RULE, {"src/a.ts": source.format("visitor")})] == [2]


@pytest.mark.parametrize(
    ("field", "body", "count"),
    [
        ("private static final Map<String, Integer> COUNTS = new HashMap<>();", "COUNTS.put(id, 1);", 1),
        ("private static final Map<String, Integer> HITS = new ConcurrentHashMap<>();", "HITS.put(id, 1);", 0),
        ("private final List<String> recent = new ArrayList<>();", "recent.add(id);", 1),
        ("private final List<String> recent;", "recent.add(id);", 0),
        ("private static long total = 0;", "total++;", 1),
    ],
)
def test_collections_that_all_threads_of_java_change(field, body, count):
    source = f"""
@RestController
public class Orders {{
    {field}

    @GetMapping("/orders")
    public String one(String id) {{
        {body}
        return id;
    }}
}}
"""
    assert len(findings_of(RULE, {"src/main/java/Orders.java": source})) == count


@pytest.mark.parametrize(
    ("field", "body", "count"),
    [
        ("private lastUser: string | null = null;", "this.lastUser = id;", 1),
        ("private lastUser?: string;", "this.lastUser = id;", 1),
        ("private readonly hits: string[] = [];", "this.hits.push(id);", 1),
        ("private readonly names: string[] = [];", "return this.names.length;", 0),
        ("private cache = new Map<string, string>();", "this.cache.set(id, id);", 0),
    ],
)
def test_fields_of_a_provider_of_nest(field, body, count):
    source = (
        f"@Controller('orders')\nexport class Orders {{\n  {field}\n  @Get(':id') one(id: string) {{ {body} }}\n}}\n"
    )
    assert len(findings_of(RULE, {"src/orders.controller.ts": source})) == count


def test_a_name_that_only_begins_like_start_up_is_a_request():
    source = "const visits = [];\nexport default function settle(req, res) { visits.push(1); }\n"
    assert len(findings_of(RULE, {"src/a.js": source})) == 1
    assert findings_of(RULE, {"src/a.js": source.replace("settle", "setUp")}) == []


def test_a_go_counter_that_handlers_change():
    source = """package a
import "net/http"
var total int
func count(w http.ResponseWriter, r *http.Request) { total++ }
func other(w http.ResponseWriter, r *http.Request) { total := 1; total++ }
func Init() { http.HandleFunc("/", count) }
"""
    assert [each.line for each in findings_of(RULE, {"a/a.go": source})] == [3]


@pytest.mark.parametrize(
    ("path", "source", "lines"),
    [
        (
            "src/A.java",
            "public class A extends HttpServlet {\n private String user;\n"
            " protected void doGet(HttpServletRequest q, HttpServletResponse s) {\n"
            '  user = q.getParameter("u");\n }\n}',
            [2],
        ),
        (
            "src/a.ts",
            "@Controller('x')\nexport class A {\n  private current: User;\n  constructor(private readonly b: B) {}\n"
            "  @Get()\n  show(@Req() req) {\n    this.current = req.user;\n    return this.b.show();\n  }\n}\n",
            [3],
        ),
        (
            "src/b.ts",
            "@Controller('x')\nexport class A {\n  private client: Client;\n"
            "  constructor() {\n    this.client = make();\n"
            "  }\n  @Get()\n  show() {\n    return this.client.get();\n  }\n}\n",
            [],
        ),
        (
            "a/a.go",
            'package a\nimport "net/http"\nvar total int\nfunc count(w http.ResponseWriter, r *http.Request) {\n'
            '\ttotal++\n}\nfunc Init() { http.HandleFunc("/", count) }\n',
            [3],
        ),
        (
            "a/b.go",
            'package a\nimport "net/http"\nvar limit int\nfunc count(w http.ResponseWriter, r *http.Request) {\n'
            '\tuse(limit)\n}\nfunc Init() { http.HandleFunc("/", count) }\n',
            [],
        ),
    ],
)
def test_fields_of_servlets_and_of_nest_and_counters_of_go(path, source, lines):
    assert [each.line for each in findings_of(RULE, {path: source})] == lines


def test_references_to_tasks_and_what_only_takes_out_are_no_state():
    tasks = "background_tasks = set()\n@app.get('/')\nasync def f():\n    background_tasks.add(start())\n"
    taken = "open_rows = {}\n@app.get('/')\ndef f(k):\n    open_rows.pop(k)\n    return ''\n"
    assert findings_of(RULE, {"shop/a.py": FLASK + tasks}) == []
    assert findings_of(RULE, {"shop/b.py": FLASK + taken}) == []


@pytest.mark.parametrize(
    ("field", "count"),
    [
        ("private Map<K, V> rows = new HashMap<>();", 1),
        ("private Map<K, V> rows = new ConcurrentHashMap<>();", 0),
        ("private Workspace rows;", 0),
    ],
)
def test_what_a_bean_of_java_puts_somewhere(field, count):
    source = (
        f'@RestController\nclass A {{\n {field}\n @PostMapping("/x")\n public void add(K k, V v) {{\n'
        "  rows.put(k, v);\n }\n}"
    )
    assert len(findings_of(RULE, {"src/A.java": source})) == count


def test_a_class_variable_that_says_so_is_shared_on_purpose():
    source = "class Client:\n    all{}= {{}}\n    def open(self):\n        self.all[self.id] = self\n"
    assert len(findings_of(RULE, {"a.py": source.format(" ")})) == 1
    assert findings_of(RULE, {"a.py": source.format(": ClassVar[dict] ")}) == []


def test_what_a_class_fills_on_first_use():
    head = "class Forms:\n    made = {}\n    def get(self, kind):\n"
    asked = (
        "        if kind not in self.made:\n            self.made[kind] = make(kind)\n        return self.made[kind]\n"
    )
    assert findings_of(RULE, {"a.py": head + asked}) == []
    assert len(findings_of(RULE, {"a.py": head + "        self.made[kind] = make(kind)\n"})) == 1


@pytest.mark.parametrize(
    ("body", "confidences"),
    [
        ("lock(KEY)\n    VISITS.append(1)", []),
        ("with lock:\n        log()\n    VISITS.append(1)", ["medium"]),
        ("blocked(request)\n    VISITS.append(1)", ["medium"]),
        ("with lock:\n        VISITS.append(1)\n    VISITS.append(2)", ["low"]),
    ],
)
def test_a_lock_of_something_else_guards_nothing(body, confidences):
    head = "from flask import Flask\napp = Flask(__name__)\nVISITS = []\n\n\n@app.get('/')\ndef index():\n    "
    assert [each.confidence for each in findings_of(RULE, {"shop/views.py": head + body})] == confidences


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("mu.Lock()\n\tother[1] = 2\n\tmu.Unlock()", 1),
        ("clock.Now()", 1),
        ("once.Do(func() {\n\t\tlog(1)\n\t})", 1),
        ("mu.Lock()\n\tif closed {\n\t\tmu.Unlock()\n\t\treturn\n\t}", 0),
        ("mu.RLock()\n\tdefer mu.RUnlock()", 1),
    ],
)
def test_what_a_lock_of_go_has_released_is_not_guarded(body, count):
    assert len(findings_of(RULE, {"shop/show.go": GO % body})) == count


def test_what_everybody_waits_for_and_what_a_singleton_keeps_is_meant():
    head = "const app = express();\nlet update: {0};\n"
    source = head + "app.get('/', (req, res) => {{\n  update = start(req);\n  res.end();\n}});\n"
    assert findings_of(RULE, {"src/a.ts": source.format("Promise<void>")}) == []
    assert [each.line for each in findings_of(RULE, {"src/a.ts": source.format("string")})] == [2]
    kept = "class Hub:\n    jobs = []\n\n{0}    def add(self, job):\n        self.jobs.append(job)\n"
    single = "    def __new__(cls):\n        cls.instance = cls.instance or make(cls)\n        return cls.instance\n\n"
    assert findings_of(RULE, {"a/hub.py": kept.format(single)}) == []
    assert [each.line for each in findings_of(RULE, {"a/hub.py": kept.format("")})] == [2]


def test_a_handler_on_one_line():
    head = "const app = express();\nlet total = 0;\n"
    source = head + "app.get('/', ({0}) => {{ total += 1; res.json(total); }});\n"
    assert [each.line for each in findings_of(RULE, {"src/a.ts": source.format("req, res")})] == [2]
    assert findings_of(RULE, {"src/a.ts": source.format("req, total")}) == []


@pytest.mark.parametrize(
    ("declared", "body", "lines"),
    [
        ("COUNTS = {'paid': 0}", "COUNTS['paid'] += 1", [3]),
        ("NAMES = ['first']", "NAMES.append('x')", [3]),
        ("open_now = False", "global open_now\n    open_now = True", [3]),
        ("COUNTS = {'paid': 0}", "return COUNTS['paid']", []),
        ("open_now = False", "open_now = True", []),
    ],
)
def test_state_that_begins_with_something(declared, body, lines):
    source = f"from flask import Flask\napp = Flask(__name__)\n{declared}\n\n@app.get('/')\ndef f():\n    {body}\n"
    assert [each.line for each in findings_of(RULE, {"shop/views.py": source})] == lines


@pytest.mark.parametrize(
    ("declared", "body", "lines"),
    [
        ("const counts = { paid: 0 };", "counts['paid'] += 1;", [2]),
        ("const counts = { paid: 0 };", "counts.paid++;", [2]),
        ("const counts = { paid: 0 };", "send(counts.paid == 1);", []),
        ("let open = false;", "open = true;", [2]),
        ("let open = false;", "send(open);", []),
    ],
)
def test_state_of_a_script_that_begins_with_something(declared, body, lines):
    source = f"const app = express();\n{declared}\napp.get('/', (req, res) => {{\n  {body}\n  res.end();\n}});\n"
    assert [each.line for each in findings_of(RULE, {"src/a.ts": source})] == lines


@pytest.mark.parametrize(("asked", "lines"), [("_key != wanted()", []), ("wanted() != _key", []), ("wanted()", [3])])
def test_what_is_made_again_when_its_key_has_changed(asked, lines):
    source = (
        "from flask import Flask\napp = Flask(__name__)\n_key = None\n\n@app.get('/')\ndef f():\n    global _key\n"
        f"    if {asked}:\n        _key = wanted()\n    return ''\n"
    )
    assert [each.line for each in findings_of(RULE, {"shop/views.py": source})] == lines


def test_a_table_of_a_class_that_each_instance_leaves():
    source = "class Run:\n    running = {}\n    def f(self, key):\n        self.running[key] = self\n%s"
    assert findings_of(RULE, {"a/run.py": source % "        del self.running[key]\n"}) == []
    assert len(findings_of(RULE, {"a/run.py": source % ""})) == 1


@pytest.mark.parametrize(("name", "confidences"), [("price", ["medium"]), ("setUser", ["low"]), ("initUser", [])])
def test_a_bean_that_a_handler_sets(name, confidences):
    service = (
        "import org.springframework.stereotype.Service;\n@Service\npublic class CartService {\n"
        "  private User current;\n"
        f"  public void {name}(User u) {{\n    this.current = u;\n  }}\n}}\n"
    )
    controller = (
        "import org.springframework.web.bind.annotation.*;\n@RestController\npublic class CartController {\n"
        '  private final CartService cartService;\n  @GetMapping("/c")\n'
        f"  public void get(User u) {{\n    cartService.{name}(u);\n  }}\n}}\n"
    )
    found = findings_of(RULE, {"src/CartService.java": service, "src/CartController.java": controller})
    assert [each.confidence for each in found] == confidences


@pytest.mark.parametrize(
    ("head", "count"),
    [("class A(BaseModel):", 0), ("class A:\n    class Config:\n        x = 1\n", 0), ("class A:", 1)],
)
def test_pydantic_copies_what_a_class_holds(head, count):
    source = f"{head}\n    rows = []\n\n    def add(self, row):\n        self.rows.append(row)\n"
    assert len(findings_of(RULE, {"a/a.py": source})) == count


@pytest.mark.parametrize(("name", "count"), [("recordingTimeouts", 0), ("recordings", 1)])
def test_handles_of_what_runs_are_no_state(name, count):
    source = f"const app = express();\nconst {name} = new Map();\n"
    source += f"app.get('/', (req, res) => {{\n  {name}.set(req.id, start(req));\n  res.end();\n}});\n"
    assert len(findings_of(RULE, {"src/a.ts": source})) == count


def test_locks_of_a_class_and_a_list_of_its_instances_are_meant():
    kept = "class Hub:\n    {0} = []\n\n    def add(self, job):\n        self.{0}.append({1})\n"
    assert lines_of(RULE, kept.format("jobs", "job")) == [2]
    assert lines_of(RULE, kept.format("locks", "job")) == []
    assert lines_of(RULE, kept.format("hubs", "self")) == []


@pytest.mark.parametrize(("dated", "count"), [("private modelsSyncedAt: Date;", 0), ("private startedAt: Date;", 1)])
def test_a_value_with_the_time_of_its_loading_is_a_cache(dated, count):
    source = (
        f"@Controller('x')\nexport class A {{\n  private models: Model[];\n  {dated}\n"
        "  @Get() all() { this.models = load(); }\n}\n"
    )
    assert len(findings_of(RULE, {"src/a.ts": source})) == count


def test_a_client_for_each_name_is_made_on_first_use():
    source = (
        "const app = express();\nconst clients = {{}};\n"
        "app.get('/', (req, res) => {{\n  {}clients[req.query.a] = make();\n}});\n"
    )
    assert len(findings_of(RULE, {"src/a.js": source.format("")})) == 1
    assert findings_of(RULE, {"src/a.js": source.format("if (!clients[req.query.a]) ")}) == []


@pytest.mark.parametrize(
    ("field", "body", "count"),
    [
        ("made = new Map<string, Client>();", "if (this.made.has(id)) { return this.made.get(id); }", 0),
        ("made = new Map<string, Client>();", "if (this.made.has(id)) { this.made.delete(id); }", 1),
        ("refreshPromises = new Map<string, Promise<Client>>();", "", 0),
    ],
)
def test_a_map_that_is_asked_before_something_is_made(field, body, count):
    name = field.partition(" ")[0]
    source = (
        f"@Controller('x')\nexport class A {{\n  {field}\n"
        f"  @Get() one(id: string) {{ {body}\n    return this.make(id);\n  }}\n"
        f"  make(id: string) {{ this.{name}.set(id, build(id)); }}\n}}\n"
    )
    assert len(findings_of(RULE, {"src/a.ts": source})) == count


def test_a_table_that_gives_back_what_it_has():
    source = (
        "const app = express();\nconst loaded = {{}};\n"
        "app.get('/', (req, res) => {{\n  {}loaded[req.query.a] = make();\n}});\n"
    )
    assert len(findings_of(RULE, {"src/a.js": source.format("")})) == 1
    assert (
        findings_of(RULE, {"src/a.js": source.format("if (loaded[req.query.a]) return loaded[req.query.a];\n  ")}) == []
    )


@pytest.mark.parametrize(
    ("field", "count"),
    [
        ("private client: Redis | null = null;", 0),
        ("private client: Map<string, number>;", 1),
        ("private client: Promise<string> | null = null;", 0),
    ],
)
def test_what_a_field_is_asked_to_set(field, count):
    source = (
        f"@Controller('x')\nexport class A {{\n  {field}\n  @Get() one(id: string) {{ this.client.set(id, 1); }}\n}}\n"
    )
    assert len(findings_of(RULE, {"src/a.ts": source})) == count


@pytest.mark.parametrize(("name", "lines"), [("PitcherRegistry", []), ("Pitchers", [2])])
def test_a_registry_is_filled_when_modules_are_loaded(name, lines):
    assert (
        lines_of(RULE, f"class {name}:\n    rows = []\n    def add(self, row):\n        self.rows.append(row)\n")
        == lines
    )


@pytest.mark.parametrize(("main", "count"), [("public static void main(String[] args) { }", 0), ("", 1)])
def test_a_program_of_its_own_has_no_requests(main, count):
    source = f"public class A {{\n  static SimpleDateFormat FORMAT = new SimpleDateFormat();\n  {main}\n}}\n"
    assert len(findings_of(RULE, {"src/A.java": source})) == count


@pytest.mark.parametrize(
    ("method", "confidences"),
    [
        ("String show(Date d) { return FORMAT.format(d); }", ["high"]),
        ("synchronized String show(Date d) { return FORMAT.format(d); }", []),
        ("String show(Date d) { synchronized (LOCK) { return FORMAT.format(d); } }", []),
        ("", ["medium"]),
    ],
)
def test_a_static_object_that_is_used_under_a_lock(method, confidences):
    source = f"class A {{\n static final SimpleDateFormat FORMAT = new SimpleDateFormat();\n {method}\n}}\n"
    assert [each.confidence for each in findings_of(RULE, {"src/A.java": source})] == confidences


def test_a_method_that_is_locked_as_a_whole_checks_twice_in_vain():
    assert findings_of(RULE, {"A.java": (LAZY % "").replace("static A get", "static synchronized A get")}) == []


@pytest.mark.parametrize(("value", "confidences"), [("id", ["medium"]), ("await load()", ["low"])])
def test_what_a_handler_sets_a_field_to(value, confidences):
    source = (
        "@Controller('x')\nexport class A {\n  private last: string;\n"
        f"  @Get(':id') async one(id: string) {{ this.last = {value}; }}\n}}\n"
    )
    assert [each.confidence for each in findings_of(RULE, {"src/a.ts": source})] == confidences


@pytest.mark.parametrize(
    ("body", "confidences"),
    [
        ("_open.append(key)\n    work()\n    _open.remove(key)", ["low"]),
        ("_open.append(key)", []),
    ],
)
def test_what_a_helper_puts_in_and_takes_out_is_state(body, confidences):
    service = f"_open = []\n\ndef book(key):\n    {body}\n"
    view = f"{FLASK}from shop.work import book\n@app.get('/')\ndef index():\n    return book(1)\n"
    found = findings_of(RULE, {"shop/work.py": service, "shop/v.py": view})
    assert [each.confidence for each in found] == confidences


@pytest.mark.parametrize(("value", "count"), [("code.value()", 1), ("code", 1), ("Clock.now()", 0), ("loadAll()", 0)])
def test_what_a_request_brings_by_way_of_a_local_variable(value, count):
    service = (
        "import org.springframework.stereotype.Service;\n@Service\npublic class Pickups {\n  private String lastCode;\n"
        "  public void pick(Form form) {\n    Parcel parcel = parcels.byId(form.id());\n"
        f"    final Code code = Code.of(parcel);\n    lastCode = {value};\n  }}\n}}\n"
    )
    controller = (
        "import org.springframework.web.bind.annotation.*;\n@RestController\npublic class A {\n"
        '  private final Pickups pickups;\n  @PostMapping("/c")\n  public void c(Form f) { pickups.pick(f); }\n}\n'
    )
    found = findings_of(RULE, {"src/Pickups.java": service, "src/A.java": controller})
    assert [each.confidence for each in found] == ["medium"] * count


@pytest.mark.parametrize(
    ("made", "head", "count"),
    [
        ("const lobby = new Lobby();", "class Lobby", 1),
        ("export const lobby = new Lobby();", "class Lobby", 1),
        ("const lobby = new Lobby();", "export class Lobby", 0),
        ("const one = new Lobby();\nconst two = new Lobby();", "class Lobby", 0),
        ("const make = () => new Lobby();", "class Lobby", 0),
    ],
)
def test_the_only_object_of_a_class(made, head, count):
    source = (
        f"const app = express();\n{head} {{\n  private waiting: string[] = [];\n"
        "  join(name: string) {\n    this.waiting = [...this.waiting, name];\n  }\n}\n"
        f"{made}\napp.post('/', (req, res) => {{\n  lobby.join(req.body.name);\n  res.end();\n}});\n"
    )
    assert [each.line for each in findings_of(RULE, {"src/a.ts": source})] == [3] * count


@pytest.mark.parametrize(("name", "count"), [("start", 1), ("shutdown", 1), ("setUp", 0)])
def test_a_handler_may_start_something(name, count):
    source = f"""package a
import "net/http"
var begun = map[string]int{{}}
func {name}(w http.ResponseWriter, r *http.Request) {{ begun[r.URL.Path]++ }}
"""
    assert len(findings_of(RULE, {"a/a.go": source})) == count


@pytest.mark.parametrize(
    ("declared", "value", "count"),
    [
        ("last string", 'r.FormValue("x")', 1),
        ("last *User", "load(r)", 1),
        ("last string", '"x"', 1),
        ("last string", "", 0),
    ],
)
def test_a_package_variable_of_go_that_a_handler_sets(declared, value, count):
    change = f"last = {value}" if value else "log(last)"
    source = f"""package a
import "net/http"
var {declared}
func show(w http.ResponseWriter, r *http.Request) {{ {change} }}
"""
    assert len(findings_of(RULE, {"a/a.go": source})) == count


@pytest.mark.parametrize(("name", "count"), [("inFlight", 0), ("amounts", 1)])
def test_a_list_that_is_kept_short_is_state_too(name, count):
    source = (
        f"const app = express();\nconst {name} = [];\napp.post('/', (req, res) => {{\n  {name}.push(req.body.x);\n"
        f"  if ({name}.length > 20) {name}.shift();\n  res.end();\n}});\n"
    )
    assert len(findings_of(RULE, {"src/a.js": source})) == count


@pytest.mark.parametrize(("declared", "count"), [("String last = f.id();", 0), ("last = f.id();", 1)])
def test_a_local_variable_of_java_named_like_a_field(declared, count):
    source = (
        "import org.springframework.web.bind.annotation.*;\n@RestController\npublic class A {\n  private String last;\n"
        f'  @PostMapping("/c")\n  public void c(Form f) {{ {declared} send(last); }}\n}}\n'
    )
    assert len(findings_of(RULE, {"src/A.java": source})) == count


def test_a_blank_of_go_holds_nothing():
    source = """package a
import "net/http"
var _ http.Handler = (*H)(nil)
func show(w http.ResponseWriter, r *http.Request) { _ = r.Body.Close() }
"""
    assert findings_of(RULE, {"a/a.go": source}) == []


@pytest.mark.parametrize(("kind", "count"), [("asyncio.Task", 0), ("str", 1)])
def test_tasks_are_kept_so_that_they_are_not_collected(kind, count):
    source = f"{FLASK}_running: set[{kind}] = set()\n\n@app.get('/x')\ndef handle():\n    _running.add(begin())\n"
    assert len(findings_of(RULE, {"shop/views.py": source})) == count


@pytest.mark.parametrize(("imported", "count"), [("java.util.regex.Matcher", 1), ("org.hamcrest.Matcher", 0)])
def test_a_matcher_is_one_of_patterns(imported, count):
    source = (
        f"import {imported};\nclass A {{\n  private static final Matcher NOOP = make();\n"
        "  boolean f() { return NOOP.find(); }\n}"
    )
    assert len(marks_of(RULE, source, "java")) == count


def test_a_list_of_go_that_is_cut_is_no_cache():
    source = """package a

import "net/http"

var recent []string

func show(w http.ResponseWriter, r *http.Request) {
	recent = append(recent, r.URL.Path)
	if len(recent) > 100 {
		recent = recent[1:]
	}
}

func mount() { http.HandleFunc("/", show) }
"""
    assert [each.line for each in findings_of(RULE, {"a/a.go": source})] == [5]


def test_a_provider_of_nest_behind_another_class():
    service = (
        "import { Controller, Injectable, Post } from '@nestjs/common';\n\nexport class Safe {\n  balance = 0;\n}\n\n"
        "@Controller('wallets')\nexport class Wallets {\n  private current: string;\n\n  @Post(':id')\n"
        "  credit(user: string) {\n    this.current = user;\n  }\n}\n"
    )
    assert [each.line for each in findings_of(RULE, {"src/wallets.controller.ts": service})] == [9]


@pytest.mark.parametrize(
    ("body", "is_told"),
    [
        ("return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {\nfailures++\n})", True),
        ("return func(w http.ResponseWriter, r *http.Request) {\nfailures += 1\n}", True),
        ("return func(c *gin.Context) {\nfailures++\n}", True),
        ("return func(c echo.Context) error {\nfailures++\nreturn nil\n}", True),
        ("return func(w http.ResponseWriter, r *http.Request) {\nmu.Lock()\nfailures++\nmu.Unlock()\n}", False),
        ("failures++\nreturn func(w http.ResponseWriter, r *http.Request) {\nnext(w, r)\n}", False),
    ],
)
def test_what_middleware_of_go_counts(body, is_told):
    source = f"package a\nvar failures int\nfunc Count(next Next) Handler {{\n{body}\n}}\n"
    assert bool(findings_of(RULE, {"app/a.go": source})) == is_told


def test_a_lock_of_any_name():
    made = "import threading\nguard = threading.Lock()\nhits = {}\n"
    held = made + "@app.get('/')\ndef f(k):\n    with guard:\n        hits[k] = 1\n"
    assert not findings_of(RULE, {"app/a.py": "from flask import Flask\napp = Flask(__name__)\n" + held})


@pytest.mark.parametrize(
    ("path", "source", "count"),
    [
        ("shop/api.py", "DONE = {}\n@app.post('/x')\ndef keep(body):\n    DONE[body['step']] = body['state']\n", 1),
        ("shop/api.py", "DONE = {}\n@app.post('/x')\ndef keep(body):\n    done = DONE[body['step']]\n", 0),
        (
            "api.js",
            "const done = {};\napp.post('/x', (req, res) => {\n  done[req.body['step']] = req.body.state;\n});\n",
            1,
        ),
    ],
)
def test_keys_with_brackets_of_their_own(path, source, count):
    assert len(findings_of(RULE, {path: source})) == count


@pytest.mark.parametrize(("route", "count"), [("@app.post('/x')\n", 1), ("", 0)])
def test_a_handler_that_shuts_something_down_is_no_end_of_the_process(route, count):
    source = f"states = {{}}\n\n\n{route}def shutdown(body):\n    states[body['room']] = body['state']\n"
    source += "\n\n@app.post('/y')\ndef other(body):\n    return shutdown(body)\n"
    assert len(findings_of(RULE, {"shop/api.py": source})) == count


@pytest.mark.parametrize(("base", "count"), [("checkers.BaseChecker", 0), ("BaseService", 1)])
def test_a_checker_of_a_linter_is_made_once(base, count):
    source = (
        f"class Paths({base}):\n    found = set()\n\n    def visit(self, node):\n        self.found.add(node.path)\n"
    )
    assert len(findings_of(RULE, {"tools/paths.py": source})) == count


@pytest.mark.parametrize(
    ("bean", "count"), [("@ApplicationScoped", 1), ("@Singleton", 1), ("@RequestScoped", 0), ("@Dependent", 0)]
)
def test_a_counter_of_a_bean_of_cdi(bean, count):
    source = (
        f'@Path("/rentals")\n{bean}\nclass Rentals {{\n  private int opened;\n'
        "  @POST\n  public void open(long id) {\n    opened++;\n  }\n}\n"
    )
    assert [each.line for each in findings_of(RULE, {"src/Rentals.java": source})] == [4] * count


@pytest.mark.parametrize(("kind", "confidence"), [("SeatRepository", "medium"), ("SeatLocks", None)])
def test_rows_that_are_locked_guard_no_field(kind, confidence):
    source = (
        f"@Service\nclass Seats {{\n  private final {kind} seats;\n  private List<Long> taken = new ArrayList<>();\n"
        '  @PostMapping("/holds")\n  public List<Long> hold(List<Long> ids) {\n'
        "    for (Seat each : seats.lockAll(ids)) {\n      taken.add(each.getId());\n    }\n"
        "    return List.copyOf(taken);\n  }\n}\n"
    )
    found = findings_of(RULE, {"src/Seats.java": source})
    assert [(each.line, each.confidence) for each in found] == ([(4, confidence)] if confidence else [])


@pytest.mark.parametrize(
    ("hook", "count"),
    [('@app.middleware("http")', 1), ("@app.before_request", 1), ("@bp.after_app_request", 1), ("@traced", 0)],
)
def test_what_runs_around_each_request_shares_it(hook, count):
    source = f'{FLASK}served = {{"all": 0}}\n\n{hook}\ndef count(request):\n    served["all"] += 1\n'
    assert len(findings_of(RULE, {"ferry/app.py": source})) == count


@pytest.mark.parametrize(
    ("start", "count"),
    [
        ("    for row in rows:\n        Thread(target=load, args=(row,)).start()\n", 1),
        ("    Thread(target=load, args=(rows,)).start()\n", 0),
        ("    with ThreadPoolExecutor(4) as pool:\n        pool.map(load, rows)\n", 1),
        ("    with ThreadPoolExecutor(4) as pool:\n        pool.submit(load, rows)\n", 1),
        ("    list(map(load, rows))\n", 0),
    ],
)
def test_several_threads_count_in_the_same_place(start, count):
    source = (
        "from collections import Counter\nfrom concurrent.futures import ThreadPoolExecutor\n"
        'from threading import Thread\n\nloaded = Counter()\n\ndef load(row):\n    loaded["rows"] += 1\n\n'
        f"def run(rows):\n{start}"
    )
    found = findings_of(RULE, {"ferry/load.py": source})
    assert [each.line for each in found] == [5] * count
    assert all("by several threads at once, in `load`" in each.message for each in found)


def test_threads_that_hold_a_lock_share_it_well():
    source = (
        "from collections import Counter\nfrom concurrent.futures import ThreadPoolExecutor\nloaded = Counter()\n"
        'def load(row):\n    with lock:\n        loaded["rows"] += 1\n'
        "def run(rows):\n    with ThreadPoolExecutor(4) as pool:\n        pool.map(load, rows)\n"
    )
    assert findings_of(RULE, {"ferry/load.py": source}) == []


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("if berth not in self.last[-3:]:\n            self.last.append(berth)", 1),
        ("if berth not in self.last:\n            self.last.append(berth)", 0),
        ("self.last.append(berth)\n        del self.last[:-50]", 1),
        ("self.last.append(berth)\n        del self.last[berth]", 0),
    ],
)
def test_a_list_of_the_class_that_is_only_kept_short(body, count):
    source = f"class Quay:\n    last = []\n\n    def take(self, berth):\n        {body}\n"
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(
    ("listens", "count"),
    [
        ('@KafkaListener(topics = "taps", concurrency = "4")', 1),
        ('@RabbitListener(queues = "taps", concurrency = "1-8")', 1),
        ('@KafkaListener(topics = "taps", concurrency = "1")', 0),
        ('@KafkaListener(topics = "taps")', 0),
    ],
)
def test_what_several_threads_of_a_queue_fill(listens, count):
    source = (
        "@Component\nclass Gate {\n  private final List<String> broken = new ArrayList<>();\n"
        f"  {listens}\n  public void onTap(String message) {{\n    broken.add(message);\n"
        "    if (broken.size() > 99) { broken.clear(); }\n  }\n}\n"
    )
    assert [each.line for each in findings_of(RULE, {"src/Gate.java": source})] == [3] * count
