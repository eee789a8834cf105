import pytest

from tests.engine.rules.reading import lines_of, marks_of

RULE = "rel-error-ignored"


IMPORTS = '("encoding/binary"; "encoding/json"; "fmt"; "io"; "os")'


def go(body):
    return f"package a\nimport {IMPORTS}\nfunc save() error {{ return nil }}\nfunc f() {{\n{body}\n}}\n"


FLAGGED = [
    "save()",
    "go save()",
    "defer save()",
    'os.Rename("a", "b")',
    "json.NewEncoder(w).Encode(v)",
    "tx.Commit()",
    "_ = save()",
    "err := save()\nerr = x()",
]
FINE = [
    "if err := save(); err != nil { panic(err) }",
    "err := save()\nreturn err",
    'fmt.Println("a")',
    "unknown()",
    "save() //nolint:errcheck",
    "_ = save() // the cache is rebuilt anyway",
    "defer tx.Rollback()",
    "defer f.Close()",
    "err := save()\nerr = wrap(err)",
    "s.Commit(1, 2)",
    "buf := new(bytes.Buffer)\n_ = binary.Write(buf, order, 1)",
    "var buf bytes.Buffer\nio.WriteString(&buf, a)",
]


@pytest.mark.parametrize("body", FLAGGED)
def test_errors_that_nobody_reads_are_marked(body):
    assert lines_of(RULE, go(body), "go") == [5]


@pytest.mark.parametrize("body", FINE)
def test_errors_that_are_read_or_explained_are_fine(body):
    assert lines_of(RULE, go(body), "go") == []


@pytest.mark.parametrize(("body", "severity"), [("tx.Commit()", "critical"), ("save()", "")])
def test_a_dropped_error_of_a_write_is_critical(body, severity):
    (mark,) = marks_of(RULE, go(body), "go")
    assert mark.severity == severity
