"""What a repository's own `.gitattributes` calls vendored or generated is no code of the project."""

import pytest

from tests.engine.rules.reading import findings_of

CODE = "def pay(items=[]):\n    items.append(1)\n    return items\n"


def told(attributes: dict[str, str], *paths: str) -> list[str]:
    """The paths in which a finding is told."""
    files = {**dict.fromkeys(paths, CODE), **attributes}
    return [each.file for each in findings_of("risk-mutable-default-argument", files)]


@pytest.mark.parametrize(
    ("line", "path", "is_told"),
    [
        ("lib/** linguist-vendored", "lib/pay.py", False),
        ("lib/**\t\ttext linguist-vendored -diff", "lib/pay.py", False),
        ("lib linguist-vendored=true", "lib/deep/pay.py", False),
        ("*_auto.py linguist-generated", "shop/pay_auto.py", False),
        ('"our libs/**" linguist-vendored', "our libs/pay.py", False),
        ("lib[23]/** linguist-vendored", "lib2/pay.py", False),
        ("lib/** linguist-vendored", "shop/lib/pay.py", True),
        ("lib/** -linguist-vendored", "lib/pay.py", True),
        ("lib/** linguist-vendored=false", "lib/pay.py", True),
        ("lib/** linguist-documentation", "lib/pay.py", True),
        ("lib/** text linguist-vendored-not", "lib/pay.py", True),
        ("# lib/** linguist-vendored", "lib/pay.py", True),
        ("[ linguist-vendored", "lib/pay.py", True),
        ("lib/**", "lib/pay.py", True),
    ],
)
def test_one_line(line, path, is_told):
    assert told({".gitattributes": line + "\n"}, path) == [path] * is_told


def test_later_lines_win_and_files_further_down_win_over_those_above():
    above = "lib/** linguist-vendored\nlib/own/** -linguist-vendored\n"
    below = "* linguist-vendored\n!x linguist-vendored\nkept.py -linguist-vendored\n"
    paths = ("lib/a.py", "lib/own/b.py", "lib/own/old/c.py", "lib/own/old/kept.py")
    attributes = {".gitattributes": above, "lib/own/old/.gitattributes": below}
    assert told(attributes, *paths) == ["lib/own/b.py", "lib/own/old/kept.py"]


def test_both_words_leave_out():
    text = "*.py linguist-generated\nkept.py -linguist-generated linguist-vendored=1\n"
    assert told({".gitattributes": text}, "a.py", "kept.py") == []
