"""Test that earlier submissions are stored once, with their original dates, and are processed."""

from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.errors import Conflict, InvalidInput, NotAllowed
from chalicelib.domain.feedback.submission import ContactFormSubmission, SurveySubmission
from chalicelib.domain.parsing import parse
from chalicelib.services.feedback.submit import SubmissionMetadata
from chalicelib.storage import trackers
from infrastructure.demo.load_earlier import EarlierSubmission, load_earlier_submissions
from tests.services.queues import FEEDBACK_QUEUE
from tests.web.public.stored import stored_feedback
from tests.web.seeded_account import SeededAccount

EARLIER = datetime(2025, 12, 24, 19, 30, tzinfo=UTC)


def message(seeded: SeededAccount, key: str, **answers: str) -> EarlierSubmission:
    body = {"id": seeded.contact_form_id, "fields": seeded.answers(**answers)}
    metadata = SubmissionMetadata(idempotency_key=key)
    return EarlierSubmission(parse(body, ContactFormSubmission), metadata, EARLIER)


def response(seeded: SeededAccount, key: str, **body: Any) -> EarlierSubmission:
    defaults = {"id": seeded.private_survey_id, "fields": seeded.answers(nps="9")}
    submission = parse({**defaults, **body}, SurveySubmission)
    return EarlierSubmission(submission, SubmissionMetadata(idempotency_key=key), EARLIER)


def test_earlier_submissions_keep_dates_and_are_counted_but_not_queued(
    seeded: SeededAccount,
) -> None:
    tracker_id = seeded.tracker()
    submissions = [message(seeded, "1"), response(seeded, "2", tracker=tracker_id)]
    assert load_earlier_submissions(submissions) == 2
    (stored,) = stored_feedback(seeded.contact_form_id)
    assert stored.created_at == EARLIER
    tracker = trackers.find(tracker_id)
    assert tracker
    assert tracker.used_at == EARLIER
    assert seeded.counts == (1, 0, 1)
    assert seeded.customer.feedback_count == 1
    assert FEEDBACK_QUEUE.queued_messages(seeded.account_id) == []


def test_earlier_submissions_are_loaded_once(seeded: SeededAccount) -> None:
    submissions = [message(seeded, "1"), response(seeded, "2", tracker=seeded.tracker())]
    assert [load_earlier_submissions(submissions) for _ in range(2)] == [2, 0]
    assert seeded.counts == (1, 0, 1)


def test_invalid_earlier_submission_stores_nothing(seeded: SeededAccount) -> None:
    used = seeded.tracker()
    load_earlier_submissions([response(seeded, "0", tracker=used)])
    for invalid, error in (
        (message(seeded, "1", mail="nobody"), InvalidInput),
        (response(seeded, "2"), NotAllowed),
        (response(seeded, "3", tracker=used), Conflict),
    ):
        with pytest.raises(error):
            load_earlier_submissions([message(seeded, "4"), invalid])
    assert seeded.counts == (0, 0, 1)


def test_loading_25_earlier_submissions_sends_five_aws_requests(seeded: SeededAccount) -> None:
    load_earlier_submissions([message(seeded, "0")])
    submissions = [message(seeded, str(number)) for number in range(1, 26)]
    with counted_calls() as calls:
        assert load_earlier_submissions(submissions) == 25
    assert dict(calls) == {"dynamodb.BatchGetItem": 3, "dynamodb.TransactWriteItems": 2}


def test_fixed_clock_is_restored_at_end_of_with_block() -> None:
    with clock.fixed_at(EARLIER):
        assert clock.now() == EARLIER
    assert clock.now() > EARLIER
