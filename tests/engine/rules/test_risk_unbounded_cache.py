import pytest

from tests.engine.rules.reading import findings_of, lines_of

RULE = "risk-unbounded-cache"


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("_cache = {}\ndef load(x):\n    _cache[x] = read(x)\n", [1]),
        ("_cache = {}\ndef load(x):\n    _cache['a'] = read(x)\n", []),
        ("_cache = {}\ndef load(x):\n    _cache[x] = read(x)\n    if len(_cache) > 9: drop()\n", []),
        ("_cache = {}\ndef load(x):\n    _cache[x] = read(x)\ndef drop(x):\n    _cache.pop(x)\n", []),
        ("HANDLERS = {}\ndef register(x):\n    HANDLERS[x.name] = x\n", []),
        ("def load(x):\n    cache = {}\n    cache[x] = 1\n", []),
        ("_cache = WeakKeyDictionary()\ndef load(x):\n    _cache[x] = 1\n", []),
    ],
)
def test_a_dictionary_of_the_module(source, lines):
    assert lines_of(RULE, source) == lines


@pytest.mark.parametrize(
    ("decorators", "head", "lines"),
    [
        ("@lru_cache(maxsize=None)", "def f(self, x): ...", [3]),
        ("@lru_cache", "def f(self): ...", [3]),
        ("@lru_cache", "def f(x): ...", []),
        ("@cached_property", "def f(self): ...", []),
    ],
)
def test_a_cached_method(decorators, head, lines):
    source = f"from functools import lru_cache, cached_property\nclass A:\n    {decorators}\n    {head}\n"
    assert lines_of(RULE, source) == lines


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("const cache = new Map();\nfunction load(k) {\n  cache.set(k, 1);\n}", [1]),
        ("const cache = new Map<string, number>();\nfunction load(k) {\n  cache.set(k, 1);\n}", [1]),
        ("const cache = new Map();\nfunction load(k) {\n  cache.set(k, 1);\n  cache.delete(k);\n}", []),
        ("const cache = new WeakMap();\nfunction load(k) {\n  cache.set(k, 1);\n}", []),
        ("function load(k) {\n  const cache = new Map();\n  cache.set(k, 1);\n}", []),
    ],
)
def test_script(source, lines):
    assert lines_of(RULE, source, "typescript") == lines


@pytest.mark.parametrize(
    ("language", "source", "lines"),
    [
        (
            "java",
            "class A {\nprivate static final Map<K, V> CACHE = new HashMap<>();\nV f(K k) {\nCACHE.put(k, v);\n} }",
            [2],
        ),
        (
            "java",
            "class A {\nprivate static final Map<K, V> CACHE = new HashMap<>();\nV f(K k) {\nCACHE.put(k, v);\n"
            "CACHE.remove(o);\n} }",
            [],
        ),
        ("java", "class A {\nprivate final Map<K, V> cache = new HashMap<>();\nV f(K k) {\ncache.put(k, v);\n} }", []),
        (
            "java",
            "class A {\nstatic final ThreadLocal<User> USER = new ThreadLocal<>();\nvoid f(User u) {\n"
            "USER.set(u);\n} }",
            [2],
        ),
        (
            "java",
            "class A {\nstatic final ThreadLocal<User> USER = new ThreadLocal<>();\nvoid f(User u) {\nUSER.set(u);\n"
            "USER.remove();\n} }",
            [],
        ),
        ("go", "package a\nvar cache = map[string]int{}\nfunc f(k string) {\n\tcache[k] = 1\n}\n", [2]),
        (
            "go",
            "package a\nvar cache = map[string]int{}\nfunc f(k string) {\n\tcache[k] = 1\n\tdelete(cache, o)\n}\n",
            [],
        ),
        (
            "typescript",
            "@Injectable()\nclass A {\n  private cache = new Map<string, V>();\n  f(k) {\n    this.cache.set(k, v);\n"
            "  }\n}",
            [3],
        ),
        (
            "typescript",
            "const cache = new Map();\nexport function f(locale) {\n  cache.set(locale, make(locale));\n}",
            [],
        ),
    ],
)
def test_maps_of_the_process(language, source, lines):
    assert lines_of(RULE, source, language) == lines


def test_an_endless_memo_counts_where_requests_call_it():
    memo = (
        "from functools import cache\nfrom flask import Flask\napp = Flask(__name__)\n\n\n@cache\n"
        "def load(name):\n    return 1\n"
    )
    view = "\n\n@app.get('/')\ndef index(name):\n    return load(name)\n"
    assert findings_of(RULE, {"shop/views.py": memo}) == []
    assert [each.line for each in findings_of(RULE, {"shop/views.py": memo + view})] == [6]


