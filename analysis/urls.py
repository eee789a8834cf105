"""Addresses below /v1 of repositories, their results, policies, runs and badges, and of rule packs."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from analysis import views


class OwnerConverter(StringConverter):
    """All but the last part of a full name: the groups of a code host may lie in groups."""

    regex = "[^/]+(?:/[^/]+)*"


register_converter(OwnerConverter, "owner")

urlpatterns = [
    path("api/repos", views.RepositoryViewSet.as_view({"get": "list", "post": "create"})),
    path("api/repos/<str:repository_id>", views.RepositoryViewSet.as_view({"get": "retrieve", "delete": "destroy"})),
    path("api/repos/<str:repository_id>/analyze", views.RepositoryRunViewSet.as_view({"post": "create"})),
    path("api/repos/<str:repository_id>/runs", views.RepositoryRunViewSet.as_view({"get": "list"})),
    path("api/runs/<str:run_id>", views.RunViewSet.as_view({"get": "retrieve"})),
    path("api/repos/<str:repository_id>/overview", views.ResultViewSet.as_view({"get": "overview"})),
    path("api/repos/<str:repository_id>/violations", views.ResultViewSet.as_view({"get": "violations"})),
    path("api/repos/<str:repository_id>/trends", views.ResultViewSet.as_view({"get": "trends"})),
    path("api/repos/<str:repository_id>/score-history", views.ScoreHistoryViewSet.as_view({"get": "retrieve"})),
    path("api/repos/<str:repository_id>/coupling", views.CouplingViewSet.as_view({"get": "retrieve"})),
    path("api/repos/<str:repository_id>/hotspots", views.ResultViewSet.as_view({"get": "hotspots"})),
    path("api/repos/<str:repository_id>/prs", views.ResultViewSet.as_view({"get": "pull_requests"})),
    path(
        "api/repos/<str:repository_id>/prs/<str:pull_request_number>",
        views.ResultViewSet.as_view({"get": "pull_request"}),
    ),
    path("api/repos/<str:repository_id>/runtime-risks", views.ResultViewSet.as_view({"get": "runtime_risks"})),
    path("api/repos/<str:repository_id>/first-scan", views.ResultViewSet.as_view({"get": "first_scan"})),
    path("api/repos/<str:repository_id>/ai", views.AiViewSet.as_view({"get": "offer"})),
    path("api/repos/<str:repository_id>/ai/scan-summary", views.AiViewSet.as_view({"post": "scan_summary"})),
    path("api/repos/<str:repository_id>/ai/cross-file", views.AiViewSet.as_view({"post": "cross_file"})),
    path("api/repos/<str:repository_id>/violations.csv", views.ViolationFileViewSet.as_view({"get": "csv"})),
    path("api/repos/<str:repository_id>/violations.sarif", views.ViolationFileViewSet.as_view({"get": "sarif"})),
    path(
        "api/repos/<str:repository_id>/violations/<str:violation_id>",
        views.ViolationViewSet.as_view({"get": "retrieve"}),
    ),
    path(
        "api/repos/<str:repository_id>/violations/<str:violation_id>/source",
        views.ViolationViewSet.as_view({"get": "source"}),
    ),
    path(
        "api/repos/<str:repository_id>/violations/<str:violation_id>/ai-fix", views.AiViewSet.as_view({"post": "fix"})
    ),
    path("api/repos/<str:repository_id>/policy", views.PolicyViewSet.as_view({"get": "retrieve", "put": "update"})),
    path("api/repos/<str:repository_id>/policy/preview", views.PolicyViewSet.as_view({"post": "preview"})),
    path("api/repos/<str:repository_id>/policy/backtest", views.PolicyViewSet.as_view({"post": "backtest"})),
    path("api/repos/<str:repository_id>/policy/undo", views.PolicyViewSet.as_view({"post": "undo"})),
    path("api/repos/<str:repository_id>/apply-pack", views.PolicyViewSet.as_view({"post": "apply_pack"})),
    path(
        "api/repos/<str:repository_id>/architecture-graph", views.ArchitectureGraphViewSet.as_view({"get": "retrieve"})
    ),
    path("api/packs", views.PackViewSet.as_view({"get": "list"})),
    path("api/packs/<str:name>", views.PackViewSet.as_view({"get": "retrieve"})),
    path("badge/<owner:owner>/<str:repo>", views.BadgeViewSet.as_view({"get": "retrieve"})),
]
