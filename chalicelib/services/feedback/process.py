"""Process feedback exactly once, even if its message is delivered several times.

1. Create the webhook executions. Their ids are derived from the feedback, so repeating this step
   creates no duplicates.
2. Create the respondents' customers, update the counts and the statistics, add the feedback to the
   partners' feed and mark it as done, in one transaction per account. Later messages for this
   feedback are skipped.
3. Queue the executions. If queueing fails, the sweeper queues them.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from chalicelib.concurrency import map_concurrently
from chalicelib.domain import clock
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.feedback.daily import group_of, numbers_by_group
from chalicelib.domain.feedback.feedback import Feedback, FeedbackPointer
from chalicelib.domain.ids import derived_id
from chalicelib.domain.webhooks.execution import Execution
from chalicelib.domain.work import WorkState
from chalicelib.domain.workflows.workflow import new_execution, reactions
from chalicelib.log import logger
from chalicelib.messages import decode
from chalicelib.metrics import metric_fields
from chalicelib.outbound.queues import send
from chalicelib.queues import FEEDBACK, WEBHOOKS
from chalicelib.services.accounts.settings import account_settings
from chalicelib.services.customers.request_positions import request_positions
from chalicelib.services.work.worker import Message, Worker, WorkOutcome
from chalicelib.services.workflows.read import workflows_of
from chalicelib.storage import (
    counters,
    customer_creation,
    customers,
    executions,
    feedback,
    feedback_changes,
    statistics,
    trackers,
)
from chalicelib.storage.counters import Counted, Listed, counter_key
from chalicelib.storage.customers import CustomerPairRow, customer_key, pair_key
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.feedback import FeedbackRow
from chalicelib.storage.forms import TABLES
from chalicelib.storage.trackers import TrackerRow
from chalicelib.time_limits import reserve

MAX_BATCH_SIZE: Final = 16
"""Maximum number of feedback records that are processed together.

