"""Check the accessibility of a page with axe-core."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

_WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def violations(page: Page) -> list[str]:
    """Return the violations of WCAG 2.2 AA that axe-core finds in the page."""
    options = {"runOnly": _WCAG, "resultTypes": ["violations"]}
    found = Axe().run(page, options=options).response["violations"]
    return [f"{item['id']}: {node['html']}" for item in found for node in item["nodes"]]
