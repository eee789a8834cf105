import json

import pytest

from analysis.engine.extract.manifests import manifest_facts


def read(text):
    facts = manifest_facts(text.encode() if isinstance(text, str) else text)
    assert facts.language == "manifest"
    return json.loads(facts.manifest) if facts.manifest else {}


def test_a_package_with_workspaces_and_dependencies():
    manifest = read(
        '{"name": "x", "workspaces": {"packages": ["a/*"]}, "main": "m.js",'
        ' "dependencies": {"express": "5"}, "devDependencies": {"jest": "1"}}'
    )

    assert manifest["kind"] == "package"
    assert (manifest["name"], manifest["main"]) == ("x", "m.js")
    assert manifest["workspaces"] == ["a/*"]
    assert manifest["dependencies"] == ["express", "jest"]


def test_a_tsconfig_with_comments_trailing_commas_and_slashes_in_strings():
    manifest = read(
        '/* base */ {"extends": "./b.json", // why\n "compilerOptions": {"paths": {"@/*": ["./s//*",],},},}'
    )

    assert manifest["kind"] == "tsconfig"
    assert manifest["extends"] == ["./b.json"]
    assert manifest["paths"] == {"@/*": ["./s//*"]}


def test_go_mod_in_lines_and_blocks():
    manifest = read(
        "module m/x // name\ngo 1.24\nrequire a/b v1\nrequire (\n\tc/d v2 // indirect\n)\nreplace a/b => ../b\n"
    )

    assert manifest["kind"] == "gomod"
    assert (manifest["module"], manifest["require"]) == ("m/x", ["a/b", "c/d"])
    assert manifest["replace"] == [["a/b", "../b"]]


def test_go_work():
    assert read("go 1.24\n\nuse (\n\t./a\n\t./b\n)\n")["use"] == ["./a", "./b"]


def test_pyproject_of_the_standard_and_of_poetry():
    standard = read('[project]\nname = "x"\ndependencies = ["Django>=5", "httpx[http2]~=0.28"]\n')
    poetry = read(
        '[tool.poetry.dependencies]\npython = "^3.11"\nflask = "*"\n[tool.poetry]\npackages = [{from = "lib"}]\n'
    )

    assert standard["dependencies"] == ["Django", "httpx"]
    assert (poetry["dependencies"], poetry["roots"]) == (["flask"], ["lib"])


def test_setup_cfg():
    manifest = read(
        "[metadata]\nname = x\n[options]\ninstall_requires =\n  flask>=2\n[options.packages.find]\nwhere = src\n"
    )

    assert (manifest["kind"], manifest["dependencies"], manifest["roots"]) == ("setup", ["flask"], ["src"])


def test_requirements():
    assert read("# base\n-r other.txt\nDjango==5.2\nuvicorn[standard] >= 0.3 ; python_version > '3'\n") == {
        "kind": "requirements",
        "dependencies": ["Django", "uvicorn"],
    }


def test_maven_and_gradle():
    pom = '<project xmlns="http://maven"><dependencies><dependency><groupId>g</groupId><artifactId>a</artifactId>'
    maven = read(pom + "</dependency></dependencies></project>")
    gradle = read(
        "plugins {\n  id 'org.springframework.boot' version '3'\n}\ndependencies {\n  implementation 'g:a:1.0'\n}\n"
    )

    assert (maven["kind"], maven["dependencies"]) == ("maven", ["g:a"])
    assert (gradle["kind"], gradle["dependencies"]) == ("gradle", ["g:a", "org.springframework.boot"])


def test_pnpm_workspace():
    assert read("packages:\n  - 'apps/*'\n") == {"kind": "pnpm", "workspaces": ["apps/*"]}


def test_versions_that_a_catalog_of_pnpm_gives():
    catalogs = "catalog:\n  express: ^5.2.1\n  next: ^16.0.0\ncatalogs:\n  old:\n    express: ^4.18.0\n"
    versions = {"default": {"express": 5}, "old": {"express": 4}}
    assert read("packages:\n  - 'apps/*'\n" + catalogs)["versions"] == versions
    assert read('{"dependencies": {"express": "catalog:"}}')["catalogs"] == {"express": "default"}
    assert read('{"dependencies": {"express": "catalog:old"}}')["catalogs"] == {"express": "old"}


BROKEN = [
    b"",
    b"\xff\xfe\x00",
    b"{",
    b'{"name": ',
    b"[1, 2]",
    b"[tool\nx = ",
    b"<project>",
    b'<!DOCTYPE x [<!ENTITY a "aaaa">]><project>&a;</project>',
    b"packages: &a ['x']\nmore: [*a, *a]\n",
    b"{" * 50_000,
    b'{"a":' * 50_000,
    b"[" * 50_000,
    b"{" + b"/*" * 200_000,
    b'{"' + b'\\"' * 200_000,
    b"packages: [" + b"[" * 500,
    b'{"compilerOptions": [], "paths": 3, "extends": {}}',
    b'{"name": 3, "dependencies": ["x"], "workspaces": {"packages": {}}}',
]


@pytest.mark.timeout(10)
@pytest.mark.parametrize("blob", BROKEN, ids=range(len(BROKEN)))
def test_broken_and_hostile_files_give_facts(blob):
    assert manifest_facts(blob).lines == blob.count(b"\n") + bool(blob and not blob.endswith(b"\n"))
