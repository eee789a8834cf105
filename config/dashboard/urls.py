"""The addresses of the dashboard's pages, as its own router knows them (js/core/routes.js); any other one is a 404."""

from django.urls import re_path

from config.dashboard import views

ENTRANCE = "login|signup|forgot-password|reset-password|auth/callback|invitations/[^/.]+"
PAGES = "connect|packs(?:/[^/.]+)?|(?:orgs|repos)/[^.]+"

urlpatterns = [re_path(rf"^(?:{ENTRANCE}|{PAGES})?$", views.shell, name="dashboard")]