def test_where_no_request_is_seen_it_is_a_guess():
    source = "SEEN_CACHE = {}\n\n\ndef f(k):\n    SEEN_CACHE[k] = 1\n"
    assert [each.confidence for each in findings_of(RULE, {"shop/a.py": source})] == ["low"]


@pytest.mark.parametrize(
    ("declared", "lines"),
    [
        ("static final Map<K, V> CACHE = Collections.synchronizedMap(new HashMap<>());", [2]),
        ("static final Map<K, V> CACHE = Collections.synchronizedMap(new LRUMap<>(500));", []),
        ("static final Map<K, V> CACHE = Collections.synchronizedMap(new WeakHashMap<>());", []),
        (
            "static final Map<K, V> CACHE = new LinkedHashMap<>() {\n"
            "protected boolean removeEldestEntry(Map.Entry<K, V> e) { return size() > 9; } };",
            [],
        ),
    ],
)
def test_maps_of_java_with_a_limit_of_their_own(declared, lines):
    source = f"class A {{\n{declared}\nV f(K k) {{\nCACHE.put(k, v);\n}} }}"
    assert lines_of(RULE, source, "java") == lines


@pytest.mark.parametrize(
    ("made", "count"),
    [("new ThreadLocal<>()", 1), ("ThreadLocal.withInitial(User::new)", 1), ("Locals.create(User.class)", 0)],
)
def test_thread_locals_that_a_manager_makes_are_removed_by_it(made, count):
    source = f"class A {{\nstatic final ThreadLocal<User> USER = {made};\nvoid f(User u) {{\nUSER.set(u);\n}} }}"
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("PARTS = {'a': 1}\n_cache = {}\ndef f(k):\n    part = PARTS[k]\n    _cache[k] = make(part)\n", []),
        ("PARTS = {'a': 1}\n_cache = {}\ndef f(k):\n    part = find(k)\n    _cache[k] = make(part)\n", [2]),
        ("_cache = {}\ndef f(k):\n    if k not in KNOWN_PARTS:\n        return None\n    _cache[k] = make(k)\n", []),
        ("_cache = {}\ndef f():\n    key = tuple(settings.TOOLS)\n    _cache[key] = make(key)\n", []),
        ("_cache = {}\ndef f(k):\n    if k in _cache:\n        return _cache[k]\n    _cache[k] = make(k)\n", [1]),
    ],
)
def test_a_key_that_is_looked_up_in_a_table_is_one_of_few(source, lines):
    assert lines_of(RULE, source) == lines


def test_a_key_of_a_table_of_loaders():
    source = (
        "const loaders = {\n  a: () => import('./a'),\n};\nconst cache = new Map();\n"
        "async function f(name) {\n  const load = loaders[name as Name];\n  cache.set(name, await load());\n}\n"
    )
    assert lines_of(RULE, source, "typescript") == []
    assert lines_of(RULE, source.replace("loaders[name as Name]", "find(name)"), "typescript") == [4]


FLASK = "from flask import Flask\napp = Flask(__name__)\n"


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("_rates = {}\n@app.get('/<r>')\ndef f(r):\n    _rates[r] = fetch(r)\n    return _rates[r]\n", [3]),
        ("_ids = set()\n@app.post('/')\ndef f(event):\n    _ids.add(event)\n    return ''\n", [3]),
        ("orders = []\n@app.post('/')\ndef f(o):\n    orders.append(o)\n    return ''\n", [3]),
        ("orders = []\n@app.post('/')\ndef f(o):\n    orders.append(o)\n    orders.pop(0)\n    return ''\n", []),
        ("orders = []\n@app.post('/')\ndef f(o):\n    orders = [o]\n    orders.append(o)\n    return ''\n", []),
        ("orders = []\ndef f(o):\n    orders.append(o)\n", []),
        ("handlers = {}\n@app.post('/')\ndef f(o):\n    handlers[o] = make(o)\n    return ''\n", []),
    ],
)
def test_whatever_requests_only_add_to(source, lines):
    assert [each.line for each in findings_of(RULE, {"shop/views.py": FLASK + source})] == lines


@pytest.mark.parametrize(
    ("path", "source", "line"),
    [
        (
            "src/a.ts",
            "const app = express();\nconst profiles = new Map<string, Profile>();\n"
            "app.get('/:id', async (req, res) => {\n  profiles.set(req.params.id, await load(req));\n});\n",
            2,
        ),
        (
            "src/A.java",
            "@RestController\nclass A {\n private final Map<String, Row> rows = new HashMap<>();\n"
            ' @GetMapping("/{id}")\n public Row get(@PathVariable String id) {\n  rows.put(id, load(id));\n'
            "  return rows.get(id);\n }\n}",
            3,
        ),
        (
            "a/a.go",
            'package a\nimport "net/http"\ntype Server struct {\n\tcache map[string]int\n}\n'
            "func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {\n\ts.cache[r.URL.Path] = 1\n}\n",
            4,
        ),
    ],
)
def test_maps_of_a_server(path, source, line):
    assert [each.line for each in findings_of(RULE, {path: source})] == [line]


