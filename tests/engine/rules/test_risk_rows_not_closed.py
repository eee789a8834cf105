import pytest

from tests.engine.rules.reading import lines_of, marks_of

RULE = "risk-rows-not-closed"
CHECK = "if err != nil { return err }\n"
LOOP = "for rows.Next() { x() }\nif rows.Err() != nil { y() }\n"


def go(body):
    return (
        f'package a\nimport "database/sql"\nfunc f(db *sql.DB) error {{\nrows, err := db.Query("q")\n'
        f"{body}return nil\n}}\n"
    )


@pytest.mark.parametrize(
    "body",
    [
        CHECK + LOOP,
        CHECK + "for rows.Next() { if err := rows.Scan(&x); err != nil { return err } }\nrows.Err()\nrows.Close()\n",
        CHECK + "defer rows.Close()\nfor rows.Next() { x() }\n",
    ],
)
def test_rows_that_stay_open_or_unchecked_are_marked_at_the_query(body):
    assert lines_of(RULE, go(body), "go") == [4]


@pytest.mark.parametrize(
    "body",
    [
        CHECK + "defer rows.Close()\n" + LOOP,
        CHECK + "defer func() { _ = rows.Close() }()\n" + LOOP,
        CHECK + LOOP + "rows.Close()\n",
        CHECK + "return collect(rows)\n",
        CHECK + "s.rows = rows\n",
        CHECK + "return &It{rows: rows}\n",
    ],
)
def test_rows_that_are_closed_or_given_away_are_fine(body):
    assert lines_of(RULE, go(body), "go") == []


def test_other_queries_are_fine():
    assert lines_of(RULE, go(CHECK + LOOP).replace("database/sql", "a/graph"), "go") == []
    assert lines_of(RULE, go(CHECK + LOOP).replace("db.Query(", "db.QueryRow("), "go") == []


def test_a_statement_that_a_returned_function_uses_lives_on():
    source = (
        'package a\nimport "database/sql"\nfunc f(db *sql.DB) (func() error, error) {\n\tstmt, err := db.Prepare("q")\n'
        "\tif err != nil {\n\t\treturn nil, err\n\t}\n\treturn func() error {\n\t\treturn run(stmt.Exec)\n\t}, nil\n}\n"
    )
    assert lines_of(RULE, source, "go") == []


@pytest.mark.parametrize(("handle", "confidences"), [("db", [""]), ("s.tx", []), ("statementPreparer", ["medium"])])
def test_what_prepares_statements_may_keep_them(handle, confidences):
    source = (
        'package a\nimport "database/sql"\nfunc f(q string) error {\n'
        f"\tstmt, err := {handle}.Prepare(q)\n\tuse(err)\n\tstmt.Exec()\n\treturn nil\n}}\n"
    )
    assert [mark.confidence for mark in marks_of(RULE, source, "go")] == confidences


@pytest.mark.parametrize(("used", "count"), [("for rows.Next() {\n\t}\n\treturn true", 1), ("return !rows.Next()", 0)])
def test_one_row_that_is_asked_for_is_no_loop(used, count):
    source = (
        'package a\nimport "database/sql"\nfunc f(db *sql.DB) bool {\n\trows, err := db.Query("q")\n\tuse(err)\n'
        f"\tdefer rows.Close()\n\t{used}\n}}\n"
    )
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("handle", "typed", "count"), [("tx", "*sql.Tx", 0), ("work", "*sql.Tx", 0), ("db", "*sql.DB", 1)]
)
def test_a_transaction_closes_its_statements(handle, typed, count):
    source = f'package a\nimport "database/sql"\nfunc f({handle} {typed}) {{\n'
    source += f'\tstmt, err := {handle}.Prepare("SELECT 1")\n\tstmt.Exec(err)\n}}\n'
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(("between", "count"), [("", 0), ("\tif bad() {\n\t\treturn errBad\n\t}\n", 1)])
def test_a_return_that_closes(between, count):
    source = 'package a\nimport "database/sql"\nfunc f(db *sql.DB) error {\n\trows, err := db.Query("SELECT f()")\n'
    source += f"\tif err != nil {{\n\t\treturn err\n\t}}\n{between}\treturn rows.Close()\n}}\n"
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("library", "call", "count"),
    [
        ("github.com/jmoiron/sqlx", "db.PrepareNamedContext(ctx, text)", 1),
        ("github.com/jmoiron/sqlx", "db.PreparexContext(ctx, text)", 1),
        ("gorm.io/gorm", "db.Model(&Order{}).Rows()", 1),
        ("github.com/xuri/excelize/v2", "db.Rows(text)", 0),
    ],
)
def test_statements_and_rows_of_other_libraries(library, call, count):
    source = (
        f'package a\nimport "{library}"\nfunc f() error {{\n\tmade, err := {call}\n\tif err != nil {{\n\t\treturn err\n'
    )
    source += "\t}\n\treturn made.Err()\n}\n"
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("between", "count"),
    [
        ("if err != nil {\n\t\treturn err\n\t}", 0),
        ("log(text)\n\tif errors.Is(err, missing) {\n\t\treturn nil\n\t}\n\tif err != nil {\n\t\treturn err\n\t}", 0),
        ("if rows == nil {\n\t\treturn nil\n\t}", 0),
        ("names, err := rows.Columns()\n\tif err != nil {\n\t\treturn err\n\t}", 1),
    ],
)
def test_branches_in_which_there_are_no_rows(between, count):
    source = (
        'package a\nimport "database/sql"\nfunc f(db *sql.DB, text string) error {\n\trows, err := db.Query(text)\n'
    )
    source += f"\t{between}\n\tread(text)\n\treturn rows.Close()\n}}\n"
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("loop", "count"),
    [
        ("err = rows.Scan(&x)\nif err != nil { return Model{}, err }\nuse(x)", 0),
        ('if err := rows.Scan(\n&x,\n); err != nil {\nreturn wrap("no", err)\n}\nif odd(x) { continue }', 0),
        ("if odd() { return nil }", 1),
        ("if err := rows.Scan(&x); err != nil { return err }\nif odd(x) { break }", 1),
    ],
)
def test_pgx_closes_rows_that_are_read_to_their_end(loop, count):
    body = CHECK + f"for rows.Next() {{\n{loop}\n}}\nerr = rows.Err()\n"
    assert len(lines_of(RULE, go(body).replace("database/sql", "github.com/jackc/pgx/v5"), "go")) == count


def test_pgx_keeps_rows_that_are_left_before_they_are_read():
    body = CHECK + "if odd() { return nil }\n" + LOOP
    assert lines_of(RULE, go(body).replace("database/sql", "github.com/jackc/pgx/v5"), "go") == [4]


def test_rows_of_gorm_are_those_of_database_sql():
    source = go(CHECK + LOOP).replace("database/sql", "gorm.io/gorm").replace('db.Query("q")', "db.Model(&o).Rows()")
    assert lines_of(RULE, source, "go") == [4]
