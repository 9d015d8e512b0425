"""Tests of the feed of changes to feedback."""

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from admin.services.accounts.settings import change_account_settings
from admin.services.feedback.exclude import delete_feedback, mark_test
from admin.services.feedback.republish import republish_feedback
from admin.storage.feed import repair
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.domain.schema import format_timestamp
from chalicelib.services.caching import clear_caches
from chalicelib.services.erasure.erase import continue_erasure, start_erasure
from chalicelib.services.feedback import feed
from chalicelib.services.feedback.process import process_feedback
from chalicelib.services.feedback.retention import anonymize_old_feedback
from chalicelib.services.forms.wordings import _versions
from chalicelib.storage.dynamodb.table import Key, find_row
from chalicelib.storage.feedback import FeedbackRow
from chalicelib.storage.feedback_changes import (
    EPOCH,
    FeedbackChangeRow,
    entry_key,
    find_last_before,
)
from tests.aws.faults import before_request
from tests.services.feedback.submitting import answer_contact_form, answer_survey
from tests.services.moved_time import Time
from tests.web.partner.answered import Answered, processed
from tests.web.partner_client import Response, new_partner
from tests.web.seeded_account import questions

PATH = "/partners/feedback/list"


def read(answered: Answered, **body: Any) -> dict[str, Any]:
    response = answered.partner.post(PATH, body)
    assert response.status == 201, response.body
    content: dict[str, Any] = response.json
    return content


def ids_of(page: dict[str, Any]) -> list[str]:
    return [item["id"] for item in page["items"]]


def removed(page: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["id"], each["reason"]) for each in page["removed"]]


# --- order and position


def test_feed_lists_feedback_in_order_of_processing(answered: Answered) -> None:
    later, earlier = answer_contact_form(answered), answer_contact_form(answered)
    pending = answer_contact_form(answered)
    expected = [*processed(earlier), *processed(later)]
    page = read(answered)
    assert ids_of(page) == expected
    assert pending.id not in ids_of(page)
    assert page["meta"].pop("cursor")
    assert page["meta"] == {"itemCount": 2, "removedCount": 0, "hasMore": False}
    assert page["items"][0] == answered.partner.get(f"/partners/feedback?id={earlier.id}").json


def test_cursor_continues_within_an_entry_and_is_returned_at_the_end(answered: Answered) -> None:
    processed(*(answer_contact_form(answered) for _ in range(3)))
    processed(*(answer_contact_form(answered) for _ in range(2)))
    whole = ids_of(read(answered))
    found: list[str] = []
    body: dict[str, Any] = {"limit": 2}
    for expected in (True, True, False, False):
        page = read(answered, **body)
        found += ids_of(page)
        body["cursor"] = page["meta"]["cursor"]
        assert page["meta"]["hasMore"] is expected
    assert found == whole
    assert len(found) == 5
    assert read(answered, **body)["meta"]["cursor"] == body["cursor"]
    (new,) = processed(answer_contact_form(answered))
    assert ids_of(read(answered, **body)) == [new]


def test_empty_body_starts_at_beginning_of_empty_feed(answered: Answered) -> None:
    page = answered.partner.post(PATH, b"").json
    assert (page["items"], page["removed"], page["meta"]["hasMore"]) == ([], [], False)


def test_feed_of_account_contains_no_feedback_of_other_account(answered: Answered) -> None:
    processed(answer_contact_form(answered))
    page = read(answered)
    other = new_partner(answered.partner.client)
    assert ids_of(other.post(PATH, {}).json) == []
    cursor = page["meta"]["cursor"]
    assert other.post(PATH, {"cursor": cursor}).errors == [("/cursor", "invalid_cursor")]


def test_record_with_several_changes_is_on_page_once(answered: Answered) -> None:
    first, second = processed(answer_contact_form(answered), answer_contact_form(answered))
    cursor = read(answered)["meta"]["cursor"]
    for is_test in (True, False):
        mark_test(first, is_test=is_test)
    assert set(ids_of(read(answered))) == {first, second}
    assert len(read(answered)["items"]) == 2
    assert ids_of(read(answered, cursor=cursor)) == [first]


# --- changes


