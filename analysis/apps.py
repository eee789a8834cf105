from typing import TYPE_CHECKING, Any

from django.apps import AppConfig

if TYPE_CHECKING:
    from organizations.models import Organization


class AnalysisConfig(AppConfig):
    name = "analysis"

    def ready(self) -> None:
        from organizations import farewells

        farewells.register("analysis.clones", note=_before_they_go, settle=_remove_clones)


def _before_they_go(organization: "Organization") -> list[dict[str, Any]]:
    """The clones to remove. What the code hosts have to hear is noted among the publications, which have ways of their
    own to arrive."""
    from analysis.services.publishing import take_leave

    take_leave(organization.repositories.all())
    return [{"orphans": True}] if organization.repositories.exists() else []


def _remove_clones(notes: dict[str, Any]) -> None:
    from analysis.services.workspaces import ask_all_to_keep

    ask_all_to_keep()