A DynamoDB transaction allows 100 writes. Each feedback record needs up to five, and their account
four.
"""

_MAX_CONCURRENCY: Final = 8


class FeedbackOutcome(WorkOutcome):
    """The outcome of processing one queue message."""

    PROCESSED = "processed", "feedback processed", "done"
    SKIPPED = "skipped", "feedback skipped"
    DEFERRED = "deferred", "feedback deferred"
    RESCHEDULED = "retry scheduled", "feedback rescheduled"
    PARKED = "parked", "feedback parked", "parked"


@dataclass
class Batch:
    """The feedback records of the messages that an invocation received.

    Attributes:
        redelivered: the ids of the records of redelivered messages.
        started: the ids of the redelivered records whose start this invocation has recorded.
        alone: the ids of the records that are processed separately, because an earlier invocation
            recorded their start and no outcome. Such a record may have stopped the function.
    """

    redelivered: Collection[str]
    started: set[str] = field(default_factory=set)
    alone: set[str] = field(default_factory=set)

    def select(self, pending: Sequence[FeedbackRow]) -> list[FeedbackRow]:
        """Return the records that are processed together, and record their starts.

        No AWS request if no message is redelivered, otherwise one.
        """
        self.alone.update(row.feedback_id for row in pending if row.started_at is not None)
        self.alone -= self.started
        ids = {row.feedback_id for row in pending} - self.alone
        new = ids.intersection(self.redelivered) - self.started
        keys = feedback.WORK.record_first_starts(map(_key_of, sorted(new)), clock.now())
        self.started.update(feedback_id for feedback_id, _ in keys)
        self.alone |= new - self.started
        return [row for row in pending if row.feedback_id not in self.alone]

    def end_starts(self, done: Collection[str]) -> None:
        """Remove the starts of the other records, whose processing ended with an exception.

        At most one AWS request.
        """
        failed = self.started.difference(done)
        feedback.WORK.remove_starts(map(_key_of, sorted(failed)), clock.now())


def process_feedback(
    feedback_ids: Collection[str], batch: Batch | None = None
) -> dict[str, Sequence[Execution]]:
    """Process up to `MAX_BATCH_SIZE` feedback records.

    Return the executions of each record that was pending, by the id of the record.

    Args:
        batch: selects the records that are processed together. Default: all of them.

    AWS requests: two, and one per account. In addition:

    - two if there are saved taps whose time has ended
    - one if respondents are existing customers
    - one per ten accounts whose new customers have no position
    - one per 100 executions to create, and one per ten to queue
    - one if messages of the batch are redelivered
    - one for each account's workflows, and one for its settings, that are not cached

    Raises:
        Unavailable: the database throttles, or contention persists. Records of some accounts may
            be processed; executions of the others may have been created.
    """
    unfinished = commit(partial(_end_taps, feedback_ids))
    pending = batch.select(unfinished) if batch else unfinished
    if not pending:
        return {}
    created = _create_executions([row.document for row in pending])
    pairs = {row.feedback_id: pair for row in pending if (pair := _pair_to_identify(row.document))}
    read, by_account = Rows(), defaultdict[str, list[str]](list)
    for row in pending:
        read.know(row)
        by_account[row.account_id].append(row.feedback_id)
    _fetch(read, created, pairs)
    done: dict[str, Sequence[Execution]] = {}
    unlisted: list[str] = []

    def finish(account_id: str) -> None:
        use_case = partial(_finish, account_id, by_account[account_id], pairs)
        finished, are_listed = commit(use_case, read=read)
        done.update((feedback_id, created[feedback_id]) for feedback_id in finished)
        if not are_listed:
            unlisted.append(account_id)

    try:
        # If the transaction of an account fails, those of the other accounts are still committed.
        map_concurrently(finish, list(by_account), _MAX_CONCURRENCY)
    except Exception:
        _queue(done, unlisted)
        raise
    _queue(done, unlisted)
    return done


def _queue(done: Mapping[str, Sequence[Execution]], unlisted: Sequence[str]) -> None:
    if unlisted:
        request_positions(*unlisted)
    send(WEBHOOKS, [execution.pointer for created in done.values() for execution in created])


def _end_taps(feedback_ids: Collection[str], rows: Rows) -> list[FeedbackRow]:
    """Return the pending records. End the time in which saved taps can be changed.

    The trackers of saved taps are then used. The sweeper queues taps when their time has ended. One
    AWS request; three with taps.
    """
    pending = _fetch_pending(rows, feedback_ids)
    tapped = [row for row in pending if row.is_open]
    rows.prefetch(*(Key(TrackerRow, t) for row in tapped if (t := row.document.tracker_id)))
    for row in tapped:
        rows.get(row.own_key(), FeedbackRow.saves)
        row.saves = None
        if tracker_id := row.document.tracker_id:
            trackers.consume(rows, tracker_id, row.feedback_id, row.created_at)
    return pending


def _fetch_pending(rows: Rows, feedback_ids: Iterable[str]) -> list[FeedbackRow]:
    keys = dict.fromkeys(Key(FeedbackRow, feedback_id) for feedback_id in feedback_ids)
    rows.prefetch(*keys)
    found = filter(None, map(rows.known, keys))
    return [row for row in found if row.state == WorkState.PENDING]


def _create_executions(pending: Sequence[Feedback]) -> dict[str, Sequence[Execution]]:
    """Create the executions of the feedback records. Return them by id of the record."""
    now = clock.now()
    created: dict[str, Sequence[Execution]] = {
        record.id: [
            new_execution(workflow, action, record, now)
            for workflow, action in reactions(workflows_of(record.account_id), record)
        ]
        for record in pending
    }
    executions.create([execution for each in created.values() for execution in each])
    return created


Pairs = Mapping[str, Key[CustomerPairRow]]
"""The pairs that identify the respondents of feedback records, by id of the record."""


def _fetch(rows: Rows, feedback_ids: Iterable[str], pairs: Pairs) -> list[FeedbackRow]:
    """Fetch all rows that `_finish` needs. Return the pending records, the oldest first."""
    pending = _fetch_pending(rows, feedback_ids)
    related: list[Key[Any]] = []
    for row in pending:
        account_id, tracker_id = row.account_id, row.document.tracker_id
        related.append(feedback_changes.head_key(account_id))
        if tracker_id:
            related.append(Key(TrackerRow, tracker_id))
        if row.customer_id:
            related.append(customer_key(account_id, row.customer_id))
        elif pair := pairs.get(row.feedback_id):
            related += pair, counter_key(account_id, Listed.CUSTOMERS)
    rows.prefetch(*related)
    rows.prefetch(
        *(
            customer_key(row.account_id, holder.customer_id)
            for row in pending
            if (pair := pairs.get(row.feedback_id)) and (holder := rows.known(pair))
        )
    )
    return sorted(pending, key=lambda row: row.created_at)


def _finish(
    account_id: str, feedback_ids: Collection[str], pairs: Pairs, rows: Rows
) -> tuple[Collection[str], bool]:
    """Count the pending records of an account, and mark them as done.

    Return their ids, and whether each new customer has a position in the account's list.
    """
    pending = _fetch(rows, feedback_ids, pairs)
    ids, now = [row.feedback_id for row in pending], clock.now()
    if not pending:
        return ids, True
    found, are_listed = _customers_of(rows, account_id, pending, pairs)
    number = feedback_changes.add(rows, account_id, ids, now)
    counters.count(rows, account_id, Counted.FEEDBACK, ids[0], len(ids))
    time_zone = account_settings(account_id).time_zone
    for row in pending:
        key, record = Key(FeedbackRow, row.feedback_id), row.document
        rows.get(key, FeedbackRow.state, FeedbackRow.anonymized_at)
        row.finish(WorkState.DONE, now)
        # Another invocation can have set them since the record was read.
        rows.set(key, FeedbackRow.started_at, None)
        rows.set(key, FeedbackRow.waits_since, None)
        row.entry_number, row.counted_as = number, group_of(record, time_zone).key
        if tracker_id := record.tracker_id:
            used = "a used tracker keeps its group, of which tapped answers have a copy"
            tracker = rows.peek(Key(TrackerRow, tracker_id), because=used)
            row.answered_as = (tracker and tracker.counted_as) or row.answered_as
        if customer_id := found.get(row.feedback_id):
            row.customer_id, customer = customer_id, customer_key(account_id, customer_id)
            customers.count_feedback(rows, customer, record.rating, record.source, now)
        TABLES[record.kind].count_submissions(rows, record.form_id, 1)
        numbers = numbers_by_group(record, row.counted_as, row.answered_as)
        statistics.add(rows, account_id, numbers)
    return ids, are_listed


def _customers_of(
    rows: Rows, account_id: str, pending: Sequence[FeedbackRow], pairs: Pairs
) -> tuple[dict[str, str], bool]:
    """Return the ids of the respondents' customers by id of the record. Create missing customers.

    Return also whether each new customer has a position. A record has no customer if the customer
    is deleted, or if neither the tracker nor the answers identify one.
    """
    found: dict[str, str] = {}
    are_listed = True
    for row in pending:
        customer_id, pair = row.customer_id, pairs.get(row.feedback_id)
        if pair and not row.document.is_anonymized:
            customer_id = rows.value(pair, CustomerPairRow.customer_id)
            if not customer_id:
                # The id is derived from the feedback, so the customer can exist with another pair.
                customer_id = derived_id(row.feedback_id, "customer")
                if not rows.known(customer_key(account_id, customer_id)):
                    customer = _respondent(customer_id, row.document)
                    are_listed &= customer_creation.append(rows, account_id, customer)
        if customer_id and rows.known(customer_key(account_id, customer_id)):
            found[row.feedback_id] = customer_id
    return found, are_listed


def _respondent(customer_id: str, record: Feedback) -> Customer:
    return Customer(
        id=customer_id,
        created_at=record.created_at,
        updated_at=record.created_at,
        email=record.email,
        phone_number=record.phone_number,
        language=record.language,
        data_sources=(record.source,),
    )


def _pair_to_identify(record: Feedback) -> Key[CustomerPairRow] | None:
    if record.pair and account_settings(record.account_id).identify_respondents:
        return pair_key(record.account_id, record.pair.digest)
    return None


def _key_of(feedback_id: str) -> tuple[str, str]:
    return feedback_id, feedback.PART


def _process_together(messages: Sequence[Message[FeedbackPointer]]) -> Collection[FeedbackPointer]:
    """Process the records of the messages together, in one transaction per account.

    Return the pointers of the processed messages. After an exception, each half of the records is
    processed together, and so on. A record that fails alone is left, so that it blocks no other
    record. So is a record that an earlier invocation started and did not finish: if it stops the
    function again, this counts as a failure of no other record.
    """
    batch = Batch({message.pointer.feedback_id for message in messages if message.is_redelivery})
    done: set[str] = set()
    _process_parts(list({message.pointer.feedback_id: None for message in messages}), batch, done)
    with suppress(Unavailable), reserve(math.inf):  # Each outcome removes a start, too.
        batch.end_starts(done)
    return [message.pointer for message in messages if message.pointer.feedback_id in done]


def _process_parts(feedback_ids: Sequence[str], batch: Batch, done: set[str]) -> None:
    """Process the records, after an exception each half of them. Add the ids to ``done``."""
    try:
        executions_by_id = process_feedback(feedback_ids, batch)
    except Exception as error:
        logger.warning("feedback batch failed", error=type(error).__name__)
        middle = len(feedback_ids) // 2
        # The time for retries is used up. The rest of it is left to single records.
        with reserve(math.inf) if isinstance(error, Unavailable) else nullcontext():
            for half in (feedback_ids[:middle], feedback_ids[middle:]):
                if len(half) > 1:
                    _process_parts(half, batch, done)
        return
    done.update(set(feedback_ids) - batch.alone)
    logger.info(
        "feedback batch processed",
        feedback_ids=list(executions_by_id),
        execution_ids=[each.id for group in executions_by_id.values() for each in group],
        **metric_fields("work", "feedback", parked=0, done=len(executions_by_id)),
    )


def _process_message(message: Message[FeedbackPointer]) -> FeedbackOutcome:
    is_processed = process_feedback([message.pointer.feedback_id])
    return FeedbackOutcome.PROCESSED if is_processed else FeedbackOutcome.SKIPPED


WORKER: Final = Worker(
    queue=FEEDBACK,
    parse=partial(decode, FeedbackPointer),
    prepare=_process_together,
    run=_process_message,
    records=feedback.WORK,
    key=lambda pointer: (pointer.feedback_id, feedback.PART),
    outcomes=FeedbackOutcome,
    log_fields=("account_id", "feedback_id"),
)
