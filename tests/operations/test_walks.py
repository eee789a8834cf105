"""A walk in the documentation can be pasted into a shell as it stands."""

import re
import subprocess
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
ANSWERING = """curl() { echo '{"id": "1", "accessToken": "t"}'; }"""


def test_getting_started_sets_whatever_its_commands_use():
    page = (CHECKOUT / "docs/getting-started.md").read_text()
    blocks = [block for block in re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL) if "curl" in block]

    pasted = subprocess.run(
        ["bash", "-euc", "\n".join([ANSWERING, *blocks])], capture_output=True, text=True, timeout=60, check=False
    )

    assert blocks
    assert (pasted.returncode, pasted.stderr) == (0, "")
