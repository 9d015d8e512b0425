"""Respondents answer in pages: by keyboard, by touch, without script, offline, in a frame.

The tests run in one Chromium and read the stored feedback. Each context fails its test if the
browser reports a violation of the Content-Security-Policy or an unhandled exception.
"""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Frame, Page, Route, expect

from chalicelib.domain.language import Language
from tests.chromium.accessibility import violations
from tests.chromium.browser import PAGE, NewContext, route_page, serve
from tests.chromium.pages import ANSWERS, REVIEW_PAGE, Pages
from tests.domain.forms.factories import field, saved_survey, select
from tests.pictures import sample_report
from tests.waiting import wait_until
from tests.web.public.rendered import rendered_survey

expect.set_options(timeout=20_000)

TEXTS = ("text", "long", "email", "phone", "number", "date", "why")
WITHOUT_STORAGE = """for (const name of ['localStorage', 'sessionStorage']) {
    Object.defineProperty(window, name, {get() { throw new DOMException('', 'SecurityError'); }});
}"""
FOCUSED = """() => {
    const {type, name, value, id} = document.activeElement;
    const field = document.activeElement.closest('[data-field]')?.dataset.field;
    const isSend = document.activeElement.matches('button.send');
    return {type, name, value, id, field, isSend};
}"""


def field_number(key: str) -> int:
    return list(ANSWERS).index(key)


def container(page: Page | Frame, key: str) -> Any:
    return page.locator(f'[data-field="{field_number(key)}"]')


def new_feedback(pages: Pages, before: int) -> dict[str, list[str]]:
    """Return the only feedback that was stored since there were ``before`` records."""
    (answers,) = pages.stored(after=before)
    return answers


def answer(page: Page | Frame, keys: list[str], press: str = "click") -> None:
    """Answer the fields by mouse (`click`) or by touch (`tap`) and by typing."""
    for key in keys:
        field = container(page, key)
        for value in ANSWERS[key]:
            if key in TEXTS:
                field.locator("input:not([type=hidden]), textarea").fill(value)
            elif key == "list":
                field.locator("select").select_option(value)
            else:
                getattr(field.locator(f'label:has(input[value="{value}"])'), press)()


def send(page: Page | Frame, press: str = "click") -> None:
    getattr(page.locator("form .send"), press)()


def thanks(page: Page | Frame) -> None:
    expect(page.locator("[data-done]")).to_be_visible()


# --- every field type


def answer_by_keyboard(page: Page) -> None:
    """Press Tab until Send has the focus, answer each field on the way, and press Enter."""
    keys = list(ANSWERS)
    done: set[str] = set()
    for _ in range(120):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        if focused["isSend"]:
            break
        if focused["field"] is None:
            continue
        key = keys[int(focused["field"])]
        if focused["type"] == "checkbox":
            if focused["value"] in ANSWERS[key]:
                page.keyboard.press("Space")
        elif key not in done:
            done.add(key)
            answer_focused(page, key, focused["type"])
    page.keyboard.press("Enter")


def answer_focused(page: Page, key: str, control: str) -> None:
    value = ANSWERS[key][0]
    if control == "radio":
        inputs = container(page, key).locator("input[type=radio]")
        values = inputs.evaluate_all("inputs => inputs.map(input => input.value)")
        page.keyboard.press("Space")
        for _ in range(values.index(value)):
            page.keyboard.press("ArrowDown")
    elif key == "date":
        page.keyboard.type("11202026")
    else:
        page.keyboard.type(value)


@pytest.mark.parametrize("language", ["en", "he"])
def test_every_field_type_is_answered_by_keyboard(
    pages: Pages, new_context: NewContext, language: str
) -> None:
    before = pages.count()
    page = new_context().new_page()
    page.goto(pages.form(language))
    answer_by_keyboard(page)
    thanks(page)
    assert page.evaluate("document.activeElement.matches('main')")
    assert new_feedback(pages, before) == ANSWERS


