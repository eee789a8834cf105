import pytest

from tests.engine.rules.reading import findings_of

RULE = "rel-process-exit-in-library"

PYTHON = "import sys\ndef load():\n    sys.exit(1)\n"
SCRIPT = "export function load() {\n  process.exit(1);\n}\n"
JAVA = "class Store { void load() {\nSystem.exit(1); } }"
GO = 'package store\nimport "os"\nfunc Load() {\nos.Exit(1)\n}\n'


@pytest.mark.parametrize(
    ("path", "source", "line"),
    [
        ("shop/store.py", PYTHON, 3),
        ("src/store.ts", SCRIPT, 2),
        ("src/Store.java", JAVA, 2),
        ("store/store.go", GO, 4),
        ("store/log.go", GO.replace('"os"', '"log"').replace("os.Exit(1)", 'log.Fatal("x")'), 4),
    ],
)
def test_library_code_that_ends_the_process_is_found(path, source, line):
    assert [finding.line for finding in findings_of(RULE, {path: source})] == [line]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("scripts/load.py", PYTHON),
        ("shop/cli.py", PYTHON),
        ("shop/management/base.py", PYTHON),
        ("shop/store.py", PYTHON + "if __name__ == '__main__':\n    load()\n"),
        ("shop/store.py", PYTHON.replace("load", "main")),
        ("shop/store.py", "def exit(x): ...\ndef load():\n    exit(1)\n"),
        ("src/bin/run.ts", SCRIPT),
        ("store/command.go", GO),
        ("store/store.go", GO.replace("os.Exit(1)", "signal.Notify(c)\ngo func() {\n<-c\nos.Exit(1)\n}()")),
        ("store/store.go", GO.replace("Load", "Fatalf")),
        ("store/store.go", GO.replace("Load", "onFatalError")),
        ("ui/generate-types.js", SCRIPT),
        ("shop/store.py", "import os\ndef detach():\n    if os.fork() > 0:\n        os._exit(0)\n"),
        ("src/stop.ts", "export function wait() { process.on('SIGTERM', () => { process.exit(0); }); }"),
        ("src/app.js", "connect().catch((err) => {\n  process.exit(1);\n});\nfunction load() { process.exit(1); }\n"),
        ("packages/shop-cli/src/store.ts", SCRIPT),
        ("ci/check.js", SCRIPT),
        ("store/flags.go", GO.replace("os.Exit", "flag.Parse()\nos.Exit")),
        ("cmd/x/x.go", GO.replace("package store", "package main")),
    ],
)
def test_entry_files_and_signal_handlers_are_fine(path, source):
    assert findings_of(RULE, {path: source}) == []


def test_a_helper_of_scripts_only_is_no_library():
    script = "import { load } from './load';\nload();\n"
    assert findings_of(RULE, {"src/load.ts": SCRIPT, "src/copy.ts": script}) == []
    assert len(findings_of(RULE, {"src/load.ts": SCRIPT, "src/copy.ts": script + "export const a = 1;\n"})) == 1


def test_on_the_request_path_it_is_critical():
    source = "import sys\n@app.get('/x')\ndef show():\n    sys.exit(1)\n"
    (finding,) = findings_of(RULE, {"shop/views.py": source})
    assert finding.severity == "critical"


def test_a_function_that_is_registered_for_a_signal_may_exit():
    source = PYTHON + "def install():\n    signal.signal(signal.SIGTERM, load)\n"
    assert findings_of(RULE, {"shop/store.py": source}) == []
    assert len(findings_of(RULE, {"shop/store.py": source.replace("SIGTERM, load", "SIGTERM, stop")})) == 1


def test_a_handler_is_no_entry_though_only_the_entry_imports_it():
    controller = "@Controller('a')\nexport class A {\n  @Get()\n  list() {\n    process.exit(2);\n  }\n}\n"
    files = {"src/a.controller.ts": controller, "src/app.ts": "import { A } from './a.controller';\nstart(A);\n"}
    (finding,) = findings_of(RULE, files)
    assert finding.severity == "critical"


@pytest.mark.parametrize(("signal", "count"), [("SIGTERM", 0), ("message", 1)])
def test_what_a_signal_starts_by_its_name(signal, count):
    source = (
        "export function listen() {\n  const close = () => {\n    end().finally(() => {\n"
        "      process.exit(1);\n    });\n  };\n"
        f"  process.once('{signal}', close);\n}}\n// SIG\n"
    )
    assert len(findings_of(RULE, {"src/load.ts": source})) == count


