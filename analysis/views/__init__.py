"""Views translate: load with permission, validate, make one call, respond."""

from analysis.views.ai import AiViewSet
from analysis.views.badges import BadgeViewSet
from analysis.views.coupling import CouplingViewSet
from analysis.views.graph import ArchitectureGraphViewSet
from analysis.views.packs import PackViewSet
from analysis.views.policies import PolicyViewSet
from analysis.views.repositories import RepositoryViewSet
from analysis.views.results import ResultViewSet
from analysis.views.runs import RepositoryRunViewSet, RunViewSet
from analysis.views.scores import ScoreHistoryViewSet
from analysis.views.violations import ViolationFileViewSet, ViolationViewSet

__all__ = [
    "AiViewSet",
    "ArchitectureGraphViewSet",
    "BadgeViewSet",
    "CouplingViewSet",
    "PackViewSet",
    "PolicyViewSet",
    "RepositoryRunViewSet",
    "RepositoryViewSet",
    "ResultViewSet",
    "RunViewSet",
    "ScoreHistoryViewSet",
    "ViolationFileViewSet",
    "ViolationViewSet",
]
