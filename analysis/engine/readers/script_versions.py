"""Which version of a package scripts run with, as the manifests around them say."""

import json
import re

from analysis.engine.codebase import Place
from analysis.engine.graph.manifest import manifest_of
from analysis.engine.graph.paths import ancestors, folder_of, joined
from analysis.engine.readers.browsers import nearest_manifest


def major_version(package: str, place: Place) -> int:
    """The major version of a package whose version manifests keep; 0 where none says it. A manifest may leave it to a
    catalog of the workspace around it."""
    manifest = json.loads(nearest_manifest(place, re.compile(f'"{re.escape(package)}"')) or "{}")
    catalog = manifest.get("catalogs", {}).get(package)
    versions = manifest.get("versions", {}) if catalog is None else _of_workspace(place).get(catalog, {})
    return int(versions.get(package, 0))


def _of_workspace(place: Place) -> dict[str, dict[str, int]]:
    """The versions of each catalog of the nearest workspace of pnpm."""
    for folder in ancestors(folder_of(place.path)):
        facts = place.codebase.files.get(joined(folder, "pnpm-workspace.yaml"))
        if facts is not None:
            return dict(manifest_of(facts).get("versions", {}))
    return {}
