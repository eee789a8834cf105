"""What a rule means, as the text that SARIF carries to code hosts and editors."""

from collections.abc import Sequence

from analysis.engine.model import Sources
from analysis.engine.rulebook import Explanation


def help_text(explained: Explanation) -> str:
    """Plain paragraphs: what it finds, why it matters, how severe it is, how to repair it."""
    return "\n\n".join(_paragraphs(explained))


def help_markdown(explained: Explanation) -> str:
    """The same with headings and examples."""
    parts = [f"## {explained.rule.title}", *_paragraphs(explained)]
    for heading, examples in (("Flagged", explained.guide.flagged), ("Not flagged", explained.guide.fine)):
        parts += [f"### {heading}", *_fenced(examples[:1])] if examples else []
    return "\n\n".join(parts)


def _paragraphs(explained: Explanation) -> list[str]:
    guide = explained.guide
    texts = (explained.what, guide.why, guide.grades, f"Repair: {explained.rule.suggestion}")
    return [text for text in texts if text]


def _fenced(examples: Sequence[Sources]) -> list[str]:
    return [f"`{path}`\n\n```\n{text.strip()}\n```" for example in examples for path, text in example.items()]
