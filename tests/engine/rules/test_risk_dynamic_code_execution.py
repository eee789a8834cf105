import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "risk-dynamic-code-execution"

FLAGGED = [
    "eval(text)",
    "exec(f'x = {text}')",
    "compile(text, 'a', 'exec')",
    "os.system(f'rm {text}')",
    "os.popen('ls ' + text)",
    "subprocess.run(f'ls {text}', shell=True)",
    "subprocess.Popen(text, shell=True)",
]
FINE = [
    "ast.literal_eval(text)",
    "model.eval()",
    "df.eval(text)",
    "re.compile(text)",
    "subprocess.run(['ls', text])",
    "subprocess.run(text)",
    "subprocess.run('ls -l', shell=True)",
    "os.system('clear')",
    "os.system(f'rm {shlex.quote(text)}')",
    "os.system(COMMAND)",
]
SCRIPT_FLAGGED = [
    "eval(text)",
    "new Function('a', text)",
    "setTimeout(`run(${text})`, 10)",
    "exec(`ls ${text}`)",
    "execSync('ls ' + text)",
    "vm.runInNewContext(text)",
]
SCRIPT_FINE = ["setTimeout(text, 10)", "setTimeout(() => eval2(text), 10)", "exec('ls')", "pattern.exec(text)"]


@pytest.mark.parametrize("call", FLAGGED)
def test_text_that_becomes_code_is_marked(call):
    (mark,) = marks_of(RULE, f"import os, subprocess\ndef f(text):\n    {call}\n")
    assert (mark.line, mark.severity) == (3, "")


@pytest.mark.parametrize("call", FINE)
def test_fixed_commands_and_namesakes_are_fine(call):
    assert lines_of(RULE, f"import os, subprocess, shlex, re\ndef f(text):\n    {call}\n") == []


def test_a_literal_is_worth_knowing_only():
    (mark,) = marks_of(RULE, "eval('1 + 1')")
    assert mark.severity == "info"


def test_a_function_of_that_name_is_not_the_builtin():
    assert lines_of(RULE, "def eval(x): ...\neval(text)") == []


@pytest.mark.parametrize("call", SCRIPT_FLAGGED)
def test_script(call):
    source = (
        f"import {{ exec, execSync }} from 'child_process';\nimport vm from 'vm';\nfunction f(text) {{\n{call};\n}}"
    )
    assert lines_of(RULE, source, "javascript") == [4]


@pytest.mark.parametrize("call", SCRIPT_FINE)
def test_script_that_runs_no_text_is_fine(call):
    source = f"import {{ exec }} from 'child_process';\nfunction f(text) {{\n{call};\n}}"
    assert lines_of(RULE, source, "javascript") == []


def test_java_and_go():
    java = "import javax.script.ScriptEngine;\nclass A { void f(ScriptEngine e, String s) {\ne.eval(s); } }"
    assert lines_of(RULE, java, "java") == [3]
    assert lines_of(RULE, java.replace("javax.script.ScriptEngine", "a.Model"), "java") == []
    assert lines_of(RULE, java.replace("ScriptEngine e,", "Tariff e,"), "java") == []
    assert lines_of(RULE, java.replace("ScriptEngine e,", "CompiledScript e,"), "java") == []
    assert lines_of(RULE, java.replace("e.eval(s)", "eval(e)"), "java") == []
    go = 'package a\nimport "os/exec"\nfunc f(s string) {\nexec.Command("sh", "-c", "ls "+s)\n}'
    assert lines_of(RULE, go, "go") == [4]
    assert lines_of(RULE, go.replace('"ls "+s', '"ls"'), "go") == []
    assert lines_of(RULE, go.replace('"sh", "-c", "ls "+s', '"ls", s'), "go") == []


def test_a_script_is_run_by_those_who_could_type_the_command():
    shell = "import os\ndef f(text):\n    os.system('ls ' + text)\n"
    code = "def f(text):\n    eval(text)\n"
    assert [each.severity for each in findings_of(RULE, {"scripts/a.py": shell, "scripts/b.py": code})] == ["info"]
    assert [each.severity for each in findings_of(RULE, {"app/a.py": shell, "app/b.py": code})] == [
        "critical",
        "warning",
    ]


