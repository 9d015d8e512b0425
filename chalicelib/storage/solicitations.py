"""The table of solicitations: one work record per purchase.

A worker claims a solicitation in the transaction that also creates the tracker and records the
survey for the customer's contacts. Each claim has a new fencing token. If the lease ends without a
stored outcome, the message may have been sent, so the outcome is UNKNOWN.

The transaction that stores the outcome SENT also adds the reminder, if the survey has one: a row
with the attributes of a work record only. It has neither a creation time nor a customer, so no
index lists it as a solicitation, and an erasure needs to change only the solicitation.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain
from math import ceil
from typing import Final, NamedTuple

from pynamodb.attributes import BooleanAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.forms.survey import SendMode
from chalicelib.domain.forms.tracker import Tracker
from chalicelib.domain.ids import new_id
from chalicelib.domain.list_cursor import CursorPosition
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.solicitation.decide import SkipReason
from chalicelib.domain.solicitation.solicitation import (
    Solicitation,
    SolicitationPointer,
    SolicitationState,
    purchase_id_of,
    reminder_id,
)
from chalicelib.domain.work import PENDING, due_after_deferral, first_due
from chalicelib.storage import counters, statistics
from chalicelib.storage.counters import Counted
from chalicelib.storage.customers import build_customer, customer_key
from chalicelib.storage.dynamodb.attributes import IntegerAttribute, TimestampAttribute, optional
from chalicelib.storage.dynamodb.indexes import including, index
from chalicelib.storage.dynamodb.table import (
    Key,
    fields_of,
    read_indexed,
    read_together,
)
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.dynamodb.work_records import ClaimLost, ClaimRow, WorkRecords, settle
from chalicelib.storage.lists import read_index_page
from chalicelib.storage.messages import MessageRow
from chalicelib.storage.purchases import PurchaseRow, build_purchase_from, purchase_key

LEASE: Final = timedelta(seconds=120)
"""The duration of a claim's lease.