def test_test_mark_and_deletion_remove_feedback(answered: Answered) -> None:
    marked, deleted = processed(answer_contact_form(answered), answer_contact_form(answered))
    cursor = read(answered)["meta"]["cursor"]
    with_tests = read(answered, includeTests=True)["meta"]["cursor"]
    mark_test(marked, is_test=True)
    delete_feedback(deleted, "operator")
    page = read(answered, cursor=cursor)
    assert ids_of(page) == []
    assert removed(page) == [(marked, "TEST"), (deleted, "DELETED")]
    assert page["meta"]["removedCount"] == 2
    page = read(answered, cursor=with_tests, includeTests=True)
    assert [(item["id"], item["test"]) for item in page["items"]] == [(marked, True)]
    assert removed(page) == [(deleted, "DELETED")]
    mark_test(marked, is_test=False)
    assert ids_of(read(answered, cursor=cursor)) == [marked]


def test_limit_counts_items_and_removed_feedback(answered: Answered) -> None:
    ids = processed(*(answer_contact_form(answered) for _ in range(4)))
    delete_feedback(ids[0], "operator")
    page = read(answered, limit=2)
    assert page["meta"]["itemCount"] + page["meta"]["removedCount"] == 2
    assert page["meta"]["hasMore"]


def test_erasure_anonymizes_feedback_and_removes_it_with_filter_by_customer(
    answered: Answered,
) -> None:
    tracker = answered.tracker()
    submitted = answer_survey(answered, tracker, note="secret", nps="9")
    processed(submitted)
    filters = {"customerId": answered.customer_id}
    by_purchase = {"purchaseId": submitted.purchase_id}
    everything = read(answered)["meta"]["cursor"]
    assert ids_of(read(answered, **filters)) == ids_of(read(answered, **by_purchase))
    cursor = read(answered, **filters)["meta"]["cursor"]
    erasure = start_erasure(answered.account_id, answered.customer_id, "operator")
    continue_erasure(erasure.pointer)
    (item,) = read(answered, cursor=everything)["items"]
    assert (item["anonymized"], item["customerId"], item["trackerId"]) == (True, None, None)
    assert [answer["key"] for answer in item["answers"]] == ["nps"]
    assert removed(read(answered, cursor=cursor, **filters)) == [(submitted.id, "ERASED")]
    assert removed(read(answered, **by_purchase)) == [(submitted.id, "ERASED")]


def test_retention_anonymizes_feedback_in_feed(answered: Answered, time: Time) -> None:
    submitted = answer_contact_form(answered, note="secret", nps="9")
    processed(submitted)
    cursor = read(answered)["meta"]["cursor"]
    change_account_settings(answered.account_id, {"retentionDays": 30}, "operator")
    time.ahead += timedelta(days=31)
    while anonymize_old_feedback().records:
        pass
    (item,) = read(answered, cursor=cursor)["items"]
    assert (item["id"], item["anonymized"]) == (submitted.id, True)


# --- filters


def test_filters_select_feedback(answered: Answered) -> None:
    contact = answer_contact_form(answered, nps="2")
    survey = answer_survey(answered, answered.tracker(), nps="9")
    unrated = answer_survey(answered)
    processed(contact, survey, unrated)
    after = format_timestamp(survey.created_at)
    for filters, expected in (
        ({"formIds": [answered.contact_form_id]}, [contact]),
        ({"formIds": [new_id(), answered.private_survey_id.upper()]}, [survey]),
        ({"brandIds": [answered.brand_id], "kind": "CONTACT_FORM"}, [contact]),
        ({"storeIds": [answered.store_id], "minRating": 9}, [survey]),
        ({"customerId": answered.customer_id}, [survey]),
        ({"purchaseId": survey.purchase_id}, [survey]),
        ({"kind": "SURVEY", "maxRating": 10}, [survey]),
        ({"minRating": 2, "maxRating": 8}, [contact]),
        ({"minRating": 3, "maxRating": 8}, []),
        ({"language": "en", "minRating": 0}, [contact, survey]),
        ({"language": "fr"}, []),
        ({"createdSince": after, "formIds": [answered.private_survey_id]}, [survey]),
        ({"createdUntil": format_timestamp(contact.created_at)}, []),
        ({"customerId": new_id()}, []),
    ):
        page = read(answered, **filters)
        assert set(ids_of(page)) == {record.id for record in expected}, filters
        assert page["meta"]["hasMore"] is False