def test_what_builds_the_program_is_given_its_own_names():
    source = "import { execSync } from 'child_process';\nexport function f(tag) {\n  execSync(`git tag ${tag}`);\n}\n"
    assert [each.confidence for each in findings_of(RULE, {"src/a.ts": source})] == ["low"]


def test_a_spawned_shell():
    head = "import { spawn } from 'child_process';\nfunction f(name) {\n  "
    assert lines_of(RULE, head + "spawn(`ls ${name}`, { shell: true });\n}", "typescript") == [3]
    assert lines_of(RULE, head + "spawn('ls', [name]);\n}", "typescript") == []


def test_a_timer_runs_text_that_is_put_together():
    assert lines_of(RULE, "function f(x) {\n  setTimeout('go(' + x + ')', 1);\n}", "typescript") == [2]
    assert lines_of(RULE, "function f(x) {\n  setTimeout(() => go('a' + x), 1);\n}", "typescript") == []


def test_in_a_browser_it_is_a_warning():
    source = "export const run = (text) => {\n  return new Function(text + req.body.text);\n};\n"
    page = {"web/package.json": '{"dependencies": {"react": "19"}}', "web/src/run.js": source}
    server = {"api/package.json": '{"dependencies": {"express": "5"}}', "api/src/run.js": source}
    assert [each.severity for each in findings_of(RULE, page)] == ["warning"]
    assert [each.severity for each in findings_of(RULE, server)] == ["critical"]


@pytest.mark.parametrize(
    ("path", "source", "words"),
    [
        ("app/a.py", "def f(text):\n    eval(text)\n", "ast.literal_eval"),
        ("app/a.py", "import os\ndef f(text):\n    os.system(text)\n", "without a shell"),
        ("src/a.js", "function f(text) {\n  eval(text);\n}\n", "functions of your own"),
    ],
)
def test_the_suggestion_speaks_of_the_language_at_hand(path, source, words):
    (finding,) = findings_of(RULE, {path: source})
    assert words in finding.suggestion


def test_a_script_engine_by_its_full_name():
    source = (
        "class A { Object f(String s) {\n"
        'return new javax.script.ScriptEngineManager().getEngineByName("js").eval(s); } }'
    )
    assert lines_of(RULE, source, "java") == [2]


@pytest.mark.parametrize(
    ("head", "severity"),
    [
        ("/*!\n * Templates.js v1.4.2 | MIT\n */\n", "info"),
        ("//     Under.js 1.6.0\n//     (c) 2014 A. Author\n", "info"),
        ("// Copyright 2024 Shop, release 1.2.3\n", ""),
        ("", ""),
    ],
)
def test_a_library_that_was_copied_in(head, severity):
    source = head + "function render(source) {\n  return new Function('data', source);\n}\n"
    assert [mark.severity for mark in marks_of(RULE, source, "javascript")] == [severity]


@pytest.mark.parametrize(
    ("path", "severity"),
    [
        ("join(folder, 'a.pdf')", "info"),
        ("path.join(os.tmpdir(), 'a.pdf')", "info"),
        ("path.join(folder, name)", ""),
        ("name", ""),
    ],
)
def test_a_path_of_the_program_itself_in_a_command(path, severity):
    source = (
        "import { exec } from 'child_process';\nasync function f(name) {\n"
        f"  const folder = await mkdtemp(join(tmpdir(), 'work-'));\n  const file = {path};\n"
        '  exec(`pdftotext "${file}" -`, done);\n}'
    )
    assert [mark.severity for mark in marks_of(RULE, source, "typescript")] == [severity]


@pytest.mark.parametrize(
    ("statement", "count"), [("compile(text, 'a', 'exec')", 0), ("code = compile(text, 'a', 'exec')", 1)]
)
def test_a_text_that_is_compiled_only_to_look_at_it(statement, count):
    source = f"def f(text):\n    try:\n        {statement}\n    except SyntaxError:\n        return False\n"
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("src/main/webapp/js/graph.js", ("warning", "medium")),
        ("app/static/js/libs/viewer/viewer.js", ("info", "low")),
        ("src/graph.js", ("warning", "medium")),
    ],
)
def test_code_of_a_page_and_of_its_libraries(path, told):
    found = findings_of(RULE, {path: "function f(text) {\n  return eval('(' + text + ')');\n}\n"})
    assert [(each.severity, each.confidence) for each in found] == [told]


