"""Every address of the service: one include per app below /v1, the admin beside it, the dashboard's pages last."""

from django.contrib import admin
from django.urls import include, path

from config.operations.description import BrowserView, DescriptionView
from config.operations.entrance import log_in

# Django tries them one after the other: what is asked most stands first.
urlpatterns = [
    path("v1/", include("analysis.urls")),
    path("v1/", include("accounts.urls")),
    path("v1/", include("organizations.urls")),
    path("v1/", include("billing.urls")),
    path("v1/", include("credits.urls")),
    path("v1/", include("webhooks.urls")),
    path("v1/schema", DescriptionView.as_view(), name="schema"),
    path("v1/docs", BrowserView.as_view(), name="docs"),
    path("admin/login/", log_in),
    path("admin/", admin.site.urls),
    path("", include("config.dashboard.urls")),
]

handler400 = "config.api.errors.bad_request"
handler403 = "config.api.errors.permission_denied"
handler404 = "config.api.errors.not_found"
handler500 = "config.api.errors.server_error"
