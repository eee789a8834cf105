"""The machines that analyse, which clones they hold, and what one of them asks the others to parse."""

from typing import ClassVar

from django.db import models


class Workspace(models.Model):
    """The folder of one machine's clones (settings.WORKSPACE_ID), and when a worker there was last heard of."""

    id = models.UUIDField(primary_key=True)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return str(self.id)


class CloneCopy(models.Model):
    """A workspace holds a clone of a repository. A hint: a copy may be gone, and nothing but time is lost then."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="copies")
    repository = models.ForeignKey("Repository", on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["repository", "workspace"], name="clone_copy_once")]

    def __str__(self) -> str:
        return f"{self.repository_id} at {self.workspace_id}"


class ScanShare(models.Model):
    """Files of a scan that any worker may parse: their contents, sealed, until somebody has stored their facts.

    Taken by a conditional update of `lease`, deleted with it. The scan takes back what nobody finishes.
    """

    run = models.ForeignKey("Run", on_delete=models.CASCADE, related_name="shares")
    workspace = models.UUIDField()  # whose scan it is; it needs no help of its own
    version = models.CharField(max_length=32)  # of the facts that are wanted
    sealed = models.BinaryField()
    lease = models.UUIDField(null=True)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["id"], condition=models.Q(lease=None), name="scan_share_to_take"),
        ]

    def __str__(self) -> str:
        return f"share {self.pk} of {self.run_id}"
