import pytest

from tests.engine.rules.reading import lines_of

RULE = "risk-context-not-propagated"


def go(body, parameters="ctx context.Context", name="load"):
    imports = 'import ("context"; "net/http"; "database/sql"; "os/exec")'
    return f"package a\n{imports}\nfunc {name}({parameters}) error {{\n{body}\n}}\n"


FLAGGED = [
    "return get(context.Background())",
    "return get(context.TODO())",
    'req, err := http.NewRequest("GET", u, nil)',
    'rows, err := db.Query("q")',
    'cmd := exec.Command("ls")',
    "ctx, _ := context.WithCancel(ctx)",
]
FINE = [
    "return get(ctx)",
    "ctx, cancel := context.WithCancel(ctx)",
    'req, err := http.NewRequest("GET", u, nil)\nreq = req.WithContext(ctx)',
    'req, err := http.NewRequest("GET", u, nil)\nif err != nil {\nreturn err\n}\nreturn send(ctx, c, req)',
    'rows, err := db.QueryContext(ctx, "q")',
    "if ctx == nil {\nctx = context.Background()\n}",
    "go func() { get(context.Background()) }()",
    "server.Shutdown(context.Background())",
]


@pytest.mark.parametrize("body", FLAGGED)
def test_a_context_that_stops_here_is_marked(body):
    assert lines_of(RULE, go(body), "go") == [4]


@pytest.mark.parametrize("body", FINE)
def test_contexts_that_are_passed_on_are_fine(body):
    assert lines_of(RULE, go(body), "go") == []


def test_a_request_has_a_context_too():
    assert lines_of(RULE, go(FLAGGED[0], "w http.ResponseWriter, r *http.Request"), "go") == [4]
    assert lines_of(RULE, go(FLAGGED[0], "id string"), "go") == []
