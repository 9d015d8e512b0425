"""Tests that a receiver that reads the feedback of its webhook sees the customer."""

from datetime import timedelta

import pytest

from chalicelib.aws_calls import counted_calls
from chalicelib.services.feedback import process
from chalicelib.services.feedback.feed import read_partner_feedback
from chalicelib.services.feedback.process import process_feedback
from chalicelib.services.work.sweep import sweep
from chalicelib.storage import feedback
from tests.services.feedback.submitting import answer_contact_form
from tests.services.kinds import WEBHOOKS
from tests.services.queues import WEBHOOK_QUEUE
from tests.services.webhooks.delivering import (
    ReceivingAccount,
    add_workflow,
    executions_of,
    trigger_webhooks,
)
from tests.web.seeded_account import SeededAccount


def submit_and_fail(seeded: SeededAccount, monkeypatch: pytest.MonkeyPatch) -> str:
    """Submit feedback whose processing stops after it has created the executions."""
    add_workflow(seeded.account_id)
    submitted = answer_contact_form(seeded, mail="zoe@example.test")

    def fail(*_: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(process, "_finish", fail)
        with pytest.raises(RuntimeError):
            process_feedback([submitted.id])
    assert len(executions_of(seeded.account_id)) == 1
    return submitted.id


def test_webhook_waits_until_its_feedback_is_processed(
    seeded: ReceivingAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    feedback_id = submit_and_fail(seeded, monkeypatch)
    for _ in range(12):
        seeded.advance(timedelta(minutes=3))
    assert seeded.receiver.requests == []
    process_feedback([feedback_id])
    WEBHOOK_QUEUE.queued_messages(seeded.account_id)
    seeded.advance(timedelta(minutes=3))
    assert len(seeded.receiver.requests) == 1
    assert read_partner_feedback(seeded.account_id, feedback_id).customer_id


def test_webhook_of_deleted_feedback_is_sent(
    seeded: ReceivingAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    feedback_id = submit_and_fail(seeded, monkeypatch)
    feedback.FeedbackRow(feedback_id).delete()
    seeded.advance(timedelta(minutes=3))
    assert len(seeded.receiver.requests) == 1


@pytest.mark.parametrize("is_swept", [False, True])
def test_only_webhook_that_sweeper_queued_reads_feedback(
    seeded: ReceivingAccount, is_swept: bool
) -> None:
    add_workflow(seeded.account_id)
    messages = trigger_webhooks(seeded)
    if is_swept:
        seeded.time.ahead += timedelta(minutes=3)
        sweep(WEBHOOKS)
        messages = WEBHOOK_QUEUE.queued_messages(seeded.account_id)
    with counted_calls() as calls:
        assert WEBHOOK_QUEUE.deliver(messages) == []
    assert len(seeded.receiver.requests) == 1
    assert calls["dynamodb.BatchGetItem"] == int(is_swept)
