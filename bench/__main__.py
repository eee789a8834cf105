"""All measurements that need nothing but this checkout, or a repository: `python -m bench [<git directory>]`."""

import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Run one measurement after the other; the number of those that failed."""
    repository = sys.argv[1] if len(sys.argv) > 1 else str(CHECKOUT / ".git")
    measurements = (
        ("engine", [repository, "--lizard"]),
        ("scan", [repository]),
        ("policy", [repository]),
        ("api", []),
        ("sessions", []),
        ("signin_timing", []),
    )
    failed = 0
    for name, arguments in measurements:
        print(f"\n== bench.{name}", flush=True)
        failed += bool(subprocess.call([sys.executable, "-m", f"bench.{name}", *arguments], cwd=CHECKOUT))
    return failed


if __name__ == "__main__":
    sys.exit(main())
