"""Tests of the retention period: the sweeper anonymizes old answers."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from admin.services.accounts.manage import create_account
from admin.services.accounts.settings import change_account_settings
from admin.services.feedback.exclude import delete_feedback
from admin.services.feedback.find import count_old_feedback
from admin.storage.accounts import restart_retention
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.feedback.submission import MAX_SUBMISSION_BYTES
from chalicelib.domain.ids import new_id
from chalicelib.services.erasure.erase import RECORDS_PER_TRANSACTION
from chalicelib.services.feedback import retention
from chalicelib.services.feedback.retention import anonymize_old_feedback
from chalicelib.services.sweeper import run_sweeper
from chalicelib.storage import accounts, feedback
from tests.aws.faults import before_request
from tests.aws.stage import tables
from tests.policies import allowed
from tests.services.feedback.submitting import answer_contact_form, respondents
from tests.services.moved_time import Time
from tests.services.queues import FEEDBACK_QUEUE
from tests.web.seeded_account import SeededAccount


@pytest.fixture(autouse=True)
def _end_retention(seeded: SeededAccount) -> Iterator[None]:
    """Remove the retention period after the test, because the sweeper processes all accounts."""
    yield
    retain(seeded, None)


def submit(seeded: SeededAccount, **answers: str) -> Feedback:
    submitted = answer_contact_form(seeded, note="Very slow", nps="2", **answers)
    FEEDBACK_QUEUE.deliver_all(seeded.account_id)
    return submitted


def retain(seeded: SeededAccount, days: int | None) -> None:
    change_account_settings(seeded.account_id, {"retentionDays": days}, "operator")


def answered(record: Feedback) -> list[str]:
    stored = feedback.find(record.id)
    assert stored
    return [answer.key for answer in stored.feedback.answers]


def test_old_feedback_is_counted_before_it_is_anonymized(
    seeded: SeededAccount, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        submit(seeded)
    time.ahead += timedelta(days=31)
    submit(seeded)
    account = seeded.account_id
    with counted_calls() as calls:
        assert count_old_feedback(account, 30) == 3
    assert dict(calls) == {"dynamodb.GetItem": 1, "dynamodb.Query": 1}
    assert count_old_feedback(account, 32) == 0
    monkeypatch.setattr("admin.services.feedback.find.MAX_COUNTED", 2)
    assert count_old_feedback(account, 30) == 2
    retain(seeded, 30)
    assert anonymize_old_feedback().records == 3
    assert count_old_feedback(account, 30) == 0


def test_answers_older_than_retention_period_are_anonymized(
    seeded: SeededAccount, time: Time
) -> None:
    old = submit(seeded, mail="zoe@example.test")
    time.ahead += timedelta(days=20)
    new = submit(seeded)
    retain(seeded, 30)
    assert anonymize_old_feedback().records == 0
    time.ahead += timedelta(days=11)
    assert anonymize_old_feedback().records == 1
    assert anonymize_old_feedback().records == 0
    assert answered(old) == ["nps"]
    assert answered(new) == ["what", "note", "nps"]
    (customer,) = respondents(seeded)
    assert (customer.feedback_count, customer.average_feedback_rating) == (1, "2")
    assert seeded.counts == (2, 0, 0)


def test_accounts_without_retention_period_keep_answers(seeded: SeededAccount, time: Time) -> None:
    submitted = submit(seeded)
    retain(seeded, 30)
    retain(seeded, None)
    time.ahead += timedelta(days=400)
    assert anonymize_old_feedback().records == 0
    assert answered(submitted) == ["what", "note", "nps"]


def test_pass_anonymizes_limited_number_and_next_pass_continues(
    seeded: SeededAccount, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "MAX_PER_PASS", 2)
    for _ in range(3):
        submit(seeded)
        time.ahead += timedelta(seconds=1)
    retain(seeded, 30)
    time.ahead += timedelta(days=31)
    assert [anonymize_old_feedback().records for _ in range(3)] == [2, 1, 0]


def test_accounts_are_due_again_after_an_hour(seeded: SeededAccount, time: Time) -> None:
    retain(seeded, 30)
    anonymize_old_feedback()
    with counted_calls() as calls:
        anonymize_old_feedback()
    assert calls.total() == 1
    time.ahead += timedelta(hours=1)
    assert seeded.account_id in {due.account_id for due in accounts.list_due_retention(clock.now())}


def test_pass_reads_no_accounts_without_retention_period(account: str, time: Time) -> None:
    for _ in range(3):
        create_account("Maison Lumen")
    with tables().metered() as read:
        anonymize_old_feedback()
    assert read.rows == 0


@pytest.mark.parametrize("fails", [False, True])
def test_age_of_retention_grows_until_all_old_feedback_is_anonymized(
    seeded: SeededAccount, time: Time, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    monkeypatch.setattr(retention, "MAX_PER_PASS", 1)
    submit(seeded)
    submit(seeded)
    time.ahead += timedelta(days=31)
    retain(seeded, 30)
    ages = []
    for _ in range(4):
        time.ahead += timedelta(minutes=1)
        with monkeypatch.context() as patch:
            if fails and not ages:
                patch.setattr(feedback, "list_created", raise_unavailable)
            ages.append(anonymize_old_feedback().oldest_s // 60)
    assert ages == [1, 2, 3, 4 if fails else 0]
    time.ahead += timedelta(hours=1)
    assert anonymize_old_feedback().oldest_s < 120


def test_unprocessed_feedback_that_is_deleted_meanwhile_stays_deleted(
    seeded: SeededAccount, time: Time
) -> None:
    pending = answer_contact_form(seeded, note="Slow")
    retain(seeded, 1)
    time.ahead += timedelta(days=2)
    with before_request("TransactWriteItems", lambda: delete_feedback(pending.id, "operator")):
        anonymize_old_feedback()
    assert list(feedback.FeedbackRow.scan()) == []


def raise_unavailable(*_: Any) -> Any:
    raise Unavailable("The database is busy.")


def test_permissions_of_sweeper_allow_anonymizing_feedback(
    seeded: SeededAccount, time: Time
) -> None:
    submitted = submit(seeded)
    retain(seeded, 1)
    time.ahead += timedelta(days=2)
    with allowed("sweep"):
        run_sweeper(None)
    assert answered(submitted) == ["nps"]


@pytest.mark.parametrize("days_during_restart", [1, None])
def test_retention_from_the_start_anonymizes_answers_restored_from_backup(
    seeded: SeededAccount, time: Time, days_during_restart: int | None
) -> None:
    submitted = submit(seeded)
    before = feedback.FeedbackRow.get(submitted.id)
    retain(seeded, 1)
    time.ahead += timedelta(days=2)
    anonymize_old_feedback()
    before.save()
    retain(seeded, days_during_restart)
    restart_retention()
    assert days_during_restart or accounts.list_due_retention(clock.now()) == []
    retain(seeded, 1)
    assert anonymize_old_feedback().records == 1
    assert answered(submitted) == ["nps"]


@pytest.mark.parametrize("begins_again", [False, True])
def test_running_pass_does_not_end_restarted_retention(
    seeded: SeededAccount, time: Time, begins_again: bool
) -> None:
    retain(seeded, 1)
    anonymize_old_feedback()
    time.ahead += timedelta(hours=2)
    if begins_again:  # at once, as after a restart
        retain(seeded, None)
        retain(seeded, 1)
    (due,) = accounts.list_due_retention(clock.now())
    restart_retention()
    accounts.save_retention(due, clock.now(), clock.now() + timedelta(hours=1), is_done=True)
    (restarted,) = accounts.list_due_retention(clock.now())
    assert restarted.anonymized_until is None


def test_changed_period_starts_at_once_if_a_pass_ends_meanwhile(
    seeded: SeededAccount, time: Time
) -> None:
    retain(seeded, 30)
    (due,) = accounts.list_due_retention(clock.now())

    def end_pass() -> None:
        accounts.save_retention(due, None, clock.now() + timedelta(hours=1), is_done=True)

    with before_request("TransactWriteItems", end_pass):
        retain(seeded, 1)
    (due,) = accounts.list_due_retention(clock.now())
    assert due.retention_days == 1


def test_running_pass_does_not_continue_ended_retention(seeded: SeededAccount, time: Time) -> None:
    retain(seeded, 1)
    (due,) = accounts.list_due_retention(clock.now())
    retain(seeded, None)
    accounts.save_retention(due, None, clock.now(), is_done=False)
    assert accounts.AccountRow.get(seeded.account_id).retention_due_at is None


def test_restart_keeps_retention_that_begins_after_the_account_was_read(
    seeded: SeededAccount, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    retain(seeded, 1)
    time.ahead += timedelta(days=2)
    anonymize_old_feedback()
    retain(seeded, None)
    read = [*accounts.AccountRow.scan()]
    retain(seeded, 1)
    with monkeypatch.context() as patch:
        patch.setattr(accounts.AccountRow, "scan", lambda _: read)
        restart_retention()
    assert len(accounts.list_due_retention(clock.now())) == 1


def test_failure_of_one_account_does_not_stop_retention_of_others(
    seeded: SeededAccount, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted = submit(seeded)
    retain(seeded, 1)
    time.ahead += timedelta(days=2)
    (due,) = accounts.list_due_retention(clock.now())
    failing = replace(due, account_id="failing")
    monkeypatch.setattr(accounts, "list_due_retention", lambda _: [failing, due])
    list_created = feedback.list_created

    def fail(account_id: str, *arguments: Any) -> Any:
        if account_id == "failing":
            raise Unavailable("The database is busy.")
        return list_created(account_id, *arguments)

    monkeypatch.setattr(feedback, "list_created", fail)
    swept = anonymize_old_feedback()
    assert isinstance(swept.error, Unavailable)
    assert (swept.records, swept.oldest_s > 0) == (1, True)
    assert answered(submitted) == ["nps"]
    with pytest.raises(Unavailable):
        run_sweeper(None)


@pytest.mark.parametrize("error", [None, Unavailable("The database is busy.")])
def test_short_passes_serve_all_accounts_in_turn(
    account: str, time: Time, monkeypatch: pytest.MonkeyPatch, error: Exception | None
) -> None:
    ids = [create_account("Maison Lumen").id for _ in range(5)]
    for account_id in ids:
        change_account_settings(account_id, {"retentionDays": 1}, "operator")
    monkeypatch.setattr(retention, "MAX_PER_PASS", 1)
    served: list[str] = []

    def list_created(account_id: str, *_: Any) -> list[tuple[str, datetime]]:
        served.append(account_id)
        if error:
            raise error
        return [(new_id(), clock.now() - timedelta(days=2))]

    monkeypatch.setattr(feedback, "list_created", list_created)
    for _ in range(6):
        has_time = iter([True, True, False])
        monkeypatch.setattr(retention, "has_time_for_work", partial(next, has_time))
        anonymize_old_feedback()
        time.ahead += timedelta(minutes=1)
    for account_id in ids:
        change_account_settings(account_id, {"retentionDays": None}, "operator")
    assert set(served[:6]) == set(served[6:]) == set(ids)


@pytest.mark.parametrize("records", [retention.PER_TRANSACTION, RECORDS_PER_TRANSACTION])
def test_transaction_of_largest_feedback_records_is_within_limit_of_dynamodb(records: int) -> None:
    assert records * MAX_SUBMISSION_BYTES < 4 * 1024 * 1024