@pytest.mark.parametrize(
    ("head", "count"),
    [
        ("from invoke import task\n", 0),
        ("import click\n", 0),
        ("from argparse import ArgumentParser\ndef main():\n    ArgumentParser()\n", 0),
        ("", 1),
    ],
)
def test_a_file_of_commands_may_end_the_process(head, count):
    assert len(findings_of(RULE, {"shop/load.py": head + PYTHON})) == count


@pytest.mark.parametrize("name", ["reboot", "supervise", "load_or_die", "watchdog"])
def test_who_is_to_end_the_process_may(name):
    assert findings_of(RULE, {"shop/store.py": PYTHON.replace("load", name)}) == []


def test_the_main_method_of_a_service_is_an_entry():
    assert findings_of(RULE, {"src/Host.java": JAVA.replace("load", "ServiceMain")}) == []


def test_who_takes_a_panic_is_the_last_to_know():
    source = GO.replace("os.Exit", "if r := recover(); r == nil {\nreturn\n}\nos.Exit")
    assert [each.confidence for each in findings_of(RULE, {"store/store.go": source})] == ["low"]


def test_what_only_tests_import_may_end_them():
    files = {
        "go.mod": "module example.org/shop\n",
        "store/store.go": GO,
        "shop/shop_test.go": 'package shop\nimport "example.org/shop/store"\nfunc f() { store.Load() }\n',
    }
    assert findings_of(RULE, files) == []
    files["shop/shop.go"] = files.pop("shop/shop_test.go")
    assert len(findings_of(RULE, files)) == 1


def test_who_runs_the_command_line_is_an_entry():
    source = "import sys\ndef manage(old):\n    if old:\n        sys.exit(1)\n    execute_from_command_line(a)\n"
    assert findings_of(RULE, {"shop/store.py": source}) == []
    assert len(findings_of(RULE, {"shop/store.py": source.replace("execute_from", "read")})) == 1


def test_what_is_loaded_by_its_name_has_tests_for_importers_only():
    files = {"shop/plugin.py": PYTHON, "tests/test_plugin.py": "from shop.plugin import load\nload()\n"}
    assert len(findings_of(RULE, files)) == 1


@pytest.mark.parametrize(
    ("path", "count"), [("integration/store.go", 0), ("e2e/tests/store.go", 0), ("store/store.go", 1)]
)
def test_code_of_integration_tests_may_end_them(path, count):
    assert len(findings_of(RULE, {path: GO})) == count


@pytest.mark.parametrize(
    "name", ["LoadOrDie", "LoadOrDieWithContext", "loadCmdLineOptions", "Bootstrap", "Terminator.run"]
)
def test_who_starts_the_program_may_end_it(name):
    if "." in name:
        source = "class Terminator { void run() {\nSystem.exit(0); } }"
        assert findings_of(RULE, {"src/Terminator.java": source}) == []
    else:
        assert findings_of(RULE, {"store/store.go": GO.replace("Load", name)}) == []


@pytest.mark.parametrize(("parent", "count"), [("NodeCommand", 0), ("Store", 1)])
def test_a_class_of_a_command_is_an_entry(parent, count):
    source = f"class Import extends {parent} {{ void load() {{\nSystem.exit(1); }} }}"
    assert len(findings_of(RULE, {"src/Import.java": source})) == count


def test_a_process_that_is_replaced_ends():
    source = GO.replace("os.Exit(1)", "if done {\nos.Exit(0)\n}\nsyscall.Exec(path, os.Args, os.Environ())")
    assert findings_of(RULE, {"store/store.go": source}) == []


@pytest.mark.parametrize(("key", "count"), [("OnStoppedLeading", 0), ("OnLoaded", 1)])
def test_who_no_longer_leads_ends_at_once(key, count):
    body = f'elect(Callbacks{{\n{key}: func() {{\nlog.Fatalf("lost")\n}},\n}})'
    source = GO.replace('"os"', '"log"').replace("os.Exit(1)", body)
    assert len(findings_of(RULE, {"store/store.go": source})) == count


