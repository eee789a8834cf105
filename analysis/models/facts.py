"""The store of facts: one row per blob, reading and extractor version, shared by all repositories."""

from typing import ClassVar

from django.db import models


class BlobFacts(models.Model):
    """What `engine.extract` said of one blob, compressed. Written once; `used_on` is a day on which a scan used it, at
    most a month before the last one that did.

    Where a clone lacked the blob `was_read` is false: it holds until a scan comes that can read it."""

    blob = models.CharField(max_length=64)
    reading = models.CharField(max_length=16)
    version = models.CharField(max_length=32)
    data = models.BinaryField()
    used_on = models.DateField()
    was_read = models.BooleanField(default=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["blob", "reading", "version"], name="blob_facts_once")]
        indexes: ClassVar = [models.Index(fields=["used_on"], name="blob_facts_by_use")]

    def __str__(self) -> str:
        return f"{self.blob[:12]} as {self.reading}"
