import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "risk-unsafe-deserialization"

FLAGGED = [
    "import pickle\npickle.loads(data)",
    "import pickle as p\np.load(file)",
    "from dill import loads\nloads(data)",
    "import yaml\nyaml.load(text)",
    "import yaml\nyaml.load(text, Loader=yaml.Loader)",
    "import yaml\nyaml.load(text, Loader=yaml.UnsafeLoader)",
    "import yaml\nyaml.full_load(text)",
    "import torch\ntorch.load(path)",
    "import torch\ntorch.load(path, weights_only=False)",
    "import jsonpickle\njsonpickle.decode(text)",
    "import marshal\nmarshal.loads(data)",
]
FINE = [
    "import pickle\npickle.dumps(data)",
    "import pickle\n",
    "import json\njson.loads(data)",
    "import yaml\nyaml.safe_load(text)",
    "import yaml\nyaml.load(text, Loader=yaml.SafeLoader)",
    "import yaml\nfrom yaml import CSafeLoader\nyaml.load(text, CSafeLoader)",
    "import yaml\nclass Plain(yaml.CSafeLoader):\n    pass\nyaml.load(text, Loader=Plain)",
    "import yaml\nfrom shop.text import UniqueKeySafeLoader\nyaml.load(text, UniqueKeySafeLoader)",
    "import torch\ntorch.load(path, weights_only=True)",
    "import pickle\ndef copy(x):\n    return pickle.loads(pickle.dumps(x))",
    "import pickle\ndef copy(x):\n    text = pickle.dumps(x)\n    return pickle.loads(text)",
    "from ruamel.yaml import YAML\nyaml = YAML()\nyaml.load(x)",
    "import jose\njose.load(x)",
]
SCRIPT_FLAGGED = [
    "import s from 'node-serialize';\ns.unserialize(body)",
    "const v8 = require('v8');\nv8.deserialize(b)",
]
JAVA_FLAGGED = [
    "import java.io.ObjectInputStream;\nclass A { Object f(ObjectInputStream in) {\nreturn in.readObject(); } }",
    "import org.yaml.snakeyaml.Yaml;\nclass A {\nYaml y = new Yaml(); }",
    "import java.beans.XMLDecoder;\nclass A { void f() {\nnew XMLDecoder(in).read(); } }",
    "class A {\nvoid f() {\nmapper.enableDefaultTyping(); } }",
]
JAVA_FINE = [
    "class A { void f() { SecurityJackson2Modules.enableDefaultTyping(mapper); } }",
    "import org.yaml.snakeyaml.Yaml;\nclass A { Yaml y = new Yaml(new SafeConstructor(options)); }",
    "import org.yaml.snakeyaml.Yaml;\n"
    "class A { Yaml y = new Yaml(new Strict()); }\nclass Strict extends SafeConstructor {}",
    "import java.io.ObjectInputStream;\nclass A { private void readObject(ObjectInputStream in) { in.readObject(); } }",
]


@pytest.mark.parametrize("source", FLAGGED)
def test_loaders_that_run_code_are_marked(source):
    assert lines_of(RULE, source) == [2]


@pytest.mark.parametrize("source", FINE)
def test_safe_loaders_and_own_bytes_are_fine(source):
    assert lines_of(RULE, source) == []


@pytest.mark.parametrize("source", SCRIPT_FLAGGED)
def test_script_loaders_are_marked(source):
    assert lines_of(RULE, source, "javascript") == [2]


@pytest.mark.parametrize("source", JAVA_FLAGGED)
def test_java_loaders_are_marked(source):
    assert lines_of(RULE, source, "java") == [3]


@pytest.mark.parametrize("source", JAVA_FINE)
def test_java_loaders_that_are_told_what_is_safe_are_fine(source):
    assert lines_of(RULE, source, "java") == []


def test_bytes_of_an_upload_are_critical():
    (mark,) = marks_of(RULE, "import pickle\npickle.load(request.FILES['x'])")
    assert mark.severity == "critical"


def test_in_a_handler_it_is_critical():
    source = "import pickle\n@app.post('/x')\ndef take(body):\n    pickle.loads(body)\n"
    (finding,) = findings_of(RULE, {"app/views.py": source})
    assert finding.severity == "critical"