def test_filter_that_selects_little_returns_empty_page_with_cursor(
    answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "MAX_READ", 4)
    monkeypatch.setattr(feed, "_READ_AT_ONCE", 2)
    processed(*(answer_contact_form(answered, nps="3") for _ in range(9)))
    (last,) = processed(answer_contact_form(answered, nps="10"))
    body: dict[str, Any] = {"minRating": 10}
    sizes = []
    with counted_calls() as calls:
        while (page := read(answered, **body))["meta"]["hasMore"]:
            sizes.append(len(page["items"]))
            body["cursor"] = page["meta"]["cursor"]
    assert sizes == [0, 0]
    assert ids_of(page) == [last]
    assert calls["dynamodb.BatchGetItem"] <= 8


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({"limit": 0}, [("/limit", "out_of_range")]),
        ({"limit": 101}, [("/limit", "out_of_range")]),
        ({"page": 1}, [("/page", "unknown_key")]),
        ({"formIds": []}, [("/formIds", "too_few")]),
        ({"formIds": ["x"]}, [("/formIds/0", "invalid_uuid")]),
        ({"storeIds": [new_id()] * 101}, [("/storeIds", "too_many")]),
        ({"kind": "OTHER"}, [("/kind", "not_allowed")]),
        ({"language": "french"}, [("/language", "not_allowed")]),
        ({"minRating": -1}, [("/minRating", "out_of_range")]),
        ({"maxRating": 11}, [("/maxRating", "out_of_range")]),
        ({"maxRating": 1.5}, [("/maxRating", "not_whole")]),
        ({"minRating": 5, "maxRating": 4}, [("/maxRating", "out_of_range")]),
        ({"updatedSince": "yesterday"}, [("/updatedSince", "invalid_timestamp")]),
        (
            {"createdSince": "2026-11-20T10:00:00Z", "createdUntil": "2026-11-20T10:00:00Z"},
            [("/createdUntil", "out_of_range")],
        ),
        (
            {"cursor": "x", "updatedSince": "2026-11-20T10:00:00Z"},
            [("/updatedSince", "invalid_combination")],
        ),
        ({"cursor": "x" * 501}, [("/cursor", "too_long")]),
        ({"cursor": ""}, [("/cursor", "invalid_cursor")]),
    ],
)
def test_invalid_request_is_rejected(
    answered: Answered, body: dict[str, Any], errors: list[tuple[str, str]]
) -> None:
    assert answered.partner.post(PATH, body).errors == errors


def test_limits_of_request_are_accepted(answered: Answered) -> None:
    for body in (
        {"limit": 1, "minRating": 0, "maxRating": 0},
        {"limit": 100, "minRating": 10, "maxRating": 10, "storeIds": [new_id()] * 100},
        {"updatedSince": "0001-01-01T00:00:00Z"},
        {"updatedSince": "9999-12-31T23:59:59Z", "cursor": None},
    ):
        assert read(answered, **body)["items"] == []


# --- cursors


