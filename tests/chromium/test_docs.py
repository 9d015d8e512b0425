"""Test the pages of the documentation in Chromium."""

import re

import pytest
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.usefixtures("docs")


def test_search_lists_sections_of_all_pages_and_enter_opens_first(
    browser: Browser, base_url: str
) -> None:
    with browser.new_page() as page:
        page.goto(f"{base_url}/docs")
        page.keyboard.press("Control+K")
        page.keyboard.type("customer ERASE")
        results = page.get_by_role("search").get_by_role("link")
        expect(results.first).to_have_text("Erase a customerCustomers")
        assert results.count() > 5
        expect(page.get_by_role("status")).to_have_text(re.compile("^[0-9]+ of [0-9]+ sections$"))
        contents = page.locator("nav .wide")
        expect(contents).to_be_hidden()

        page.keyboard.press("Enter")
        page.wait_for_url(f"{base_url}/docs/customers#eraseCustomer")
        expect(page.locator("#eraseCustomer")).to_be_in_viewport()
        expect(contents).to_be_visible()
        expect(contents.locator("[aria-current=location]")).to_have_text("Erase a customer")


def test_search_for_title_of_guide_lists_its_sections_first(
    browser: Browser, base_url: str
) -> None:
    with browser.new_page() as page:
        page.goto(f"{base_url}/docs")
        page.get_by_role("searchbox").fill("receiving webhooks")
        results = page.get_by_role("search").get_by_role("link")
        expect(results.first).to_have_text("RequestReceiving webhooks")


def test_search_says_that_it_loads_the_pages(browser: Browser, base_url: str) -> None:
    with browser.new_page() as page:
        page.goto(f"{base_url}/docs")
        page.route("**/docs/**", lambda _: None)
        page.get_by_role("searchbox").fill("customer")
        expect(page.get_by_role("status")).to_have_text("Loading…")
        page.unroute("**/docs/**")
        expect(page.get_by_role("status")).to_have_text(re.compile("^[0-9]+ of [0-9]+ sections$"))


def test_search_without_result_lists_nothing_and_contents_return(
    browser: Browser, base_url: str
) -> None:
    with browser.new_page() as page:
        page.goto(f"{base_url}/docs/purchases")
        page.get_by_role("searchbox").fill("nothinglikethis")
        expect(page.get_by_role("status")).to_have_text(re.compile("^0 of [0-9]+ sections$"))
        page.keyboard.press("Enter")
        assert page.get_by_role("search").get_by_role("link").count() == 0
        page.get_by_role("searchbox").fill("")
        expect(page.locator("nav .wide")).to_be_visible()
        expect(page.get_by_role("status")).to_have_text("")


def test_pages_work_without_script(browser: Browser, base_url: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    with context, context.new_page() as page:
        page.goto(f"{base_url}/docs")
        expect(page.get_by_role("search")).to_be_hidden()
        page.get_by_role("navigation").get_by_role("link", name="Pages", exact=True).click()
        expect(page).to_have_url(f"{base_url}/docs/pages")
        page.get_by_label("Python").check()
        expect(page.locator("pre.in-python").first).to_be_visible()
        expect(page.locator("pre.in-curl").first).to_be_hidden()


@pytest.mark.parametrize("page_name", ["", "/guide-integrating", "/customers", "/surveys"])
def test_narrow_page_has_no_horizontal_scroll_bar(
    browser: Browser, base_url: str, page_name: str
) -> None:
    with browser.new_page(viewport={"width": 320, "height": 640}) as page:
        page.goto(f"{base_url}/docs{page_name}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        expect(page.locator("nav .wide")).to_be_hidden()
        expect(page.get_by_text("Contents", exact=True)).to_be_visible()
