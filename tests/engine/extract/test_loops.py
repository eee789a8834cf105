"""What a loop counts by: single items, or parts of a list."""

import pytest

from analysis.engine.extract import extract

LOOPS = {
    "typescript": "for (let i = 0; i < rows.length; {step}) {{ load(rows[i]); }}",
    "java": "class A {{ void f() {{ for (int i = 0; i < rows.size(); {step}) {{ load(rows.get(i)); }} }} }}",
    "go": "package p\nfunc f() {{\n\tfor i := 0; i < len(rows); {step} {{\n\t\tload(rows[i])\n\t}}\n}}\n",
}


@pytest.mark.parametrize("language", LOOPS)
@pytest.mark.parametrize(
    ("step", "in_parts"), [("i++", False), ("i += 1", False), ("i+=1", False), ("i += 10", True), ("i += size", True)]
)
def test_only_steps_of_more_than_one_go_by_parts(language, step, in_parts):
    (loop,) = extract(LOOPS[language].format(step=step).encode(), language).loops
    assert loop.batched is in_parts


@pytest.mark.parametrize(
    ("source", "language", "bound"),
    [
        ("for (const row of rows.slice(0, 5)) { show(row); }", "typescript", 5),
        ("const few = rows.slice(0, 5);\nfor (const row of few) { show(row); }", "typescript", 5),
        ("const rest = rows.slice(5);\nfor (const row of rest) { show(row); }", "typescript", 0),
        ("for row in rows[:3]:\n    show(row)", "python", 3),
        ("for row in rows[3:]:\n    show(row)", "python", 0),
        ("few = rows[:size]\nfor row in few:\n    show(row)", "python", 0),
    ],
)
def test_the_first_few_of_a_list_are_that_many(source, language, bound):
    (loop,) = extract(source.encode(), language).loops
    assert loop.bound == bound


@pytest.mark.parametrize(
    ("body", "calls"),
    [
        ("rows.stream().map(store::load).toList();", ["store.load"]),
        ("rows.forEach(this::save);", ["this.save"]),
        ("found.map(store::load);", []),  # of an Optional
        ("rows.stream().map(Row::total).toList();", []),  # of the row itself
    ],
)
def test_a_method_that_is_given_to_a_stream_is_called_for_each_element(body, calls):
    source = f"class A {{ void f() {{ {body} }} }}"
    assert [call.callee for loop in extract(source.encode(), "java").loops for call in loop.calls] == calls
