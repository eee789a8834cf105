"""When to ask a code host for the open pull requests of a repository, and what it answered last."""

from typing import ClassVar

from django.db import models

from config.models import BaseModel


class PullRequestPoll(BaseModel):
    """One row a repository. `etag` marks the list as it was last: whether it has changed is a cheap question.

    `failures` counts those since the last good answer: they lengthen the pause.
    """

    repository = models.OneToOneField("Repository", on_delete=models.CASCADE, related_name="poll")
    next_at = models.DateTimeField()
    etag = models.CharField(max_length=200, blank=True)
    failures = models.PositiveSmallIntegerField(default=0)
    error = models.CharField(max_length=300, blank=True)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["next_at"], name="poll_due")]

    def __str__(self) -> str:
        return f"poll of {self.repository_id}"
