import pytest

from tests.engine.rules.reading import findings_of

RULE = "perf-sync-io-in-request"
HEAD = "import express from 'express';\nimport fs from 'fs';\nconst app = express();\n"


def test_in_a_handler_it_is_a_warning():
    source = HEAD + "app.get('/x', (req, res) => {\n  res.send(fs.readFileSync('a'));\n});\n"
    (finding,) = findings_of(RULE, {"src/app.js": source})
    assert (finding.line, finding.severity, finding.confidence) == (5, "warning", "high")


def test_elsewhere_it_is_worth_knowing_only():
    source = HEAD + "export function read() {\n  return fs.readFileSync('a');\n}\n"
    assert [str(finding.severity) for finding in findings_of(RULE, {"src/store.js": source})] == ["info"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("src/store.js", "const text = fs.readFileSync('a');"),
        ("src/store.js", "export function loadConfig() { return fs.readFileSync('a'); }"),
        ("scripts/store.js", "export function read() { return fs.readFileSync('a'); }"),
        ("src/store.js", "export function read() { return own.readFileSync('a'); }"),
        ("src/store.js", "export class Store { constructor() { this.text = fs.readFileSync('a'); } }"),
        ("src/store.js", "export function loadFiles() { return fs.readFileSync('a'); }"),
        ("ui/bundle.cjs", "export function read() { return fs.readFileSync('a'); }"),
        ("vite.config.js", "export function read() { return fs.readFileSync('a'); }"),
    ],
)
def test_start_up_tools_and_namesakes_are_fine(path, body):
    assert findings_of(RULE, {path: HEAD + body}) == []