@pytest.mark.parametrize(("comment", "count"), [("# Restart the worker: others go on", 0), ("# no rates", 1)])
def test_a_comment_may_say_that_the_process_is_to_end(comment, count):
    source = PYTHON.replace("    sys.exit", f"    {comment}\n    sys.exit")
    assert len(findings_of(RULE, {"shop/store.py": source})) == count


@pytest.mark.parametrize(
    ("path", "count"), [("github.com/sirupsen/logrus", 1), ("k8s.io/klog/v2", 1), ("a.org/log", 0)]
)
def test_other_loggers_end_the_process_too(path, count):
    source = GO.replace('"os"', f'log "{path}"').replace("os.Exit(1)", 'log.Fatal("x")')
    assert len(findings_of(RULE, {"store/store.go": source})) == count


def test_a_function_may_be_documented_to_end_the_process():
    source = "/** Quits if the version is too old. */\n" + SCRIPT
    assert findings_of(RULE, {"src/store.ts": source}) == []


@pytest.mark.parametrize(("name", "count"), [("exit", 0), ("leave", 1)])
def test_a_variable_of_that_name_ends_nothing(name, count):
    source = f"def load(handler):\n    {name} = handler.__exit__\n    exit(1)\n"
    assert len(findings_of(RULE, {"shop/store.py": source})) == count


def test_code_of_a_command_line_may_end_the_process():
    source = GO.replace('import "os"', 'import (\n"os"\n"github.com/spf13/cobra"\n)')
    assert findings_of(RULE, {"store/store.go": source}) == []
    assert findings_of(RULE, {"packages/cli-next/src/store.ts": SCRIPT}) == []


def test_the_parent_of_a_fork_ends():
    source = PYTHON.replace("    sys.exit", "    if os.fork() > 0:\n        sys.exit")
    assert findings_of(RULE, {"shop/store.py": source}) == []


@pytest.mark.parametrize(("name", "severity"), [("migrate", "warning"), ("load", "critical")])
def test_what_is_done_at_the_start_takes_no_request_with_it(name, severity):
    source = (
        f"import sys\nfrom flask import Flask\napp = Flask(__name__)\n\n@app.route('/a')\ndef page():\n    {name}()\n\n"
        f"def {name}():\n    sys.exit(1)\n"
    )
    assert [each.severity for each in findings_of(RULE, {"shop/store.py": source})] == [severity]


@pytest.mark.parametrize(("result", "confidence"), [("error ", "high"), ("string ", "medium"), ("", "low")])
def test_who_gives_an_error_could_have_given_this_one(result, confidence):
    source = GO.replace("Load() {", f"Load() {result}{{")
    assert [each.confidence for each in findings_of(RULE, {"store/store.go": source})] == [confidence]


def test_the_comment_may_be_longer():
    comment = "    # The code is EX_DATAERR.\n    # (see the page about pipes)\n"
    source = PYTHON.replace("    sys.exit", f"{comment}    sys.exit")
    assert findings_of(RULE, {"shop/store.py": source}) == []


def test_a_logger_ends_the_process_for_what_is_fatal():
    body = "switch {\ncase l.withFatal:\nos.Exit(1)\n}"
    assert findings_of(RULE, {"store/store.go": GO.replace("os.Exit(1)", body)}) == []


@pytest.mark.parametrize(("said", "count"), [("server restarting...", 0), ("no rates", 1)])
def test_who_says_that_it_restarts_means_it(said, count):
    source = SCRIPT.replace("  process", f"  tell('{said}');\n  process")
    assert len(findings_of(RULE, {"src/store.ts": source})) == count


@pytest.mark.parametrize(
    ("source", "confidence"),
    [
        ("import sys\ndef load(a):\n    if not a:\n        sys.exit(1)\n    return a\n", "medium"),
        ("import sys\ndef load(a):\n    if not a:\n        sys.exit(1)\n    keep(a)\n", "low"),
    ],
)
def test_sure_is_a_failure_of_who_gives_something_back(source, confidence):
    assert [each.confidence for each in findings_of(RULE, {"shop/store.py": source})] == [confidence]


@pytest.mark.parametrize(("code", "count"), [("", 0), ("0", 0), ("1", 1), ("'no rates'", 1)])
def test_who_ends_without_a_failure_was_asked_to(code, count):
    assert len(findings_of(RULE, {"shop/store.py": PYTHON.replace("exit(1)", f"exit({code})")})) == count


