"""Takes the manifest out of facts that `extract.manifests` made."""

import json
from typing import Any

from analysis.engine.facts import FileFacts

Manifest = dict[str, Any]


def manifest_of(facts: FileFacts) -> Manifest:
    """The manifest inside the facts, an empty one when there is none."""
    if not facts.manifest:
        return {}
    manifest: Manifest = json.loads(facts.manifest)
    return manifest