def test_a_cache_of_a_class_belongs_to_all_of_its_instances():
    source = "class Prices:\n    _cache = {}\n    def get(self, sku):\n        self._cache[sku] = load(sku)\n"
    assert lines_of(RULE, source) == [2]
    assert lines_of(RULE, source + "    def drop(self, sku):\n        del self._cache[sku]\n") == []
    assert lines_of(RULE, source + "    def __init__(self):\n        self._cache = {}\n") == []
    assert findings_of("risk-shared-mutable-state", {"a.py": source}) == []


@pytest.mark.parametrize(
    ("kind", "body", "count"),
    [
        ("String", "TENANT.set(id); work();", 1),
        ("String", "TENANT.set(id); try { work(); } finally { TENANT.set(before); }", 0),
        ("Random", "TENANT.set(id); work();", 0),
        ("StringBuilder", "TENANT.set(id); work();", 0),
    ],
)
def test_what_a_thread_keeps_of_its_own_or_puts_back(kind, body, count):
    field = f"private static final ThreadLocal<{kind}> TENANT = new ThreadLocal<>();"
    source = f"class A {{\n{field}\nvoid f({kind} id) {{ {body} }}\n}}"
    assert len(lines_of(RULE, source, "java")) == count


def test_how_many_handlers_there_are_is_a_guess():
    source = (
        FLASK + "{0}_cache = {{}}\n@app.get('/<r>')\ndef f(r):\n    {0}_cache[r] = load(r)\n    return {0}_cache[r]\n"
    )
    for name, confidence in (("rate", "medium"), ("handler", "low")):
        assert [each.confidence for each in findings_of(RULE, {"a/v.py": source.format(name)})] == [confidence]


@pytest.mark.parametrize(
    ("declared", "after", "lines"),
    [
        ("const cache", "export const known = (id) => cache.get(id);", [1]),
        ("export const cache", "", []),
        ("const cache", "export { load, cache };", []),
    ],
)
def test_only_what_is_exported_itself_may_be_emptied_elsewhere(declared, after, lines):
    source = f"{declared} = new Map();\nasync function load(id) {{\n  cache.set(id, await get(id));\n}}\n{after}\n"
    assert lines_of(RULE, source, "typescript") == lines


@pytest.mark.parametrize(
    ("given", "confidence"), [("argv=None", "low"), ("key", "medium"), ("key, deep=True", "medium")]
)
def test_a_memo_that_may_be_called_without_arguments(given, confidence):
    source = FLASK + f"import functools\n@functools.cache\ndef ask({given}):\n    return load()\n"
    source += "@app.get('/')\ndef f():\n    return ask(request.args['k'])\n"
    assert [each.confidence for each in findings_of(RULE, {"a/v.py": source})] == [confidence]


@pytest.mark.parametrize(("made", "lines"), [("keyOf(policy)", []), ("keyOf(order)", [1])])
def test_a_key_that_is_made_of_settings(made, lines):
    head = "const cache = new Map();\nfunction f(policy, order) {\n"
    source = f"{head}  const key = {made};\n  cache.set(key, make());\n}}\n"
    assert lines_of(RULE, source, "typescript") == lines


def test_a_cache_of_settings_may_have_many_keys():
    source = "configCache = {}\ndef f(tenant):\n    configCache[tenant] = load(tenant)\n"
    assert lines_of(RULE, source) == [1]


@pytest.mark.parametrize(("name", "lines"), [("init_rates", []), ("initial_rates", [1])])
def test_a_cache_that_is_filled_when_the_process_starts(name, lines):
    assert lines_of(RULE, f"_cache = {{}}\ndef {name}(key):\n    _cache[key] = load(key)\n") == lines


def test_a_class_inside_of_a_method_lives_as_long_as_the_call():
    field = "private final Map<String, Row> rows = new HashMap<>();\n"
    field += "Row get(String id) { return rows.computeIfAbsent(id, this::load); }"
    inner = f"@RestController\nclass A {{\nvoid f() {{\nclass B {{\n{field}\n}} }} }}"
    assert lines_of(RULE, inner, "java") == []
    assert lines_of(RULE, f"@RestController\nclass A {{\n{field}\n}}", "java") == [3]


@pytest.mark.parametrize(("key", "lines"), [("func_name", []), ("plugin", []), ("user_name", [1])])
def test_a_cache_by_names_that_the_program_has(key, lines):
    assert lines_of(RULE, f"CACHE = {{}}\ndef f({key}):\n    CACHE[{key}] = load({key})\n") == lines