@pytest.mark.parametrize(
    ("around", "severity"), [("page.evaluate((text) => {\n%s\n}, script)", "info"), ("run((text) => {\n%s\n})", "")]
)
def test_code_for_a_page_that_is_driven(around, severity):
    source = "function f(page, script) {\n" + around % "eval(text);" + "\n}"
    assert [mark.severity for mark in marks_of(RULE, source, "typescript")] == [severity]


@pytest.mark.parametrize(
    ("end", "severity"), [("if __name__ == '__main__':\n    pack('a')\n", "info"), ("", "critical")]
)
def test_a_program_that_its_user_calls(end, severity):
    source = f"import subprocess\ndef pack(name):\n    subprocess.run(f'tar -c {{name}}', shell=True)\n{end}"
    assert [each.severity for each in findings_of(RULE, {"shop/pack.py": source})] == [severity]


def test_names_that_were_imported_in_a_command():
    source = (
        "import {{ exec }} from 'child_process';\nimport {{ configFile }} from './names';\nfunction f(name) {{\n"
        "  const script = path.join(getRootPath(), 'a.js');\n  exec(`node ${{script}} ${{{}}}`, done);\n}}"
    )
    assert [mark.severity for mark in marks_of(RULE, source.format("configFile"), "typescript")] == ["info"]
    assert [mark.severity for mark in marks_of(RULE, source.format("name"), "typescript")] == [""]


@pytest.mark.parametrize(
    ("head", "command", "count"),
    [
        ("const execAsync = promisify(exec);", "`rm -r ${name}`", 1),
        ("import { execAsync } from './process';", "`rm -r ${name}`", 1),
        ("import { execAsync } from 'work-lib';", "`rm -r ${name}`", 0),
        ("const execAsync = promisify(exec);", "'ls'", 0),
        ("const execAsync = promisify(exec);", "command", 0),
    ],
)
def test_a_shell_that_gives_a_promise(head, command, count):
    source = f"import {{ exec }} from 'child_process';\n{head}\nasync function f(name, command) {{\n"
    source += f"  await execAsync({command});\n}}"
    assert [mark.confidence for mark in marks_of(RULE, source, "typescript")] == ["medium"] * count


def test_a_bundle_of_a_library():
    head = (
        "!(function (e, t) {\n  'object' == typeof exports && 'object' == typeof module\n    ? (module.exports = t())\n"
    )
    head += "    : 'function' == typeof define && define.amd;\n})(this, () => {});\n"
    source = "function f(text) {\n  return new Function('a', text);\n}\n"
    assert [mark.severity for mark in marks_of(RULE, head + source, "javascript")] == ["info"]
    assert [mark.severity for mark in marks_of(RULE, source, "javascript")] == [""]


@pytest.mark.parametrize(("path", "count"), [("web/fonts/build-fonts.mjs", 0), ("web/fonts/fonts.mjs", 1)])
def test_a_command_of_the_build(path, count):
    source = "import { execSync } from 'child_process';\nfunction f(name) {\n  execSync(`compress ${name}`);\n}\n"
    assert len(findings_of(RULE, {path: source})) == count


def test_a_command_that_no_request_reaches_is_less_certain():
    body = "  execSync(`compress ${req.query.name}`);\n"
    head = "import { execSync } from 'child_process';\nimport express from 'express';\nconst app = express();\n"
    handler = head + f"app.get('/x', (req, res) => {{\n{body}}});\n"
    plain = head + f"export function f(req) {{\n{body}}}\n"
    assert [each.confidence for each in findings_of(RULE, {"src/a.ts": handler})] == ["high"]
    assert [each.confidence for each in findings_of(RULE, {"src/a.ts": plain})] == ["medium"]