It is longer than the function's time-out and shorter than the queue's visibility timeout.
"""

PART: Final = "solicitation"
"""The value of the attribute ``part`` of all records. It is constant: the table has no sort key."""


class SolicitationRow(ClaimRow[SolicitationPointer]):
    """The table row of a solicitation. The id is the id of the purchase."""

    class Meta:
        name = "solicitations"

    solicitation_id = UnicodeAttribute(hash_key=True)
    part = PART
    account_id = UnicodeAttribute()
    created_at = TimestampAttribute()
    source = UnicodeAttribute()
    external_id = UnicodeAttribute()
    customer_id = optional(UnicodeAttribute)
    is_requested = optional(BooleanAttribute)
    revision = optional(IntegerAttribute)
    processed_at = optional(TimestampAttribute)
    held_until = optional(TimestampAttribute)
    survey_id = optional(UnicodeAttribute)
    channel = optional(UnicodeAttribute)
    tracker_id = optional(UnicodeAttribute)
    text_day = optional(UnicodeAttribute)
    deferred_since = optional(TimestampAttribute)
    message_id = optional(UnicodeAttribute)
    sent_at = optional(TimestampAttribute)
    reminded_at = optional(TimestampAttribute)
    reminder_message_id = optional(UnicodeAttribute)
    answered_on = optional(TimestampAttribute)
    cancelled_at = optional(TimestampAttribute)
    counted_as = optional(UnicodeAttribute)
    by_account = index(
        "account_id",
        "created_at",
        including(
            "source external_id customer_id state reason channel survey_id tracker_id held_until"
            " sent_at"
        ),
    )
    by_customer = index("customer_id", "created_at")

    @classmethod
    def is_free(cls, _now: datetime) -> Condition:
        """Return a write condition: the solicitation is pending and not claimed.

        A solicitation with an expired claim does not satisfy the condition: its outcome becomes
        UNKNOWN.
        """
        free: Condition = cls.is_pending() & cls.leased_until.does_not_exist()
        return free

    def pointer(self, _now: datetime) -> SolicitationPointer:
        return SolicitationPointer(self.account_id, self.solicitation_id, self.customer_id)

    def reopen(self, now: datetime) -> None:
        super().reopen(now)
        self.leased_until = self.held_until = self.reason = None
        self.text_day = self.deferred_since = None


OUTCOMES: Final = {
    SolicitationState.SENT: Counted.SENT,
    SolicitationState.SKIPPED: Counted.SKIPPED,
    SolicitationState.REJECTED: Counted.REJECTED,
    SolicitationState.UNKNOWN: Counted.UNKNOWN,
}
"""The counter of each outcome."""

WORK: Final[WorkRecords[SolicitationPointer]] = WorkRecords("solicitation", SolicitationRow)
"""The work records of solicitations."""


def record(
    rows: Rows, account_id: str, purchase: Purchase, *, is_requested: bool
) -> SolicitationRow:
    """Add the solicitation of a purchase, or request a new decision if the purchase has changed.

    A final outcome stays. If the solicitation is claimed or parked, the decision that follows reads
    the new version of the purchase.
    """
    key, now = Key(SolicitationRow, purchase.id), purchase.updated_at
    stored = rows.peek(key, because="a final outcome stays")
    if stored is None:
        return _add(rows, account_id, purchase, now, is_requested=is_requested)
    if stored.state not in (SolicitationState.PENDING, SolicitationState.PARKED):
        return stored
    row = rows.get(key)
    if row and row.state == PENDING and row.leased_until is None:
        row.due_at, row.ready_at = first_due(now), int(now.timestamp())
        row.customer_id, row.held_until = purchase.customer_id, None
    return stored


def _add(
    rows: Rows, account_id: str, purchase: Purchase, now: datetime, *, is_requested: bool
) -> SolicitationRow:
    row = rows.create(Key(SolicitationRow, purchase.id))
    row.account_id, row.created_at = account_id, now
    row.source, row.external_id = purchase.source, purchase.external_id
    row.customer_id, row.is_requested = purchase.customer_id, is_requested
    if is_requested:
        row.make_pending(now)
    else:
        row.state, row.reason = SolicitationState.SKIPPED, SkipReason.NOT_REQUESTED
        row.ended_at = now
        counters.count(rows, account_id, Counted.SKIPPED, purchase.id)
    return row


def find(solicitation_id: str) -> Solicitation | None:
    """Load a solicitation. Return None if it does not exist. One consistent request."""
    (row,) = read_together(Key(SolicitationRow, solicitation_id))
    return build_solicitation(row) if row else None


class Fetched(NamedTuple):
    """A solicitation with its row, purchase and customer.

    There is no customer of a reminder if the person was erased, or if the purchase moved to another
    customer.
    """

    row: SolicitationRow
    solicitation: Solicitation
    purchase: Purchase | None = None
    customer: Customer | None = None


def fetch_with_purchase(rows: Rows, pointer: SolicitationPointer) -> Fetched | None:
    """Fetch a solicitation with its purchase and customer, and rely only on its own row.

    One consistent request; one more for a reminder, or if the customer of the purchase differs from
    the customer of the pointer.
    """
    account_id, purchase_id = pointer.account_id, purchase_id_of(pointer.solicitation_id)
    key, survey_key = (
        Key(SolicitationRow, each) for each in (pointer.solicitation_id, purchase_id)
    )
    row_of_purchase = purchase_key(account_id, purchase_id)
    customers = [customer_key(account_id, each) for each in [pointer.customer_id] if each]
    rows.prefetch(key, survey_key, row_of_purchase, *customers)
    row, sent = rows.get(key), rows.peek(survey_key, because=_DECISION)
    if row is None or sent is None or sent.account_id != account_id:
        return None
    solicitation, is_reminder = build_solicitation(row), key != survey_key
    if is_reminder:
        solicitation = _with_survey(solicitation, build_solicitation(sent))
    found = rows.peek(row_of_purchase, because=_DECISION)
    if found is None:
        return Fetched(row, solicitation)
    purchase = build_purchase_from(found)
    is_same = not is_reminder or solicitation.customer_id == purchase.customer_id
    if not purchase.customer_id or not is_same:
        return Fetched(row, solicitation, purchase)
    key_of_customer = customer_key(account_id, purchase.customer_id)
    rows.prefetch(key_of_customer)
    customer = rows.peek(key_of_customer, because=_DECISION)
    return Fetched(row, solicitation, purchase, build_customer(customer) if customer else None)


_DECISION: Final = "what follows from the decision relies on what it needs"


def _with_survey(reminder: Solicitation, sent: Solicitation) -> Solicitation:
    """Return a reminder with the data that it shares with its survey."""
    return replace(
        reminder,
        source=sent.source,
        external_id=sent.external_id,
        customer_id=sent.customer_id,
        created_at=sent.created_at,
        survey_id=sent.survey_id,
        channel=sent.channel,
        tracker_id=sent.tracker_id,
        cancelled_at=sent.cancelled_at,
    )


def rely_on_survey(rows: Rows, reminder: Solicitation) -> SolicitationRow | None:
    """Rely on the survey of a reminder: it is sent, and not cancelled or erased. Return its row.

    The purchase must still belong to the customer who received the survey.
    """
    rows.value(purchase_key(reminder.account_id, reminder.purchase_id), PurchaseRow.customer_id)
    return rows.get(
        Key(SolicitationRow, reminder.purchase_id),
        SolicitationRow.state,
        SolicitationRow.customer_id,
        SolicitationRow.tracker_id,
        SolicitationRow.cancelled_at,
    )


def end(
    rows: Rows, row: SolicitationRow, state: SolicitationState, reason: str | None, now: datetime
) -> None:
    """End a solicitation with an outcome, and count the outcome, but not that of a reminder."""
    row.finish(state, now)
    row.reason, row.held_until, row.leased_until = reason, None, None
    if purchase_id_of(row.solicitation_id) == row.solicitation_id:
        counters.count(rows, row.account_id, OUTCOMES[state], row.solicitation_id)


def _count_as(rows: Rows, row: SolicitationRow, group: str | None) -> None:
    """Count a survey as sent in this group of the statistics; None if it does not count."""
    statistics.count_sent(rows, row.account_id, row.solicitation_id, row.counted_as, group)
    row.counted_as = group


def choose(rows: Rows, row: SolicitationRow, tracker: Tracker) -> None:
    """Store the survey and its recipient, and count the survey as sent."""
    row.survey_id, row.channel, row.tracker_id = tracker.survey_id, tracker.send_mode, tracker.id
    row.customer_id = tracker.customer_id
    _count_as(rows, row, tracker.counted_as)


def link(rows: Rows, row: SolicitationRow, tracker: Tracker, now: datetime) -> None:
    """Give the survey to the partner as a link, and count it as sent."""
    earlier = SolicitationState(row.state)
    if earlier in OUTCOMES:
        counters.count(rows, row.account_id, OUTCOMES[earlier], row.solicitation_id, -1)
    choose(rows, row, tracker)
    end(rows, row, SolicitationState.SENT, None, now)
    row.sent_at = now


def cancel(rows: Rows, row: SolicitationRow, now: datetime) -> None:
    """Cancel a solicitation.

    A solicitation that no worker is sending ends. Otherwise, it is only marked: if its message is
    not sent, the next decision ends it.
    """
    row.cancelled_at = now
    if SolicitationState(row.state) not in OUTCOMES and row.leased_until is None:
        end(rows, row, SolicitationState.SKIPPED, SkipReason.CANCELLED, now)


def hold(row: SolicitationRow, until: datetime, reason: str, now: datetime) -> None:
    """Make the next decision due at this time."""
    row.plan_at(ceil(until.timestamp()))
    row.held_until, row.reason, row.processed_at = until, reason, row.processed_at or now


def defer(row: SolicitationRow, reason: str, now: datetime) -> None:
    """Defer a solicitation, before or after it is claimed, with exponential backoff."""
    row.deferrals = (row.deferrals or 0) + 1
    row.due_at, row.started_at = due_after_deferral(now, row.deferrals), None
    row.waits_since, row.held_until, row.reason = None, None, reason
    row.processed_at = row.processed_at or now


def claim(row: SolicitationRow, text_day: str | None, now: datetime) -> None:
    """Claim a solicitation. The claim has a new fencing token.

    An update of the purchase changes the customer of the purchase, but not the customer of a
    claimed solicitation.
    """
    row.claim_token, row.leased_until = new_id(), ceil((now + LEASE).timestamp())
    row.due_at, row.processed_at, row.text_day = row.leased_until, row.processed_at or now, text_day
    row.started_at = row.waits_since = row.requeues = None
    row.held_until = row.reason = None


def release(claimed: SolicitationRow, reason: str, now: datetime) -> bool:
    """Defer a claimed solicitation whose message was not sent. The tracker stays the same.

    Return False if the claim has expired. One request.
    """

    def released(rows: Rows, row: SolicitationRow) -> None:
        defer(row, reason, now)
        row.deferred_since = row.deferred_since or now
        _count_as(rows, row, None)

    return settle(claimed, released)


def save_sent(
    claimed: SolicitationRow,
    sent: MessageRow,
    remind_at: datetime | None,
    survey: SolicitationRow | None,
) -> bool:
    """Store the outcome SENT, and a row that maps the message id to the solicitation.

    Return False if the claim has expired, or if the person was erased. One request.

    Args:
        remind_at: the time of the reminder; None without a reminder.
        survey: the solicitation of the survey of a reminder; None if the message is the survey.
    """

    def ended(rows: Rows, row: SolicitationRow) -> None:
        end(rows, row, SolicitationState.SENT, None, sent.sent_at)
        rows.save(sent)
        if survey:
            _save_reminded(rows, survey, sent)
            return
        row.message_id, row.sent_at = sent.message_id, sent.sent_at
        if remind_at:
            _add_reminder(rows, row, remind_at)

    return settle(claimed, ended, *([survey] if survey else []))


def _save_reminded(rows: Rows, survey: SolicitationRow, sent: MessageRow) -> None:
    """Store when the customer was reminded, unless the person was erased."""
    rows.prefetch(survey.own_key())
    row = rows.get(survey.own_key(), SolicitationRow.customer_id)
    if row is None or row.customer_id != sent.customer_id:
        raise ClaimLost
    row.reminded_at, row.reminder_message_id = sent.sent_at, sent.message_id


def _add_reminder(rows: Rows, sent: SolicitationRow, remind_at: datetime) -> None:
    row = rows.create(Key(SolicitationRow, reminder_id(sent.solicitation_id)))
    row.account_id = sent.account_id
    row.make_pending(remind_at)
    row.plan_at(ceil(remind_at.timestamp()))


def save_end(
    claimed: SolicitationRow, state: SolicitationState, reason: str, now: datetime
) -> bool:
    """Store the outcome of a message that was skipped or rejected, or that may have been sent.

    A survey whose message was not sent is no longer counted as sent. Return False if the claim has
    expired. One request.
    """

    def ended(rows: Rows, row: SolicitationRow) -> None:
        end(rows, row, state, reason, now)
        if state is not SolicitationState.UNKNOWN:
            _count_as(rows, row, None)

    return settle(claimed, ended)


def list_page(
    account_id: str, after: CursorPosition | None, at_most: int, customer_id: str | None = None
) -> tuple[list[CursorPosition], bool]:
    """Load positions of the account's solicitations, and whether the list ends with them.

    One request. The index is eventually consistent.

    Args:
        after: the position of the last solicitation of the preceding page.
        customer_id: list the solicitations of this customer instead. The customer can belong to any
            account, so the caller checks the account of the solicitations.
    """
    index, key = SolicitationRow.by_account, ("account_id", account_id)
    if customer_id:
        index, key = SolicitationRow.by_customer, ("customer_id", customer_id)
    return read_index_page(index, key, "solicitation_id", after, at_most)


def find_many_with_purchases(
    account_id: str, solicitation_ids: Collection[str]
) -> dict[str, tuple[Solicitation, Purchase]]:
    """Load solicitations of the account by id, each with its purchase.

    Omit missing ones and those of other accounts. One consistent request per 50 solicitations.
    """
    keys = [
        (Key(SolicitationRow, each), purchase_key(account_id, each)) for each in solicitation_ids
    ]
    read = Rows()
    read.prefetch(*chain(*keys))
    rows = ((read.known(key), read.known(key_of_purchase)) for key, key_of_purchase in keys)
    return {
        row.solicitation_id: (build_solicitation(row), build_purchase_from(purchase))
        for row, purchase in rows
        if row and purchase and row.account_id == account_id
    }


def of_customer(account_id: str, customer_id: str) -> Iterator[Solicitation]:
    """Yield the customer's solicitations; see `rows_of_customer`."""
    return map(build_solicitation, rows_of_customer(account_id, customer_id))


