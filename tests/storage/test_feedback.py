"""Keeping new feedback, by itself and in a transaction."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from chalicelib.domain.feedback.answers import Answer
from chalicelib.domain.feedback.feedback import SOURCES, Feedback, FeedbackState, FormKind
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.ids import new_id
from chalicelib.domain.language import Language
from chalicelib.storage import feedback
from chalicelib.storage.dynamodb.transactions import Contention, transaction
from chalicelib.storage.feedback import FeedbackRow, StoredFeedback

pytestmark = pytest.mark.usefixtures("cloud")

Keep = Callable[[Feedback, str | None], bool]

ANSWER = Answer(field_id=new_id(), key="why", type=FieldType.TEXT, values=["ليلى\u0000"])


def a_feedback(customer_id: str | None = None) -> Feedback:
    return Feedback(
        id=new_id(),
        account_id=new_id(),
        kind=FormKind.CONTACT_FORM,
        form_id=new_id(),
        customer_id=customer_id,
        language=Language("en"),
        source=SOURCES[FormKind.CONTACT_FORM],
        context_id=new_id(),
        answers=(ANSWER,),
        rating=None,
        created_at=datetime(2026, 11, 20, 10, tzinfo=UTC),
    )


def in_a_transaction(made: Feedback, input_hash: str | None) -> bool:
    try:
        with transaction() as write:
            feedback.add(write, made, input_hash)
    except Contention:
        return False
    return True


BOTH_WAYS = pytest.mark.parametrize(
    "keep", [feedback.create, in_a_transaction], ids=["by itself", "in a transaction"]
)


@BOTH_WAYS
@pytest.mark.parametrize(("input_hash", "customer_id"), [(None, None), ("a1", "c1")])
def test_feedback_is_read_back_as_it_was_kept(
    keep: Keep, input_hash: str | None, customer_id: str | None
) -> None:
    made = a_feedback(customer_id)
    assert keep(made, input_hash)
    assert feedback.find(made.id) == StoredFeedback(made, input_hash, FeedbackState.PENDING)


@BOTH_WAYS
def test_feedback_that_is_there_already_stays_as_it_is(keep: Keep) -> None:
    first = a_feedback()
    keep(first, "first")
    assert not keep(first.model_copy(update={"rating": 7}), "second")
    assert feedback.find(first.id) == StoredFeedback(first, "first", FeedbackState.PENDING)


@BOTH_WAYS
def test_new_feedback_is_due_in_two_minutes(keep: Keep) -> None:
    made = a_feedback()
    keep(made, None)
    row = FeedbackRow.get(made.id)
    assert row.due_at == made.created_at.timestamp() + 120
    assert row.work_shard
