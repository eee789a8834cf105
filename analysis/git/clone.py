"""Bare clones of foreign repositories: made, brought up to date and removed.

A clone holds only refs that were asked for, under names of ours: `refs/debt/heads/<branch>`, `refs/debt/pull/<number>`.
Its configuration is written by us before every use, so nothing that a server or a previous fetch left there counts.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from analysis.git.address import PinnedAddress, check_address
from analysis.git.command import Transfer, run_git, stream_git
from analysis.git.errors import (
    AccessDenied,
    CloneTooLarge,
    CloneUnreachable,
    DamagedRepository,
    GitError,
    GitTimedOut,
    NotAGitServer,
    UnknownRevision,
)
from analysis.git.folder import CONFIG, CONFIG_SHA256, is_shallow, locked, objects_size, remove_clone, replace_file
from analysis.git.limits import MEBIBYTE, GitLimits
from analysis.git.local import open_local
from analysis.git.naming import is_branch_name, is_hash

__all__ = ["MirrorResult", "is_shallow", "mirror", "open_local", "remove_clone"]

BRANCHES = "refs/debt/heads/"
PULLS = "refs/debt/pull/"
# Written last while a clone is created: a folder without it is a half clone.
COMPLETE = "debt-clone"
# File limits are set in blocks of this size.
FILE_BLOCK_BYTES = 512
SHA256_CHARACTERS = 64
LISTING_BYTES = 1024 * MEBIBYTE

_PULL = re.compile(r"refs/(?:pull|merge-requests)/([1-9][0-9]{0,9})/(?:head|merge)\Z")
_LEFTOVERS = (
    "*.lock",
    "objects/pack/tmp_*",
    "objects/pack/.tmp-*",
    "objects/pack/*.keep",
    "refs/**/*.lock",
    "FETCH_HEAD",
)


@dataclass(frozen=True)
class MirrorResult:
    """What a fetch found. `head_sha` is None for a repository without commits."""

    default_branch: str | None
    """The branch that HEAD of the remote names."""
    branch: str | None
    """The branch that was fetched: the one asked for, else the default branch."""
    head_sha: str | None
    refs: Mapping[str, str]
    """Commit by remote name of each ref that was fetched."""
    missing: tuple[str, ...]
    """The extra refs that the remote does not have."""
    shallow: bool
    created: bool
    """Whether the clone was made, not brought up to date."""


@dataclass(frozen=True)
class _Remote:
    """One remote during one call of `mirror`."""

    address: PinnedAddress
    folder: Path
    limits: GitLimits
    deadline: float
    transfer: Transfer

    def git(self, *arguments: str, transfer: Transfer | None = None, feed: bytes = b"") -> bytes:
        return run_git(
            self.folder, *arguments, limits=self.limits, deadline=self.deadline, transfer=transfer, feed=feed
        )

    def listed(self, *arguments: str) -> bytes:
        """What the remote tells of its refs."""
        return replace(self, limits=self.limits_of_listings).git("ls-remote", *arguments, transfer=self.transfer)

    @property
    def limits_of_listings(self) -> GitLimits:
        """git holds all refs of the remote in memory, however many it is sent."""
        return replace(self.limits, memory_bytes=min(self.limits.memory_bytes, LISTING_BYTES))


def mirror(
    url: str,
    folder: Path,
    *,
    branch: str | None,
    limits: GitLimits,
    deadline: float,
    auth_header: str | None = None,
    extra_refs: Sequence[str] = (),
) -> MirrorResult:
    """Bring the bare clone in `folder` up to date with the remote, or make it.

    Fetches `branch` (default: the remote's own default branch) and `extra_refs` (full names below refs/heads/,
    refs/pull/ or refs/merge-requests/). `auth_header` is a whole header line, sent to this host only. `deadline` is a
    `time.monotonic()` instant. Safe to call again after a kill at any moment, and from several processes at once: one
    works, the others wait. A first clone that fails leaves no folder behind.
    Raises GitError; UnknownRevision when the branch does not exist.
    """
    wanted = _wanted(branch, extra_refs, limits)
    address = check_address(url, limits)
    with locked(folder, deadline) as lock:
        created = not _is_complete(folder)
        remote = _remote(address, folder, limits, deadline, auth_header, lock)
        try:
            if created:
                remove_clone(folder)
                _create(remote)
            result = _update(remote, branch, wanted, created)
        except DamagedRepository:
            if created:
                remove_clone(folder)
                raise
            # A clone that was whole once can be broken by a disk or a power cut: it is made anew, once.
            remove_clone(folder)
            result = _first(remote, branch, wanted)
        except BaseException:
            if created:
                remove_clone(folder)
            raise
        return result


def _first(remote: _Remote, branch: str | None, wanted: Sequence[str]) -> MirrorResult:
    try:
        _create(remote)
        return _update(remote, branch, wanted, created=True)
    except BaseException:
        remove_clone(remote.folder)
        raise


def _wanted(branch: str | None, extra_refs: Sequence[str], limits: GitLimits) -> list[str]:
    if branch is not None and not is_branch_name(branch):
        raise UnknownRevision("The branch name is not one that git accepts; check its spelling.")
    if len(extra_refs) > limits.refs:
        raise CloneTooLarge(f"More than {limits.refs} branches were asked for at once; ask for fewer.")
    for ref in extra_refs:
        _local_name(ref)
    return list(dict.fromkeys(([f"refs/heads/{branch}"] if branch else []) + list(extra_refs)))


def _local_name(ref: str) -> str:
    """Our name for a ref of the remote."""
    if ref == "HEAD":
        return f"{BRANCHES}HEAD"
    if ref.startswith("refs/heads/") and is_branch_name(ref.removeprefix("refs/heads/")):
        return BRANCHES + ref.removeprefix("refs/heads/")
    if pull := _PULL.match(ref):
        return PULLS + pull[1]
    raise UnknownRevision("Only branches and pull requests can be fetched; check the name.")


def _remote(
    address: PinnedAddress, folder: Path, limits: GitLimits, deadline: float, auth_header: str | None, lock: int
) -> _Remote:
    config = list(address.config)
    secrets: tuple[str, ...] = ()
    if auth_header:
        if any(character in auth_header for character in "\r\n\0"):
            raise AccessDenied("The stored credentials contain a line break; enter them again.")
        root = "/".join(address.url.split("/")[:3])
        config.append((f"http.{root}/.extraHeader", auth_header))
        secrets = (auth_header.split()[-1],)
    transfer = Transfer(scheme=address.scheme, config=tuple(config), secrets=secrets, hold=lock)
    return _Remote(address, folder, limits, deadline, transfer)


def _create(remote: _Remote) -> None:
    """An empty bare repository. The marker is written last."""
    remote.folder.mkdir(parents=True)
    for name in ("objects/pack", "objects/info", "refs"):
        (remote.folder / name).mkdir(parents=True)
    replace_file(remote.folder / "HEAD", f"ref: {BRANCHES}none\n")
    replace_file(remote.folder / "config", CONFIG)
    replace_file(remote.folder / COMPLETE, "1\n")


def _update(remote: _Remote, branch: str | None, wanted: Sequence[str], created: bool) -> MirrorResult:
    _clean(remote)
    default, found = _ask(remote, wanted)
    chosen = branch or default
    main = "HEAD" if chosen is None else f"refs/heads/{chosen}"
    fetch = {ref: found[ref] for ref in dict.fromkeys([main, *wanted]) if ref in found}
    if main not in fetch and _has_branches(remote):
        missing = f"branch {branch}; check its name, or push it" if branch else "default branch; choose one at its host"
        raise UnknownRevision(f"The repository has no {missing}, then analyze again.")
    if main not in fetch and not _speaks_git(remote):
        raise NotAGitServer
    if fetch:
        _fetch(remote, fetch)
    refs = _held(remote, fetch)
    head = refs.get(main)
    replace_file(remote.folder / "HEAD", f"ref: {_local_name(main)}\n" if head else f"ref: {BRANCHES}none\n")
    return MirrorResult(
        default_branch=default,
        branch=chosen,
        head_sha=head,
        refs=refs,
        missing=tuple(ref for ref in wanted if ref not in found and ref != main),
        shallow=is_shallow(remote.folder),
        created=created,
    )


def _has_branches(remote: _Remote) -> bool:
    return bool(remote.listed("--heads", "--", remote.address.url))


def _speaks_git(remote: _Remote) -> bool:
    """Whether the server says a word of git's protocol. To git any other page of the web is a repository of mere files
    that has no branches yet."""
    with stream_git(
        remote.folder, "ls-remote", "--heads", "--", remote.address.url,
        limits=remote.limits_of_listings, deadline=remote.deadline, transfer=replace(remote.transfer, traced=True),
    ) as process:  # fmt: skip
        process.read()
    return "packet:" in process.words


def _clean(remote: _Remote) -> None:
    """Put the folder back into a known state: our configuration, and nothing that a killed git left. Under the lock."""
    sha256 = "sha256" in (remote.folder / "config").read_text(errors="replace")
    replace_file(remote.folder / "config", CONFIG_SHA256 if sha256 else CONFIG)
    for pattern in _LEFTOVERS:
        for leftover in remote.folder.glob(pattern):
            leftover.unlink()


def _ask(remote: _Remote, wanted: Sequence[str]) -> tuple[str | None, dict[str, str]]:
    """The remote's default branch, and the commit of each wanted ref that it has. The clone goes by its hashes then."""
    answer = remote.listed("--symref", "--", remote.address.url, "HEAD", *wanted).decode("utf-8", "replace")
    default, found = None, {}
    for line in answer.splitlines():
        value, _, name = line.partition("\t")
        if name == "HEAD" and value.startswith("ref: refs/heads/"):
            branch = value.removeprefix("ref: refs/heads/")
            default = branch if is_branch_name(branch) else None
        elif is_hash(value) and name in ("HEAD", *wanted):
            found[name] = value
    if default and "HEAD" in found:
        found[f"refs/heads/{default}"] = found["HEAD"]
    if found:
        _use_hashes_of(remote, next(iter(found.values())))
    return default, found


