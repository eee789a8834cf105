"""Graphs of states in a row: each must be what a graph built from nothing says of that state."""

from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.engine.facts import Class, ImportFlag
from analysis.engine.graph import build_graph
from analysis.engine.graph.build import GraphBuilder
from tests.engine.graph.project import facts_of, files_of, imported

PYTHON = (
    "app/__init__.py",
    "app/a.py",
    "app/b.py",
    "app/b/__init__.py",
    "app/b/c.py",
    "lib/app/a.py",
    "tests/test_a.py",
)
SCRIPT = (
    *("web/a.ts", "web/b.ts", "web/b/index.ts", "web/b/c.tsx", "web/src/b.ts", "web/types.d.ts", "web/b.js"),
    *("web/b.d.ts", "web/index.mts", "index.ts"),
)
JAVA = ("java/org/x/A.java", "java/org/x/B.java", "java/org/y/A.java", "java/org/y/z/C.java", "old/java/org/x/A.java")
GO = ("go/main.go", "go/store/store.go", "go/store/doc.go", "go/api/api.go", "go/inner/x.go")
MANIFESTS = {
    "package.json": ['{"name": "web", "main": "web/b.ts"}', '{"name": "other"}'],
    "web/tsconfig.json": ['{"compilerOptions": {"paths": {"@/*": ["./*"]}}}', '{"compilerOptions": {"baseUrl": "."}}'],
    "go/go.mod": ["module example.org/shop\n", "module example.org/store\n"],
    "lib/pyproject.toml": ['[project]\nname = "lib"\n'],
}

flags = st.sampled_from([0, 0, 0, ImportFlag.TYPE_ONLY, ImportFlag.DEFERRED, ImportFlag.REEXPORT])


def imports_from(targets, names=("",), levels=(0,)):
    one = st.builds(
        lambda target, name, level, line, flag: imported(
            target, *([name] if name else []), level=level, line=line, flags=flag
        ),
        st.sampled_from(targets),
        st.sampled_from(names),
        st.sampled_from(levels),
        st.integers(1, 9),
        flags,
    )
    return st.lists(one, max_size=4)


def contents(paths, imports, names):
    """A path of this language with one of its possible contents."""
    classes = st.lists(st.sampled_from(names), max_size=2, unique=True)
    return st.tuples(
        st.sampled_from(paths),
        st.builds(
            lambda found, own, skipped: (found, own, skipped), imports, classes, st.sampled_from(["", "", "generated"])
        ),
    )


def facts(path, content):
    if isinstance(content, str):
        return facts_of(path, content)
    imports, classes, skipped = content
    bases = tuple(classes)
    return facts_of(
        path, imports, classes=tuple(Class(name, 1, 2, 2, bases=bases) for name in classes), skipped=skipped
    )


files = st.one_of(
    contents(
        PYTHON,
        imports_from(["app", "app.a", "app.b", "b", "b.c", ""], ("", "a", "b", "c", "*"), (0, 0, 1, 2)),
        ["a", "c"],
    ),
    contents(
        SCRIPT,
        imports_from(
            [
                "./a",
                "./b",
                "../b",
                "./b/c",
                "@/b",
                "web",
                "web/b",
                "types",
                "b",
                "./b.js",
                "..",
                "web/dist/b",
                "./types",
            ],
            ("", "x"),
        ),
        ["x"],
    ),
    contents(
        JAVA,
        imports_from(["org.x.A", "org.x.*", "org.y.A", "org.y.z.C", "org.q.D", "org.x", "org.y.A.In"], ("", "A", "z")),
        ["A", "B", "C"],
    ),
    contents(GO, imports_from(["example.org/shop/store", "example.org/store/store", "example.org/shop/api"]), ["S"]),
    st.sampled_from([(path, text) for path, texts in MANIFESTS.items() for text in texts]),
)
# Each step adds or changes files, and deletes some.
edits = st.tuples(
    st.lists(files, max_size=5), st.sets(st.sampled_from([*PYTHON, *SCRIPT, *JAVA, *GO, *MANIFESTS]), max_size=2)
)


class TestGraphsInARow:
    @settings(max_examples=200)
    @given(st.lists(edits, min_size=1, max_size=8))
    def test_equal_graphs_from_scratch(self, steps):
        builder = GraphBuilder()
        state = {}
        for changed, deleted in steps:
            state = {path: known for path, known in state.items() if path not in deleted}
            state |= {path: facts(path, content) for path, content in changed}
            assert builder.build(state) == build_graph(state)

    def test_are_one_object_while_no_import_changes(self):
        builder = GraphBuilder()
        before = builder.build(files_of({"a.py": ["b"], "b.py": []}))
        assert builder.build(files_of({"b.py": [], "a.py": ["b"]})) is before

    def test_keep_the_edges_of_files_that_were_not_touched(self):
        builder = GraphBuilder()
        state = files_of({"a.py": ["b"], "b.py": [], "c.py": []})
        (edge,) = builder.build(state).edges
        found = builder.build(state | files_of({"c.py": ["a"]})).edges
        assert [each for each in found if each is edge]

    def test_notice_that_a_target_appeared(self):
        builder = GraphBuilder()
        state = files_of({"a.ts": ["./b"]})
        assert builder.build(state).unresolved["a.ts"]
        assert [edge.target for edge in builder.build(state | files_of({"b.ts": []})).edges] == ["b.ts"]