@pytest.mark.parametrize(("head", "count"), [('import { log } from "@clack/prompts";\n', 0), ("", 1)])
def test_what_asks_in_a_terminal_may_end_there(head, count):
    assert len(findings_of(RULE, {"src/store.ts": head + SCRIPT})) == count


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("store/must.go", GO.replace("Load", "MustLoad")),
        ("store/quit.go", GO.replace("Load", "Quit")),
        ("src/Guard.java", JAVA.replace("load", "failOnDrift").replace("System.exit", "Runtime.getRuntime().halt")),
        ("src/store.ts", SCRIPT.replace("load", "halt")),
    ],
)
def test_a_name_that_says_it_ends_is_a_guess(path, source):
    assert [each.confidence for each in findings_of(RULE, {path: source})] == ["low"]


@pytest.mark.parametrize(("importer", "count"), [("import shop.limits\n", 1), ("x = 1\n", 0)])
def test_who_is_imported_may_not_end_it_right_then(importer, count):
    source = "import sys\nif not READY:\n    sys.exit(1)\n"
    assert len(findings_of(RULE, {"shop/__init__.py": "", "shop/limits.py": source, "shop/api.py": importer})) == count


@pytest.mark.parametrize(("route", "count"), [("router.get('/a', show);\n", 1), ("", 0)])
def test_a_file_of_routes_may_not_end_it_even_when_asked(route, count):
    source = f"const router = express.Router();\n{route}export function stop() {{\n  process.exit(0);\n}}\n"
    assert (
        len(
            findings_of(
                RULE,
                {"src/orders.js": source, "src/b.js": "import { stop } from './orders';\nexport const b = stop;\n"},
            )
        )
        == count
    )


def test_the_class_may_be_named_after_the_start():
    source = "class StartCheck { static void verify() {\nSystem.exit(3); } }"
    assert len(findings_of(RULE, {"src/StartCheck.java": source})) == 1
    assert findings_of(RULE, {"src/StartCheck.java": source.replace("verify", "start")}) == []


@pytest.mark.parametrize(("importer", "count"), [("src/server.ts", 1), ("src/copy.ts", 0)])
def test_what_only_a_server_loads_is_a_library(importer, count):
    files = {"src/load.ts": SCRIPT, importer: "import { load } from './load';\nload();\n"}
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(
    ("function", "confidences"),
    [
        ("func init() {\nif bad {\nos.Exit(3)\n}\n}", ["medium"]),
        ("func Abort(code int) {\nos.Exit(code)\n}", ["low"]),
        ("func finish() {\ncode := run()\nos.Exit(code)\n}", []),
        ("func (l *Logger) Fatal(text string) {\nos.Exit(1)\n}", []),
    ],
)
def test_what_a_package_of_go_ends(function, confidences):
    found = findings_of(RULE, {"conf/a.go": f'package conf\nimport "os"\n{function}\n'})
    assert [each.confidence.value for each in found] == confidences


@pytest.mark.parametrize(("owner", "count"), [("Dispatcher", 1), ("ConsoleLogger", 0)])
def test_only_a_logger_may_end_all_in_its_fatal(owner, count):
    source = f"package a;\npublic class {owner} {{\n  public void fatal(String why) {{\n    System.exit(2);\n  }}\n}}\n"
    assert len(findings_of(RULE, {f"src/main/java/a/{owner}.java": source})) == count


@pytest.mark.parametrize(("caller", "count"), [("SetupLogging", 0), ("Handle", 1)])
def test_what_only_the_start_calls_ends_nobody_else(caller, count):
    source = (
        f'package a\nimport "log"\nfunc {caller}(p map[string]string) {{\n\tcheck(p)\n}}\n'
        'func check(p map[string]string) {\n\tif p["a"] == "" {\n\t\tlog.Fatal("no a")\n\t}\n}\n'
    )
    assert len(findings_of(RULE, {"setup/a.go": source})) == count


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ("@app.post('/stop')\ndef stop():\n    shutdown()\n", ["low"]),
        ("def stop():\n    shutdown()\n", []),
        ("atexit.register(shutdown)\n", []),
    ],
)
def test_who_shuts_down_is_a_hook_unless_a_request_asks_for_it(head, told):
    source = f"import atexit, sys\n\n\ndef shutdown():\n    sys.exit(1)\n\n\n{head}"
    assert [str(each.confidence) for each in findings_of(RULE, {"shop/store.py": source})] == told