def _use_hashes_of(remote: _Remote, commit: str) -> None:
    """Go by the remote's kind of hashes. DamagedRepository for a clone that holds objects of the other kind: the remote
    was made anew."""
    config = remote.folder / "config"
    wanted = CONFIG_SHA256 if len(commit) == SHA256_CHARACTERS else CONFIG
    if config.read_text() == wanted:
        return
    if objects_size(remote.folder):
        raise DamagedRepository
    replace_file(config, wanted)


def _fetch(remote: _Remote, found: Mapping[str, str]) -> None:
    limits, folder = remote.limits, remote.folder
    _make_room(remote, [_local_name(ref) for ref in found])
    config = (folder / "config").read_text()

    def watch() -> None:
        if objects_size(folder) > limits.pack_bytes:
            raise CloneTooLarge

    room = limits.pack_bytes - objects_size(folder)
    if room < FILE_BLOCK_BYTES:
        raise CloneTooLarge
    try:
        remote.git(
            "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head",
            "--no-auto-maintenance", "--update-shallow", "--force", "--refmap=",
            f"--filter=blob:limit={limits.file_bytes}", "--", remote.address.url,
            *(f"+{ref}:{_local_name(ref)}" for ref in found),
            transfer=replace(remote.transfer, watch=watch, file_bytes=room),
        )  # fmt: skip
    except GitError as error:
        raise _fetch_failure(error, remote) from None
    finally:
        # With the keys of a partial clone unset, a blob that was filtered reads as missing and is never fetched.
        replace_file(folder / "config", config)
    if len(list((folder / "objects/pack").glob("*.pack"))) > limits.packs:
        remote.git("repack", "-d", "-q", "--geometric=2")


