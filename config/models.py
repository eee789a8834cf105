"""What every table of the service has in common."""

import uuid
from datetime import datetime

import uuid_utils.compat
from django.db import models


def new_id() -> uuid.UUID:
    """A UUIDv7 (RFC 9562): rows created together lie together in the index."""
    return uuid_utils.compat.uuid7()


def first_id_at(moment: datetime) -> uuid.UUID:
    """The smallest id that can have been made at `moment`: rows made since then are one range of the primary key."""
    return uuid.UUID(int=(round(moment.timestamp() * 1000) << 80) | (7 << 76) | (0b10 << 62))


class BaseModel(models.Model):
    """An opaque id that grows with time, and when the row was made and last saved."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True
