"""What every table of the service has in common."""

import json
import uuid
from datetime import datetime
from typing import Any

import orjson
import uuid_utils.compat
from django.db import models


def new_id() -> uuid.UUID:
    """A UUIDv7 (RFC 9562): rows created together lie together in the index."""
    return uuid_utils.compat.uuid7()


def first_id_at(moment: datetime) -> uuid.UUID:
    """The smallest id that can have been made at `moment`: rows made since then are one range of the primary key.
    Ids count from 1970; before that none was made."""
    return uuid.UUID(int=(max(0, round(moment.timestamp() * 1000)) << 80) | (7 << 76) | (0b10 << 62))


class DocumentDecoder(json.JSONDecoder):
    """For columns with documents of hundreds of rows: orjson reads them in a fifth of the time."""

    def decode(self, s: str, *_: Any) -> Any:
        return orjson.loads(s)


class BaseModel(models.Model):
    """An opaque id that grows with time, and when the row was made and last saved."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True