@pytest.mark.parametrize(("size", "count"), [("(maxsize=1)", 0), ("(8)", 0), ("(maxsize=1024)", 1), ("", 1)])
def test_a_cached_method_that_keeps_a_handful(size, count):
    source = f"from functools import lru_cache\nclass A:\n    @lru_cache{size}\n    def f(self): ...\n"
    assert len(lines_of(RULE, source)) == count


def test_keys_that_are_members_of_an_enum_or_lengths():
    source = "const senders = {{}};\nfunction f({0}) {{\n  {1}senders[{0}] = make({0});\n}}\napp.get('/', f);\n"
    assert findings_of(RULE, {"a.ts": source.format("id", "if (id === Sender.Support) ")}) == []
    assert findings_of(RULE, {"a.ts": source.format("length", "")}) == []
    assert len(findings_of(RULE, {"a.ts": source.format("id", "")})) == 1


def test_a_window_of_a_desktop_program_ends():
    source = "const sounds = new Map();\nfunction f(path) {\n  sounds.set(path, load(path));\n}\n"
    cached = source.replace("sounds", "soundCache")
    assert len(findings_of(RULE, {"a.ts": cached})) == 1
    assert findings_of(RULE, {"a.ts": f"import {{ ipcRenderer }} from 'electron';\n{cached}"}) == []


@pytest.mark.parametrize(("method", "count"), [("get_default", 0), ("of_shop", 1)])
def test_a_cached_method_of_the_only_object(method, count):
    source = (
        "from functools import lru_cache\nclass A:\n    @lru_cache\n    def f(self, word): ...\n"
        f"    @classmethod\n    def {method}(cls): ...\n"
    )
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(("key", "confidence"), [("user_id", "medium"), ("style", "low")])
def test_how_many_keys_there_are_only_some_names_tell(key, confidence):
    source = (
        f"{FLASK}_cache = {{}}\n@app.get('/a')\ndef f({key}):\n    _cache[{key}] = load({key})\n"
        f"    return _cache[{key}]\n"
    )
    assert [each.confidence for each in findings_of(RULE, {"a.py": source})] == [confidence]


@pytest.mark.parametrize(("said", "count"), [("bounded by the number of routes", 0), ("for all users", 1)])
def test_a_comment_that_says_how_many_keys_there_are(said, count):
    source = (
        f"const app = 1;\n\n// Answers, {said}.\nconst cache = new Map();\n"
        "function f(path) {\n  cache.set(path, 1);\n}\n"
    )
    assert len(findings_of(RULE, {"a.ts": source})) == count


@pytest.mark.parametrize(("made", "confidences"), [("view", ["medium"]), ("module", []), ("nowhere", ["low"])])
def test_a_cached_method_of_objects_that_requests_make(made, confidences):
    client = "from functools import lru_cache\nclass Client:\n    @lru_cache\n    def ask(self, word): ...\n"
    makes = {
        "view": "@app.get('/')\ndef index():\n    return Client().ask('a')\n",
        "module": "CLIENT = Client()\n",
        "nowhere": "",
    }[made]
    files = {"shop/client.py": client, "shop/views.py": f"{FLASK}from shop.client import Client\n{makes}"}
    assert [each.confidence for each in findings_of(RULE, files)] == confidences


@pytest.mark.parametrize(("kind", "count"), [("UUID", 1), ("Style", 0)])
def test_the_declared_type_of_a_key(kind, count):
    source = f"_cache: dict[{kind}, int] = {{}}\ndef f(which):\n    _cache[which] = load(which)\n"
    assert len(findings_of(RULE, {"shop/a.py": source})) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("void pop() { TENANT.set(parent); }", 0),
        ("User use(User u) { User old = TENANT.get(); TENANT.set(u); return old; }", 0),
        ("void use(User u) { TENANT.set(u); }", 1),
    ],
)
def test_what_is_set_back_to_what_was_there(body, count):
    source = f"class A {{\nstatic final ThreadLocal<User> TENANT = new ThreadLocal<>();\n{body}\n}}"
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(
    ("key", "body", "confidences"),
    [
        (
            "plate: str",
            "if plate not in _names:\n        _names[plate] = load(plate)\n    return _names[plate]",
            ["low"],
        ),
        ("plate", "known = _names.get(plate)\n    _names[plate] = known or load(plate)", ["low"]),
        ("plate", "key = f'x:{plate}'\n    if key in _names:\n        return\n    _names[key] = 1", ["low"]),
        ("plate", "return _names.setdefault(plate, load(plate))", ["low"]),
        ("plate", "_names[plate] = load(plate)", ["low"]),
        ("email", "if email not in _names:\n        _names[email] = load(email)", ["medium"]),
        ("plate: Plate", "if plate not in _names:\n        _names[plate] = load(plate)", []),
        ("plate", "for each in rows():\n        _names[each] = plate", []),
        ("locale", "if locale not in _names:\n        _names[locale] = load(locale)", []),
    ],
)
def test_keys_that_callers_bring_make_a_cache_of_any_map(key, body, confidences):
    service = f"_names = {{}}\n\ndef name_of({key}):\n    {body}\n"
    view = (
        f"{FLASK}from shop.names import name_of\n@app.get('/')\ndef index():\n    return name_of(request.args['x'])\n"
    )
    assert [each.confidence for each in findings_of(RULE, {"shop/names.py": service, "shop/v.py": view})] == confidences
    assert findings_of(RULE, {"shop/names.py": service}) == []