@pytest.mark.parametrize("language", ["en", "he"])
@pytest.mark.parametrize("width", [320, 375])
def test_every_field_type_is_answered_by_touch(
    pages: Pages, new_context: NewContext, width: int, language: str
) -> None:
    before = pages.count()
    context = new_context(has_touch=True, viewport={"width": width, "height": 640})
    page = context.new_page()
    page.goto(pages.form(language))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    answer(page, list(ANSWERS), "tap")
    send(page, "tap")
    thanks(page)
    assert new_feedback(pages, before) == ANSWERS


@pytest.mark.parametrize("language", ["en", "he"])
def test_every_field_type_is_answered_without_script(
    pages: Pages, new_context: NewContext, language: str
) -> None:
    before = pages.count()
    page = new_context(java_script_enabled=False).new_page()
    page.goto(pages.form(language))
    assert not container(page, "why").is_visible()
    answer(page, [key for key in ANSWERS if key not in ("text", "why")])
    page.locator("button[value=check]").click()
    send(page)
    expect(page.locator(".summary a")).to_have_count(2)
    assert pages.count() == before
    answer(page, ["text", "why"])
    send(page)
    thanks(page)
    assert new_feedback(pages, before) == ANSWERS


def test_touch_targets_are_at_least_24_pixels(pages: Pages, new_context: NewContext) -> None:
    page = new_context(viewport={"width": 320, "height": 640}).new_page()
    page.goto(pages.form())
    controls = page.locator("[data-field] label:has(input):visible, form .send")
    sizes = controls.evaluate_all(
        "controls => controls.map(control => control.getBoundingClientRect())"
        ".map(({width, height}) => Math.min(width, height))"
    )
    assert len(sizes) > 40
    assert min(sizes) >= 24


def test_printed_form_is_black_on_white(pages: Pages, new_context: NewContext) -> None:
    page = new_context(color_scheme="dark").new_page()
    page.goto(pages.form())
    page.emulate_media(media="print")
    texts = page.locator("h1, label, legend, .option, input[type=email]")

    def colours() -> set[str]:
        return set(
            texts.evaluate_all(
                "elements => elements.map(element => getComputedStyle(element))"
                ".map(style => [style.color, style.backgroundColor].join())"
            )
        )

    # Colours change gradually.
    wait_until(lambda: colours() == {"rgb(0, 0, 0),rgba(0, 0, 0, 0)"}, within_s=30)
    assert not page.locator("button.send").last.is_visible()


# --- conditions and errors


