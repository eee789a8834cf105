"""The system's Chromium, driven by Playwright."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
THEMES = ("light", "dark")
GRAVE = ("serious", "critical")
# Two frames until the new theme is drawn, then until its colours have faded in. (A `wait_for_function` would evaluate
# text in the page, which its Content-Security-Policy refuses.)
COLOURS_HAVE_FADED = """
    new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))
        .then(() => document.getAnimations().filter(one => one instanceof CSSTransition))
        .then(fading => Promise.allSettled(fading.map(one => one.finished)))
"""


@contextlib.contextmanager
def launched() -> Iterator[Browser]:
    """A browser, to the end of the block."""
    assert CHROMIUM.exists(), "Chromium is not installed; on Debian: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def grave_barriers(page: Page) -> list[str]:
    """What axe finds serious or critical on the present page, in the light and in the dark theme."""
    found = []
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        page.locator(f"html[data-theme={theme}]").wait_for(state="attached")
        page.evaluate(COLOURS_HAVE_FADED)
        rules = Axe().run(page).response["violations"]
        found += [f"{theme}: {_told(rule)}" for rule in rules if rule["impact"] in GRAVE]
    page.emulate_media(color_scheme="light")
    return found


def _told(rule: dict[str, Any]) -> str:
    places = [node["html"][:160] for node in rule["nodes"][:3]]
    return f"{rule['id']}: {rule['help']} {places}"