@pytest.mark.parametrize(
    ("head", "count"), [("@Injectable()\nexport class A", 1), ("export class A", 0), ("@Component()\nclass A", 0)]
)
def test_a_service_is_there_for_requests_whoever_calls_it(head, count):
    source = (
        f"{head} {{\n  private readonly firmware = new Map<string, string>();\n  async firmwareOf(serial: string) {{\n"
        "    const known = this.firmware.get(serial);\n    if (known) return known;\n"
        "    this.firmware.set(serial, await ask(serial));\n  }\n}\n"
    )
    found = findings_of(RULE, {"src/a.ts": source})
    assert [each.confidence for each in found] == (["low"] if count else [])


def test_a_bean_of_java_that_a_controller_asks():
    service = (
        "@Service\npublic class Doors {\n private final Map<String, String> firmware = new ConcurrentHashMap<>();\n"
        " public String of(String serial) {\n  String known = firmware.get(serial);\n"
        "  if (known == null) { firmware.put(serial, ask(serial)); }\n  return known;\n }\n}\n"
    )
    assert [each.confidence for each in findings_of(RULE, {"src/Doors.java": service})] == ["low"]
    controller = (
        "import org.springframework.web.bind.annotation.*;\n@RestController\npublic class A {\n"
        ' private final Doors doors;\n @GetMapping("/x")\n public String x(String s) { return doors.of(s); }\n}\n'
    )
    found = findings_of(RULE, {"src/Doors.java": service, "src/A.java": controller})
    assert [each.confidence for each in found] == ["low"]  # how many doors there are nobody says
    emptied = service.replace(
        "public String of", "public void drop(String s) { firmware.remove(s); }\n public String of"
    )
    assert findings_of(RULE, {"src/Doors.java": emptied, "src/A.java": controller}) == []


@pytest.mark.parametrize(
    ("path", "made", "count"),
    [
        ("src/Doors.java", "new ConcurrentHashMap<>()", 1),
        ("src/Doors.java", "new ConcurrentReferenceHashMap<>(16, SOFT)", 0),
        ("src/install/Doors.java", "new ConcurrentHashMap<>()", 0),
    ],
)
def test_what_memory_empties_or_no_request_fills(path, made, count):
    source = (
        f"@Service\npublic class Doors {{\n private final Map<String, String> firmware = {made};\n"
        " public String of(String serial) { return firmware.computeIfAbsent(serial, this::ask); }\n}\n"
    )
    assert len(findings_of(RULE, {path: source})) == count


@pytest.mark.parametrize(("method", "count"), [("Remove", 0), ("Replace", 1)])
def test_a_method_that_says_that_it_takes_out(method, count):
    source = """package a

import "net/http"

type Store struct {
	cache map[string][]string
}

func (s *Store) Add(w http.ResponseWriter, r *http.Request) {
	token := r.Header.Get("token")
	s.cache[token] = append(s.cache[token], r.URL.Path)
}

func (s *Store) %s(key, element string) {
	all := s.cache[key]
	s.cache[key] = append(all[:1], all[2:]...)
}
"""
    assert len(findings_of(RULE, {"a/a.go": source % method})) == count


GO_HANDLER = (
    'package a\nimport "net/http"\nvar answers = map[string]int{}\n'
    "func Count(next http.Handler) http.Handler {\n%s\n}\n"
)
ANSWERS = "return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {\n%s\n})"


@pytest.mark.parametrize(
    ("body", "is_told"),
    [
        (ANSWERS % "answers[r.UserAgent()]++", True),
        (ANSWERS % "answers[r.UserAgent()] += 1", True),
        (ANSWERS % "answers[r.URL.Path] = 1", True),
        (ANSWERS % 'answers["all"]++', False),
        (ANSWERS % "answers[r.URL.Path] = 1\ndelete(answers, r.URL.Path)", False),
        ("return func(c *gin.Context) { c.Next() }\n}\nfunc g(r string) {\nanswers[r] = 1", False),
    ],
)
def test_what_middleware_of_go_keeps(body, is_told):
    assert bool(findings_of(RULE, {"app/a.go": GO_HANDLER % body})) == is_told


