"""Customers tap a rating in a mail or on a page, and leave: it is saved and counted, once."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from admin.domain.feedback_filter import FeedbackFilter
from admin.services.feedback.find import find_feedback
from chalicelib.domain.feedback.feedback import Feedback, feedback_id_of
from chalicelib.domain.feedback.taps import SAVED_FOR
from chalicelib.services.work.sweep import sweep
from chalicelib.storage import feedback, trackers
from tests.chromium.browser import NewContext
from tests.domain.forms.factories import field, select
from tests.services.kinds import FEEDBACK
from tests.services.moved_time import Time
from tests.services.queues import FEEDBACK_QUEUE
from tests.waiting import wait_until
from tests.web.seeded_account import REVIEW_PAGE, seed_account

expect.set_options(timeout=20_000)


class Shop:
    """An account whose customer has a tracker of a survey with a scale, choices and a text.

    Attributes:
        tracker: the id of the tracker.
    """

    def __init__(self, base_url: str, time: Time) -> None:
        self.base_url, self.time, self.account = base_url, time, seed_account()
        self.survey()
        self.tracker = self.account.tracker()

    def survey(self, *more: dict[str, Any], **definition: Any) -> None:
        ids = self.account.fields
        fields = [
            field("nps", "NPS", id=ids["nps"], required=True, verticalIndex=0),
            select("what", "Food", "Price", id=ids["what"], kind="MULTI_SELECT", verticalIndex=1),
            field("note", "LONG_TEXT", id=ids["note"], verticalIndex=2),
            *more,
        ]
        self.account.survey(self.account.private_survey_id, **{"fields": fields, **definition})

    def link(self, query: str = "") -> str:
        """Return the link in a mail."""
        return f"{self.base_url}/public/survey/page?tracker={self.tracker}{query}"

    def saved(self) -> dict[str, list[str]]:
        """Return the saved or stored answers of the tracker by key."""
        feedback_id = feedback_id_of(self.tracker)
        stored = feedback.find_many([feedback_id], with_taps=True).get(feedback_id)
        return {each.key: each.values for each in stored.feedback.answers} if stored else {}

    def end(self) -> list[Feedback]:
        """Let the time of saved taps end twice. Return the feedback of the account."""
        for _ in range(2):
            self.time.ahead += SAVED_FOR
            sweep(FEEDBACK)
            FEEDBACK_QUEUE.deliver_all(self.account.account_id)
        found = find_feedback(self.account.account_id, FeedbackFilter())
        return [stored.feedback for stored in found]


@pytest.fixture
def visit(base_url: str, time: Time) -> Shop:
    """Create a shop whose customer was invited to a survey."""
    return Shop(base_url, time)


def rate(page: Page, value: str) -> None:
    page.locator(f'label:has(input[value="{value}"])').click()


def saved_text(page: Page) -> Any:
    return page.locator(".saves")


def summary(found: list[Feedback]) -> list[tuple[int | None, bool]]:
    return [(record.rating, record.is_partial) for record in found]


def test_rating_from_mail_counts_once_after_one_touch(visit: Shop, new_context: NewContext) -> None:
    page = new_context(has_touch=True).new_page()
    page.goto(visit.link("&a.nps=9"))
    expect(saved_text(page)).to_contain_text("saved as soon as you touch the page")
    assert visit.saved() == {}
    page.locator(".visit").tap()
    expect(saved_text(page)).to_have_text("Your 9 is saved.")
    page.close()
    assert visit.account.counts[2] == 0
    assert summary(visit.end()) == [(9, True)]
    assert visit.account.counts[2] == 1


def test_tapped_ratings_and_choices_are_saved_and_texts_are_not(
    visit: Shop, new_context: NewContext
) -> None:
    page = new_context(viewport={"width": 320, "height": 568}).new_page()
    page.goto(visit.link())
    next_field = page.locator("[data-field]").nth(1)
    before = next_field.bounding_box()
    rate(page, "8")
    expect(saved_text(page)).to_have_text("Your 8 is saved.")
    assert next_field.bounding_box() == before
    page.get_by_label("note").fill("What a disappointing evening")
    rate(page, "Price")
    wait_until(lambda: visit.saved() == {"nps": ["8"], "what": ["Price"]})
    rate(page, "Price")
    wait_until(lambda: visit.saved() == {"nps": ["8"]})
    page.close()
    (record,) = visit.end()
    assert [answer.key for answer in record.answers] == ["nps"]


def test_tapped_rating_that_is_sent_counts_once(visit: Shop, new_context: NewContext) -> None:
    page = new_context().new_page()
    page.goto(visit.link())
    rate(page, "9")
    expect(saved_text(page)).to_have_text("Your 9 is saved.")
    page.get_by_label("note").fill("Wonderful")
    page.locator("form .send").click()
    expect(page.locator("[data-done]")).to_be_visible()
    (record,) = visit.end()
    assert (record.rating, record.is_partial, len(record.answers)) == (9, False, 2)


def test_page_without_touch_saves_nothing(visit: Shop, new_context: NewContext) -> None:
    page = new_context(viewport={"width": 320, "height": 400}).new_page()
    page.clock.install()
    page.goto(visit.link("&a.nps=9"))
    page.evaluate(
        """() => {
            scrollTo(0, 1000);
            const radio = document.querySelector('input[value="3"]');
            radio.click();
            for (const name of ['pointerdown', 'keydown', 'click', 'change']) {
                radio.dispatchEvent(new Event(name, {bubbles: true}));
            }
        }"""
    )
    page.mouse.move(10, 10)
    page.clock.fast_forward(600_000)
    page.reload()
    page.close()
    assert visit.end() == []
    assert trackers.find(visit.tracker).tapped_at is None  # type: ignore[union-attr]


def test_ratings_of_scanner_that_opens_and_taps_every_link_are_discarded(
    visit: Shop, new_context: NewContext, caplog: pytest.LogCaptureFixture
) -> None:
    context = new_context()
    for nps in range(11):
        page = context.new_page()
        page.goto(visit.link(f"&a.nps={nps}"))
        with page.expect_response("**/submit*"):
            page.locator(".visit").click()
        page.close()
    assert [record.getMessage() for record in caplog.records].count("taps discarded") == 1
    assert visit.end() == []


def test_rating_that_is_tapped_without_connection_is_saved_later(
    visit: Shop, new_context: NewContext
) -> None:
    context = new_context()
    page = context.new_page()
    page.goto(visit.link())
    context.set_offline(True)
    rate(page, "7")
    page.wait_for_timeout(200)
    assert visit.saved() == {}
    context.set_offline(False)
    expect(saved_text(page)).to_have_text("Your 7 is saved.")
    assert visit.saved() == {"nps": ["7"]}


def test_same_link_on_another_phone_shows_what_is_saved_and_can_send_it(
    visit: Shop, new_context: NewContext
) -> None:
    first = new_context().new_page()
    first.goto(visit.link("&a.nps=9"))
    first.locator(".visit").click()
    expect(saved_text(first)).to_have_text("Your 9 is saved.")
    rate(first, "4")
    expect(saved_text(first)).to_have_text("Your 4 is saved.")

    second = new_context().new_page()
    second.goto(visit.link("&a.nps=9"))
    expect(second.get_by_role("radio", name="4", exact=True)).to_be_checked()
    second.goto(visit.link("&a.nps=2"))
    expect(second.get_by_role("radio", name="2", exact=True)).to_be_checked()
    rate(second, "5")
    second.locator("form .send").click()
    expect(second.locator("[data-done]")).to_be_visible()
    with first.expect_response("**/submit*"):
        rate(first, "1")
    assert summary(visit.end()) == [(5, False)]


def test_steps_say_that_rating_is_saved(visit: Shop, new_context: NewContext) -> None:
    visit.survey(layout="STEPS")
    page = new_context().new_page()
    page.goto(visit.link())
    expect(saved_text(page)).to_be_visible()
    rate(page, "8")
    expect(page.locator(".status")).to_have_text("Your 8 is saved.")
    page.close()
    assert summary(visit.end()) == [(8, True)]


def test_rating_is_saved_only_after_required_consent(visit: Shop, new_context: NewContext) -> None:
    consent = field("consent", "CHECKBOX", required=True, verticalIndex=3)
    visit.survey(consent)
    page = new_context().new_page()
    page.goto(visit.link())
    rate(page, "8")
    page.get_by_label("consent").check()
    wait_until(lambda: visit.saved() == {"nps": ["8"], "consent": ["true"]})
    page.get_by_label("consent").uncheck()
    wait_until(lambda: visit.saved() == {})
    expect(saved_text(page)).to_contain_text("saved as soon as you touch")


def test_survey_that_saves_no_taps_says_and_saves_nothing(
    visit: Shop, new_context: NewContext
) -> None:
    visit.survey(saveTaps=False)
    page = new_context().new_page()
    page.goto(visit.link("&a.nps=9"))
    page.locator(".visit").click()
    rate(page, "8")
    expect(saved_text(page)).to_have_count(0)
    page.close()
    assert visit.end() == []


OFFER = {"preRedirect": True, "preRedirectConfig": {"type": "NPS", "threshold": 8}}


def test_tap_on_scale_before_survey_counts_although_review_is_written(
    visit: Shop, new_context: NewContext
) -> None:
    visit.survey(**OFFER)
    context = new_context()
    context.route(f"{REVIEW_PAGE}**", lambda route: route.fulfill(body="Reviews"))
    page = context.new_page()
    page.goto(visit.link())
    expect(saved_text(page)).to_be_visible()
    rate(page, "9")
    wait_until(lambda: visit.saved() == {"nps": ["9"]})
    page.get_by_role("link", name="Write a public review").click()
    expect(page).to_have_url(REVIEW_PAGE)
    page.close()
    assert summary(visit.end()) == [(9, True)]


def test_touch_of_offer_after_rating_in_mail_counts_and_own_questions_stay_near(
    visit: Shop, new_context: NewContext
) -> None:
    visit.survey(**OFFER)
    page = new_context().new_page()
    page.goto(visit.link("&a.nps=9"))
    page.locator(".card").click(position={"x": 3, "y": 3})
    expect(saved_text(page)).to_have_text("Your 9 is saved.")
    page.get_by_role("link", name="Answer our own questions instead").click()
    expect(page.get_by_role("radio", name="9", exact=True)).to_be_checked()
    page.locator("form .send").click()
    expect(page.locator("[data-done]")).to_be_visible()
    expect(page.get_by_role("link", name="Write a public review")).to_have_count(0)
    (record,) = visit.end()
    assert (record.is_partial, record.redirect_to) == (False, REVIEW_PAGE)


@pytest.mark.parametrize("cause", ["no field", "no saving"])
def test_followed_offer_without_saving_is_recorded_for_reminder(
    visit: Shop, new_context: NewContext, cause: str
) -> None:
    stars = {"type": "CSAT_STAR", "threshold": 8}
    visit.survey(
        preRedirect=True,
        preRedirectConfig=stars if cause == "no field" else OFFER["preRedirectConfig"],
        saveTaps=cause == "no field",
    )
    context = new_context()
    context.route(f"{REVIEW_PAGE}**", lambda route: route.fulfill(body="Reviews"))
    page = context.new_page()
    page.goto(visit.link("&score=5" if cause == "no field" else "&a.nps=9"))
    expect(saved_text(page)).to_have_count(0)
    with context.expect_event("request", lambda request: "/submit" in request.url):
        page.get_by_role("link", name="Write a public review").click()
    expect(page).to_have_url(REVIEW_PAGE)
    wait_until(lambda: trackers.find(visit.tracker).tapped_at is not None)  # type: ignore[union-attr]
    assert visit.end() == []