@pytest.mark.parametrize(("part", "count"), [("shellQuote(name)", 0), ("clean(name)", 1)])
def test_a_part_that_is_quoted_for_the_shell(part, count):
    source = f"import {{ exec }} from 'child_process';\nfunction f(name) {{\n  exec(`scan ${{{part}}}`, done);\n}}"
    assert len(lines_of(RULE, source, "typescript")) == count


def test_require_hidden_from_a_bundler():
    assert marks_of(RULE, "const stream = eval('require')('stream');", "javascript") == []


@pytest.mark.parametrize(
    ("line", "severities"), [("show(compile(node, '<stdin>', 'single'))", ["info"]), ("show(node)", [""])]
)
def test_the_console_of_a_user(line, severities):
    source = f"def run(node, names):\n    {line}\n    exec(node, names)\n"
    assert [mark.severity for mark in marks_of(RULE, source, "python")] == severities


@pytest.mark.parametrize(("name", "count"), [("exec_module", 0), ("run_text", 1)])
def test_a_loader_of_modules(name, count):
    source = f"class Loader:\n    def {name}(self, module):\n        exec(self.read(), module.__dict__)\n"
    assert len(marks_of(RULE, source, "python")) == count


@pytest.mark.parametrize(("names", "severity"), [("{'__name__': '__main__'}", "info"), ("{'__name__': 'shop'}", "")])
def test_the_script_that_a_user_names(names, severity):
    source = f"def run(script):\n    exec(open(script).read(), {names})\n"
    assert [mark.severity for mark in marks_of(RULE, source, "python")] == [severity]


@pytest.mark.parametrize(("text", "count"), [("return import(name)", 0), ("return load(name)", 1)])
def test_an_import_hidden_from_a_compiler(text, count):
    assert len(marks_of(RULE, f"const load = new Function('name', '{text}');", "typescript")) == count


@pytest.mark.parametrize(
    ("source", "severity"),
    [
        ("with open(VERSION_FILE) as file:\n    exec(file.read())\n", "info"),
        ("exec(open('shop/version.py').read())\n", "info"),
        ("with open(name) as file:\n    exec(file.read())\n", ""),
        ("with open(os.path.join(root, VERSION_FILE)) as file:\n    exec(file.read())\n", "info"),
        ("with open(os.path.join(root, name)) as file:\n    exec(file.read())\n", ""),
        ("exec(open(name).read())\n", ""),
    ],
)
def test_a_file_of_the_project(source, severity):
    assert [mark.severity for mark in marks_of(RULE, source, "python")] == [severity]


@pytest.mark.parametrize(("library", "confidence"), [("click", "low"), ("shop", "medium")])
def test_a_command_line_whose_user_types_the_rest(library, confidence):
    source = f"import subprocess\n\nimport {library}\n\n\ndef publish(name):\n"
    source += "    subprocess.check_call('deploy {}'.format(name), shell=True)\n"
    assert [str(each.confidence) for each in findings_of(RULE, {"shop/publish.py": source})] == [confidence]


@pytest.mark.parametrize(
    ("line", "severity"), [("document.createEvent('Event');", "warning"), ("create('Event');", "")]
)
def test_code_of_a_page_by_what_it_uses(line, severity):
    source = f"function f(text) {{\n  new Function(text).call(1);\n  {line}\n}}\n"
    assert [mark.severity for mark in marks_of(RULE, source, "javascript")] == [severity]


def test_text_on_the_way_of_a_request_is_more_certain():
    source = "from flask import Flask\napp = Flask(__name__)\n{}def show(text):\n    return eval(text)\n"
    told = [findings_of(RULE, {"app/a.py": source.format(head)}) for head in ("@app.get('/')\n", "")]
    assert [(each.severity, each.confidence) for found in told for each in found] == [
        ("critical", "high"),
        ("warning", "medium"),
    ]