@pytest.mark.parametrize(
    ("key", "behind", "confidences"),
    [
        ("body['user_id']", "", ["medium"]),
        ("(body['user_id'], body['day'])", "", ["medium"]),
        ("body['user_id']", "    _cache.pop(body['user_id'])\n", []),
        ("FIELDS['a']", "", []),
    ],
)
def test_keys_with_brackets_of_their_own(key, behind, confidences):
    source = "FIELDS = {'a': 'b'}\n_cache = {}\n@app.post('/x')\ndef keep(body):\n"
    source += f"    _cache[{key}] = read(body)\n{behind}"
    assert [str(each.confidence) for each in findings_of(RULE, {"shop/api.py": source})] == confidences


@pytest.mark.parametrize(
    ("key", "confidences"), [("(course.slug, day)", ["low"]), ("course.kind", []), ("Course.LIMIT", [])]
)
def test_a_key_of_the_row_that_callers_bring(key, confidences):
    source = "from shop.models import Course\nquotes = {}\n\n\ndef quote(course: Course, day):\n"
    source += f"    quotes[{key}] = price(course)\n\n\n@app.get('/x')\ndef show(course):\n    return quote(course, 1)\n"
    assert [str(each.confidence) for each in findings_of(RULE, {"shop/api.py": source})] == confidences


@pytest.mark.parametrize(
    ("kind", "count"), [("kafka.Message", 1), ("*nats.Msg", 1), ("amqp.Delivery", 1), ("config.Entry", 0)]
)
def test_what_a_consumer_of_go_remembers(kind, count):
    source = (
        "package a\n\nvar processed sync.Map\n\n"
        f"func (c *C) handle(ctx context.Context, m {kind}) error {{\n\tkey := string(m.Key)\n"
        "\tif _, done := processed.LoadOrStore(key, true); done {\n\t\treturn nil\n\t}\n\treturn c.take(m)\n}\n"
    )
    assert len(findings_of(RULE, {"a/a.go": source})) == count


@pytest.mark.parametrize(
    ("bean", "adds", "sweeps", "count"),
    [
        ("@Service", "sentTo.put(user, now);", "", 1),
        ("@ApplicationScoped", "sentTo.put(user, now);", "", 1),
        ("@Service", "sentTo.merge(user, 1, Integer::sum);", "", 1),
        ("@Service", "sentTo.put(user, now);", "sentTo.values().removeIf(at -> at.isBefore(limit));", 0),
        ("@Service", "sentTo.put(user, now);", "sentTo.computeIfPresent(user, (key, at) -> null);", 0),
        ("", "sentTo.put(user, now);", "", 0),
    ],
)
def test_a_map_of_a_bean_and_its_sweep(bean, adds, sweeps, count):
    source = (
        f"{bean}\nclass Letters {{\n  private final Map<String, Object> sentTo = new ConcurrentHashMap<>();\n"
        f'  @PostMapping("/letters")\n  public void send(String user) {{\n    {adds}\n  }}\n'
        f"  @Scheduled(fixedDelay = 900)\n  void sweep() {{ {sweeps} }}\n}}\n"
    )
    assert len(findings_of(RULE, {"src/Letters.java": source})) == count


@pytest.mark.parametrize(
    ("key", "count"), [("`${room.code}:${day}`", 1), ("`rooms`", 0), ("'rooms'", 0), ("`${userId}`", 1)]
)
def test_a_key_that_is_filled_in_is_no_literal(key, count):
    source = (
        "const fareCache = new Map<string, number>();\napp.get('/fares', async (req, res) => {\n"
        f"  const {{ room, day, userId }} = req.query;\n  fareCache.set({key}, await fare(room));\n  res.end();\n}});\n"
    )
    assert len(findings_of(RULE, {"src/fares.ts": source})) == count


@pytest.mark.parametrize(
    ("decorator", "confidence"),
    [("@lru_cache(maxsize=4)", None), ("@lru_cache(maxsize=64)", "low"), ("@lru_cache(maxsize=None)", "low")],
)
def test_a_cache_of_methods_that_keeps_some_dozen_objects(decorator, confidence):
    source = (
        "from functools import lru_cache\n\nclass Quay:\n"
        f"    {decorator}\n    def label(self, language):\n        return f'{{self.name}} {{language}}'\n"
    )
    found = [each.confidence for each in findings_of(RULE, {"harbour/quays.py": source})]
    assert found == ([confidence] if confidence else [])


@pytest.mark.parametrize(
    ("key", "count"), [('kind + ":" + userName', 1), ('kind + ":" + format', 0), ("kind", 0), ("kind + userId", 1)]
)
def test_a_key_that_is_put_together_is_of_few_where_all_its_parts_are(key, count):
    source = (
        "@Component\nclass Pages {\n  private final Map<String, String> drawn = new ConcurrentHashMap<>();\n"
        "  public String draw(String kind, String userName, String userId, String format) {\n"
        f"    return drawn.computeIfAbsent({key}, k -> paint(k));\n  }}\n}}\n"
    )
    assert len(findings_of(RULE, {"src/Pages.java": source})) == count


