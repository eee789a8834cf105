"""What every table of the service has in common."""

import uuid

import uuid_utils.compat
from django.db import models


def new_id() -> uuid.UUID:
    """A UUIDv7 (RFC 9562): rows created together lie together in the index."""
    return uuid_utils.compat.uuid7()


class BaseModel(models.Model):
    """An opaque id that grows with time, and when the row was made and last saved."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True
