"""The dialect of each language, made once per process when it is first needed."""

from functools import lru_cache
from importlib import import_module

from analysis.engine.extract.dialect import Dialect

_MODULES = {
    "python": ("python", "Python"),
    "javascript": ("script", "JavaScript"),
    "typescript": ("script", "TypeScript"),
    "tsx": ("script", "Tsx"),
    "java": ("java", "Java"),
    "go": ("go", "Go"),
}


@lru_cache(maxsize=len(_MODULES))
def dialect_of(language: str) -> Dialect:
    """The dialect of a language. KeyError for languages that are not parsed."""
    module, name = _MODULES[language]
    dialect: type[Dialect] = getattr(import_module(f"analysis.engine.extract.{module}"), name)
    return dialect()