def rows_of_customer(account_id: str, customer_id: str) -> Iterator[SolicitationRow]:
    """Yield the customer's solicitations.

    One request per MB of index entries and per 100 solicitations.
    """
    for row in read_indexed(SolicitationRow.by_customer.query(customer_id)):
        if row.account_id == account_id and row.customer_id == customer_id:
            yield row


def erase_customer(
    rows: Rows, row: SolicitationRow, answered_on: datetime | None, now: datetime
) -> None:
    """Remove the customer, the tracker and the messages of a solicitation, in this unit of work.

    Only the day of the answer remains. A pending solicitation ends: SKIPPED, or UNKNOWN if a worker
    may be sending the message. A skipped solicitation can no longer get a link.
    """
    solicitation = build_solicitation(row)
    for message_id in solicitation.message_ids:
        rows.remove(Key(MessageRow, message_id))
    row.customer_id = row.tracker_id = row.message_id = row.reminder_message_id = None
    row.answered_on = answered_on
    if not solicitation.outcome_is_final:
        is_open = solicitation.leased_until is None
        outcome = SolicitationState.SKIPPED if is_open else SolicitationState.UNKNOWN
        end(rows, row, outcome, SkipReason.ERASED, now)
    elif solicitation.can_be_linked:
        row.reason = SkipReason.ERASED


def build_solicitation(row: SolicitationRow) -> Solicitation:
    """Build a solicitation from its table row or its index entry."""
    values = fields_of(row, Solicitation) | {
        "id": row.solicitation_id,
        "is_requested": bool(row.is_requested),
        "state": SolicitationState(row.state),
        "channel": SendMode(row.channel) if row.channel else None,
    }
    return Solicitation(**values)