def test_field_that_condition_shows_is_announced(pages: Pages, new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto(pages.form())
    answer(page, ["nps"])
    expect(container(page, "why")).to_be_visible()
    expect(page.locator(".announced")).to_have_text("1 more question is displayed.")
    container(page, "nps").locator('label:has(input[value="9"])').click()
    expect(container(page, "why")).to_be_hidden()


def test_errors_are_summarized_and_linked(pages: Pages, new_context: NewContext) -> None:
    before = pages.count()
    page = new_context().new_page()
    page.goto(pages.form())
    container(page, "email").locator("input:not([type=hidden])").fill("nobody")
    send(page)
    summary = page.get_by_role("group", name="Please check your answers")
    expect(summary).to_be_focused()
    expect(summary.get_by_role("link")).to_have_count(2)
    summary.get_by_role("link", name="Email").click()
    expect(page.get_by_role("textbox", name="Email")).to_be_focused()
    assert pages.count() == before


def test_filter_hides_options_without_the_text(new_context: NewContext) -> None:
    page = new_context().new_page()
    values = ["Café", "Thé", *(f"Dish {n}" for n in range(12))]
    survey = saved_survey(fields=[select("q", *values, kind="MULTI_SELECT")])
    route_page(page.context, rendered_survey(survey))
    page.goto(PAGE)
    page.get_by_label("Dish 3").check()
    search = page.get_by_role("searchbox", name="Find an answer")
    search.fill("cafe")
    expect(page.locator(".option:visible")).to_have_text(["Café", "Dish 3"])
    search.press("Enter")
    assert page.locator(".status").inner_text() == ""
    search.fill("")
    expect(page.locator(".option:visible")).to_have_count(14)
    assert violations(page) == []


def test_optional_questions_have_equal_spaces(new_context: NewContext) -> None:
    page = new_context(viewport={"width": 375, "height": 667}).new_page()
    survey = saved_survey(
        publiclyAvailable=True, fields=[field("a", "BINARY"), field("b", "BINARY", verticalIndex=1)]
    )
    route_page(page.context, rendered_survey(survey))
    page.goto(PAGE)
    page.locator(".marks label").first.click()
    boxes = """['.card', '.marks', 'legend', '.clear'].map(
        each => document.querySelector(each).getBoundingClientRect().toJSON())"""
    card, marks, legend, clear = page.evaluate(boxes)
    above, below = legend["top"] - card["top"], card["bottom"] - marks["bottom"]
    assert abs(above - below) < 1
    assert clear["height"] >= 24
    assert marks["bottom"] <= clear["top"]
    assert clear["bottom"] <= card["bottom"]


# --- taps


@pytest.mark.parametrize("press", ["click", "tap"])
def test_tap_after_invalid_text_selects_its_target(
    pages: Pages, new_context: NewContext, press: str
) -> None:
    page = new_context(has_touch=True).new_page()
    page.goto(pages.form())
    email = container(page, "email").locator("input:not([type=hidden])")
    for key, value in (("single", "Two"), ("multi", "One"), ("stars", "4")):
        email.press_sequentially("foo")
        option = container(page, key).locator(f'label:has(input[value="{value}"])')
        getattr(option, press)()
        expect(option.locator("input")).to_be_checked()
    email.press_sequentially("foo")
    send(page, press)
    expect(page.get_by_role("group", name="Please check your answers")).to_be_focused()


def test_optional_rating_can_be_removed(pages: Pages, new_context: NewContext) -> None:
    before = pages.count()
    page = new_context().new_page()
    page.goto(pages.form())
    answer(page, ["text", "stars", "binary"])
    container(page, "stars").get_by_role("button", name="Remove my answer").click()
    send(page)
    thanks(page)
    assert new_feedback(pages, before) == {"text": ["Zoé"], "binary": ["unsatisfied"]}


def test_number_with_comma_is_not_changed_to_another_number(
    pages: Pages, new_context: NewContext
) -> None:
    before = pages.count()
    page = new_context().new_page()
    page.goto(pages.form())
    answer(page, ["text"])
    number = container(page, "number").locator("input:not([type=hidden])")
    number.press_sequentially("12,5")
    send(page)
    expect(page.locator(".summary a")).to_contain_text("Enter a number")
    number.fill("12.5")
    send(page)
    thanks(page)
    assert new_feedback(pages, before) == {"text": ["Zoé"], "number": ["12.5"]}


@pytest.mark.parametrize("status", [429, 503])
def test_busy_service_is_not_reported_as_lost_connection(
    pages: Pages, new_context: NewContext, status: int
) -> None:
    before = pages.count()
    context = new_context()
    page = context.new_page()
    page.goto(pages.form())
    context.route("**/submit*", lambda route: route.fulfill(status=status, json={}), times=1)
    answer(page, ["text"])
    send(page)
    expect(page.locator(".status")).to_contain_text("The service is busy")
    thanks(page)
    assert new_feedback(pages, before) == {"text": ["Zoé"]}


@pytest.mark.parametrize("press", ["click", "tap"])
def test_tapped_answer_before_survey_is_selected_in_survey(
    pages: Pages, reviewed_context: NewContext, press: str
) -> None:
    page = reviewed_context(has_touch=True).new_page()
    page.goto(pages.survey("NPS"))
    getattr(page.locator('label:has(input[value="3"])'), press)()
    expect(page.locator("form[method=post]")).to_be_visible()
    expect(page.get_by_role("radio", name="3", exact=True)).to_be_checked()


# --- steps


@pytest.mark.parametrize("press", ["click", "tap"])
def test_steps_show_one_question_at_a_time(
    pages: Pages, new_context: NewContext, press: str
) -> None:
    before = pages.count()
    page = new_context(has_touch=True, viewport={"width": 320, "height": 568}).new_page()
    page.goto(pages.survey("STEPS"))
    note = page.get_by_role("textbox", name="note")
    expect(page.locator(".progress")).to_contain_text("Question 1 of 2")
    expect(note).to_be_hidden()
    send(page, press)
    expect(page.locator(".error:visible")).to_have_text("Choose an answer.")
    getattr(page.locator('label:has(input[value="7"])'), press)()
    expect(page.locator(".progress")).to_contain_text("Question 2 of 2")
    note.fill("Noise")
    page.get_by_role("button", name="Back").click()
    expect(page.locator('input[value="7"]')).to_be_checked()
    assert violations(page) == []
    send(page, press)
    expect(note).to_have_value("Noise")
    send(page, press)
    thanks(page)
    assert new_feedback(pages, before) == {"score": ["7"], "note": ["Noise"]}


def test_steps_are_one_page_without_script(pages: Pages, new_context: NewContext) -> None:
    before = pages.count()
    page = new_context(java_script_enabled=False).new_page()
    page.goto(pages.survey("STEPS"))
    page.get_by_role("textbox", name="note").fill("Noise")
    page.locator('label:has(input[value="7"])').click()
    send(page)
    thanks(page)
    assert new_feedback(pages, before) == {"score": ["7"], "note": ["Noise"]}


@pytest.mark.parametrize(
    ("width", "height"), [(320, 568), (375, 667), (667, 375)], ids=["320", "375", "landscape"]
)
def test_first_question_is_on_first_screen(
    pages: Pages, new_context: NewContext, width: int, height: int
) -> None:
    page = new_context(viewport={"width": width, "height": height}).new_page()
    for address in (pages.survey("NPS"), pages.survey("STEPS"), pages.demo("survey visit")):
        page.goto(address)
        marks = page.locator(".marks").first.bounding_box()
        assert marks
        assert marks["y"] + marks["height"] <= height
        assert _rows_of_scale(page) == 1


def test_scale_with_an_error_is_one_row(pages: Pages, new_context: NewContext) -> None:
    page = new_context(viewport={"width": 320, "height": 568}).new_page()
    page.goto(pages.survey(""))
    send(page)
    expect(page.locator(".wrong .scale")).to_be_visible()
    assert _rows_of_scale(page) == 1


def _rows_of_scale(page: Page) -> int:
    labels = page.locator(".scale").first.locator(".marks label")
    return len(
        set(labels.evaluate_all("labels => labels.map(label => label.getBoundingClientRect().y)"))
    )


def _ends_of_rows(page: Page) -> list[float]:
    marks = page.locator(".scale").first.locator(".marks")
    last = marks.locator("label:is(:nth-child(6), :last-child)")
    return [round(box["x"] + box["width"]) for each in last.all() if (box := each.bounding_box())]


@pytest.mark.parametrize("width", [320, 375])
def test_page_with_large_text_does_not_scroll_sideways(
    pages: Pages, new_context: NewContext, width: int
) -> None:
    page = new_context(viewport={"width": width, "height": 640}).new_page()
    for address in (pages.form(), pages.survey("NPS"), pages.survey("STEPS")):
        page.goto(address)
        page.evaluate("document.documentElement.style.fontSize = '200%'")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address
        assert _rows_of_scale(page) == 2
        assert len(set(_ends_of_rows(page))) == 1


# --- sending once


@pytest.mark.parametrize("with_script", [True, False])
def test_double_click_stores_one_feedback(
    pages: Pages, new_context: NewContext, with_script: bool
) -> None:
    before = pages.count()
    page = new_context(java_script_enabled=with_script).new_page()
    page.goto(pages.form())
    answer(page, ["text"])
    send(page, "dblclick")
    thanks(page)
    assert new_feedback(pages, before) == {"text": ["Zoé"]}


@pytest.mark.parametrize("with_script", [True, False])
def test_back_and_send_again_stores_one_feedback(
    pages: Pages, new_context: NewContext, with_script: bool
) -> None:
    before = pages.count()
    page = new_context(java_script_enabled=with_script).new_page()
    page.goto(pages.form())
    answer(page, ["text"])
    send(page)
    thanks(page)
    if with_script:
        page.goto("about:blank")
        page.go_back()
        thanks(page)
    else:
        page.go_back()
        send(page)
        thanks(page)
    assert new_feedback(pages, before) == {"text": ["Zoé"]}


def test_back_after_steps_are_sent_leaves_the_survey(pages: Pages, new_context: NewContext) -> None:
    before = pages.count()
    page = new_context().new_page()
    page.goto(pages.form())
    page.goto(pages.survey("STEPS"))
    page.locator('label:has(input[value="7"])').click()
    send(page)
    thanks(page)
    page.wait_for_function("history.state.done")
    page.go_back()
    expect(page).to_have_url(pages.form())
    page.go_forward()
    thanks(page)
    assert new_feedback(pages, before) == {"score": ["7"]}


def test_retry_after_lost_response_stores_one_feedback(
    pages: Pages, new_context: NewContext
) -> None:
    before = pages.count()
    context = new_context()
    page = context.new_page()
    page.goto(pages.form())

    def lose_response(route: Route) -> None:
        route.fetch()
        route.abort()

    context.route("**/submit*", lose_response, times=1)
    answer(page, ["text"])
    send(page)
    thanks(page)
    assert new_feedback(pages, before) == {"text": ["Zoé"]}


def test_answers_survive_loss_of_connection_and_reload(
    pages: Pages, new_context: NewContext
) -> None:
    before = pages.count()
    context = new_context()
    page = context.new_page()
    page.goto(pages.form())
    answer(page, ["text", "stars"])
    page.reload()
    expect(page.get_by_role("textbox", name="Name")).to_have_value("Zoé")
    context.set_offline(True)
    send(page)
    expect(page.locator(".status")).to_contain_text("No connection")
    context.set_offline(False)
    thanks(page)
    assert new_feedback(pages, before) == {"text": ["Zoé"], "stars": ["4"]}
    page.goto(pages.form())
    expect(page.get_by_role("textbox", name="Name")).to_have_value("")


def test_score_of_new_link_replaces_kept_score(pages: Pages, new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto(pages.survey("", "&a.score=9"))
    page.get_by_role("textbox", name="note").fill("Noise")
    page.locator('input[value="3"]').check()
    page.goto(pages.survey("", "&a.score=10"))
    expect(page.locator('input[value="10"]')).to_be_checked()
    expect(page.get_by_role("textbox", name="note")).to_have_value("Noise")
    page.locator('input[value="2"]').check()
    page.reload()
    expect(page.locator('input[value="2"]')).to_be_checked()


def test_opening_all_score_links_stores_nothing(pages: Pages, new_context: NewContext) -> None:
    before = pages.count()
    page = new_context().new_page()
    methods: set[str] = set()
    page.on("request", lambda request: methods.add(request.method))
    for score in range(11):
        page.goto(pages.survey("", f"&a.score={score}"))
        expect(page.locator(f'input[value="{score}"]')).to_be_checked()
    assert (methods, pages.count()) == ({"GET"}, before)
    send(page)
    thanks(page)
    assert new_feedback(pages, before) == {"score": ["10"]}


# --- redirects


@pytest.fixture
def reviewed_context(new_context: NewContext) -> NewContext:
    """Return a function that creates a context in which the review page exists.

    Only these contexts intercept requests, because Chromium then disables its cache.
    """

    def create(**options: Any) -> BrowserContext:
        context = new_context(**options)
        context.route(f"{REVIEW_PAGE}**", lambda route: route.fulfill(body="Reviews"))
        return context

    return create


@pytest.mark.parametrize("question", ["NPS", "CSAT_STAR", "CSAT_SMILEY", "BINARY"])
@pytest.mark.parametrize("with_script", [True, False])
def test_pre_redirect_question_opens_review_page_or_form_by_keyboard(
    pages: Pages, reviewed_context: NewContext, question: str, with_script: bool
) -> None:
    page = reviewed_context(java_script_enabled=with_script).new_page()
    lowest_is_first = question != "BINARY"
    for is_high in (True, False):
        page.goto(pages.survey(question))
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        if is_high == lowest_is_first:
            page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        if is_high:
            page.get_by_role("link", name="Write a public review").press("Enter")
            expect(page).to_have_url(REVIEW_PAGE)
        else:
            expect(page.locator("form[method=post]")).to_be_visible()


def act_by_keyboard(page: Page, target: Any) -> None:
    """Press Tab until the target has the focus, then press the key that activates the target."""
    is_focused = "element => element === document.activeElement"
    while not target.evaluate(is_focused):
        page.keyboard.press("Tab")
    page.keyboard.press("Space" if target.evaluate("e => e.type === 'radio'") else "Enter")


def act_by_touch(page: Page, target: Any) -> None:
    target.locator(VISIBLE_PART).tap()


def act_by_mouse(page: Page, target: Any) -> None:
    target.locator(VISIBLE_PART).click()


TOUCH = {"has_touch": True}
VISIBLE_PART = "xpath=ancestor-or-self::*[self::label or self::a or self::button][1]"


@pytest.mark.parametrize("survey", ["NPS", "RTL"])
@pytest.mark.parametrize(
    ("act", "options"),
    [
        (act_by_keyboard, {}),
        (act_by_touch, {**TOUCH, "viewport": {"width": 320, "height": 640}}),
        (act_by_touch, {**TOUCH, "viewport": {"width": 375, "height": 640}}),
        (act_by_mouse, {"java_script_enabled": False}),
    ],
    ids=["keyboard", "touch-320", "touch-375", "without-script"],
)
def test_both_redirects_lead_to_review_page(
    pages: Pages,
    reviewed_context: NewContext,
    act: Callable[[Page, Any], None],
    options: dict[str, Any],
    survey: str,
) -> None:
    before = pages.count()
    page = reviewed_context(**options).new_page()
    review = page.locator(f'a[href="{REVIEW_PAGE}"]')
    send_button = page.locator("form .send")

    page.goto(pages.survey(survey))
    choose(page, act, "score", 9)
    if act is not act_by_touch:
        act(page, send_button)
    act(page, review)
    expect(page).to_have_url(REVIEW_PAGE)
    assert pages.count() == before

    page.goto(pages.survey(survey))
    choose(page, act, "score", 3)
    if act is not act_by_touch:
        act(page, send_button)
    expect(page.locator("form[method=post]")).to_be_visible()
    choose(page, act, "fields[0][values][]", 9)
    act(page, send_button)
    thanks(page)
    act(page, review)
    expect(page).to_have_url(REVIEW_PAGE)
    assert new_feedback(pages, before) == {"score": ["9"]}


def choose(page: Page, act: Callable[[Page, Any], None], name: str, score: int) -> None:
    """Select a score. By keyboard, start at the selected or the first score, and press arrows."""
    options = page.locator(f'input[name="{name}"]')
    if act is not act_by_keyboard:
        act(page, options.nth(score))
        return
    selected = page.locator(f'input[name="{name}"]:checked')
    start = selected if selected.count() else options.first
    current = int(start.get_attribute("value"))
    act(page, start)
    for _ in range(score - current):
        page.keyboard.press("ArrowDown")


def test_thank_you_page_after_high_score_links_to_review_page_and_stays(
    pages: Pages, reviewed_context: NewContext
) -> None:
    before = pages.count()
    page = reviewed_context().new_page()
    page.clock.install()
    page.goto(pages.survey("", "&a.score=9"))
    send(page)
    thanks(page)
    page.clock.fast_forward(20_000)
    page.get_by_role("link", name="Write a public review").press("Enter")
    expect(page).to_have_url(REVIEW_PAGE)
    assert new_feedback(pages, before) == {"score": ["9"]}


# --- accessibility


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "he"])
def test_form_has_no_accessibility_violations_in_any_state(
    pages: Pages, new_context: NewContext, language: str, scheme: Any
) -> None:
    page = new_context(color_scheme=scheme, reduced_motion="reduce").new_page()
    page.goto(pages.form(language))
    found = violations(page)
    answer(page, [key for key in ANSWERS if key not in ("text", "why")])
    found += violations(page)
    send(page)
    expect(page.locator(".summary")).to_be_focused()
    found += violations(page)
    answer(page, ["text", "why"])
    send(page)
    thanks(page)
    assert found + violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_report_has_no_accessibility_violations(new_context: NewContext, scheme: str) -> None:
    page = new_context(color_scheme=scheme, viewport={"width": 375, "height": 667}).new_page()
    for language in ("en", "ar"):
        page.set_content(sample_report(Language(language)).html())
        for is_open in (False, True):
            page.evaluate(
                "o => document.querySelectorAll('details').forEach(d => d.open = o)", is_open
            )
            assert violations(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") == 375


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_other_pages_have_no_accessibility_violations(
    pages: Pages, new_context: NewContext, scheme: Any
) -> None:
    page = new_context(color_scheme=scheme, reduced_motion="reduce").new_page()
    addresses = [
        *(pages.survey(question) for question in pages.surveys if question and question != "RTL"),
        pages.survey("NPS", "&score=9"),
        pages.demo("survey stay"),
        pages.demo("contact-form lumen"),
        pages.demo("survey casablanca"),
    ]
    found = []
    for address in addresses:
        page.goto(address)
        found += violations(page)
    assert found == []


NAMES = {
    "textbox": ("Name", "Long", "Email", "Phone", "Date", "Number"),
    "combobox": ("List",),
    "checkbox": ("Check",),
    "group": ("Single", "Multi", "Nps", "Stars", "Smileys", "Binary", "Rating"),
    "radio": ("0 Not at all likely", "10 Extremely likely", "5 stars", "Not satisfied"),
    "button": ("Send",),
}
"""Names of controls in the complete form, by role."""


def test_controls_have_roles_and_names(pages: Pages, new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto(pages.form())
    for role, names in NAMES.items():
        for name in names:
            expect(page.get_by_role(role, name=name)).to_have_count(1)  # type: ignore[arg-type]


@pytest.mark.parametrize("language", ["en", "he"])
def test_scale_has_direction_of_language(
    pages: Pages, new_context: NewContext, language: str
) -> None:
    page = new_context().new_page()
    page.goto(pages.form(language))
    for key in ("nps", "rating", "stars", "smileys", "binary"):
        positions = (
            container(page, key)
            .locator(".marks label")
            .evaluate_all("labels => labels.map(label => label.getBoundingClientRect().x)")
        )
        assert len(set(positions)) == len(positions) > 1, key
        assert positions == sorted(positions, reverse=language == "he"), key


# --- in a frame of another site


@pytest.mark.parametrize("is_storage_blocked", [True, False])
def test_embedded_form_grows_and_stores_feedback(
    pages: Pages, new_context: NewContext, is_storage_blocked: bool
) -> None:
    before = pages.count()
    context = new_context()
    if is_storage_blocked:
        context.add_init_script(WITHOUT_STORAGE)
    script = f"{pages.base_url}/public/embed.js"
    shop = f"""<!doctype html><title>Shop</title><body>
        <script src="{script}" data-contact-form="{pages.forms["en"]}"></script>"""
    with serve(shop) as address:
        page = context.new_page()
        page.goto(address)
        frame = page.frame_locator("iframe")
        height_of = "document.querySelector('iframe').clientHeight"
        expect(page.locator("iframe")).to_have_attribute("title", "How was it?")
        expect(frame.locator("form")).to_be_visible()
        expect(page.locator("iframe")).to_have_css("pointer-events", "auto")
        content = page.frames[1]
        fits = "document.documentElement.scrollHeight <= innerHeight"
        wait_until(lambda: bool(content.evaluate(fits)))
        first = page.evaluate(height_of)
        answer(content, ["nps"])
        page.wait_for_function(f"{height_of} > {first}")
        revealed = page.evaluate(height_of)
        send(content)
        page.wait_for_function(f"{height_of} > {revealed}")
        wait_until(lambda: bool(content.evaluate(fits)))
        answer(content, ["text", "why"])
        send(content)
        thanks(content)
        page.wait_for_function(f"{height_of} < {first}")
        assert context.cookies() == []
    assert new_feedback(pages, before) == {key: ANSWERS[key] for key in ("text", "nps", "why")}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("site", "chrome", "colour"),
    [
        ("#222", "", "rgb(244, 246, 248)"),
        ("#222", 'data-chrome="none"', "rgba(0, 0, 0, 0)"),
        ("#eee", "", "rgb(20, 24, 29)"),
        ("oklch(0.9 0 0)", 'data-chrome="none"', "rgba(0, 0, 0, 0)"),
    ],
)
def test_embedded_form_is_dark_if_the_text_of_the_site_is_light(
    pages: Pages, new_context: NewContext, site: str, chrome: str, colour: str, scheme: Any
) -> None:
    page = new_context(color_scheme=scheme).new_page()
    script = f"{pages.base_url}/public/embed.js"
    with serve(
        f"""<!doctype html><title>Shop</title><body style="color: {site}">
        <script src="{script}" data-contact-form="{pages.forms["en"]}" {chrome}></script>"""
    ) as address:
        page.goto(address)
        body = page.frame_locator("iframe").locator("body")
        expect(body).to_have_css("background-color", colour)
        expect(body).to_have_css("color-scheme", "light" if site == "#222" else "dark")


def test_form_with_own_colours_keeps_its_background_in_dark_site(
    pages: Pages, new_context: NewContext
) -> None:
    page = new_context().new_page()
    address = pages.demo("contact-form lumen")
    for fragment, colour in (("bare", "rgba(0, 0, 0, 0)"), ("bare-dark", "rgb(255, 255, 255)")):
        page.goto("about:blank")
        page.goto(f"{address}#{fragment}")
        expect(page.locator("body")).to_have_css("background-color", colour)


def test_embed_script_ignores_messages_from_other_frames(
    pages: Pages, new_context: NewContext
) -> None:
    page = new_context().new_page()
    script = f"{pages.base_url}/public/embed.js"
    with serve(
        f'<body><script src="{script}" data-survey="{pages.surveys[""]}"></script>'
    ) as address:
        page.goto(address)
        expect(page.locator("iframe")).to_have_attribute("title", "Maison Lumen")
        page.evaluate("postMessage({feedbackHeight: 7, title: 'Mine'}, '*')")
        page.evaluate("new Promise(requestAnimationFrame)")
        assert page.locator("iframe").get_attribute("title") == "Maison Lumen"
        assert page.evaluate("document.querySelector('iframe').clientHeight") > 7


def test_popup_reports_events_without_answers(pages: Pages, new_context: NewContext) -> None:
    before = pages.count()
    # A click on a dialog that still moves can miss its target.
    page = new_context(reduced_motion="reduce").new_page()
    script = f"{pages.base_url}/public/embed.js"
    shop = f"""<!doctype html><title>Shop</title><body>
        <script>window.seen = [];
        for (const name of ['opened', 'submitted', 'closed']) {{
            addEventListener('feedback:' + name, (event) => seen.push([name, event.detail]));
        }}</script>
        <script src="{script}" data-survey="{pages.surveys[""]}" data-popup="Feedback"
            data-chrome="none" data-answers="score=4" data-labels="table=12"></script>"""
    with serve(shop) as address:
        page.goto(address)
        assert page.locator("iframe").get_attribute("src") is None
        page.get_by_role("button", name="Feedback").click()
        frame = page.frame_locator("iframe")
        expect(frame.locator('input[value="4"]')).to_be_checked()
        assert "&l.table=12" in (page.locator("iframe").get_attribute("src") or "")
        frame.locator("form .send").click()
        expect(frame.locator("[data-done]")).to_be_visible()
        page.get_by_role("button", name="Close").click()
        page.wait_for_function("seen.length === 3")
        assert page.evaluate("seen") == [["opened", None], ["submitted", None], ["closed", None]]
    assert new_feedback(pages, before) == {"score": ["4"]}


@pytest.mark.usefixtures("docs")
def test_pages_other_than_forms_cannot_be_framed(pages: Pages, browser: Browser) -> None:
    with serve(f'<iframe src="{pages.base_url}/docs"></iframe>') as address:
        page = browser.new_page()
        with page.expect_console_message(lambda message: "frame" in message.text):
            page.goto(address)
        page.close()
