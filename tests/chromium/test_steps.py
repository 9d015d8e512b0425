"""A survey with steps asks one question at a time, also while its script loads and after Back."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.chromium.accessibility import violations
from tests.chromium.browser import PAGE, NewContext, route_page
from tests.domain.forms.factories import depends, field, saved_survey, select
from tests.web.public.rendered import rendered_survey

FIELDS = [
    field("nps", "NPS", required=True),
    field("stars", "CSAT_STAR"),
    select("why", "One", "Two", "Three"),
    field("mood", "CSAT_SMILEY"),
    field("again", "BINARY"),
    select("better", "One", "Two", kind="MULTI_SELECT"),
    field("comment", "LONG_TEXT"),
    field("mail", "EMAIL"),
]
CONDITIONS = [depends("why", "nps", ("$lte", "6")), depends("mail", "comment", ("$exists", "true"))]
SHIFT = """new Promise(done => new PerformanceObserver(list => done(
    list.getEntries().reduce((sum, entry) => sum + entry.value, 0)
)).observe({type: 'layout-shift', buffered: true}) || setTimeout(() => done(0), 300))"""


def steps(answers: dict[str, list[str]] | None = None, **definition: Any) -> str:
    """Return the page of a survey with eight questions, of which two depend on answers."""
    survey = {
        "layout": "STEPS",
        "publiclyAvailable": True,
        "header": {"title": "How was it?"},
        "fields": [each | {"verticalIndex": row} for row, each in enumerate(FIELDS)],
        "fieldDependencies": CONDITIONS,
    }
    return rendered_survey(saved_survey(**survey | definition), answers)


@pytest.fixture
def open_steps(new_context: NewContext) -> Callable[..., Page]:
    """Return a function that opens the page of a survey with steps on a phone."""

    def create(html: str, **options: Any) -> Page:
        size = {"width": 375, "height": 667}
        context = new_context(viewport=size, has_touch=True, **options)
        route_page(context, html)
        page = context.new_page()
        page.goto(PAGE)
        return page

    return create


def question(page: Page, name: str) -> None:
    """Wait until the page asks only this question."""
    expect(page.locator(".row:visible [role=heading] bdi")).to_have_text(name)


def tap(page: Page, value: str) -> None:
    page.locator(f".row:visible label:has(input[value='{value}'])").tap()


@pytest.mark.parametrize("answers", [{}, {"nps": ["9"]}])
@pytest.mark.parametrize("layout", ["STEPS", "PAGE"])
def test_page_does_not_move_when_its_script_starts(
    new_context: NewContext, layout: str, answers: dict[str, list[str]]
) -> None:
    context = new_context(viewport={"width": 375, "height": 667})
    route_page(context, steps(answers, layout=layout))
    page, scripts = context.new_page(), list[Route]()
    page.route("**/page.js", lambda route: scripts.append(route))
    page.goto(PAGE, wait_until="commit")
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
    assert page.locator(".row:visible").count() == (1 if layout == "STEPS" else 6)
    before = page.locator("main").inner_text()
    scripts[0].fallback()
    page.wait_for_load_state("load")
    assert page.evaluate(SHIFT) <= 0.02
    assert page.locator("main").inner_text() == before


@pytest.mark.parametrize("score", ["3", "9"])
def test_progress_never_jumps(open_steps: Callable[..., Page], score: str) -> None:
    page = open_steps(steps())
    seen = []

    def note() -> None:
        bar = page.locator("progress").evaluate("bar => bar.value / bar.max")
        seen.append((page.locator(".progress").inner_text(), bar))

    note()
    tap(page, score)
    for value in ("4", "One", "4", "satisfied")[: None if score == "3" else 4]:
        if value == "One" and score == "9":
            continue
        note()
        tap(page, value)
    question(page, "Better")
    note()
    page.locator("form .send").tap()
    page.get_by_role("textbox", name="Comment").fill("Noise")
    note()
    page.locator("form .send").tap()
    question(page, "Mail")
    note()
    assert [text for text, _ in seen] == [f"Question {n + 1}" for n in range(len(seen))]
    bars = [bar for _, bar in seen]
    assert bars == sorted(set(bars))
    assert bars[-1] == 1


def test_steps_start_after_hidden_questions(open_steps: Callable[..., Page]) -> None:
    first = field("first", verticalIndex=0)
    second, third = (field(f"q{n}", "NPS", verticalIndex=n) for n in (1, 2))
    page = open_steps(
        steps(fields=[first, second, third], fieldDependencies=[depends("first", "q2", "3")])
    )
    question(page, "Q1")
    tap(page, "3")
    page.evaluate("history.replaceState({step: 0}, '')")
    page.go_back()
    question(page, "Q1")


def test_progress_names_number_of_questions_if_it_cannot_change(
    open_steps: Callable[..., Page],
) -> None:
    page = open_steps(steps(fieldDependencies=[]))
    expect(page.locator(".progress")).to_have_text("Question 1 of 8")
    tap(page, "3")
    expect(page.locator(".progress")).to_have_text("Question 2 of 8")


def test_back_of_browser_returns_to_previous_question(open_steps: Callable[..., Page]) -> None:
    page = open_steps(steps())
    tap(page, "3")
    tap(page, "4")
    question(page, "Why")
    page.go_back()
    question(page, "Stars")
    expect(page.locator("input[value='4']:visible")).to_be_checked()
    page.get_by_role("button", name="Back").tap()
    question(page, "Nps")
    page.go_forward()
    question(page, "Stars")
    page.go_back()
    question(page, "Nps")
    assert page.go_back() is None


def test_reload_continues_with_same_question(open_steps: Callable[..., Page]) -> None:
    page = open_steps(steps())
    tap(page, "3")
    tap(page, "4")
    page.reload()
    question(page, "Why")
    page.go_back()
    question(page, "Stars")
    page.get_by_role("button", name="Back").tap()
    expect(page.locator("input[value='3']:visible")).to_be_checked()


def test_answers_of_link_are_not_asked_again(open_steps: Callable[..., Page]) -> None:
    page = open_steps(steps({"nps": ["9"], "mood": ["4"]}))
    question(page, "Stars")
    expect(page.get_by_role("heading", level=1)).to_be_in_viewport()
    tap(page, "5")
    question(page, "Again")
    page.get_by_role("button", name="Back").tap()
    page.get_by_role("button", name="Back").tap()
    question(page, "Nps")
    expect(page.locator("input[value='9']:visible")).to_be_checked()


def test_question_is_the_heading_after_the_first_step(open_steps: Callable[..., Page]) -> None:
    page = open_steps(steps())
    titles = page.locator(".titles")
    expect(titles).to_have_css("clip-path", "none")
    tap(page, "3")
    question(page, "Stars")
    expect(titles).not_to_have_css("clip-path", "none")
    assert violations(page) == []


def test_second_click_of_double_click_answers_no_other_question(
    open_steps: Callable[..., Page],
) -> None:
    page = open_steps(
        steps(
            fields=[field(f"q{n}", "NPS", verticalIndex=n) for n in range(3)], fieldDependencies=[]
        )
    )
    page.locator("label:has(input[value='3']):visible").dblclick()
    question(page, "Q1")
    assert page.locator("input:checked").count() == 1


@pytest.mark.parametrize("size", [(320, 568), (375, 667), (1366, 768)])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_button_stays_at_the_bottom_of_the_screen(
    open_steps: Callable[..., Page], size: tuple[int, int], scheme: Any
) -> None:
    page = open_steps(steps(footer={"text": "Lyon", "display": True}), color_scheme=scheme)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    send = page.locator("form .send")
    tops, found = set(), []
    for _ in range(6):
        box = send.bounding_box()
        assert box
        assert size[1] - 30 < box["y"] + box["height"] <= size[1]
        tops.add(box["y"])
        found += violations(page)
        if page.locator("input[value='3']:visible").count():
            tap(page, "3")
        else:
            send.tap()
    assert len(tops) == 1
    assert found == []


@pytest.mark.parametrize("size", [(320, 568), (375, 667), (667, 375), (768, 1024), (1366, 768)])
def test_back_lies_beside_the_button(
    open_steps: Callable[..., Page], size: tuple[int, int]
) -> None:
    page = open_steps(steps())
    page.set_viewport_size({"width": size[0], "height": size[1]})
    tap(page, "3")
    back, send = page.locator(".back").bounding_box(), page.locator("form .send").bounding_box()
    assert back
    assert send
    assert back["y"] == send["y"]
    assert back["x"] < send["x"]


@pytest.mark.parametrize("size", [(320, 568), (375, 667), (667, 375)])
def test_text_of_status_moves_no_control(
    open_steps: Callable[..., Page], size: tuple[int, int]
) -> None:
    page = open_steps(steps())
    page.set_viewport_size({"width": size[0], "height": size[1]})
    tap(page, "3")
    boxes = """[...document.querySelectorAll('label, button')]
        .map(each => JSON.stringify(each.getBoundingClientRect()))"""
    before = page.evaluate(boxes)
    page.locator(".status").evaluate("status => { status.textContent = 'Your 9 is saved.'; }")
    assert page.evaluate(boxes) == before


def test_framed_steps_add_nothing_to_history(new_context: NewContext) -> None:
    context = new_context()
    route_page(context, steps())
    context.route(
        "http://shop.test/",
        lambda r: r.fulfill(
            body=f'<title>Shop</title><iframe src="{PAGE}" width=500 height=600></iframe>',
            content_type="text/html",
        ),
    )
    page = context.new_page()
    page.goto("http://shop.test/")
    frame = page.frame_locator("iframe")
    before = page.evaluate("history.length")
    frame.locator("label:has(input[value='3']):visible").click()
    expect(frame.get_by_role("button", name="Back")).to_be_visible()
    assert page.evaluate("history.length") == before
    frame.get_by_role("button", name="Back").click()
    expect(frame.locator(".row:visible [role=heading] bdi")).to_have_text("Nps")
