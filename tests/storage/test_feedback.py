"""Tests of the feedback repository: creation with and without a transaction."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from chalicelib.domain.feedback.feedback import SOURCES, Feedback, FormKind
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.forms.field_types import FieldType
from chalicelib.domain.forms.wording import Answer
from chalicelib.domain.idempotency import Origin
from chalicelib.domain.ids import new_id
from chalicelib.domain.language import Language
from chalicelib.domain.work import WorkState
from chalicelib.storage import feedback
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Contention, Rows
from chalicelib.storage.feedback import FeedbackRow

pytestmark = pytest.mark.usefixtures("cloud")

Create = Callable[[Feedback, str | None], bool]

ANSWER = Answer(field_id=new_id(), key="why", type=FieldType.TEXT, values=["ليلى\u0000"])


def build_feedback(customer_id: str | None = None) -> Feedback:
    return Feedback(
        id=new_id(),
        account_id=new_id(),
        kind=FormKind.CONTACT_FORM,
        form_id=new_id(),
        form_version="0" * 32,
        customer_id=customer_id,
        language=Language("en"),
        source=SOURCES[FormKind.CONTACT_FORM],
        context_id=new_id(),
        answers=(ANSWER,),
        rating=None,
        created_at=datetime(2026, 11, 20, 10, tzinfo=UTC),
    )


def create_in_unit(submitted: Feedback, input_hash: str | None) -> bool:
    rows = Rows()
    rows.prefetch(Key(FeedbackRow, submitted.id))
    feedback.put(rows, submitted, Origin(submitted.id, input_hash))
    try:
        rows.send()
    except Contention:
        return False
    return True


EACH_CREATE_FUNCTION = pytest.mark.parametrize(
    "create", [feedback.create, create_in_unit], ids=["alone", "in a unit of work"]
)


@EACH_CREATE_FUNCTION
@pytest.mark.parametrize(("input_hash", "customer_id"), [(None, None), ("a1", "c1")])
def test_find_returns_created_feedback(
    create: Create, input_hash: str | None, customer_id: str | None
) -> None:
    submitted = build_feedback(customer_id)
    assert create(submitted, input_hash)
    assert feedback.find(submitted.id) == StoredFeedback(submitted, input_hash, WorkState.PENDING)


@EACH_CREATE_FUNCTION
def test_create_with_existing_id_changes_nothing(create: Create) -> None:
    first = build_feedback()
    create(first, "first")
    assert not create(first.model_copy(update={"rating": 7}), "second")
    assert feedback.find(first.id) == StoredFeedback(first, "first", WorkState.PENDING)


@EACH_CREATE_FUNCTION
def test_new_feedback_is_due_after_two_minutes(create: Create) -> None:
    submitted = build_feedback()
    create(submitted, None)
    row = FeedbackRow.get(submitted.id)
    assert row.due_at == submitted.created_at.timestamp() + 120
    assert row.work_shard
