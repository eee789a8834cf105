"""How work with a foreign repository ends when it cannot succeed: one sentence each, and what git printed as detail."""

import re
import signal

DETAIL_CHARACTERS = 500


class GitError(Exception):
    """Work with a repository failed.

    `message` is one sentence for the user that says what to do. `detail` is what git printed, redacted and capped.
    """

    message = "git could not do this; try again, and tell the operator when it happens again."

    def __init__(self, message: str = "", *, detail: str = "") -> None:
        self.message = message or type(self).message
        self.detail = detail[:DETAIL_CHARACTERS]
        super().__init__(self.message)


class AddressRefused(GitError):
    message = "This clone address is not allowed; use the https address that the code host shows."


class CloneUnreachable(GitError):
    message = "The clone address does not answer or breaks off; check the address and its server, then analyze again."


class AccessDenied(CloneUnreachable):
    message = (
        "The server refuses access to this repository; renew the credentials or grant read access, then analyze again."
    )


class DamagedAtServer(CloneUnreachable):
    message = "The repository is damaged on its server; run `git fsck --full` there, repair it, then analyze again."


class AddressMoved(CloneUnreachable):
    message = "The server redirects to another address; connect the repository again with its new address."


class CloneTooLarge(GitError):
    message = "The repository is too large to clone; remove large files from its history or ask for a higher limit."


class NotARepository(GitError):
    message = "There is no git repository here; check the address or path, and the access to it when it is private."


class NotAGitServer(NotARepository):
    message = (
        "The server answers, but not as git does; connect the repository with the address that its host shows for it."
    )


class EmptyRepository(GitError):
    message = "The repository has no commits; push a first commit, then analyze again."


class UnknownRevision(GitError):
    message = "The repository has no such branch or commit; check its name, or push it, then analyze again."


class DamagedRepository(GitError):
    message = "The repository is damaged or hostile; check it with `git fsck --full` and push a repaired copy."


class GitKilled(GitError):
    message = (
        "git was ended from outside, perhaps for want of memory; analyze again, and tell the operator if it stays so."
    )


class GitTimedOut(GitError):
    message = "git did not finish in time; try again later or ask for a longer time limit."


class DiskFull(GitError):
    message = "The disk of this server is full; tell the operator, and analyze again when there is room."


class GitMissing(GitError):
    message = "The git program is not installed on the server; install git 2.37 or newer."


# The first pattern found in git's words decides. git runs with LC_ALL=C, so the words are English.
_SPOKEN: tuple[tuple[str, type[GitError]], ...] = (
    # Before damage: what could not be written whole is also called damaged, and would be fetched anew at once.
    (r"No space left on device|Disk quota exceeded", DiskFull),
    (r"signal 25|File size limit exceeded|File too large|maximum allowed size", CloneTooLarge),
    (r"signal 24", GitTimedOut),
    # Before all that a transfer says when it breaks off: this is why.
    (r"repository corruption on the remote side", DamagedAtServer),
    (r"died of signal 9\b", GitKilled),
    (r"[Oo]ut of memory|mmap failed|cannot allocate|died of signal \d+|Cannot fork", DamagedRepository),
    (r"did not send all necessary objects|maximum allowed tree depth", DamagedRepository),
    (r"requested URL returned error: 3\d\d|update url base from redirection", AddressMoved),
    (r"Authentication failed|could not read (Username|Password)", AccessDenied),
    (r"requested URL returned error: (401|403|407)|Permission denied", AccessDenied),
    (r"[Rr]epository '.*' not found|requested URL returned error: (404|410)", NotARepository),
    (r"not a git repository|does not appear to be a git repository|is this a git repository", NotARepository),
    (r"dubious ownership", AccessDenied),
    (r"couldn't find remote ref|unknown revision|Needed a single revision|not a valid object name", UnknownRevision),
    # Before damage: a transfer that breaks off also leaves a pack that git calls damaged.
    (r"unable to access|remote end hung up|early EOF|expected flush|RPC failed|unexpected disconnect|"
     r"protocol error|[Cc]onnection|Could not resolve|Could not read from remote", CloneUnreachable),
    (r"bad object|corrupt|invalid index-pack output|[Cc]ould not read [0-9a-f]|unable to read|index-pack failed|"
     r"Failed to traverse|from promisor remote|"
     r"does not match|bad tree|not a tree|inflate|[Nn]ot a valid|unable to unpack|invalid object|malformed|is empty|"
     r"unresolved deltas|failed to parse|unexpected line in", DamagedRepository),
)  # fmt: skip


def failure(status: int, words: str) -> GitError:
    """The error for a git process that ended with `status` (negative: minus the signal) after printing `words`."""
    if status == -signal.SIGXFSZ:
        return CloneTooLarge(detail=words)
    if status == -signal.SIGXCPU:
        return GitTimedOut(detail=words)
    if status == -signal.SIGKILL:
        return GitKilled(detail=words)
    if status < 0:
        name = signal.Signals(-status).name
        return DamagedRepository(detail=f"git was ended by {name}. {words}")
    for pattern, kind in _SPOKEN:
        if re.search(pattern, words):
            return kind(detail=words)
    return GitError(detail=words)
