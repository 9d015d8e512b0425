"""Test that the result of a submission does not change if any one of its AWS requests fails."""

import contextlib
import json
from collections.abc import Callable
from datetime import timedelta

import pytest

from admin.services.work.parked import list_parked_work, replay
from chalicelib.domain import clock
from chalicelib.domain.errors import Conflict, NotFound, Unavailable
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.feedback.submission import ContactFormSubmission, SurveySubmission
from chalicelib.domain.parsing import parse
from chalicelib.queues import MAX_RECEIVES
from chalicelib.services.accounts.settings import account_settings
from chalicelib.services.feedback.submit import (
    SubmissionMetadata,
    submit_feedback,
)
from chalicelib.services.forms.cached_forms import Respondent, get_contact_form, get_survey
from chalicelib.services.work.sweep import sweep
from chalicelib.services.workflows.read import workflows_of
from chalicelib.storage import feedback
from chalicelib.storage.feedback import FeedbackRow
from tests.aws.faults import InjectedFault, Killed, inject_fault
from tests.services.feedback.submitting import respondents
from tests.services.kinds import FEEDBACK
from tests.services.moved_time import Time
from tests.services.queues import FEEDBACK_QUEUE, LISTING_QUEUE
from tests.web.seeded_account import SeededAccount

pytestmark = pytest.mark.usefixtures("time", "submission_limit")

REQUESTS = {
    "contact form": [
        "BatchGetItem",  # look up the idempotency key
        "UpdateItem",  # increment the counter of the source's rate limit
        "PutItem",
        "SendMessageBatch",
        "BatchGetItem",  # read the feedback record
        "BatchGetItem",  # look up the pair; no customer has it
        "TransactWriteItems",  # create the customer, and count the feedback
    ],
    "survey": [
        "BatchGetItem",  # read the tracker, and look up the idempotency key
        "TransactWriteItems",
        "SendMessageBatch",
        "BatchGetItem",
        "BatchGetItem",
        "TransactWriteItems",
    ],
}
CASES = [(kind, number) for kind, requests in REQUESTS.items() for number in range(len(requests))]


def submission_of(seeded: SeededAccount, kind: str) -> Callable[[], Feedback]:
    metadata = SubmissionMetadata(Respondent(address="203.0.113.7"), idempotency_key="key")
    if kind == "contact form":
        fields = seeded.answers(mail="zoe@example.test", nps="9")
        form = parse({"id": seeded.contact_form_id, "fields": fields}, ContactFormSubmission)
        return lambda: submit_feedback(form, metadata)
    body = {
        "id": seeded.private_survey_id,
        "tracker": seeded.tracker(),
        "fields": seeded.answers(nps="9"),
    }
    survey = parse(body, SurveySubmission)
    return lambda: submit_feedback(survey, metadata)


def submit_with_retry(submit: Callable[[], Feedback]) -> Feedback:
    """Submit answers, and retry once with the same idempotency key after an error."""
    with contextlib.suppress(Exception, Killed):  # the injected fault
        return submit()
    return submit()


def deliver_all(seeded: SeededAccount) -> None:
    """Process the account's messages, and redeliver failed messages."""
    FEEDBACK_QUEUE.deliver_all(seeded.account_id)


def finish(seeded: SeededAccount, feedback_id: str, time: Time) -> None:
    """Move the clock ahead, sweep and deliver messages until the feedback is processed."""
    for _ in range(30):
        stored = feedback.find(feedback_id)
        if stored and stored.state == "DONE":
            return
        time.ahead += timedelta(hours=1)
        sweep(FEEDBACK)
        deliver_all(seeded)
    raise AssertionError("The feedback was not processed.")


@pytest.mark.parametrize("kind", REQUESTS)
def test_submission_and_processing_send_expected_aws_requests(
    seeded: SeededAccount, kind: str
) -> None:
    submit = submission_of(seeded, kind)
    fill_caches(seeded)
    with inject_fault() as requests:
        submit()
        FEEDBACK_QUEUE.deliver(FEEDBACK_QUEUE.queued_messages(seeded.account_id))
    assert requests.operations == REQUESTS[kind]


