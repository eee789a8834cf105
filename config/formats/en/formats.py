"""ISO 8601 with seconds, as in the logs: what staff compare with."""

DATE_FORMAT = "Y-m-d"
DATETIME_FORMAT = "Y-m-d H:i:s"
