"""Django's own review of a deployment finds nothing with production settings."""

import os
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent
PRODUCTION = {"BASE_URL": "https://debt.example.org/v1", "APP_URL": "https://debt.example.org", "DEBUG": "false"}


def test_check_deploy_is_clean_behind_https(tmp_path: Path) -> None:
    review = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "INFO"],
        cwd=CHECKOUT,
        env={**os.environ, **PRODUCTION, "VAR_DIR": str(tmp_path), "TRUSTED_PROXY_COUNT": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert review.returncode == 0, review.stderr
