"""Process feedback exactly once, even if its message is delivered several times.

1. Create the webhook executions and the customer. The ids of these records are derived from the
   feedback, so repeating this step creates no duplicates.
2. Update the counts and the statistics, add the feedback to the partners' feed and mark it as
   done, in one transaction per account. Later messages for this feedback are skipped.
3. Queue the executions. If queueing fails, the sweeper queues them.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from chalicelib.concurrency import map_concurrently
from chalicelib.domain import clock
from chalicelib.domain.customers.addresses import CustomerPair
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.feedback.daily import Numbers, group_of
from chalicelib.domain.feedback.feedback import Feedback, FeedbackPointer
from chalicelib.domain.feedback.stored import StoredFeedback
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
from chalicelib.storage.counters import Counted
from chalicelib.storage.customers import PairHolder
from chalicelib.storage.dynamodb.transactions import retry_on_contention
from chalicelib.storage.dynamodb.unit_of_work import transaction
from chalicelib.storage.feedback_changes import Head
from chalicelib.storage.forms import TABLES
from chalicelib.time_limits import reserve

MAX_BATCH_SIZE: Final = 16
"""Maximum number of feedback records that are processed together.

A DynamoDB transaction allows 100 writes, and each feedback record needs up to six.
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

    def select(self, pending: Sequence[StoredFeedback]) -> list[StoredFeedback]:
        """Return the records that are processed together, and record their starts.

        No AWS request if no message is redelivered, otherwise one.
        """
        self.alone.update(r.feedback.id for r in pending if r.is_started)
        self.alone -= self.started
        ids = {record.feedback.id for record in pending} - self.alone
        new = ids.intersection(self.redelivered) - self.started
        keys = feedback.WORK.record_first_starts(map(_key_of, sorted(new)), clock.now())
        self.started.update(feedback_id for feedback_id, _ in keys)
        self.alone |= new - self.started
        return [record for record in pending if record.feedback.id not in self.alone]

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
    - one to find respondents; two to four if some are new customers (see `find_or_create`)
    - one per ten accounts whose new customers have no position
    - one per 100 executions to create, and one per ten to queue
    - one if messages of the batch are redelivered
    - one for each account's workflows, and one for its settings, that are not cached

    Raises:
        Unavailable: the database throttles, or contention persists. Records of some accounts may
            be processed; executions and customers of the others may have been created.
    """
    created: dict[str, list[Execution]] = {}
    done: dict[str, None] = {}
    try:
        retry_on_contention(lambda: _attempt(feedback_ids, batch, created, done))
    except Exception:
        _queue_executions(created, done)
        raise
    return _queue_executions(created, done)


def _queue_executions(
    created: Mapping[str, Sequence[Execution]], done: Iterable[str]
) -> dict[str, Sequence[Execution]]:
    queued = {record_id: created[record_id] for record_id in done}
    send(WEBHOOKS, [execution.pointer for batch in queued.values() for execution in batch])
    return queued


def _attempt(
    feedback_ids: Collection[str],
    batch: Batch | None,
    created: dict[str, list[Execution]],
    done: dict[str, None],
) -> None:
    """Process the records that are pending. Add their ids to ``done``.

    If the transaction of an account fails, those of the other accounts are still committed.
    """
    records = feedback.find_many(set(feedback_ids), with_taps=True).values()
    unfinished = _end_taps([record for record in records if record.state is WorkState.PENDING])
    selected = batch.select(unfinished) if batch else unfinished
    pending = [record.feedback for record in selected]
    if not pending:
        return
    _create_executions([record for record in pending if record.id not in created], created)
    identified, holders = _with_customers(pending)
    by_account: dict[str, list[Feedback]] = defaultdict(list)
    for record in identified:
        by_account[record.account_id].append(record)
    # If the customer was deleted in the meantime, only the form's submission count is increased.
    heads, existing, surveys = feedback_changes.load_heads_and_related(
        by_account,
        {(r.account_id, r.customer_id) for r in identified if r.customer_id},
        {r.tracker_id for r in identified if r.tracker_id},
    )
    # An erasure may have deleted the tracker.
    copies = {record.feedback.id: record.answered_as for record in selected if record.answered_as}

    def finish(account_id: str) -> None:
        _count(by_account[account_id], heads[account_id], existing, holders, copies | surveys)
        done.update(dict.fromkeys(record.id for record in by_account[account_id]))

    map_concurrently(finish, list(by_account), _MAX_CONCURRENCY)


def _end_taps(pending: Sequence[StoredFeedback]) -> list[StoredFeedback]:
    """End the time in which saved taps can be changed, and mark their trackers as used.

    The sweeper queues saved taps when their time has ended. Two AWS requests; none without taps.
    """
    tapped = [record for record in pending if record.is_open]
    if tapped:
        found = trackers.find_many([t for r in tapped if (t := r.feedback.tracker_id)])
        with transaction() as write:
            for record in tapped:
                feedback.end_taps(write, record)
                if (tracker := found.get(record.feedback.tracker_id or "")) and not tracker.used_at:
                    at = record.feedback.created_at
                    trackers.consume(write, tracker.id, record.feedback.id, at)
    return [replace(record, saves=None) for record in pending]


def _create_executions(pending: Sequence[Feedback], created: dict[str, list[Execution]]) -> None:
    """Create the executions of the feedback records and add them to ``created``.

    After contention, `_attempt` runs again. The second run skips the records in ``created``,
    because their executions exist.
    """
    now = clock.now()
    new = {
        record.id: [
            new_execution(workflow, action, record, now)
            for workflow, action in reactions(workflows_of(record.account_id), record)
        ]
        for record in pending
    }
    executions.create([execution for batch in new.values() for execution in batch])
    created.update(new)


def _with_customers(
    pending: Sequence[Feedback],
) -> tuple[list[Feedback], dict[str, PairHolder]]:
    """Return the feedback records with the ids of the respondents' customers.

    If a record has no customer yet, find or create the customer by e-mail and phone number, and
    return this customer too, by id of the record. A record stays unchanged if it has neither of
    them, or if the account does not identify respondents.
    """
    pairs = {record.id: pair for record in pending if (pair := _pair_to_identify(record))}
    new: dict[tuple[str, str], Customer] = {}
    for record in sorted(pending, key=lambda record: record.created_at):
        if pair := pairs.get(record.id):
            new.setdefault((record.account_id, pair.digest), _respondent(record))
    if not new:
        return list(pending), {}
    found, unlisted = customer_creation.find_or_create(new)
    if unlisted:
        request_positions(*unlisted)
    holders = {
        record.id: found[record.account_id, pair.digest]
        for record in pending
        if (pair := pairs.get(record.id))
    }
    identified = [
        record.model_copy(update={"customer_id": holder.customer_id})
        if (holder := holders.get(record.id))
        else record
        for record in pending
    ]
    return identified, holders


def _respondent(record: Feedback) -> Customer:
    """Build the customer that is created for the respondent if no existing customer matches.

    The id is derived from the feedback's id, so every call returns the same customer.
    """
    return Customer(
        id=derived_id(record.id, "customer"),
        created_at=record.created_at,
        updated_at=record.created_at,
        email=record.email,
        phone_number=record.phone_number,
        language=record.language,
        data_sources=(record.source,),
    )


def _pair_to_identify(record: Feedback) -> CustomerPair | None:
    pair = None if record.customer_id else record.pair
    return pair if pair and account_settings(record.account_id).identify_respondents else None


def _count(
    identified: Sequence[Feedback],
    head: Head,
    existing: Collection[tuple[str, str]],
    holders: Mapping[str, PairHolder],
    surveys: Mapping[str, str],
) -> None:
    """Count the feedback records of an account, and mark them as done, in one transaction.

    The transaction fails if the pair of a respondent no longer names the same customer.

    Args:
        surveys: the groups in which surveys are counted, by id of the tracker or of the feedback.
    """
    now = clock.now()
    account_id = identified[0].account_id
    time_zone = account_settings(account_id).time_zone
    counted = [
        StoredFeedback(
            record,
            None,
            WorkState.DONE,
            counted_as=group_of(record, time_zone).key,
            answered_as=surveys.get(record.tracker_id or "", surveys.get(record.id)),
        )
        for record in identified
    ]
    numbers: dict[str, Numbers] = defaultdict(Numbers)
    for stored in counted:
        for group, added in stored.numbers.items():
            numbers[group].update(added)
    by_form = Counter((record.kind, record.form_id) for record in identified)
    by_customer: dict[str, list[Feedback]] = defaultdict(list)
    for record in identified:
        if record.customer_id and (account_id, record.customer_id) in existing:
            by_customer[record.customer_id].append(record)
    ids = [record.id for record in identified]
    with transaction() as write:
        for (kind, form_id), submissions in by_form.items():
            TABLES[kind].count_submissions(write, form_id, submissions)
        counters.count(write, account_id, Counted.FEEDBACK, ids[0], len(ids))
        number = feedback_changes.add(write, account_id, head, ids, now)
        statistics.add(write, account_id, numbers)
        for customer_id, records in by_customer.items():
            customers.count_feedback(
                write,
                account_id,
                customer_id,
                [record.rating for record in records],
                {record.source for record in records},
                now,
            )
        found = {holders[each.id] for each in identified if each.id in holders}
        for holder in found:
            if holder.customer_id in by_customer:
                customers.rely_on_holder(write, holder)
        for stored in counted:
            customer = stored.feedback.customer_id
            known = customer if customer in by_customer else None
            feedback.finish(write, stored, known, number, now)


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
