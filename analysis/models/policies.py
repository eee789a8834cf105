"""Policies that were set through the API or by a rule pack."""

from django.conf import settings
from django.db import models

from config.models import BaseModel


class StoredPolicy(BaseModel):
    """A repository's policy in the writable shape. It wins over the repository's own file.

    `replaced` is what the last change took away, `{"body": <policy or null>, "packs": [...]}`, and so the way back; a
    null body means that the repository's own file or the defaults judged before.
    """

    repository = models.OneToOneField("Repository", on_delete=models.CASCADE, related_name="stored_policy")
    body = models.JSONField()
    packs = models.JSONField(default=list)
    replaced = models.JSONField(null=True)
    updated_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")

    def __str__(self) -> str:
        return f"policy of {self.repository_id}"