@pytest.mark.parametrize(("bean", "count"), [("@Component", 1), ("", 0)])
def test_a_static_map_of_a_bean(bean, count):
    source = (
        f"{bean}\nclass Places {{\n  private static final Map<String, String> FOUND = new ConcurrentHashMap<>();\n"
        "  public String find(String address) {\n    String known = FOUND.get(address);\n"
        "    if (known != null) { return known; }\n    String fresh = ask(address);\n"
        "    FOUND.putIfAbsent(address, fresh);\n    return fresh;\n  }\n}\n"
    )
    assert len(findings_of(RULE, {"src/Places.java": source})) == count


@pytest.mark.parametrize(
    ("owner", "behind", "count"), [("NameCache", "", 1), ("NameCache", "ALL.remove(file);", 0), ("Names", "", 0)]
)
def test_a_static_map_of_a_class_that_is_called_a_cache(owner, behind, count):
    source = (
        f"class {owner} {{\n  private static final Map<Path, String> ALL = new HashMap<>();\n"
        "  static synchronized String of(Path file) {\n    String known = ALL.get(file);\n"
        "    if (known == null) {\n      known = read(file);\n      ALL.put(file, known);\n    }\n"
        f"    return known;\n  }}\n  static void drop(Path file) {{ {behind} }}\n}}\n"
    )
    assert len(findings_of(RULE, {f"src/{owner}.java": source})) == count


@pytest.mark.parametrize(
    ("only", "rest", "confidences"),
    [
        ("var shared = NewShelf(read)", "", ["low"]),
        ("var shared = &Shelf{texts: map[string]string{}}", "", ["low"]),
        ("func fresh() *Shelf { return NewShelf(read) }", "", []),
        ("var shared = NewShelf(read)", "func (s *Shelf) Drop(key string) { delete(s.texts, key) }\n", []),
    ],
)
def test_a_map_of_the_only_object_of_its_type_in_go(only, rest, confidences):
    source = (
        "package shelf\n\ntype Shelf struct {\n\tmu    sync.Mutex\n\ttexts map[string]string\n}\n\n"
        "func NewShelf(read func(string) string) *Shelf { return &Shelf{texts: map[string]string{}} }\n\n"
        f"{only}\n\n{rest}"
        "func (s *Shelf) Get(key string) string {\n\tif text, ok := s.texts[key]; ok {\n\t\treturn text\n\t}\n"
        "\ts.texts[key] = load(key)\n\treturn s.texts[key]\n}\n"
    )
    assert [each.confidence for each in findings_of(RULE, {"shelf/a.go": source})] == confidences


@pytest.mark.parametrize(
    ("modifier", "key", "count"),
    [("private ", "'redis'", 0), ("private ", "user.id", 1), ("", "'redis'", 1)],
)
def test_keys_that_the_callers_write_out(modifier, key, count):
    source = (
        "@Injectable()\nexport class Health {\n  private readonly cache = new Map<string, number>();\n"
        f"  async ready(user: User) {{\n    await this.checked({key});\n    await this.checked('keys');\n  }}\n"
        f"  {modifier}async checked(key: string) {{\n    const known = this.cache.get(key);\n"
        "    if (known) return known;\n    this.cache.set(key, await ask(key));\n  }\n}\n"
    )
    assert len(findings_of(RULE, {"src/health.ts": source})) == count


@pytest.mark.parametrize(("kind", "count"), [("uint16", 0), ("string", 1)])
def test_a_map_of_go_whose_keys_are_short_numbers(kind, count):
    source = (
        f"package shelf\n\ntype Shelf struct {{\n\tcache map[{kind}]string\n}}\n\n"
        "var shared = NewShelf()\n\n"
        f"func NewShelf() *Shelf {{ return &Shelf{{cache: map[{kind}]string{{}}}} }}\n\n"
        f"func (s *Shelf) Get(key {kind}) string {{\n\tif text, ok := s.cache[key]; ok {{\n\t\treturn text\n\t}}\n"
        "\ts.cache[key] = load(key)\n\treturn s.cache[key]\n}\n"
    )
    assert len(findings_of(RULE, {"shelf/a.go": source})) == count


@pytest.mark.parametrize(
    ("told", "count"),
    [
        ("return jsonify(known=len(seen))", 1),
        ("return {'known': len(seen)}", 1),
        ("logger.info('known %d', len(seen))", 1),
        ("return jsonify(full=len(seen) > 9)", 0),
        ("known = len(seen)", 0),
        ("trim(len(seen))", 0),
    ],
)
def test_a_size_that_is_only_told_bounds_nothing(told, count):
    source = (
        "from flask import Flask, jsonify\napp = Flask(__name__)\nseen = set()\n"
        f"@app.post('/calls/<user>')\ndef call(user):\n    seen.add(user)\n    {told}\n"
    )
    assert len(findings_of(RULE, {"shop/a.py": source})) == count


