"""Where the admin looks for pages of the app `config`."""

from config.operations.admin import LogEntryAdmin

__all__ = ["LogEntryAdmin"]
