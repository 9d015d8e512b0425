"""Tests of the rate limit for submissions per source address and form."""

from typing import Any

import pytest

from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.ids import new_id
from chalicelib.settings import settings
from chalicelib.storage import rate_limits
from tests.web.public.respondent import PublicClient
from tests.web.public.stored import stored_feedback
from tests.web.seeded_account import SUBMIT_CONTACT, SUBMIT_SURVEY, SeededAccount

pytestmark = pytest.mark.usefixtures("limit_of_two")

CLIENT, OTHER_CLIENT = PublicClient("203.0.113.7"), PublicClient("203.0.113.8")


def submit(fresh: SeededAccount, user: PublicClient = CLIENT, **parts: str) -> int:
    return user.submit_fields(
        SUBMIT_CONTACT, fresh.contact_form_id, fresh.answers(), **parts
    ).status


def test_submission_over_limit_is_rejected(fresh: SeededAccount) -> None:
    assert [submit(fresh), submit(fresh)] == [204, 204]
    response = CLIENT.submit_fields(SUBMIT_CONTACT, fresh.contact_form_id, fresh.answers())
    assert (response.status, response.headers["retry-after"]) == (429, "40")
    assert response.headers["access-control-allow-origin"] == "*"
    assert len(stored_feedback(fresh.contact_form_id)) == 2


def test_submission_limit_applies_to_each_source_and_form_separately(fresh: SeededAccount) -> None:
    assert [submit(fresh) for _ in range(3)] == [204, 204, 429]
    assert submit(fresh, OTHER_CLIENT) == 204
    survey = CLIENT.submit_fields(SUBMIT_SURVEY, fresh.survey_id, fresh.answers())
    assert survey.status == 201


def test_submission_after_exceeded_limit_is_rejected_without_database_request(
    fresh: SeededAccount,
) -> None:
    assert [submit(fresh) for _ in range(3)] == [204, 204, 429]
    with counted_calls() as calls:
        assert submit(fresh) == 429
    assert calls == {}
    with counted_calls() as calls:
        assert submit(fresh, OTHER_CLIENT) == 204
    assert calls["dynamodb.UpdateItem"] == 1


def test_submission_limit_resets_in_next_time_window(
    fresh: SeededAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [submit(fresh) for _ in range(3)] == [204, 204, 429]
    next_minute = clock.now().replace(minute=1, second=0)
    monkeypatch.setattr(clock, "now", lambda: next_minute)
    assert submit(fresh) == 204


def test_submission_limit_ignores_forwarded_for_header(fresh: SeededAccount) -> None:
    statuses = []
    for number in range(3):
        user = PublicClient(headers={"x-forwarded-for": f"198.51.100.{number}"})
        statuses.append(submit(fresh, user))
    assert statuses == [204, 204, 429]


def test_ipv6_addresses_of_same_64_network_are_one_source(fresh: SeededAccount) -> None:
    addresses = ["2001:db8:1:2::1", "2001:db8:1:2::2", "2001:db8:1:2:ffff::3", "2001:db8:1:3::1"]
    assert [submit(fresh, PublicClient(a)) for a in addresses] == [204, 204, 429, 204]


@pytest.mark.parametrize("fields", [[], [{"id": 1}], "["])
def test_invalid_submission_counts_toward_limit(fresh: SeededAccount, fields: Any) -> None:
    invalid = [
        CLIENT.submit_fields(SUBMIT_CONTACT, fresh.contact_form_id, fields).status for _ in range(3)
    ]
    assert invalid == [400, 400, 429]
    assert submit(fresh) == 429
    assert submit(fresh, OTHER_CLIENT) == 204


def test_survey_submission_without_tracker_counts_toward_limit(fresh: SeededAccount) -> None:
    statuses = [
        CLIENT.submit_fields(SUBMIT_SURVEY, fresh.private_survey_id, fresh.answers()).status
        for _ in range(3)
    ]
    assert statuses == [403, 403, 429]


def test_rejected_save_of_taps_counts_toward_limit(fresh: SeededAccount) -> None:
    statuses = [
        CLIENT.submit_fields(SUBMIT_SURVEY, fresh.survey_id, fresh.answers(), step="save").status
        for _ in range(3)
    ]
    assert statuses == [400, 400, 429]


def test_submissions_without_known_form_share_one_limit(fresh: SeededAccount) -> None:
    client = PublicClient("198.51.100.9")
    unknown = client.submit_fields(SUBMIT_CONTACT, new_id(), [])
    malformed = client.submit(SUBMIT_CONTACT, b"x")
    third = client.submit_fields(SUBMIT_SURVEY, new_id(), [])
    assert [unknown.status, malformed.status, third.status] == [404, 400, 429]
    assert submit(fresh, client) == 204


def test_retry_with_same_idempotency_key_is_not_counted(fresh: SeededAccount) -> None:
    key = {"idempotency-key": "k1"}
    for _ in range(4):
        response = CLIENT.submit_fields(SUBMIT_CONTACT, fresh.contact_form_id, fresh.answers(), key)
        assert response.status == 204
    assert len(stored_feedback(fresh.contact_form_id)) == 1
    assert submit(fresh) == 204


def test_submission_with_tracker_is_not_counted(fresh: SeededAccount) -> None:
    for _ in range(3):
        response = CLIENT.submit_fields(
            SUBMIT_SURVEY,
            fresh.private_survey_id,
            fresh.answers(),
            tracker=fresh.tracker(),
        )
        assert response.status == 201


def test_submission_is_accepted_when_counter_is_unavailable(
    fresh: SeededAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> int:
        raise Unavailable("The database is busy.")

    monkeypatch.setattr(rate_limits, "count", failing)
    assert [submit(fresh) for _ in range(3)] == [204, 204, 204]


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
def test_submission_limit_is_read_from_environment(
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
