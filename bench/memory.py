"""The most memory that a scan takes: `python -m bench.memory <git directory>...`

`manage.py scan` of each, cold, with as many parsers as there are cores. The goal is 200 MB for 1.2 million lines.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench._memory import Memory, watching


def main() -> int:
    print(f"{'peak MB':>10}{'seconds':>10}{'lines of code':>16}  repository")
    for git_dir in sys.argv[1:]:
        with tempfile.TemporaryFile() as printed:
            started = time.monotonic()
            scan = subprocess.Popen([sys.executable, "manage.py", "scan", git_dir, "--json"], stdout=printed)
            memory = Memory(scan.pid)
            with watching(memory):
                status = scan.wait()
            seconds = time.monotonic() - started
            if status:
                return status
            printed.seek(0)
            lines = json.load(printed)["linesOfCode"]
        print(f"{memory.peak:>10.0f}{seconds:>10.1f}{lines:>16,}  {Path(git_dir).resolve()}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
