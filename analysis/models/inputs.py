"""What the last scan was judged from, so that a changed policy can be judged without the clone."""

from typing import ClassVar

from django.db import models

from config.models import BaseModel


class ScanInputs(BaseModel):
    """One row a repository, replaced by each scan: the tree, the recent past and the policy of its own files.

    `tree` and `history` are compressed JSON (`analysis.services.inputs`), `graph` is the import graph of the tree
    (`analysis.engine.graph.stored`). The facts of the blobs lie in `BlobFacts`.
    """

    repository = models.OneToOneField("Repository", on_delete=models.CASCADE, related_name="scan_inputs")
    commit_sha = models.CharField(max_length=64)
    facts_version = models.CharField(max_length=32)
    policy = models.JSONField(default=dict)
    policy_source = models.CharField(max_length=16)
    notes = models.JSONField(default=list)
    tree = models.BinaryField()
    history = models.BinaryField()
    graph = models.BinaryField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["updated_at"], name="scan_inputs_by_age")]

    def __str__(self) -> str:
        return f"inputs of {self.repository_id} at {self.commit_sha[:12]}"
