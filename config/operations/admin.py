"""What staff did: the history that the admin writes, as one list."""

from typing import ClassVar

from django.contrib import admin
from django.contrib.admin.models import LogEntry

from config.staff import ReadOnlyAdmin


@admin.register(LogEntry)
class LogEntryAdmin(ReadOnlyAdmin):
    list_display: ClassVar = ["action_time", "user", "content_type", "object_repr", "get_change_message"]
    list_filter: ClassVar = ["action_flag", "content_type"]
    list_select_related: ClassVar = ["user", "content_type"]
    search_fields: ClassVar = ["user__email", "object_repr", "change_message", "=object_id"]
    search_help_text = "Address of the member of staff, what it was done to, or its id"
    ordering: ClassVar = ["-id"]
    fields: ClassVar = ["action_time", "user", "content_type", "object_id", "object_repr", "get_change_message"]
