"""Views translate: load with permission, validate, make one call, respond."""

from analysis.views.ai import AiViewSet
from analysis.views.badges import BadgeView
from analysis.views.repositories import RepositoryViewSet
from analysis.views.results import ResultViewSet
from analysis.views.runs import RepositoryRunViewSet, RunViewSet

__all__ = ["AiViewSet", "BadgeView", "RepositoryRunViewSet", "RepositoryViewSet", "ResultViewSet", "RunViewSet"]
