import json

import pytest

from tests.engine.graph.project import edges_of, graph_of, imported, passed_on, type_only

WORKSPACE = json.dumps({"name": "root", "workspaces": ["packages/*"]})


def package(name, **fields):
    return json.dumps({"name": name, "version": "1.0.0", **fields})


CASES = {
    "a relative import gets its suffix": (
        {"src/a.ts": ["./b"], "src/b.ts": []},
        {"src/a.ts -> src/b.ts"},
    ),
    "a folder means its index": (
        {"src/a.js": ["./b"], "src/b/index.js": []},
        {"src/a.js -> src/b/index.js"},
    ),
    "the compiled name means the TypeScript source": (
        {"src/a.ts": ["./b.js", "./c.jsx", "./d.mjs"], "src/b.ts": [], "src/c.tsx": [], "src/d.mts": []},
        {"src/a.ts -> src/b.ts", "src/a.ts -> src/c.tsx", "src/a.ts -> src/d.mts"},
    ),
    "a file comes before a folder of the same name": (
        {"a.ts": ["./b"], "b.ts": [], "b/index.ts": []},
        {"a.ts -> b.ts"},
    ),
    "the folder itself": (
        {"x/a.ts": ["."], "x/index.ts": []},
        {"x/a.ts -> x/index.ts"},
    ),
    "aliases of tsconfig with comments and trailing commas": (
        {
            "tsconfig.json": '{ // aliases\n "compilerOptions": {"baseUrl": ".", "paths": {"@app/*": ["src/*"],},},\n}',
            "src/a.ts": ["@app/b"],
            "src/b.ts": [],
        },
        {"src/a.ts -> src/b.ts"},
    ),
    "the nearest tsconfig inherits aliases": (
        {
            "tsconfig.base.json": '{"compilerOptions": {"paths": {"~lib/*": ["./shared/*"]}}}',
            "apps/web/tsconfig.json": '{"extends": "../../tsconfig.base.json", "include": ["."]}',
            "apps/web/a.ts": ["~lib/x"],
            "shared/x.ts": [],
        },
        {"apps/web/a.ts -> shared/x.ts"},
    ),
    "a solution file leaves aliases to its parts": (
        {
            "tsconfig.json": '{"files": [], "references": [{"path": "./tsconfig.app.json"}]}',
            "tsconfig.app.json": '{"compilerOptions": {"paths": {"#x/*": ["./src/*"], "@/*": ["./src/*"]}}}',
            "src/a.ts": ["@/b"],
            "src/b.ts": [],
        },
        {"src/a.ts -> src/b.ts"},
    ),
    "the alias with the longest fixed part wins": (
        {
            "tsconfig.json": '{"compilerOptions": {"paths": {"@/*": ["./src/*"], "@/ui/*": ["./ui/*"]}}}',
            "src/a.ts": ["@/ui/b"],
            "src/ui/b.ts": [],
            "ui/b.ts": [],
        },
        {"src/a.ts -> ui/b.ts"},
    ),
    "baseUrl alone": (
        {"tsconfig.json": '{"compilerOptions": {"baseUrl": "src"}}', "src/a.ts": ["lib/b"], "src/lib/b.ts": []},
        {"src/a.ts -> src/lib/b.ts"},
    ),
    "a package of the workspace by its name": (
        {
            "package.json": WORKSPACE,
            "packages/ui/package.json": package("@x/ui", main="dist/index.js"),
            "packages/ui/src/index.ts": [],
            "packages/app/package.json": package("@x/app"),
            "packages/app/a.ts": ["@x/ui"],
        },
        {"packages/app/a.ts -> packages/ui/src/index.ts"},
    ),
    "exports name sub-paths and conditions": (
        {
            "packages/ui/package.json": package(
                "@x/ui", exports={".": "./a.ts", "./*": {"types": "./dist/*.d.ts", "import": "./dist/*.js"}}
            ),
            "packages/ui/a.ts": [],
            "packages/ui/src/button.tsx": [],
            "app/a.ts": ["@x/ui/button"],
        },
        {"app/a.ts -> packages/ui/src/button.tsx"},
    ),
    "a sub-path without exports is a path": (
        {"packages/lib/package.json": package("lib"), "packages/lib/utils/x.ts": [], "app/a.ts": ["lib/utils/x"]},
        {"app/a.ts -> packages/lib/utils/x.ts"},
    ),
    "internal imports of a package": (
        {"package.json": package("p", imports={"#db/*": "./src/db/*.js"}), "src/db/x.ts": [], "src/a.ts": ["#db/x"]},
        {"src/a.ts -> src/db/x.ts"},
    ),
    "the bundlers' at sign": (
        {"web/package.json": package("web"), "web/src/a.tsx": ["@/b"], "web/src/b.tsx": []},
        {"web/src/a.tsx -> web/src/b.tsx"},
    ),
    "queries and loaders of bundlers": (
        {"a.ts": ["raw-loader!./b", "./b?worker"], "b.ts": []},
        {"a.ts -> b.ts"},
    ),
    "style sheets and data are no nodes": (
        {"a.ts": ["./a.css", "./data.json", "./logo.svg"]},
        set(),
    ),
}


@pytest.mark.parametrize(("files", "edges"), CASES.values(), ids=CASES.keys())
def test_imports_lead_to_files(files, edges):
    assert edges_of(files) == edges


def test_packages_outside_are_told_by_name():
    graph = graph_of({"a.ts": ["react", "@scope/pkg/sub/path", "lodash/get", "node:fs/promises", "fs"]})

    assert [found.package for found in graph.external["a.ts"]] == ["react", "@scope/pkg", "lodash", "fs", "fs"]


def test_only_what_points_into_the_project_is_unresolved():
    graph = graph_of({"a.ts": ["./generated/types", "react", "../../outside", "./a.css"]})

    assert [found.target for found in graph.unresolved["a.ts"]] == ["./generated/types", "../../outside"]


def test_type_only_reexported_and_dynamic_imports_are_told_apart():
    graph = graph_of(
        {"a.ts": [type_only("./b"), passed_on("./c"), imported("./d", flags=8)], "b.ts": [], "c.ts": [], "d.ts": []}
    )

    told = {edge.target: (edge.runtime, edge.deferred, edge.reexport) for edge in graph.edges}
    assert told == {
        "b.ts": (False, False, False),
        "c.ts": (True, False, True),
        "d.ts": (True, True, False),
    }


def test_a_tsconfig_that_extends_itself_ends():
    config = '{"extends": "./tsconfig.json", "compilerOptions": {}}'

    assert edges_of({"tsconfig.json": config, "a.ts": ["./b"], "b.ts": []}) == {"a.ts -> b.ts"}
