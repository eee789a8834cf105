"""What the name of a lock says of what it is there for."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import declarations, function_name, function_text

KEEPS_FILES = re.compile(r"(?i)file|disk|storage|store|persist|dir(?:lock|ectory)|\bwal|journal|log")
_GENERAL = re.compile(r"(?i)(lock|mutex|\bmu|mtx|guard|monitor|^this)$")
_PLAIN = re.compile(r"(?i)(?:^|\.)_?(?:lock|r?mutex|mu|mtx|rw_?lock|read_?lock|guard|monitor)(?:\.RLock\(\))?$")
_OF_A_PAIR = re.compile(r"\.(?:read|write)Lock\(\)$")
_DECLARES_LOCK = re.compile(rb"\b(\w*(?:[lL]ock|[mM]u|[mM]utex))\b\s*(?:=|:|sync\.(?:RW)?Mutex\b)")
_LOCK_TYPE = re.compile(rb"\b(?:\w*Lock|Semaphore)\s+\Z")
_PART_OF_LOCKS = re.compile(r"(?i)r?w?_?(?:lock|mutex|mu|mtx|guard|monitor)$")
_WORDS_OF_A_NAME = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{3,}")


def is_general(lock: str) -> bool:
    """Whether it may be a lock for anything: one that is called a lock at its end."""
    return _GENERAL.search(name_of(lock)) is not None


def says_nothing(lock: str) -> bool:
    """Whether the name says no more than that it is a lock."""
    return _PLAIN.search(name_of(lock)) is not None


def is_lock_in_java(name: str, file: SourceFile) -> bool:
    """Whether the file may declare the name as a lock or a semaphore."""
    return any(map(_LOCK_TYPE.search, declarations(name, file)))


def name_of(lock: str) -> str:
    """What a lock is called, also one of a pair: `lock.writeLock()` is half of `lock`."""
    return _OF_A_PAIR.sub("", lock)


def leaves_files_to_another(lock: str, file: SourceFile) -> bool:
    """Whether the file has another lock that is named after files, so that this one is there for something else."""
    name = lock.rpartition(".")[2]
    others = {each.decode("utf-8", "replace") for each in _DECLARES_LOCK.findall(file.source)} - {name}
    return KEEPS_FILES.search(name) is None and any(map(KEEPS_FILES.search, others))


def is_named_after(lock: str, call: Node, file: SourceFile) -> bool:
    """Whether a word in the name of the lock is one of the function that holds it: a lock for what that works on. A
    plain name may be one for anything, but for that nobody looks here."""
    words = _WORDS_OF_A_NAME.findall(_PART_OF_LOCKS.sub("", name_of(lock).rpartition(".")[2]))
    text = f"{function_name(call, file)} {function_text(call, file)}".replace(lock, "").lower()
    return any(word.lower().removesuffix("s") in text for word in words)