def fill_caches(seeded: SeededAccount) -> None:
    """Load the account's forms, workflows and settings into the caches."""
    for form in (
        get_contact_form(seeded.contact_form_id),
        get_survey(seeded.private_survey_id),
    ):
        assert form.directory.places
    assert workflows_of(seeded.account_id) == ()
    assert account_settings(seeded.account_id).identify_respondents


@pytest.mark.parametrize("fault", InjectedFault)
@pytest.mark.parametrize(("kind", "number"), CASES)
def test_single_aws_fault_does_not_change_counts_and_customer(
    seeded: SeededAccount,
    time: Time,
    kind: str,
    number: int,
    fault: InjectedFault,
) -> None:
    submit = submission_of(seeded, kind)
    fill_caches(seeded)
    with inject_fault(number, fault):
        submitted = submit_with_retry(submit)
        deliver_all(seeded)
    finish(seeded, submitted.id, time)
    # After a conflict about the counter of customers, another function lists the customer.
    LISTING_QUEUE.deliver_all(seeded.account_id)
    assert submit().id == submitted.id
    rows = list(FeedbackRow.scan(FeedbackRow.account_id == seeded.account_id))
    assert [row.feedback_id for row in rows] == [submitted.id]
    assert (rows[0].due_at, rows[0].work_shard) == (None, None)
    if kind == "contact form":
        (customer,) = respondents(seeded)
        assert seeded.counts == (1, 0, 0)
    else:
        assert respondents(seeded) == []
        customer = seeded.customer
        assert seeded.counts == (0, 0, 1)
    assert (customer.feedback_count, customer.average_feedback_rating) == (1, "9")
    assert rows[0].customer_id == customer.id


@pytest.mark.parametrize("fault", [InjectedFault.KILLED_BEFORE, InjectedFault.KILLED_AFTER])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_tracker_and_feedback_are_written_atomically(
    seeded: SeededAccount,
    time: Time,
    number: int,
    fault: InjectedFault,
) -> None:
    tracker = seeded.tracker()
    body = {
        "id": seeded.private_survey_id,
        "tracker": tracker,
        "fields": seeded.answers(),
    }
    survey = parse(body, SurveySubmission)
    fill_caches(seeded)
    with inject_fault(number, fault), contextlib.suppress(Killed):
        submit_feedback(survey, SubmissionMetadata())
    with contextlib.suppress(Conflict):
        submit_feedback(survey, SubmissionMetadata())
    rows = list(FeedbackRow.scan(FeedbackRow.account_id == seeded.account_id))
    assert len(rows) == 1
    finish(seeded, rows[0].feedback_id, time)
    assert seeded.counts == (0, 0, 1)