@pytest.mark.parametrize(
    ("path", "name", "told"),
    [
        ("app/tax.py", "rate", ("warning", "medium")),
        ("app/script_runner.py", "rate", ("info", "low")),
        ("app/tax.py", "run_in_sandbox", ("info", "low")),
        ("app/transcripts.py", "rate", ("warning", "medium")),
        ("app/descriptions.py", "rate", ("warning", "medium")),
    ],
)
def test_what_is_there_to_run_the_code_of_others(path, name, told):
    (finding,) = findings_of(RULE, {path: f"def {name}(text):\n    return eval(text)\n"})
    assert (finding.severity, finding.confidence) == told


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("def run(command):\n    os.system(command)\n", ("warning", "low")),
        ("def run(name):\n    os.system('show ' + name)\n", ("critical", "medium")),
        ("def run(path):\n    exec(open(path).read())\n", ("info", "low")),
        ("def run(request):\n    exec(request.files['a'].read())\n", ("critical", "medium")),
    ],
)
def test_what_is_handed_on_or_read_from_a_file(body, told):
    found = findings_of(RULE, {"app/a.py": "import os\n" + body})
    assert [(str(each.severity), str(each.confidence)) for each in found] == [told]


def test_code_is_told_where_it_is_compiled():
    source = "def run(text):\n    code = compile(text, 'a', 'exec')\n    exec(code)\n"
    assert lines_of(RULE, source) == [2]


def test_the_environment_of_the_process_in_a_command():
    source = 'package a\nimport ("os"; "os/exec")\nfunc f(name string) {\n\texec.Command("sh", "-c", "ls "+%s)\n}\n'
    assert lines_of(RULE, source % 'os.Getenv("HOME")', "go") == []
    assert lines_of(RULE, source % "name", "go") == [4]


@pytest.mark.parametrize(("call", "count"), [('eval("low", 1)', 0), ('engine.eval("1 + 1")', 1)])
def test_a_method_of_java_that_is_called_eval(call, count):
    source = f"import javax.script.ScriptEngine;\nclass A {{ Object f(ScriptEngine engine) {{\nreturn {call}; }} }}"
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(
    ("check", "count"),
    [
        ("if (!/^[a-zA-Z0-9_-]+$/.test(name)) {\n    return false;\n  }", 0),
        ("if (!NAME.test(name)) throw new Error(name);", 0),
        ("if (!/^[a-z]+/.test(name)) return false;", 1),
        ("if (!/^[a-z;]+$/.test(name)) return false;", 1),
        ("if (!/^.+$/.test(name)) return false;", 1),
        ("if (!/^[a-z]+$|;/.test(name)) return false;", 1),
        ("if (!/^[a-z]+$/.test(name)) console.log(name);", 1),
        ("if (!/^[a-z]+$/.test(other)) return false;", 1),
    ],
)
def test_a_name_that_a_pattern_lets_through(check, count):
    source = 'import { execSync } from "child_process";\nconst NAME = /^\\w+$/;\n'
    source += f"export function has(name: string, other: string) {{\n  {check}\n  execSync(`which ${{name}}`);\n}}\n"
    assert len(lines_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(("way", "count"), [("fullmatch", 0), ("match", 1)])
def test_a_name_that_a_pattern_of_python_lets_through(way, count):
    source = "import os, re\ndef has(name):\n"
    source += (
        f"    if not re.{way}(r'[a-z0-9_]+', name):\n        raise ValueError(name)\n    os.system('which ' + name)\n"
    )
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('"zip /srv/{}.zip /srv/{}".format(name, name)', 1),
        ('"SELECT {}.id FROM {}".format(name, TABLE)', 0),  # the alias of a table
    ],
)
def test_a_name_within_a_path_is_no_alias(text, count):
    source = f"import subprocess\ndef f(name):\n    command = {text}\n    subprocess.call(command, shell=True)\n"
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(
    ("path", "source", "count"),
    [
        ("scripts/make.py", "text = make()\nexec(compile(text, 'a', 'exec'))\nopen('a.py', 'w').write(text)\n", 0),
        ("scripts/make.py", "text = load()\nexec(text)\nopen('a.py', 'w').write(other)\n", 1),
        ("shop/make.py", "def f(text):\n    exec(text)\n    open('a.py', 'w').write(text)\n", 1),
        ("scripts/make.js", "const text = make();\nnew Function(text);\nfs.writeFileSync('a.js', `x = ${text}`);\n", 0),
    ],
)
def test_a_generator_tries_what_it_writes(path, source, count):
    assert len(findings_of(RULE, {path: source})) == count