def test_a_java_class_of_a_package_that_is_imported_as_a_whole():
    source = "import java.io.*;\nclass A {\n  Object f(InputStream in) throws Exception {\n"
    source += "    return new ObjectInputStream(in).readObject();\n  }\n}\n"
    assert lines_of(RULE, source, "java") == [4]
    assert lines_of(RULE, source.replace("java.io", "shop.io"), "java") == []


@pytest.mark.parametrize(
    ("written", "count"), [("out.writeObject(a);\nbyte[] b = bytes.toByteArray();", 0), ("byte[] b = load();", 1)]
)
def test_a_copy_by_way_of_memory(written, count):
    body = f"{written}\nreturn new ObjectInputStream(new ByteArrayInputStream(b)).readObject();"
    source = f"import java.io.ObjectInputStream;\nclass A {{\nObject f(Object a) {{\n{body}\n}} }}"
    assert len(lines_of(RULE, source, "java")) == count


def test_bytes_that_the_object_pickled_itself():
    head = "import pickle\nclass A:\n    def __init__(self, value):\n        self.raw = {}\n"
    read = "    def get(self):\n        return pickle.loads(self.raw)\n"
    assert lines_of(RULE, head.format("pickle.dumps(value)") + read) == []
    assert lines_of(RULE, head.format("value") + read) == [6]


@pytest.mark.parametrize(
    ("call", "confidence"),
    [("yaml.full_load(f)", "medium"), ("yaml.load(f, Loader=yaml.FullLoader)", "medium"), ("yaml.load(f)", "")],
)
def test_the_full_loader_of_yaml_is_less_certain(call, confidence):
    assert [mark.confidence for mark in marks_of(RULE, f"import yaml\ndef f(f):\n    return {call}\n")] == [confidence]


@pytest.mark.parametrize(("opened", "severity"), [("CONFIG_FILE", "warning"), ("request.path", "critical")])
def test_a_file_that_the_program_names_is_not_what_a_request_brings(opened, severity):
    source = (
        "import pickle\nfrom flask import Flask, request\napp = Flask(__name__)\n@app.get('/')\ndef show():\n"
        f"    with open({opened}, 'rb') as file:\n        return pickle.load(file)\n"
    )
    assert [each.severity for each in findings_of(RULE, {"app/a.py": source})] == [severity]


@pytest.mark.parametrize(
    ("body", "count"), [("protected Class<?> resolveClass(ObjectStreamClass d) { return one(d); }", 0), ("", 1)]
)
def test_a_stream_that_lets_few_classes_through(body, count):
    source = (
        "import java.io.*;\nclass A {\nObject f(InputStream in) throws Exception {\n"
        f"ObjectInputStream o = new ObjectInputStream(in) {{ {body} }};\nreturn o.readObject();\n}} }}"
    )
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(
    ("made", "used", "confidences"),
    [
        ("new Yaml(options)", "dump(rows)", []),
        ("new Yaml(options)", "load(text)", [""]),
        ("new Yaml(constructor)", "load(text)", ["medium"]),
    ],
)
def test_what_a_yaml_is_made_for(made, used, confidences):
    source = f"import org.yaml.snakeyaml.Yaml;\nclass A {{\nObject f() {{\nreturn {made}.{used};\n}} }}"
    assert [mark.confidence for mark in marks_of(RULE, source, "java")] == confidences


@pytest.mark.parametrize(("loader", "confidence"), [("yaml.Loader", ""), ("own.Loader", "medium")])
def test_a_loader_from_elsewhere(loader, confidence):
    source = f"import yaml\nfrom shop import own\ndef f(text):\n    return yaml.load(text, Loader={loader})\n"
    assert [mark.confidence for mark in marks_of(RULE, source)] == [confidence]


def test_who_runs_a_script_chose_the_file():
    source = (
        "import pickle\n\n\ndef read(path):\n    with open(path, 'rb') as file:\n        return pickle.load(file)\n"
    )
    found = findings_of(RULE, {"sdk/examples/read.py": source, "sdk/read.py": source})
    assert {each.file: str(each.confidence) for each in found} == {"sdk/examples/read.py": "low", "sdk/read.py": "high"}


@pytest.mark.parametrize(("opened", "severity"), [("A.class.getResourceAsStream(name)", "info"), ("open(name)", "")])
def test_yaml_that_comes_with_the_program(opened, severity):
    source = (
        f"import org.yaml.snakeyaml.Yaml;\nclass A {{ Object f(String name) {{ return new Yaml().load({opened}); }} }}"
    )
    assert [mark.severity for mark in marks_of(RULE, source, "java")] == [severity]