def test_feedback_is_parked_after_eight_failures_and_replayed(
    seeded: SeededAccount, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted = submission_of(seeded, "contact form")()

    def failing(*_: object) -> str:
        raise ZeroDivisionError

    with monkeypatch.context() as scope:
        scope.setattr("chalicelib.storage.customer_creation.append", failing)
        deliver_all(seeded)
        for _ in range(7):
            stored = feedback.find(submitted.id)
            assert stored
            assert stored.state == "PENDING"
            time.ahead += timedelta(hours=2)
            sweep(FEEDBACK)
            deliver_all(seeded)
    (parked,) = (work for work in list_parked_work() if work.owner_id == submitted.id)
    assert (parked.kind, parked.claims, parked.reason) == ("feedback", 8, "ZeroDivisionError")
    time.ahead += timedelta(hours=2)
    sweep(FEEDBACK)
    assert FEEDBACK_QUEUE.queued_messages(seeded.account_id) == []
    assert seeded.counts == (0, 0, 0)
    replay(parked.owner_id, parked.part)
    deliver_all(seeded)
    assert seeded.counts == (1, 0, 0)
    with pytest.raises(NotFound):
        replay(parked.owner_id, parked.part)


def fail_processing(patch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Make the last step of processing a feedback raise ``error``."""

    def fail(*_: object) -> None:
        raise error

    patch.setattr("chalicelib.services.feedback.process._finish", fail)


def delay_of(feedback_id: str) -> int:
    """Return the seconds until the feedback record is due."""
    row = FeedbackRow.get(feedback_id)
    return round(row.due_at - clock.now().timestamp())


def test_unavailable_database_defers_feedback_without_counting_a_failure(
    seeded: SeededAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted = submission_of(seeded, "contact form")()
    messages = FEEDBACK_QUEUE.queued_messages(seeded.account_id)
    delays = []
    with monkeypatch.context() as patch:
        fail_processing(patch, Unavailable("busy"))
        for _ in range(10):
            assert FEEDBACK_QUEUE.deliver(messages) == []
            delays.append(delay_of(submitted.id))
    expected = [5, 10, 20, 40, 80, 160, 300, 300, 300, 300]
    assert all(abs(delay - at) <= 2 for delay, at in zip(delays, expected, strict=True))
    assert FeedbackRow.get(submitted.id).claims is None
    assert FEEDBACK_QUEUE.deliver(messages) == []
    assert seeded.counts == (1, 0, 0)


def test_redelivery_of_unstarted_feedback_counts_no_failure(
    seeded: SeededAccount, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted = submission_of(seeded, "contact form")()
    messages = FEEDBACK_QUEUE.queued_messages(seeded.account_id)
    with monkeypatch.context() as patch:
        fail_processing(patch, Unavailable("busy"))
        for _ in range(9):
            time.ahead += timedelta(minutes=6)
            assert FEEDBACK_QUEUE.deliver(messages, MAX_RECEIVES) == []
    row = FeedbackRow.get(submitted.id)
    assert (row.state, row.claims, row.started_at) == ("PENDING", None, None)


def test_feedback_that_always_kills_function_is_parked(
    seeded: SeededAccount, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted = submission_of(seeded, "contact form")()
    messages = FEEDBACK_QUEUE.queued_messages(seeded.account_id)
    with monkeypatch.context() as patch:
        fail_processing(patch, Killed())
        for receive_count in range(1, MAX_RECEIVES):
            with pytest.raises(Killed):
                FEEDBACK_QUEUE.deliver(messages, receive_count)
            time.ahead += timedelta(minutes=6)  # the visibility time-out of the queue
        assert FEEDBACK_QUEUE.deliver(messages, MAX_RECEIVES) == []
    row = FeedbackRow.get(submitted.id)
    assert (row.state, row.claims, row.reason) == ("PARKED", 8, "interrupted")


def test_redelivery_within_75_s_of_start_counts_no_failure(
    seeded: SeededAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted = submission_of(seeded, "contact form")()
    messages = FEEDBACK_QUEUE.queued_messages(seeded.account_id)
    with monkeypatch.context() as patch:
        fail_processing(patch, Killed())
        for _ in range(3):
            with pytest.raises(Killed):
                FEEDBACK_QUEUE.deliver(messages, 2)
    assert FeedbackRow.get(submitted.id).claims is None


def test_sweeper_requeues_only_due_feedback(seeded: SeededAccount, time: Time) -> None:
    submission_of(seeded, "contact form")()
    (message,) = FEEDBACK_QUEUE.queued_messages(seeded.account_id)
    sweep(FEEDBACK)
    assert FEEDBACK_QUEUE.queued_messages(seeded.account_id) == []
    time.ahead += timedelta(minutes=3)
    sweep(FEEDBACK)
    sweep(FEEDBACK)
    (requeued,) = FEEDBACK_QUEUE.queued_messages(seeded.account_id)
    assert json.loads(requeued) == json.loads(message)
    time.ahead += timedelta(minutes=1)
    sweep(FEEDBACK)
    assert FEEDBACK_QUEUE.queued_messages(seeded.account_id) == []
