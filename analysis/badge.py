"""The SVG badge of a repository's health, for README files."""

from dataclasses import dataclass
from html import escape
from string import Template

from django.db.models import TextField

from analysis.models import Repository, has_name
from config.compiled import CompiledQuery, Key
from organizations.entitlements import allows

LABEL = "code health"
GREEN, LIME, YELLOW, ORANGE, RED, GREY = "#2e8540", "#5a8a1f", "#a87900", "#c05600", "#c0262d", "#6b7280"
GRADES = ((90, GREEN), (75, LIME), (60, YELLOW), (40, ORANGE), (0, RED))
CHARACTER_WIDTH = 6.6
PADDING = 10

SVG = Template(
    '<svg xmlns="http://www.w3.org/2000/svg" width="$width" height="20" role="img" aria-label="$label: $value">'
    "<title>$label: $value</title>"
    '<clipPath id="r"><rect width="$width" height="20" rx="4"/></clipPath>'
    '<g clip-path="url(#r)"><rect width="$left" height="20" fill="#3f4753"/>'
    '<rect x="$left" width="$right" height="20" fill="$colour"/></g>'
    '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
    '<text x="$left_middle" y="14">$label</text><text x="$right_middle" y="14">$value</text></g></svg>'
)

_NAMED = CompiledQuery(
    lambda: (
        Repository.objects.filter(has_name(Key("full_name", TextField())))
        .select_related("organization__plan")
        .order_by("pk")
    )
)


@dataclass(frozen=True, slots=True)
class Badge:
    value: str
    colour: str
    is_known: bool = True

    def svg(self) -> str:
        """The picture; every value is escaped."""
        left = round(len(LABEL) * CHARACTER_WIDTH) + PADDING
        right = round(len(self.value) * CHARACTER_WIDTH) + PADDING
        return SVG.substitute(
            label=escape(LABEL), value=escape(self.value), colour=self.colour, width=left + right, left=left,
            right=right, left_middle=left / 2, right_middle=left + right / 2,
        )  # fmt: skip


def badge_of(owner: str, name: str) -> Badge:
    """The badge of `owner/name`: grey below the solo plan and before the first scan, unknown when not connected.

    When several organizations have connected the same name, the one that did so first of those whose plan has badges
    speaks for it: a name is quickly typed, and behind it may be any clone address. One query.
    """
    full_name = f"{owner}/{name}"
    # PostgreSQL refuses a text with NUL, which no name has.
    found = [] if "\0" in full_name else _NAMED.all(full_name=full_name)
    if not found:
        return Badge("unknown", GREY, is_known=False)
    entitled = [repository for repository in found if allows(repository.organization, "badge")]
    if not entitled:
        return Badge("needs the solo plan", GREY)
    scores = [repository.health_score for repository in entitled if repository.health_score is not None]
    if not scores:
        return Badge("not scanned yet", GREY)
    return Badge(f"{scores[0]}/100", next(colour for least, colour in GRADES if scores[0] >= least))
