"""The table of feedback. Each is a record of work too, until everything that follows was done."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection
from pynamodb.transactions import TransactWrite

from chalicelib.domain.errors import NotFound
from chalicelib.domain.feedback import Feedback, FeedbackPointer, FeedbackState
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.tracker import Tracker
from chalicelib.domain.work import (
    MAX_CLAIMS,
    PARKED_SHARD,
    DueWork,
    ParkedWork,
    due_after_failure,
    due_once_requeued,
    first_due,
    open_shards,
    shard_of,
)
from chalicelib.storage import trackers
from chalicelib.storage.compressed_json import CompressedJsonAttribute
from chalicelib.storage.table import Table, read_together
from chalicelib.storage.trackers import TrackerRow
from chalicelib.storage.transactions import condition_holds

_ONLY_PART: Final = "feedback"


class _Due(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
    class Meta:
        index_name = "due"
        projection = KeysOnlyProjection()

    work_shard = UnicodeAttribute(hash_key=True)
    due_at = NumberAttribute(range_key=True)


class FeedbackRow(Table):
    """A feedback, and how far the work on it has come."""

    class Meta:
        name = "feedback"

    feedback_id = UnicodeAttribute(hash_key=True)
    account_id = UnicodeAttribute()
    form_id = UnicodeAttribute()
    document = CompressedJsonAttribute()
    input_hash = UnicodeAttribute(null=True)
    created_at = UnicodeAttribute()
    customer_id = UnicodeAttribute(null=True)

    state = UnicodeAttribute()
    ended_at = UnicodeAttribute(null=True)
    claims = NumberAttribute(null=True)
    last_error = UnicodeAttribute(null=True)
    work_shard = UnicodeAttribute(null=True)
    due_at = NumberAttribute(null=True)
    due = _Due()


@dataclass(frozen=True)
class KeptFeedback:
    """A feedback as it is kept.

    Attributes:
        input_hash: tells the same input under the same idempotency key from another.
    """

    feedback: Feedback
    input_hash: str | None
    state: FeedbackState


def create(feedback: Feedback, input_hash: str | None) -> bool:
    """Keeps a new feedback; False, and nothing changed, when its id is already there."""
    row = _row(feedback, input_hash)
    return condition_holds(lambda: row.save(FeedbackRow.feedback_id.does_not_exist()))


def add(write: TransactWrite, feedback: Feedback, input_hash: str | None) -> None:
    """Keeps a new feedback in this transaction, which fails when its id is already there."""
    write.save(_row(feedback, input_hash), FeedbackRow.feedback_id.does_not_exist())


def find(feedback_id: str) -> KeptFeedback | None:
    """The feedback with this id, or None. One request."""
    return find_many([feedback_id]).get(feedback_id)


def find_many(feedback_ids: Collection[str]) -> dict[str, KeptFeedback]:
    """The feedback with these ids, at most 100, as it is now. One request."""
    rows = read_together(*((FeedbackRow, feedback_id) for feedback_id in feedback_ids))
    return {row.feedback_id: _kept(row) for row in rows if row}


def find_with_tracker(
    feedback_id: str, tracker_id: str
) -> tuple[KeptFeedback | None, Tracker | None]:
    """The feedback and the tracker with these ids, as they are now. One request."""
    row, tracker = read_together((FeedbackRow, feedback_id), (TrackerRow, tracker_id))
    return _kept(row) if row else None, trackers.tracker_of(tracker) if tracker else None


def finish(
    write: TransactWrite, feedback: Feedback, customer_id: str | None, now: datetime
) -> None:
    """Marks the feedback done in this transaction, which fails if it already is."""
    actions: list[Action] = [
        FeedbackRow.state.set(FeedbackState.DONE.value),
        FeedbackRow.ended_at.set(format_timestamp(now)),
        FeedbackRow.work_shard.remove(),
        FeedbackRow.due_at.remove(),
    ]
    if customer_id:
        actions.append(FeedbackRow.customer_id.set(customer_id))
    write.update(FeedbackRow(feedback.id), actions=actions, condition=_is_pending())


def note_failure(feedback_id: str, reason: str, now: datetime) -> bool:
    """Counts a claim that came to no end, and parks the feedback at the last; True when parked.

    It is tried again after a wait that grows with each failure.
    """
    row = FeedbackRow(feedback_id)
    counted = condition_holds(
        lambda: row.update(
            [FeedbackRow.claims.add(1), FeedbackRow.last_error.set(reason)],
            condition=_is_pending(),
        )
    )
    if not counted:
        return False
    claims = int(row.claims or 0)
    if claims < MAX_CLAIMS:
        condition_holds(
            lambda: row.update(
                [FeedbackRow.due_at.set(due_after_failure(now, claims))], condition=_is_pending()
            )
        )
        return False
    return condition_holds(
        lambda: row.update(
            [
                FeedbackRow.state.set(FeedbackState.PARKED.value),
                FeedbackRow.ended_at.set(format_timestamp(now)),
                FeedbackRow.work_shard.set(PARKED_SHARD),
                FeedbackRow.due_at.set(int(now.timestamp())),
            ],
            condition=_is_pending(),
        )
    )


def overdue(now: datetime, at_most: int) -> Iterator[DueWork]:
    """Unfinished feedback that was due before now, some of each shard."""
    for shard in open_shards():
        yield from _in_shard(shard, FeedbackRow.due_at <= int(now.timestamp()), at_most)


def put_off(due: DueWork, now: datetime) -> FeedbackPointer | None:
    """Moves an overdue feedback's time forward and answers its pointer, to be queued again.

    None when it ended or was put off meanwhile.
    """
    row = FeedbackRow(due.owner_id)
    moved = condition_holds(
        lambda: row.update(
            [FeedbackRow.due_at.set(due_once_requeued(now))],
            condition=_is_pending() & (FeedbackRow.due_at == due.due_at),
        )
    )
    return FeedbackPointer(row.account_id, row.feedback_id) if moved else None


def parked(at_most: int) -> list[ParkedWork]:
    """Feedback that waits for an operator, the longest waiting first."""
    nominated = list(_in_shard(PARKED_SHARD, None, at_most))
    rows = read_together(*((FeedbackRow, due.owner_id) for due in nominated)) if nominated else []
    return [
        ParkedWork(
            kind="feedback",
            account_id=row.account_id,
            owner_id=row.feedback_id,
            part=_ONLY_PART,
            claims=int(row.claims or 0),
            reason=row.last_error or "",
            parked_at=datetime.fromisoformat(row.ended_at),
        )
        for row in rows
        if row and row.state == FeedbackState.PARKED.value
    ]


def parked_parts(feedback_id: str) -> list[str]:
    """The one part of a feedback, if it waits for an operator."""
    kept = find(feedback_id)
    return [_ONLY_PART] if kept and kept.state is FeedbackState.PARKED else []


def revive(feedback_id: str, part: str, now: datetime) -> FeedbackPointer:
    """Makes a parked feedback pending again, and answers its pointer, to be queued.

    Raises:
        NotFound: there is no such parked feedback.
    """
    if part != _ONLY_PART:
        raise NotFound("parked work")
    row = FeedbackRow(feedback_id)
    revived = condition_holds(
        lambda: row.update(
            [
                FeedbackRow.state.set(FeedbackState.PENDING.value),
                FeedbackRow.work_shard.set(shard_of(feedback_id, _ONLY_PART)),
                FeedbackRow.due_at.set(first_due(now)),
                FeedbackRow.ended_at.remove(),
                FeedbackRow.claims.remove(),
            ],
            condition=FeedbackRow.state == FeedbackState.PARKED.value,
        )
    )
    if not revived:
        raise NotFound("parked work")
    return FeedbackPointer(row.account_id, row.feedback_id)


def _in_shard(shard: str, until: Condition | None, at_most: int) -> Iterator[DueWork]:
    for row in FeedbackRow.due.query(shard, until, limit=at_most):
        yield DueWork(row.feedback_id, _ONLY_PART, int(row.due_at))


def _is_pending() -> Condition:
    return FeedbackRow.state == FeedbackState.PENDING.value


def _row(feedback: Feedback, input_hash: str | None) -> FeedbackRow:
    return FeedbackRow(
        feedback.id,
        account_id=feedback.account_id,
        form_id=feedback.form_id,
        document=feedback.model_dump_json().encode(),
        input_hash=input_hash,
        created_at=format_timestamp(feedback.created_at),
        customer_id=feedback.customer_id,
        state=FeedbackState.PENDING.value,
        work_shard=shard_of(feedback.id, _ONLY_PART),
        due_at=first_due(feedback.created_at),
    )


def _kept(row: FeedbackRow) -> KeptFeedback:
    feedback = Feedback.model_validate_json(row.document)
    if row.customer_id != feedback.customer_id:
        feedback = feedback.model_copy(update={"customer_id": row.customer_id})
    return KeptFeedback(feedback, row.input_hash, FeedbackState(row.state))