def _fetch_failure(error: GitError, remote: _Remote) -> GitError:
    """The error of a fetch in words that fit. git does not tell that its pack ran into the limit; the size does."""
    if objects_size(remote.folder) > remote.limits.pack_bytes - 2 * FILE_BLOCK_BYTES:
        return CloneTooLarge(detail=error.detail)
    if isinstance(error, GitTimedOut):
        return GitTimedOut("The repository could not be fetched in time; try again later.", detail=error.detail)
    if type(error) is GitError:
        return CloneUnreachable(detail=error.detail)
    return error


def _make_room(remote: _Remote, local_names: Sequence[str]) -> None:
    """Delete refs of ours that stand in the way of new ones (a against a/b), and old pull requests above the cap."""
    held = remote.git("for-each-ref", "--format=%(refname)", "refs/debt/").decode("utf-8", "replace").split()
    wanted = set(local_names)
    blocked = [name for name in held if any(_clash(name, other) for other in wanted)]
    # By length first: the lowest numbers, which are the oldest, come first.
    spare = sorted((name for name in held if name.startswith(PULLS) and name not in wanted), key=lambda n: (len(n), n))
    surplus = max(0, len({*held, *wanted}) - remote.limits.refs)
    doomed = dict.fromkeys(blocked + spare[:surplus])
    if doomed:
        remote.git("update-ref", "--stdin", feed="".join(f"delete {name}\n" for name in doomed).encode())


def _clash(one: str, other: str) -> bool:
    return one.startswith(f"{other}/") or other.startswith(f"{one}/")


def _held(remote: _Remote, fetched: Mapping[str, str]) -> dict[str, str]:
    """The commit that each fetched ref has here; it may be newer than what the remote named a moment before."""
    lines = remote.git("for-each-ref", "--format=%(refname) %(objectname) %(objecttype)", "refs/debt/")
    rows = [line.split(" ") for line in lines.decode("utf-8", "replace").splitlines()]
    held = {name: sha for name, sha, kind in rows if kind == "commit"}
    return {ref: held[_local_name(ref)] for ref in fetched if _local_name(ref) in held}


def _is_complete(folder: Path) -> bool:
    return not folder.is_symlink() and all((folder / name).exists() for name in (COMPLETE, "HEAD", "config", "objects"))
