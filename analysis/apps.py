from typing import TYPE_CHECKING, Any

from django.apps import AppConfig

if TYPE_CHECKING:
    from organizations.models import Organization


class AnalysisConfig(AppConfig):
    name = "analysis"

    def ready(self) -> None:
        from organizations import farewells

        farewells.register("analysis.clones", note=_clones_of, settle=_remove_clones)


def _clones_of(organization: "Organization") -> list[dict[str, Any]]:
    return [{"orphans": True}] if organization.repositories.exists() else []


def _remove_clones(notes: dict[str, Any]) -> None:
    from analysis.services.workspaces import ask_all_to_keep

    ask_all_to_keep()
