"""A temporary folder goes with its block, at whatever moment the process is told to end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]

# Tells itself to end as soon as the named call to the system has returned, and leaves as `manage.py scan` does.
PROGRAM = """
import os, signal, sys, tempfile
from pathlib import Path
from analysis.git.temporary import temporary_folder

def leave(number, frame):
    sys.exit(128 + number)

def told_to_end(frame, event, called):
    if event == "c_return" and called.__name__ == sys.argv[1]:
        sys.setprofile(None)
        os.kill(os.getpid(), signal.SIGTERM)

signal.signal(signal.SIGTERM, leave)
sys.setprofile(told_to_end)
with temporary_folder("debt-") as folder:
    os.mkfifo(folder / "pipe")
    (folder / "deeper").mkdir()
sys.exit("nobody was told to end")
"""


@pytest.mark.parametrize(
    "call",
    [
        pytest.param("open", id="while a place for temporary files is looked for"),
        pytest.param("mkdir", id="when it has just been made"),
        pytest.param("mkfifo", id="in the block"),
        pytest.param("unlink", id="while a file in it is removed"),
        pytest.param("rmdir", id="while a folder in it is removed"),
    ],
)
def test_nothing_is_left_by_a_process_that_is_told_to_end(call: str, tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM, call],
        cwd=CHECKOUT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert told.returncode == 128 + 15, told.stderr
    assert not list(tmp_path.iterdir())
