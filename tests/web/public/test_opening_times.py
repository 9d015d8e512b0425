"""Tests of forms that open and close at a time: views, pages, submissions and their caches."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from chalicelib.domain import clock
from chalicelib.domain.schema import format_timestamp
from tests.services.moved_time import Time
from tests.web.public.respondent import PublicClient
from tests.web.seeded_account import CONTACT, SUBMIT_CONTACT, SUBMIT_SURVEY, SURVEY, SeededAccount

CLIENT = PublicClient()
BROWSER = {"accept": "text/html"}
MILLISECOND = timedelta(milliseconds=1)
TITLES = {"": "<form", "form_not_open": "This form is not open yet", "form_disabled": "is closed"}


@pytest.fixture
def at(time: Time, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that sets the service's clock to a time."""

    def set_time(now: datetime) -> None:
        monkeypatch.setattr(clock, "now", lambda: now)

    return set_time


@pytest.mark.parametrize("kind", ["contact form", "survey"])
def test_form_is_open_from_opening_until_before_closing(
    fresh: SeededAccount, at: Any, kind: str
) -> None:
    opens_at = clock.now() + timedelta(hours=1)
    closes_at = opens_at + timedelta(hours=1)
    times = {"opensAt": format_timestamp(opens_at), "closesAt": format_timestamp(closes_at)}
    form_id = fresh.contact_form_id
    view, submit = f"{CONTACT}?id={form_id}", SUBMIT_CONTACT
    page = f"{CONTACT}/page?id={form_id}"
    fresh.contact_form(**times)
    if kind == "survey":
        form_id = fresh.survey_id
        view, submit = f"{SURVEY}?survey={form_id}", SUBMIT_SURVEY
        page = f"{SURVEY}/page?survey={form_id}"
        fresh.survey(**times)
    for now, code in (
        (opens_at - MILLISECOND, "form_not_open"),
        (opens_at, ""),
        (closes_at - MILLISECOND, ""),
        (closes_at, "form_disabled"),
    ):
        at(now)
        assert CLIENT.get(view).json["enabled"] == (not code)
        shown = CLIENT.get(page, BROWSER)
        assert (shown.status, TITLES[code] in shown.body) == (409 if code else 200, True)
        sent = CLIENT.submit_fields(submit, form_id, fresh.answers())
        assert (sent.status, sent.json["code"] if code else "") == (
            409 if code else 204 if kind == "contact form" else 201,
            code,
        )


@pytest.mark.parametrize(
    ("left", "max_age_s"),
    [
        (timedelta(seconds=61), 60),
        (timedelta(seconds=60), 60),
        (timedelta(seconds=59, milliseconds=999), 59),
        (MILLISECOND, 0),
        (timedelta(0), 60),
    ],
)
@pytest.mark.parametrize("time_name", ["opensAt", "closesAt"])
def test_view_is_cacheable_until_form_opens_or_closes(
    fresh: SeededAccount, at: Any, time_name: str, left: timedelta, max_age_s: int
) -> None:
    change = clock.now() + timedelta(hours=1)
    fresh.contact_form(**{time_name: format_timestamp(change)})
    at(change - left)
    response = CLIENT.get(f"{CONTACT}?id={fresh.contact_form_id}")
    assert response.headers["cache-control"] == f"public, max-age={max_age_s}"
    assert response.json["enabled"] == ((time_name == "closesAt") == (left > timedelta(0)))


def test_disabled_form_stays_disabled_while_it_would_be_open(fresh: SeededAccount) -> None:
    times = {"opensAt": "2000-01-01T00:00:00Z", "closesAt": "2100-01-01T00:00:00Z"}
    fresh.contact_form(enabled=False, **times)
    response = CLIENT.get(f"{CONTACT}?id={fresh.contact_form_id}")
    assert response.json["enabled"] is False
    assert response.headers["cache-control"] == "public, max-age=60"


def test_page_of_closed_or_private_form_has_style_of_form(fresh: SeededAccount) -> None:
    style = {"generalStyle": {"accentColor": "#a1b2c3"}, "language": "fr"}
    fresh.contact_form(closesAt="2000-01-01T00:00:00Z", **style)
    fresh.survey(opensAt="2100-01-01T00:00:00Z", **style)
    fresh.survey(fresh.private_survey_id, **style)
    paths = {
        f"{CONTACT}/page?id={fresh.contact_form_id}": "Ce formulaire est fermé",
        f"{SURVEY}/page?survey={fresh.survey_id}": "Ce formulaire n’est pas encore ouvert",
        f"{SURVEY}/page?survey={fresh.private_survey_id}": "lien personnel",
        f"{SURVEY}/page?survey={fresh.private_survey_id}&store=7": "lien personnel",
    }
    for path, text in paths.items():
        body = CLIENT.get(path, BROWSER).body
        assert (text in body, "#a1b2c3" in body, "Maison Lumen" in body) == (True, True, True)