@pytest.mark.parametrize(("stream", "count"), [("PipedOutputStream", 0), ("FileOutputStream", 1)])
def test_a_copy_by_way_of_a_pipe(stream, count):
    source = "import java.io.ObjectInputStream;\nclass A {\n  void write(Object o) { "
    source += f"new ObjectOutputStream(new {stream}(x)).writeObject(o); }}\n"
    source += "  Object read(ObjectInputStream in) { return in.readObject(); }\n}\n"
    assert len(marks_of(RULE, source, "java")) == count


@pytest.mark.parametrize(("put", "count"), [("(until(at=9), pickle.dumps(row))", 0), ("(9, row)", 1)])
def test_a_cache_in_memory_that_the_class_fills(put, count):
    source = (
        "import pickle\n\n\nclass Cache:\n    def get(self, key):\n        at, row = self._rows.get(key, (0, None))\n"
    )
    source += f"        return pickle.loads(row)\n\n    def set(self, key, row):\n        self._rows[key] = {put}\n"
    assert len(marks_of(RULE, source, "python")) == count


@pytest.mark.parametrize(("version", "count"), [("2.0", 0), ("1.33", 1)])
def test_snakeyaml_is_safe_since_its_second_version(version, count):
    source = "import org.yaml.snakeyaml.Yaml;\nclass A { Object f(String text) { return new Yaml().load(text); } }"
    pom = f"<project><properties><snakeyaml.version>{version}</snakeyaml.version></properties></project>"
    assert len(findings_of(RULE, {"pom.xml": pom, "src/main/java/shop/A.java": source})) == count


@pytest.mark.parametrize(
    ("body", "severity"),
    [
        ("data = request.data\n    return pickle.loads(data)", "critical"),
        ("data = rows.get(1)\n    return pickle.loads(data)", "warning"),
        ("return pickle.loads(body)", "critical"),
        ("body = rows.get(body)\n    return pickle.loads(body)", "warning"),
    ],
)
def test_only_what_comes_with_the_request_is_critical(body, severity):
    source = f"import pickle\n@app.post('/x')\ndef take(body):\n    {body}\n"
    assert [each.severity for each in findings_of(RULE, {"app/views.py": source})] == [severity]


@pytest.mark.parametrize(
    ("call", "confidence"),
    [
        ("torch.load(path)", "medium"),
        ("torch.load(path, weights_only=False)", ""),
        ("joblib.load(path)", "medium"),
    ],
)
def test_loaders_of_own_files(call, confidence):
    source = f"import torch, joblib\ndef f(path):\n    return {call}\n"
    assert [mark.confidence for mark in marks_of(RULE, source)] == [confidence]


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("return v8.deserialize(v8.serialize(rows));", 0),
        ("const bytes = v8.serialize(rows);\n  return v8.deserialize(bytes);", 0),
        ("return v8.deserialize(await load(rows));", 1),
    ],
)
def test_a_copy_by_way_of_bytes(body, count):
    source = f'import v8 from "node:v8";\nexport async function f(rows) {{\n  {body}\n}}\n'
    assert len(lines_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(("asked", "count"), [("setTagInspector(known)", 0), ("setMaxAliasesForCollections(9)", 1)])
def test_an_inspector_of_tags_says_what_yaml_may_build(asked, count):
    source = (
        "import org.yaml.snakeyaml.Yaml;\nclass A { Object f(String text) { Options options = new LoaderOptions();"
        f" options.{asked}; return new Yaml(new Constructor(Row.class, options)).load(text); }} }}"
    )
    assert len(marks_of(RULE, source, "java")) == count


@pytest.mark.parametrize(("bytes_", "count"), [("out.toByteArray()", 0), ("given", 1)])
def test_a_copy_of_java_in_one_expression(bytes_, count):
    source = (
        "import java.io.ObjectInputStream;\nclass A { Object f(byte[] given) {\nnew ObjectOutputStream(out)"
        f".writeObject(this);\nreturn new ObjectInputStream(new ByteArrayInputStream({bytes_})).readObject(); }} }}"
    )
    assert len(lines_of(RULE, source, "java")) == count
