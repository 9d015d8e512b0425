"""The limit of submissions per source and form."""

from datetime import UTC, datetime

import pytest
from chalice.test import Client

from chalicelib.domain import clock
from chalicelib.domain.errors import Unavailable
from chalicelib.services.feedback import limit_submissions
from chalicelib.settings import Settings, settings
from chalicelib.storage import rate_limits
from tests.web.opened import SUBMIT_CONTACT, SUBMIT_SURVEY, Opened, open_account
from tests.web.public.respondent import PublicClient
from tests.web.public.stored import stored_feedback

START = datetime(2026, 11, 20, 10, 0, 20, tzinfo=UTC)
ONE, ANOTHER = PublicClient("203.0.113.7"), PublicClient("203.0.113.8")


@pytest.fixture
def opened(client: Client, monkeypatch: pytest.MonkeyPatch) -> Opened:
    """An account whose forms accept two submissions per source and minute."""
    limited = Settings("test", "eu-west-1", submissions=2, submission_window_s=60)
    monkeypatch.setattr(limit_submissions, "settings", lambda: limited)
    monkeypatch.setattr(clock, "now", lambda: START)
    return open_account()


def submit(opened: Opened, user: PublicClient = ONE, **parts: str) -> int:
    return user.submit_fields(
        SUBMIT_CONTACT, opened.contact_form_id, opened.answered(), **parts
    ).status


def test_submission_over_limit_is_rejected(opened: Opened) -> None:
    assert [submit(opened), submit(opened)] == [204, 204]
    answer = ONE.submit_fields(SUBMIT_CONTACT, opened.contact_form_id, opened.answered())
    assert (answer.status, answer.headers["retry-after"]) == (429, "40")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert len(stored_feedback(opened.contact_form_id)) == 2


def test_limit_is_per_source_and_form(opened: Opened) -> None:
    assert [submit(opened) for _ in range(3)] == [204, 204, 429]
    assert submit(opened, ANOTHER) == 204
    survey = ONE.submit_fields(SUBMIT_SURVEY, opened.survey_id, opened.answered())
    assert survey.status == 201


def test_limit_resets_in_next_window(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [submit(opened) for _ in range(3)] == [204, 204, 429]
    monkeypatch.setattr(clock, "now", lambda: START.replace(minute=1, second=0))
    assert submit(opened) == 204


def test_limit_ignores_forwarded_for_header(opened: Opened) -> None:
    statuses = []
    for number in range(3):
        user = PublicClient(headers={"x-forwarded-for": f"198.51.100.{number}"})
        statuses.append(submit(opened, user))
    assert statuses == [204, 204, 429]


def test_ipv6_network_is_one_source(opened: Opened) -> None:
    addresses = ["2001:db8:1:2::1", "2001:db8:1:2::2", "2001:db8:1:2:ffff::3", "2001:db8:1:3::1"]
    assert [submit(opened, PublicClient(a)) for a in addresses] == [204, 204, 429, 204]


def test_invalid_submission_is_not_counted(opened: Opened) -> None:
    for _ in range(3):
        assert ONE.submit_fields(SUBMIT_CONTACT, opened.contact_form_id, []).status == 400
    assert [submit(opened), submit(opened)] == [204, 204]


def test_repeated_idempotency_key_is_not_counted(opened: Opened) -> None:
    key = {"idempotency-key": "k1"}
    for _ in range(4):
        response = ONE.submit_fields(SUBMIT_CONTACT, opened.contact_form_id, opened.answered(), key)
        assert response.status == 204
    assert len(stored_feedback(opened.contact_form_id)) == 1
    assert submit(opened) == 204


def test_submission_with_tracker_is_not_counted(opened: Opened) -> None:
    for _ in range(3):
        answer = ONE.submit_fields(
            SUBMIT_SURVEY,
            opened.private_survey_id,
            opened.answered(),
            tracker=opened.tracker(),
        )
        assert answer.status == 201


def test_unavailable_counter_accepts_submissions(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> int:
        raise Unavailable("The database is busy.")

    monkeypatch.setattr(rate_limits, "count", failing)
    assert [submit(opened) for _ in range(3)] == [204, 204, 204]


@pytest.mark.parametrize(
    ("environment", "limit"),
    [
        ({"STAGE": "prod"}, (30, 60)),
        ({"STAGE": "local"}, (0, 60)),
        ({"STAGE": "test"}, (0, 60)),
        ({"STAGE": "local", "SUBMISSIONS": "7", "SUBMISSION_WINDOW_S": "10"}, (7, 10)),
        ({"STAGE": "prod", "SUBMISSIONS": "0"}, (0, 60)),
    ],
)
def test_limit_comes_from_environment(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], limit: tuple[int, int]
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    settings.cache_clear()
    try:
        assert (settings().submissions, settings().submission_window_s) == limit
    finally:
        monkeypatch.undo()
        settings.cache_clear()