@pytest.mark.parametrize(
    ("told", "count"),
    [
        ("res.json({ known: fares.size });", 1),
        ("if (fares.size > 500) { stop(); }", 0),
        ("const known = fares.size;", 0),
    ],
)
def test_a_size_that_a_script_only_tells(told, count):
    source = (
        "const express = require('express');\nconst router = express.Router();\nconst fares = new Map();\n"
        f"router.get('/:user', (req, res) => {{\n  fares.set(req.params.user, 1);\n  {told}\n}});\n"
        "module.exports = router;\n"
    )
    assert len(findings_of(RULE, {"src/fares.js": source})) == count


@pytest.mark.parametrize(
    ("declared", "added", "count"),
    [
        ("Map<String, Row> ratesByClient = new ConcurrentHashMap<>()", "ratesByClient.put(clientId, rate)", 1),
        ("Map<String, Row> clients = new ConcurrentHashMap<>()", "clients.put(clientId, rate)", 0),
        ("List<String> asked = new CopyOnWriteArrayList<>()", "asked.add(query)", 1),
        ("Set<String> asked = ConcurrentHashMap.newKeySet()", "asked.add(query)", 1),
        ("List<String> asked = new CopyOnWriteArrayList<>()", "asked.add(query); asked.remove(0)", 0),
    ],
)
def test_other_collections_of_a_bean(declared, added, count):
    bean = (
        "import org.springframework.stereotype.Service;\n@Service\nclass Rates {\n"
        f"  private final {declared};\n"
        f"  void keep(String clientId, String query, Row rate) {{\n    {added};\n  }}\n}}\n"
    )
    web = (
        "import org.springframework.web.bind.annotation.*;\n@RestController\nclass Web {\n"
        "  private final Rates rates;\n"
        '  @GetMapping("/rates/{id}")\n  void get(@PathVariable String id) {\n    rates.keep(id, id, null);\n  }\n}\n'
    )
    assert len(findings_of(RULE, {"src/Rates.java": bean, "src/Web.java": web})) == count


@pytest.mark.parametrize(("key", "count"), [("to", 1), ("user", 1), ("name", 0), ("kind", 0)])
def test_a_map_of_few_by_its_name_under_keys_of_people(key, count):
    source = (
        "from flask import Flask\napp = Flask(__name__)\nformats = {}\n"
        f"@app.post('/formats/<{key}>')\ndef keep({key}):\n    formats[{key}] = 1\n    return ''\n"
    )
    assert [each.confidence for each in findings_of(RULE, {"shop/a.py": source})] == ["low"] * count


KINDS = "from enum import StrEnum\nclass Grade(StrEnum):\n    LOW = 'low'\n    TOP = 'top'\n"


@pytest.mark.parametrize(
    ("declared", "given", "count"),
    [
        ("paints: dict['Grade', str] = {}", "order", 0),
        ("paints = {}", "order: Grade", 0),
        ("paints = {}", "order: Literal['low', 'top']", 0),
        ("paints: dict[str, str] = {}", "order: str", 1),
    ],
)
@pytest.mark.parametrize("is_own", [True, False])
def test_a_map_of_the_values_of_an_enumeration(declared, given, count, is_own):
    source = (
        ("" if is_own else "from shop.kinds import Grade\n") + "from flask import Flask\napp = Flask(__name__)\n"
        f"{declared}\n{KINDS if is_own else ''}"
        f"@app.get('/paints/<order>')\ndef paint({given}):\n    paints[order] = mix(order)\n    return paints[order]\n"
    )
    assert len(findings_of(RULE, {"shop/__init__.py": "", "shop/a.py": source, "shop/kinds.py": KINDS})) == count


@pytest.mark.parametrize(
    ("kind", "work", "count"),
    [
        ("StringBuilder", "StringBuilder text = KEPT.get();\n    text.append(word);", 1),
        ("StringBuilder", "StringBuilder text = KEPT.get();\n    text.setLength(0);\n    text.append(word);", 0),
        ("StringBuilder", "KEPT.get().append(word);\n    KEPT.remove();", 0),
        ("StringBuilder", "word.append(KEPT.get().capacity());", 0),
        ("ArrayList<String>", "KEPT.get().add(word);", 1),
        ("ArrayList<String>", "KEPT.get().clear();\n    KEPT.get().add(word);", 0),
    ],
)
def test_what_each_thread_fills_and_never_empties(kind, work, count):
    source = (
        f"class Web {{\n  private static final ThreadLocal<{kind}> KEPT = ThreadLocal.withInitial(() -> make());\n"
        f"  void get(String word) {{\n    {work}\n  }}\n}}\n"
    )
    assert len(lines_of(RULE, source, "java")) == count
