"""Looking for planted secrets where none may be: text that was written, and what processes are called with."""

import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path


def found_in(text: str | bytes, secrets: Mapping[str, str]) -> Iterator[str]:
    """The names of the secrets that stand in a text."""
    raw = text if isinstance(text, bytes) else text.encode(errors="replace")
    return (name for name, secret in secrets.items() if secret.encode() in raw)


def found_below(folder: Path, secrets: Mapping[str, str]) -> Iterator[str]:
    """Secrets in any file of a folder, clones and logs included, with the file's name."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            yield from (f"{name} in {path.relative_to(folder)}" for name in found_in(path.read_bytes(), secrets))


class ProcessWatch:
    """Reads the command lines of all processes again and again, as anybody on the machine may."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self.secrets, self.found = secrets, set[str]()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def end(self) -> Iterable[str]:
        self._stop.set()
        self._thread.join()
        return sorted(self.found)

    def _watch(self) -> None:
        while not self._stop.wait(0.5):
            for path in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    line = path.read_bytes()
                except OSError:  # it has ended meanwhile
                    continue
                self.found |= {f"{name} in a command line" for name in found_in(line, self.secrets)}
