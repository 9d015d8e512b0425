"""Tests of the statistics about feedback and surveys."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, Final

import pytest

from admin.services.accounts.settings import change_account_settings
from admin.services.feedback.exclude import delete_feedback, mark_test
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.errors import TooMuch
from chalicelib.domain.feedback import statistics as domain
from chalicelib.domain.feedback.daily import NAMES, DailyGroup
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.feedback.statistics import GroupBy, Interval, StatisticsRequest
from chalicelib.domain.ids import new_id
from chalicelib.domain.paging import marshalled_bytes
from chalicelib.domain.parsing import parse
from chalicelib.services.caching import clear_caches
from chalicelib.services.erasure.erase import continue_erasure, start_erasure
from chalicelib.services.feedback import statistics
from chalicelib.storage.statistics import StatisticsRow, load_pages
from tests.docs.blocks import block
from tests.services.feedback.submitting import answer_contact_form, answer_survey
from tests.web.partner.answered import Answered, processed
from tests.web.partner_client import Response

PATH: Final = "/partners/statistics"
DAYS: Final = {"since": "2026-01-01", "until": "2026-12-31"}


def items(answered: Answered, **body: Any) -> list[dict[str, Any]]:
    now = clock.now()
    days = {"since": f"{now - timedelta(days=300):%F}", "until": f"{now + timedelta(days=99):%F}"}
    response = answered.partner.post(PATH, {**days, **body})
    assert response.status == 201, response.body
    found: list[dict[str, Any]] = response.json["items"]
    return found


def rejected(response: Response, pointer: str, code: str) -> bool:
    (error,) = response.json["errors"]
    return response.status == 400 and (error["pointer"], error["code"]) == (pointer, code)


def test_request_of_guide_is_accepted(answered: Answered) -> None:
    request = json.loads(block("docs/integrating.md", '"interval": "WEEK"').text)
    assert answered.partner.post(PATH, request).status == 201


# --- numbers


def test_statistics_count_feedback_by_rating_and_first_nps_answer(answered: Answered) -> None:
    processed(*(answer_survey(answered, nps=str(n)) for n in (0, 6, 7, 8, 9, 9, 9, 10, 10, 10)))
    processed(answer_contact_form(answered))
    (item,) = items(answered)
    assert item["feedbackCount"] == 11
    assert item["ratingCounts"] == [1, 0, 0, 0, 0, 0, 1, 1, 1, 3, 3]
    assert item["averageRating"] == 7.8
    nps = item["nps"]
    assert (nps["promoters"], nps["passives"], nps["detractors"]) == (6, 2, 2)
    assert nps["score"] == 40
    assert nps["low"] < 0 < 40 < nps["high"] < 100


def test_statistics_have_no_score_below_ten_answers(answered: Answered) -> None:
    processed(*(answer_survey(answered, nps="9") for _ in range(9)))
    (item,) = items(answered)
    assert item["nps"] == {
        "promoters": 9,
        "passives": 0,
        "detractors": 0,
        "score": None,
        "low": None,
        "high": None,
    }
    processed(answer_survey(answered, nps="9"))
    assert items(answered)[0]["nps"]["score"] == 100


def test_statistics_without_feedback_have_no_mean_and_no_rate(answered: Answered) -> None:
    (item,) = items(answered)
    assert (item["feedbackCount"], item["surveysSent"]) == (0, 0)
    assert item["averageRating"] is item["responseRate"] is None


def test_test_marks_and_deletions_subtract_and_anonymizing_keeps_numbers(
    answered: Answered,
) -> None:
    kept, marked, deleted, hidden = processed(
        answer_survey(answered, answered.tracker(), nps="3"),
        *(answer_survey(answered, nps=nps) for nps in ("9", "8", "7")),
    )
    mark_test(marked, is_test=True)
    mark_test(hidden, is_test=True)
    delete_feedback(deleted, "anna")
    delete_feedback(hidden, "anna")
    assert items(answered)[0]["ratingCounts"] == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    mark_test(marked, is_test=False)
    continue_erasure(start_erasure(answered.account_id, answered.customer_id, "anna").pointer)
    (before,) = items(answered)
    assert before["ratingCounts"] == [0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0]
    delete_feedback(kept, "anna")
    (after,) = items(answered)
    assert (after["feedbackCount"], after["nps"]["detractors"]) == (1, 0)


def test_feedback_stays_on_its_day_after_change_of_time_zone(answered: Answered) -> None:
    change_account_settings(answered.account_id, {"timeZone": "Pacific/Kiritimati"}, "anna")
    clear_caches()
    with clock.fixed_at(datetime(2026, 11, 20, 10, tzinfo=UTC)):
        submitted = answer_contact_form(answered)
    (stored_id,) = processed(submitted)
    (day,) = (item["from"] for item in items(answered, interval="DAY") if item["feedbackCount"])
    assert day == "2026-11-21"
    change_account_settings(answered.account_id, {"timeZone": "Pacific/Midway"}, "anna")
    clear_caches()
    delete_feedback(stored_id, "anna")
    assert not any(item["feedbackCount"] for item in items(answered, interval="DAY"))


# --- groups and filters


def test_statistics_are_grouped_by_form_and_kind_and_filtered(answered: Answered) -> None:
    processed(
        answer_contact_form(answered),
        answer_survey(answered, nps="1"),
        answer_survey(answered, answered.tracker(), nps="2"),
    )
    by_form = items(answered, groupBy=["FORM", "KIND"])
    assert {(item["formId"], item["kind"], item["feedbackCount"]) for item in by_form} == {
        (answered.contact_form_id, "CONTACT_FORM", 1),
        (answered.survey_id, "SURVEY", 1),
        (answered.private_survey_id, "SURVEY", 1),
    }
    assert [item["feedbackCount"] for item in items(answered, kind="SURVEY")] == [2]
    (of_store,) = items(answered, groupBy=["STORE", "BRAND"], storeIds=[answered.store_id])
    assert (of_store["storeId"], of_store["feedbackCount"]) == (answered.store_id, 1)
    assert of_store["brandId"]
    assert items(answered, groupBy=["STORE"], formIds=[new_id()]) == []
    assert items(answered, brandIds=[of_store["brandId"]], formIds=[answered.contact_form_id])


def counted(*days: str) -> list[tuple[DailyGroup, Counter[str]]]:
    return [
        (DailyGroup(day, FormKind.SURVEY, "form", None, None), Counter(feedback=1)) for day in days
    ]


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        (Interval.NONE, [("2026-01-28", 4)]),
        (Interval.WEEK, [("2026-01-28", 2), ("2026-02-02", 2)]),
        (Interval.MONTH, [("2026-01-28", 1), ("2026-02-01", 3)]),
    ],
)
def test_periods_start_in_requested_days(
    interval: Interval, expected: list[tuple[str, int]]
) -> None:
    body = {"since": "2026-01-28", "until": "2026-02-03", "interval": interval.value}
    result = domain.build_statistics(
        parse(body, StatisticsRequest),
        counted("2026-01-31", "2026-02-01", "2026-02-02", "2026-02-03"),
    )
    assert [(f"{item.first_day}", item.feedback_count) for item in result.items] == expected


def test_days_without_numbers_are_listed_without_groups() -> None:
    body = {"since": "2026-01-30", "until": "2026-02-01", "interval": "DAY"}
    result = domain.build_statistics(parse(body, StatisticsRequest), counted("2026-01-31"))
    assert [item.feedback_count for item in result.items] == [0, 1, 0]


# --- limits


@pytest.mark.parametrize(
    ("body", "pointer", "code"),
    [
        ({"until": "2025-12-31"}, "/until", "out_of_range"),
        ({"until": "2027-02-05"}, "/until", "out_of_range"),
        ({"until": "2026-02-30"}, "/until", "invalid_date"),
        ({"until": "20261130"}, "/until", "invalid_date"),
        ({"until": "2026-W48-1"}, "/until", "invalid_date"),
        ({"until": None}, "/until", "required"),
        ({"interval": "YEAR"}, "/interval", "not_allowed"),
        ({"groupBy": ["FORM", "FORM"]}, "/groupBy/1", "duplicate"),
        ({"groupBy": ["FORM", "KIND", "STORE"]}, "/groupBy", "too_many"),
        ({"formIds": []}, "/formIds", "too_few"),
    ],
)
def test_invalid_request_for_statistics_is_rejected(
    answered: Answered, body: dict[str, Any], pointer: str, code: str
) -> None:
    assert rejected(answered.partner.post(PATH, {**DAYS, **body}), pointer, code)


def test_period_has_up_to_400_days(answered: Answered) -> None:
    assert len(items(answered, **{**DAYS, "until": "2027-02-04"}, interval="DAY")) == 400


def test_statistics_need_one_request(answered: Answered) -> None:
    processed(answer_survey(answered, nps="9"))
    items(answered)
    with counted_calls() as calls:
        items(answered)
    assert dict(calls) == {"dynamodb.Query": 1}


def test_more_than_20_mb_of_numbers_are_rejected(
    answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = statistics.MAX_REQUESTS
    monkeypatch.setattr(statistics.statistics, "load_pages", lambda *_: iter([[]] * pages))
    assert answered.partner.post(PATH, DAYS).status == 201
    monkeypatch.setattr(statistics.statistics, "load_pages", lambda *_: iter([[]] * (pages + 1)))
    response = answered.partner.post(PATH, DAYS)
    assert response.json["code"] == "too_much"
    assert rejected(response, "", "too_much")


def test_10000_groups_fit_into_response_and_one_more_is_rejected() -> None:
    request = parse({**DAYS, "groupBy": [GroupBy.FORM, GroupBy.STORE]}, StatisticsRequest)
    numbers = Counter(dict.fromkeys(NAMES, 999_999))
    store = new_id()
    groups = [
        (DailyGroup("2026-01-01", FormKind.CONTACT_FORM, new_id(), None, store), numbers)
        for _ in range(domain.MAX_GROUPS)
    ]
    body = domain.build_statistics(request, groups).model_dump_json()
    assert marshalled_bytes(body) < 6_000_000
    with pytest.raises(TooMuch):
        domain.build_statistics(request, [*groups, *counted("2026-01-01")])


def test_pages_of_numbers_are_read_until_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    key = {"account_id": {"S": "a"}, "group": {"S": "2026-11-22#SURVEY#form##"}}
    page = {"Items": [key], "ScannedCount": 1}
    pages = {None: page | {"LastEvaluatedKey": key}, "a": page}

    def query(_account: str, *, exclusive_start_key: Any = None, **_: Any) -> dict[str, Any]:
        return pages[exclusive_start_key and exclusive_start_key["account_id"]["S"]]

    monkeypatch.setattr(StatisticsRow, "_get_connection", lambda: SimpleNamespace(query=query))
    assert [len(page) for page in load_pages("a")] == [1, 1]
