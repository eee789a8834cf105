"""What a rule may ask of a file."""

import pytest

from analysis.engine.extract.parsed import parse


@pytest.mark.parametrize(
    ("language", "source", "code"),
    [
        ("python", b"s = '#'\n", b"s = '#'\n"),
        ("python", b"x = 1  # y = 2\n", b"x = 1         \n"),
        (
            "python",
            b'def f():\n    """Or\n    g()."""\n    h("#")\n',
            b'def f():\n         \n           \n    h("#")\n',
        ),
        ("go", b"package p\n/* a\nb */\nvar x = 1 // y\n", b"package p\n    \n    \nvar x = 1     \n"),
        ("typescript", b"const a = '//'; // b\n", b"const a = '//';     \n"),
        ("java", b"class A { /** f() */ int b; }", b"class A {            int b; }"),
    ],
)
def test_code_is_the_source_without_its_prose_byte_for_byte(language, source, code):
    assert parse(source, language).code == code
