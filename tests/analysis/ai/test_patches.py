"""Which patches of a model are handed out: those that git would apply to the one file."""

import subprocess
from pathlib import Path

import pytest

from analysis.ai.patches import checked_patch

CODE = "import os\n\n\ndef first():\n    return 1\n\n\ndef second():\n    return 1\n"
HEADER = "--- a/shop/code.py\n+++ b/shop/code.py\n"
CHANGE = " def second():\n-    return 1\n+    return 2\n"


def checked(proposed: str | None, text: str = CODE, path: str = "shop/code.py") -> str | None:
    return checked_patch(proposed, path=path, text=text)


def applied(patch: str | None, text: str, folder: Path, path: str = "shop/code.py") -> str:
    """What git makes of the file."""
    assert patch is not None
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    subprocess.run(["git", "init", "-q", folder], check=True)
    subprocess.run(["git", "-C", folder, "apply", "-"], input=patch.encode(), check=True)
    return file.read_bytes().decode()


class TestAccepted:
    @pytest.mark.parametrize(
        "proposed",
        [
            f"{HEADER}@@ -8,2 +8,2 @@\n{CHANGE}",
            f"--- shop/code.py\n+++ shop/code.py\n@@ -8,2 +8,2 @@ def second():\n{CHANGE}",
            f"diff --git a/shop/code.py b/shop/code.py\nindex 83db48f..bf2a1c3\n{HEADER}@@ -8,2 +8,2 @@\n{CHANGE}",
            f"```diff\n{HEADER}@@ -8,2 +8,2 @@\n{CHANGE}```",
            f"{HEADER}@@ -80,9 +1 @@\n{CHANGE}",
            f"{HEADER}@@ -6,4 +6,4 @@\n\n\n{CHANGE}",
            f"{HEADER}@@ -8,2 +8,2 @@\n{CHANGE}".replace("\n", "\r\n"),
        ],
        ids=["plain", "no prefixes", "git's header", "fenced", "miscounted", "blanks lost", "line ends of Windows"],
    )
    def test_a_change_of_the_file(self, proposed: str, tmp_path: Path) -> None:
        expected = CODE.replace("second():\n    return 1", "second():\n    return 2")

        assert applied(checked(proposed), CODE, tmp_path) == expected

    def test_several_hunks(self, tmp_path: Path) -> None:
        proposed = f"{HEADER}@@ -1 +1,2 @@\n import os\n+import re\n@@ -8,2 +9,2 @@\n{CHANGE}"

        changed = applied(checked(proposed), CODE, tmp_path)

        assert changed.startswith("import os\nimport re\n")
        assert changed.endswith("    return 2\n")

    def test_the_place_that_the_header_names_wins(self, tmp_path: Path) -> None:
        text = "a\nb\na\nb\n"

        assert applied(checked(f"{HEADER}@@ -3 +3 @@\n-a\n+c\n", text), text, tmp_path) == "a\nb\nc\nb\n"

    @pytest.mark.parametrize("text", ["one\ntwo", "one\r\ntwo\r\n", "one\r\ntwo"])
    def test_line_ends_stay_as_they_are(self, text: str, tmp_path: Path) -> None:
        proposed = f"{HEADER}@@ -1,2 +1,2 @@\n-one\n+first\n two\n"

        assert applied(checked(proposed, text), text, tmp_path) == text.replace("one", "first")

    def test_a_name_with_a_blank(self, tmp_path: Path) -> None:
        path = "my shop/a code.py"
        proposed = f"--- a/{path}\n+++ b/{path}\n@@ -8,2 +8,2 @@\n{CHANGE}"

        assert "return 2" in applied(checked(proposed, path=path), CODE, tmp_path, path)


class TestRefused:
    @pytest.mark.parametrize(
        "proposed",
        [
            None,
            "",
            "Replace line 9 by return 2.",
            HEADER,
            f"@@ -8,2 +8,2 @@\n{CHANGE}",
            f"--- a/shop/other.py\n+++ b/shop/other.py\n@@ -8,2 +8,2 @@\n{CHANGE}",
            f"--- a/shop/code.py\n+++ b/shop/other.py\n@@ -8,2 +8,2 @@\n{CHANGE}",
            f"--- a/../shop/code.py\n+++ b/../shop/code.py\n@@ -8,2 +8,2 @@\n{CHANGE}",
            f"--- a/shop/code.py\n+++ /dev/null\n@@ -8,2 +8,2 @@\n{CHANGE}",
            f"old mode 100644\nnew mode 100755\n{HEADER}@@ -8,2 +8,2 @@\n{CHANGE}",
            f"{HEADER}@@ -8,2 +8,2 @@\n{CHANGE}--- a/other.py\n+++ b/other.py\n@@ -1 +1 @@\n-x\n+y\n",
            f"{HEADER}@@ -8,2 +8,2 @@\n{CHANGE}diff --git a/other.py b/other.py\n",
            f"{HEADER}@@ -8,2 +8,2 @@\n def third():\n-    return 1\n+    return 2\n",
            f"{HEADER}@@ -1 +1 @@\n-    return 1\n+    return 2\n",
            f"{HEADER}@@ -3,0 +4 @@\n+import re\n",
            f"{HEADER}@@ -8,2 +8,2 @@\n def second():\n     return 1\n",
            f"{HEADER}@@ -8,2 +8,2 @@\n{CHANGE}@@ -1 +1 @@\n-import os\n+import re\n",
            f"{HEADER}@@ -8,2 +8,2 @@\n{CHANGE.replace('return 2', 'return [redacted]')}",
        ],
    )
    def test_anything_else(self, proposed: str | None) -> None:
        assert checked(proposed) is None

    @pytest.mark.parametrize("path", ["a\tb.py", 'a"b.py', "a\\b.py", "a\nb.py"])
    def test_a_name_that_git_would_quote(self, path: str) -> None:
        assert checked(f"--- a/{path}\n+++ b/{path}\n@@ -8,2 +8,2 @@\n{CHANGE}", path=path) is None
