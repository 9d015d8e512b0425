"""A form in a page of another site: the dialog opens, closes and settles without surprises."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from chalicelib.web.pages.assets import EMBED, asset_text
from tests.chromium.accessibility import violations
from tests.chromium.browser import NewContext
from tests.domain.forms.factories import field, saved_survey
from tests.web.public.rendered import rendered_survey

SHOP = "http://shop.test/"
FORMS = "http://pages.test/public"
SCRIPTS = {"embed.js": EMBED, "page.js": "page.js"}


def route(context: BrowserContext, embedded: str, language: str) -> None:
    """Serve a shop that embeds a survey in a language. `embedded` is the script's attributes."""
    fields = [field("nps", "NPS"), field("note")]
    survey = rendered_survey(saved_survey(language=language, fields=fields))

    def respond(route: Route) -> None:
        name = route.request.url.rpartition("/")[2]
        if name in SCRIPTS:
            route.fulfill(body=asset_text(SCRIPTS[name]), content_type="text/javascript")
        else:
            route.fulfill(body=survey, content_type="text/html; charset=utf-8")

    shop = (
        "<!doctype html><html lang=en><meta name=viewport content='width=device-width'>"
        "<title>Shop</title><body><main><h1>Shop</h1>"
        f'<script src="{FORMS}/embed.js" data-survey="x" {embedded}></script>'
        "<button id=buy onclick='window.bought = true' style='display:block;height:3em'>"
        "Buy</button>"
    )
    context.route(f"{FORMS}/**", respond)
    context.route(SHOP, lambda route: route.fulfill(body=shop, content_type="text/html"))


@pytest.fixture
def open_popup(new_context: NewContext) -> Callable[..., Page]:
    """Return a function that opens the dialog."""

    def create(language: str = "en", **options: Any) -> Page:
        context = new_context(**options)
        route(context, 'data-popup="Feedback"', language)
        page = context.new_page()
        page.goto(SHOP)
        page.locator(".feedback-button").click()
        expect(page.locator("dialog[open]")).to_be_visible()
        return page

    return create


def box(page: Page, selector: str) -> dict[str, float]:
    found = page.locator(selector).bounding_box()
    assert found
    return dict(found)


def test_escape_in_the_frame_closes_the_dialog(open_popup: Callable[..., Page]) -> None:
    page = open_popup()
    page.frame_locator("iframe").locator("label:has(input[value='3'])").click()
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(page.locator(".feedback-button")).to_be_focused()
    page.locator(".feedback-button").click()
    page.get_by_role("button", name="Close").focus()
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_dialog_has_no_accessibility_violations(open_popup: Callable[..., Page]) -> None:
    page = open_popup(reduced_motion="reduce")
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    assert violations(page) == []


@pytest.mark.parametrize("focus_is_in_frame", [True, False])
def test_click_outside_closes_the_dialog(
    open_popup: Callable[..., Page], focus_is_in_frame: bool
) -> None:
    page = open_popup()
    if focus_is_in_frame:
        page.frame_locator("iframe").locator("label:has(input[value='3'])").click()
    page.mouse.click(5, 5)
    expect(page.locator("dialog[open]")).to_have_count(0)
    assert not page.evaluate("window.bought")


def test_size_of_dialog_is_known_before_it_opens(open_popup: Callable[..., Page]) -> None:
    page = open_popup()
    height = page.evaluate("document.querySelector('iframe').clientHeight")
    assert height == page.frames[1].evaluate("document.body.offsetHeight") != 640


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("direction_of_site", ["ltr", "rtl"])
def test_cross_lies_on_the_frame_beside_the_title(
    open_popup: Callable[..., Page], language: str, direction_of_site: str
) -> None:
    page = open_popup(language, reduced_motion="reduce")
    page.evaluate(f"document.dir = '{direction_of_site}'")
    dialog, frame, cross = page.evaluate("""['dialog', 'iframe', 'dialog button'].map(
        each => document.querySelector(each).getBoundingClientRect().toJSON())""")
    assert (dialog["y"], dialog["height"]) == (frame["y"], frame["height"])
    assert cross["x"] - frame["x"] == (12 if language == "ar" else frame["width"] - 56)
    title = page.frames[1].locator(".titles").bounding_box()
    assert title
    assert title["x"] + title["width"] <= cross["x"] or title["x"] >= cross["x"] + cross["width"]


@pytest.mark.parametrize("size", [(320, 568), (375, 667), (1366, 768)])
def test_dialog_on_phone_is_a_sheet_from_below(
    open_popup: Callable[..., Page], size: tuple[int, int]
) -> None:
    page = open_popup(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce")
    dialog = box(page, "dialog")
    is_phone = size[0] < 640
    assert (dialog["y"] + dialog["height"] == size[1]) == is_phone
    assert (dialog["width"] == size[0]) == is_phone
    assert dialog["y"] >= size[1] * 0.07
    assert page.frames[1].evaluate("document.documentElement.scrollTop") == 0


def test_frame_catches_no_click_while_it_settles(new_context: NewContext) -> None:
    page = new_context(viewport={"width": 800, "height": 2_000}).new_page()
    route(page.context, "", "en")
    page.clock.install(time=0)
    page.goto(SHOP)
    page.clock.pause_at(60_000)
    page.reload()
    page.wait_for_function("document.querySelector('iframe').title")
    page.evaluate("addEventListener('blur', () => (window.caught = true))")
    page.mouse.click(300, 100)
    assert not page.evaluate("window.caught")
    page.clock.run_for(200)
    page.mouse.click(300, 100)
    page.wait_for_function("window.caught")