@pytest.mark.parametrize(
    ("caller", "others", "count"),
    [
        ("main", "", 0),
        ("main", "func restock() {\n\tstore.Load()\n}\n", 1),
        ("main", "func init() {\n\tstore.Load()\n}\n", 0),
        ("serve", "", 1),
    ],
)
def test_a_step_of_main_is_no_library(caller, others, count):
    main = f'package main\nimport "example.org/shop/store"\nfunc {caller}() {{\n\tstore.Load()\n}}\n{others}'
    step = GO.replace("os.Exit(1)", "if err := other.Load(); err != nil {\nos.Exit(1)\n}")
    files = {"go.mod": "module example.org/shop\n", "store/store.go": step, "cmd/shop/main.go": main}
    assert len(findings_of(RULE, files)) == count
    files["stock/stock.go"] = main.replace("package main", "package stock").replace(caller, "Take")
    assert len(findings_of(RULE, files)) == 1


def test_what_its_own_package_calls_is_no_step_of_main():
    main = 'package main\nimport "example.org/shop/store"\nfunc main() {\n\tstore.Load()\n}\n'
    files = {"go.mod": "module example.org/shop\n", "store/store.go": GO, "main.go": main}
    files["store/again.go"] = "package store\nfunc Again() {\n\tLoad()\n}\n"
    assert len(findings_of(RULE, files)) == 1


@pytest.mark.parametrize(
    ("read", "told"),
    [('os.LookupEnv("TIMEOUT")', ("low", "info")), ('load("TIMEOUT")', ("medium", "warning"))],
)
def test_without_its_settings_a_program_cannot_go_on(read, told):
    function = f'func Timeout() int {{\nv, ok := {read}\nif !ok {{\nlog.Fatal("no time-out")\n}}\nreturn v\n}}\n'
    (finding,) = findings_of(RULE, {"conf/conf.go": f'package conf\nimport ("log"; "os")\n{function}'})
    assert (finding.confidence, finding.severity) == told


@pytest.mark.parametrize(("asked", "count"), [("shouldExitOnErr(err)", 0), ("isLate(err)", 1)])
def test_who_asks_whether_to_end_means_it(asked, count):
    function = f"func connect(err error) {{\nif {asked} {{\nwait(2)\nos.Exit(1)\n}}\n}}\n"
    assert len(findings_of(RULE, {"agent/agent.go": f'package agent\nimport "os"\n{function}'})) == count


@pytest.mark.parametrize(("read", "confidence"), [('os.LookupEnv("PORT")', "low"), ('load("PORT")', "medium")])
def test_what_is_given_settings_cannot_go_on_without_them(read, confidence):
    functions = (
        'func parse(text string) int {\nn, err := strconv.Atoi(text)\nif err != nil {\nlog.Fatal("no port")\n}\n'
        f"return n\n}}\nfunc Port() int {{\ntext, _ := {read}\nreturn parse(text)\n}}\n"
    )
    source = f'package conf\nimport ("log"; "os"; "strconv")\n{functions}'
    assert [each.confidence for each in findings_of(RULE, {"conf/conf.go": source})] == [confidence]


@pytest.mark.parametrize(
    ("call", "confidences"), [("quit()", ["low"]), ("exit()", ["low"]), ("sys.exit()", []), ("sys.exit(0)", [])]
)
def test_what_python_has_for_who_types_is_not_for_code(call, confidences):
    files = {
        "shop/rights.py": f"import sys\n\n\ndef check(text):\n    if not text:\n        {call}\n",
        "shop/start.py": "from shop.rights import check\n\n\ndef begin(text):\n    check(text)\n",
    }
    assert [each.confidence for each in findings_of(RULE, files)] == confidences


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("src/lib/config.js", ("low", "info")),
        ("src/settings/keys.js", ("low", "info")),
        ("src/lib/keys.js", ("medium", "warning")),
    ],
)
def test_what_reads_the_settings_may_not_go_on_without_them(path, told):
    name = path.rpartition("/")[2]
    files = {
        path: "export function keys(text) {\n  if (!text) {\n    process.exit(1);\n  }\n  return text.trim();\n}\n",
        path.replace(name, "app.js"): f'import {{ keys }} from "./{name}";\nexport const app = () => keys("a");\n',
    }
    (finding,) = findings_of(RULE, files)
    assert (finding.confidence, finding.severity) == told