def encode(*values: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode()


def test_cursor_of_other_filters_is_rejected(answered: Answered) -> None:
    ids = [new_id(), new_id()]
    cursor = read(answered, formIds=ids, limit=3)["meta"]["cursor"]
    assert read(answered, formIds=ids[::-1], limit=9, cursor=cursor)
    for filters in ({}, {"formIds": ids[:1]}, {"formIds": ids, "includeTests": True}):
        response = answered.partner.post(PATH, {**filters, "cursor": cursor})
        assert response.json["code"] == "invalid_cursor"
        assert response.errors == [("/cursor", "invalid_cursor")]


def test_forged_cursor_is_rejected(answered: Answered) -> None:
    cursor = read(answered)["meta"]["cursor"]
    number, offset, scope = json.loads(base64.urlsafe_b64decode(cursor))
    for forged in (
        "é",
        "AAAA",
        cursor[:-5],
        encode(),
        encode(number, offset),
        encode(-1, offset, scope),
        encode(10**12, offset, scope),
        encode(number, -1, scope),
        encode(number, 10**12, scope),
        encode(None, offset, scope),
        encode(float("inf"), offset, scope),
        encode(True, offset, scope),
        encode(number, offset, "x"),
        base64.urlsafe_b64encode(b"[" * 300).decode()[:496],
        base64.urlsafe_b64encode(b"5").decode(),
    ):
        assert answered.partner.post(PATH, {"cursor": forged}).errors == [
            ("/cursor", "invalid_cursor")
        ]
    ahead = answered.partner.post(PATH, {"cursor": encode(10**12 - 1, 5, scope)})
    assert (ahead.status, ahead.json["items"]) == (201, [])


def test_cursor_of_earlier_epoch_is_rejected(answered: Answered) -> None:
    cursor = read(answered)["meta"]["cursor"]
    FeedbackChangeRow(EPOCH, EPOCH, epoch="restored").save()
    clear_caches()
    try:
        response = answered.partner.post(PATH, {"cursor": cursor})
        assert response.errors == [("/cursor", "invalid_cursor")]
        assert read(answered, cursor=read(answered)["meta"]["cursor"])
    finally:
        FeedbackChangeRow(EPOCH, EPOCH).delete()
        clear_caches()


# --- start by time


def test_feed_starts_with_changes_since_time(answered: Answered, time: Time) -> None:
    ids, times = [], []
    for _ in range(5):
        ids += processed(answer_contact_form(answered))
        times.append(clock.now())
        time.ahead += timedelta(minutes=5)
    for start in range(5):
        page = read(answered, updatedSince=format_timestamp(times[start]))
        assert ids_of(page) == ids[start:]
    just_before = format_timestamp(times[2] + timedelta(seconds=50))
    assert ids_of(read(answered, updatedSince=just_before)) == ids[2:]
    assert ids_of(read(answered, updatedSince=format_timestamp(clock.now()))) == []


def test_start_by_time_finds_each_number_with_few_requests(account: str) -> None:
    times = [clock.now() + timedelta(seconds=n // 3) for n in range(250)]
    with FeedbackChangeRow.batch_write() as batch:
        for n, at in enumerate(times, start=1):
            batch.save(
                FeedbackChangeRow(account, entry_key(n), changed_at=format_timestamp(at), ids=["x"])
            )
        batch.save(FeedbackChangeRow(account, "head", last=250, changed_at="x"))
    for at in (times[0], times[1], times[100], times[248], times[249] + timedelta(seconds=1)):
        expected = sum(format_timestamp(each) < format_timestamp(at) for each in times)
        with counted_calls() as calls:
            assert find_last_before(account, at) == expected
        assert sum(calls.values()) <= 3


def test_times_of_entries_never_decrease(answered: Answered, time: Time) -> None:
    processed(answer_contact_form(answered))
    time.ahead -= timedelta(days=1)
    processed(answer_contact_form(answered))
    rows = FeedbackChangeRow.query(answered.account_id, FeedbackChangeRow.number < "h")
    times = [row.changed_at for row in rows]
    assert times == sorted(times)


# --- gaps


def test_entry_after_gap_waits_until_gap_is_closed(answered: Answered) -> None:
    ids = [processed(answer_contact_form(answered))[0] for _ in range(3)]
    row = FeedbackChangeRow.get(answered.account_id, entry_key(2))
    row.delete()
    page = read(answered)
    assert ids_of(page) == ids[:1]
    row.save()
    assert ids_of(read(answered, cursor=page["meta"]["cursor"])) == ids[1:]


# --- transactions whose writes become visible one by one


@contextmanager
def not_visible(feedback_id: str, change: Callable[[], object]) -> Iterator[None]:
    """Change a feedback record. During the ``with`` block, the row has the state before it."""
    before = FeedbackRow.get(feedback_id)
    change()
    after = find_row(Key(FeedbackRow, feedback_id))
    before.save()
    yield
    if after:
        after.save()
    else:
        FeedbackRow(feedback_id).delete()


def anonymize_all(answered: Answered) -> None:
    change_account_settings(answered.account_id, {"retentionDays": 1}, "operator")
    with clock.fixed_at(clock.now() + timedelta(days=2)):
        while anonymize_old_feedback().records:
            pass


def erase(answered: Answered) -> None:
    erasure = start_erasure(answered.account_id, answered.customer_id, "operator")
    continue_erasure(erasure.pointer)


@pytest.mark.parametrize("change", ["processed", "marked", "deleted", "anonymized", "erased"])
def test_entry_waits_until_changed_feedback_is_visible(answered: Answered, change: str) -> None:
    submitted = answer_survey(answered, answered.tracker(), note="secret", nps="9")
    if change != "processed":
        processed(submitted)
    body = {"cursor": read(answered)["meta"]["cursor"]}
    other_forms = {"formIds": [new_id()]}
    changes: dict[str, Callable[[], object]] = {
        "processed": lambda: process_feedback([submitted.id]),
        "marked": lambda: mark_test(submitted.id, is_test=True),
        "deleted": lambda: delete_feedback(submitted.id, "operator"),
        "anonymized": lambda: anonymize_all(answered),
        "erased": lambda: erase(answered),
    }
    with not_visible(submitted.id, changes[change]):
        page = read(answered, **body)
        assert (page["items"], page["removed"], page["meta"]["hasMore"]) == ([], [], False)
        assert page["meta"]["cursor"] == body["cursor"]
        filtered = read(answered, **other_forms)
        assert filtered["meta"]["hasMore"] is False
    page = read(answered, **body)
    if change in ("marked", "deleted"):
        assert [feedback_id for feedback_id, _ in removed(page)] == [submitted.id]
    else:
        assert ids_of(page) == [submitted.id]
        assert page["items"][0]["anonymized"] is (change in ("anonymized", "erased"))
    rest = read(answered, **other_forms, cursor=filtered["meta"]["cursor"])
    assert removed(rest) == removed(page)


def test_page_contains_feedback_of_entry_before_the_record_that_is_not_visible(
    answered: Answered,
) -> None:
    ids = [answer_contact_form(answered).id for _ in range(4)]
    with not_visible(ids[0], lambda: process_feedback(ids)):
        in_order = FeedbackChangeRow.get(answered.account_id, entry_key(1)).ids
        index = in_order.index(ids[0])
        page = read(answered, limit=4)
        assert ids_of(page) == in_order[:index]
        assert page["meta"]["hasMore"] is False
        body = {"cursor": page["meta"]["cursor"]}
        assert ids_of(read(answered, **body)) == []
    assert ids_of(read(answered, **body)) == in_order[index:]


@pytest.mark.parametrize("at_once", [1, 100])
def test_second_change_of_feedback_on_a_page_waits_until_it_is_visible(
    answered: Answered, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(feed, "_READ_AT_ONCE", at_once)
    filters = {"formIds": [answered.contact_form_id]}
    (changed,) = processed(answer_contact_form(answered))
    with not_visible(changed, lambda: mark_test(changed, is_test=True)):
        page = read(answered, **filters)
        assert ids_of(page) == [changed]
        assert page["meta"]["hasMore"] is False
    page = read(answered, **filters, cursor=page["meta"]["cursor"])
    assert removed(page) == [(changed, "TEST")]


def test_feedback_that_was_deleted_or_parked_ends_no_page(answered: Answered) -> None:
    deleted, parked, last = (answer_contact_form(answered) for _ in range(3))
    processed(deleted, parked, last)
    delete_feedback(deleted.id, "operator")
    row = FeedbackRow.get(parked.id)
    row.update([FeedbackRow.state.set("PARKED"), FeedbackRow.entry_number.remove()])
    page = read(answered)
    assert ids_of(page) == [last.id]
    assert removed(page) == [(deleted.id, "DELETED")]
    assert page["meta"]["hasMore"] is False


# --- repair


def test_repair_closes_gaps_and_corrects_head(answered: Answered) -> None:
    ids = [processed(answer_contact_form(answered))[0] for _ in range(4)]
    for number in (1, 3):
        FeedbackChangeRow(answered.account_id, entry_key(number)).delete()
    FeedbackChangeRow(answered.account_id, "head").update([FeedbackChangeRow.last.set(2)])
    assert repair(answered.account_id) == 2
    assert repair(answered.account_id) == 0
    assert ids_of(read(answered)) == [ids[1], ids[3]]
    ids += processed(answer_contact_form(answered))
    assert ids_of(read(answered)) == [ids[1], ids[3], ids[4]]


def test_repair_corrects_head_that_another_process_changes(answered: Answered) -> None:
    ids = processed(answer_contact_form(answered))
    submitted = [answer_contact_form(answered) for _ in range(3)]

    def change_feed() -> None:
        for record in submitted:
            ids.extend(processed(record))

    with before_request("Query", change_feed):
        assert repair(answered.account_id) == 0
    assert ids_of(read(answered)) == ids


def test_number_of_closed_gap_is_never_used(answered: Answered) -> None:
    ids = [processed(answer_contact_form(answered))[0] for _ in range(3)]
    FeedbackChangeRow(answered.account_id, entry_key(2)).delete()
    FeedbackChangeRow(answered.account_id, "head").update([FeedbackChangeRow.last.set(1)])
    submitted = answer_contact_form(answered)
    with before_request("PutItem", lambda: processed(submitted)):
        assert repair(answered.account_id) == 1
    assert ids_of(read(answered)) == [ids[0], ids[2], submitted.id]


def test_repair_removes_mark_of_entry_ahead_of_its_feedback(answered: Answered) -> None:
    marked, deleted, pending, last = (answer_contact_form(answered).id for _ in range(4))
    process_feedback([marked, deleted])
    rows = [FeedbackRow.get(feedback_id) for feedback_id in (marked, deleted, pending)]
    process_feedback([pending])
    mark_test(marked, is_test=True)
    delete_feedback(deleted, "operator")
    for row in rows:
        row.save()
    process_feedback([last])
    assert last not in ids_of(read(answered))
    repair(answered.account_id)
    page = read(answered)
    assert set(ids_of(page)) == {marked, deleted, last}
    assert page["meta"]["hasMore"] is False
    mark_test(marked, is_test=True)
    assert removed(read(answered, cursor=page["meta"]["cursor"])) == [(marked, "TEST")]


def test_repair_keeps_mark_of_entry_whose_feedback_becomes_visible(answered: Answered) -> None:
    (changed,) = processed(answer_contact_form(answered))
    before = FeedbackRow.get(changed)
    mark_test(changed, is_test=True)
    after = FeedbackRow.get(changed)
    before.save()
    with before_request("TransactWriteItems", after.save):
        repair(answered.account_id)
    assert FeedbackChangeRow.get(answered.account_id, entry_key(2)).numbers_rows


def test_republish_raises_head_above_numbers_of_restored_feedback(answered: Answered) -> None:
    (changed,) = processed(answer_contact_form(answered))
    for is_test in (True, False):
        mark_test(changed, is_test=is_test)
    for number in (2, 3):
        FeedbackChangeRow(answered.account_id, entry_key(number)).delete()
    FeedbackChangeRow(answered.account_id, "head").update([FeedbackChangeRow.last.set(1)])
    republish_feedback(answered.account_id)
    with not_visible(changed, lambda: mark_test(changed, is_test=True)):
        page = read(answered)
        assert ids_of(page) == [changed]
    assert removed(read(answered, cursor=page["meta"]["cursor"])) == [(changed, "TEST")]


@pytest.mark.parametrize("repair_feed", [repair, republish_feedback])
def test_head_that_another_repair_has_raised_is_not_lowered(
    answered: Answered, repair_feed: Callable[[str], object]
) -> None:
    (changed,) = processed(answer_contact_form(answered))
    mark_test(changed, is_test=True)
    if repair_feed is republish_feedback:
        # The number of the restored feedback is the only reason to raise the head.
        FeedbackChangeRow(answered.account_id, entry_key(2)).delete()
    FeedbackChangeRow(answered.account_id, "head").update([FeedbackChangeRow.last.set(1)])
    submitted = answer_contact_form(answered)
    last = 0

    def repair_and_change() -> None:
        nonlocal last
        repair_feed(answered.account_id)
        processed(submitted)
        last = FeedbackChangeRow.get(answered.account_id, "head").last

    with before_request("UpdateItem", repair_and_change):
        repair_feed(answered.account_id)
    assert FeedbackChangeRow.get(answered.account_id, "head").last >= last
    assert submitted.id in ids_of(read(answered))


@pytest.mark.parametrize("repair_feed", [repair, republish_feedback])
def test_entry_that_becomes_visible_before_its_gap_is_closed_is_kept(
    answered: Answered, repair_feed: Callable[[str], object]
) -> None:
    (changed,) = processed(answer_contact_form(answered))
    for is_test in (True, False):
        mark_test(changed, is_test=is_test)
    numbers = (2, 3) if repair_feed is republish_feedback else (2,)
    hidden = [FeedbackChangeRow.get(answered.account_id, entry_key(each)) for each in numbers]
    for row in hidden:
        row.delete()
    FeedbackChangeRow(answered.account_id, "head").update([FeedbackChangeRow.last.set(1)])
    with before_request("PutItem", hidden[0].save):
        repair_feed(answered.account_id)
    assert FeedbackChangeRow.get(answered.account_id, entry_key(2)).ids == [changed]


def test_republished_feedback_ends_no_page(answered: Answered) -> None:
    (changed,) = processed(answer_contact_form(answered))
    pending = answer_contact_form(answered).id
    republish_feedback(answered.account_id)
    page = read(answered)
    assert ids_of(page) == [changed]
    assert page["meta"]["hasMore"] is False
    process_feedback([pending])
    assert ids_of(read(answered, cursor=page["meta"]["cursor"])) == [pending]


def test_republish_adds_earlier_feedback_and_can_be_repeated(answered: Answered) -> None:
    from tests.admin.command import run

    ids = processed(*(answer_contact_form(answered) for _ in range(3)))
    pending = answer_contact_form(answered)
    for row in FeedbackChangeRow.query(answered.account_id):
        row.delete()
    assert ids_of(read(answered)) == []
    for _ in range(2):
        result = run("feedback", "republish", answered.account_id, "--json")
        assert json.loads(result.stdout) == {"feedback": 4, "closedGaps": 0}
    assert sorted(ids_of(read(answered))) == sorted(ids)
    assert pending.id not in ids_of(read(answered))
    unknown = run("feedback", "republish", new_id())
    assert unknown.stderr == "Error: There is no account with this id.\n"


# --- size and requests


def large_feedback(answered: Answered) -> str:
    text = "\x00" * 10_000
    fields = [{"key": f"f{n}", "type": "TEXT", "label": "F"} for n in range(24)]
    answered.contact_form(fields=fields)
    from chalicelib.domain.feedback.submission import ContactFormSubmission
    from chalicelib.services.feedback.submit import SubmissionMetadata, submit_feedback
    from chalicelib.services.forms.cached_forms import get_contact_form

    form = get_contact_form(answered.contact_form_id).saved
    answers = [{"id": field.id, "values": [text]} for field in form.fields]
    body = {"id": answered.contact_form_id, "fields": answers}
    submission = ContactFormSubmission.model_validate(body)
    return submit_feedback(submission, SubmissionMetadata()).id


def marshalled(response: Response) -> int:
    return len(json.dumps(response.body))


def test_page_of_largest_feedback_fits_into_a_response(answered: Answered) -> None:
    ids = [large_feedback(answered) for _ in range(3)]
    process_feedback(ids)
    found: list[str] = []
    body: dict[str, Any] = {}
    while True:
        response = answered.partner.post(PATH, body)
        assert response.status == 201
        assert marshalled(response) < 6_291_556
        found += ids_of(response.json)
        if not response.json["meta"]["hasMore"]:
            break
        body["cursor"] = response.json["meta"]["cursor"]
    assert sorted(found) == sorted(ids)


def test_page_sends_one_request_and_one_per_100_records(answered: Answered) -> None:
    for _ in range(5):
        processed(*(answer_contact_form(answered, nps="5") for _ in range(24)))
    read(answered)
    for body, reads in (
        ({"limit": 10}, 1),
        ({"limit": 100}, 1),
        ({"limit": 100, "maxRating": 4}, 2),
        ({"limit": 1, "minRating": 5}, 1),
    ):
        with counted_calls() as calls:
            read(answered, **body)
        assert dict(calls) == {"dynamodb.Query": 1, "dynamodb.BatchGetItem": reads}, body


def test_cold_page_with_many_forms_reads_forms_and_versions_in_one_request(
    answered: Answered,
) -> None:
    forms = [replace(answered, contact_form_id=new_id()) for _ in range(18)]
    for form in forms:
        form.contact_form()
    ids = processed(answer_survey(answered), *map(answer_contact_form, forms))
    labelled = [item | {"label": f"New {item['label']}"} for item in questions(answered.fields)]
    for form in forms:
        form.contact_form(fields=labelled)
    clear_caches()
    _versions.clear()
    with counted_calls() as calls:
        page = read(answered, limit=100)
    assert sorted(ids_of(page)) == sorted(ids)
    assert {item["answers"][0]["label"] for item in page["items"]} == {"What"}
    expected = {
        "dynamodb.BatchGetItem": 4,  # the key, the epoch, the feedback, the forms and versions
        "dynamodb.Query": 2,  # the entries, the places
        "dynamodb.UpdateItem": 1,  # the first use of the key on this day
    }
    assert dict(calls) == expected


def test_lost_response_and_conflict_add_one_entry(answered: Answered) -> None:
    submitted, other = answer_contact_form(answered), answer_contact_form(answered)
    with before_request("TransactWriteItems", lambda: process_feedback([other.id])):
        process_feedback([submitted.id])
    rows = list(FeedbackChangeRow.query(answered.account_id, FeedbackChangeRow.number < "h"))
    assert [row.ids for row in rows] == [[other.id], [submitted.id]]
