"""Rule packs by name."""

from analysis.engine.packs import Pack, all_packs
from config.errors import NotFound


class UnknownPack(NotFound):
    message = "There is no such rule pack"


def pack_named(name: str) -> Pack:
    """The pack of this name. UnknownPack."""
    pack = all_packs().get(name)
    if pack is None:
        raise UnknownPack
    return pack
