"""The table of solicitations: one work record per purchase.

A worker claims a solicitation in the transaction that also creates the tracker and records the
survey for the customer's contacts. Each claim has a new fencing token. If the lease ends without a
stored outcome, the message may have been sent, so the outcome is UNKNOWN.

The transaction that stores the outcome SENT also adds the reminder, if the survey has one: a row
with the attributes of a work record only. It has neither a creation time nor a customer, so no
index lists it as a solicitation, and an erasure needs to change only the solicitation.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime, timedelta
from math import ceil
from typing import Any, Final

from pynamodb.attributes import BooleanAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.forms.survey import SendMode
from chalicelib.domain.list_cursor import CursorPosition
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.decide import SkipReason
from chalicelib.domain.solicitation.solicitation import (
    Solicitation,
    SolicitationPointer,
    SolicitationState,
    purchase_id_of,
    reminder_id,
)
from chalicelib.domain.work import PENDING, due_after_deferral, first_due
from chalicelib.storage import counters, messages, statistics
from chalicelib.storage.counters import Counted
from chalicelib.storage.customers import CustomerRow, build_customer
from chalicelib.storage.dynamodb.attributes import IntegerAttribute, TimestampAttribute, optional
from chalicelib.storage.dynamodb.indexes import including, index
from chalicelib.storage.dynamodb.table import (
    Key,
    account_key,
    fields_of,
    read_indexed,
    read_together,
)
from chalicelib.storage.dynamodb.transactions import settle, try_write
from chalicelib.storage.dynamodb.unit_of_work import Contention, Rows, transaction
from chalicelib.storage.dynamodb.work_records import WorkRecords, WorkRow, pending_attributes
from chalicelib.storage.lists import read_index_page
from chalicelib.storage.messages import SentMessage
from chalicelib.storage.purchases import PurchaseRow, build_purchase_from

LEASE: Final = timedelta(seconds=120)
"""The duration of a claim's lease.

It is longer than the function's time-out and shorter than the queue's visibility timeout.
"""

PART: Final = "solicitation"
"""The value of the attribute ``part`` of all records. It is constant: the table has no sort key."""


class SolicitationRow(WorkRow):
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
    claim_token = optional(UnicodeAttribute)
    leased_until = optional(IntegerAttribute)
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
        return cls.has(state=PENDING, leased_until=None)

    def pointer(self, _now: datetime) -> SolicitationPointer:
        return SolicitationPointer(self.account_id, self.solicitation_id, self.customer_id)

    def on_reopening(self) -> dict[str, Any]:
        return dict.fromkeys(("leased_until", "held_until", "reason", "text_day", "deferred_since"))


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
    row = rows.get(
        key, SolicitationRow.state, SolicitationRow.leased_until, SolicitationRow.revision
    )
    if row and row.state == PENDING and row.leased_until is None:
        row.due_at, row.ready_at = first_due(now), int(now.timestamp())
        row.customer_id, row.held_until = purchase.customer_id, None
        rows.add(key, SolicitationRow.revision, 1)
    return stored


def _add(
    rows: Rows, account_id: str, purchase: Purchase, now: datetime, *, is_requested: bool
) -> SolicitationRow:
    row = rows.create(Key(SolicitationRow, purchase.id))
    row.solicitation_id, row.account_id, row.created_at = purchase.id, account_id, now
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
    (row,) = read_together((SolicitationRow, solicitation_id))
    return build_solicitation(row) if row else None


def find_with_purchase(
    pointer: SolicitationPointer,
) -> tuple[Solicitation | None, Purchase | None, Customer | None]:
    """Load a solicitation with its purchase and customer.

    One consistent request; one more for a reminder, or if the customer of the purchase differs from
    the customer of the pointer.
    """
    account_id, purchase_id = pointer.account_id, purchase_id_of(pointer.solicitation_id)
    if purchase_id != pointer.solicitation_id:
        return _find_reminder(account_id, purchase_id)
    keys: list[Any] = [
        (SolicitationRow, pointer.solicitation_id),
        (PurchaseRow, account_key(account_id, pointer.solicitation_id)),
    ]
    if pointer.customer_id:
        keys.append((CustomerRow, account_key(account_id, pointer.customer_id)))
    row, purchase_row, customer_row = (*read_together(*keys), None)[:3]
    if row is None or row.account_id != account_id:
        return None, None, None
    if purchase_row is None:
        return build_solicitation(row), None, None
    purchase = build_purchase_from(purchase_row)
    if purchase.customer_id != pointer.customer_id:
        found = purchase.customer_id and read_together(
            (CustomerRow, account_key(account_id, purchase.customer_id))
        )
        customer_row = found[0] if found else None
    customer = build_customer(customer_row) if customer_row else None
    return build_solicitation(row), purchase, customer


def _find_reminder(
    account_id: str, purchase_id: str
) -> tuple[Solicitation | None, Purchase | None, Customer | None]:
    """Load a reminder with the purchase and the customer of its survey. Two consistent requests.

    There is no customer if the person was erased, or if the purchase moved to another customer.
    """
    row, sent, purchase_row = read_together(
        (SolicitationRow, reminder_id(purchase_id)),
        (SolicitationRow, purchase_id),
        (PurchaseRow, account_key(account_id, purchase_id)),
    )
    if row is None or sent is None or sent.account_id != account_id:
        return None, None, None
    for name in _OF_SURVEY:
        setattr(row, name, getattr(sent, name))
    reminder = build_solicitation(row)
    if purchase_row is None:
        return reminder, None, None
    purchase, customer_row = build_purchase_from(purchase_row), None
    if reminder.customer_id and reminder.customer_id == purchase.customer_id:
        (customer_row,) = read_together(
            (CustomerRow, account_key(account_id, reminder.customer_id))
        )
    return reminder, purchase, build_customer(customer_row) if customer_row else None


_OF_SURVEY: Final = (
    "source external_id customer_id created_at survey_id channel tracker_id cancelled_at"
).split()
"""The attributes of a survey's solicitation that its reminder has too."""


def confirm_survey(write: Rows, reminder: Solicitation) -> None:
    """Check in this transaction that the survey of a reminder is not cancelled or erased.

    The purchase must still belong to the customer who received the survey.
    """
    purchase_key = account_key(reminder.account_id, reminder.purchase_id)
    is_same = PurchaseRow.customer_id == reminder.customer_id
    write.condition_check(Key(PurchaseRow, purchase_key), is_same)
    is_sent = SolicitationRow.has(
        state=SolicitationState.SENT,
        customer_id=reminder.customer_id,
        tracker_id=reminder.tracker_id,
        cancelled_at=None,
    )
    write.condition_check(Key(SolicitationRow, reminder.purchase_id), is_sent)


def skip(write: Rows, solicitation: Solicitation, reason: str, now: datetime) -> None:
    """End a solicitation without a message, in this transaction.

    The transaction fails if the solicitation is no longer open or has changed since it was loaded.
    """
    actions = _ending(SolicitationState.SKIPPED, now, reason=reason, held_until=None)
    write.update(SolicitationRow(solicitation.id), actions, _is_unchanged(solicitation))
    _count(write, solicitation, SolicitationState.SKIPPED)


def link(write: Rows, loaded: Solicitation, linked: Solicitation, now: datetime) -> None:
    """Give the survey to the partner as a link, and count it as sent, in this transaction.

    The transaction fails if the solicitation has changed since it was loaded.

    Args:
        linked: the solicitation with its new outcome, the survey, the tracker and the customer.
    """
    unchanged = SolicitationRow.has(
        state=loaded.state,
        reason=loaded.reason or None,
        revision=loaded.revision or None,
        customer_id=loaded.customer_id,
        leased_until=None,
        cancelled_at=None,
    )
    actions = _ending(
        linked.state, now, **_chosen(linked), sent_at=now, held_until=None, reason=None
    )
    write.update(SolicitationRow(loaded.id), actions, unchanged)
    if loaded.outcome_is_final:
        counters.count(write, loaded.account_id, OUTCOMES[loaded.state], loaded.id, -1)
    _count(write, loaded, linked.state)
    account_id, counted_before = loaded.account_id, loaded.counted_as
    statistics.count_sent(write, account_id, loaded.id, counted_before, linked.counted_as)


def cancel(solicitation: Solicitation, now: datetime) -> None:
    """Cancel a solicitation. One request.

    A solicitation that no worker is sending ends. Otherwise, it is only marked: if its message is
    not sent, the next decision ends it.

    Raises:
        Contention: the solicitation has been claimed, released or ended since it was loaded.
    """
    is_leased = solicitation.leased_until is not None
    claim = {"claim_token": solicitation.claim_token} if is_leased else {"leased_until": None}
    unchanged = SolicitationRow.has(state=solicitation.state, **claim)
    actions = SolicitationRow.changes(cancelled_at=now)
    with transaction() as write:
        if not solicitation.outcome_is_final and not is_leased:
            skipped, reason = SolicitationState.SKIPPED, SkipReason.CANCELLED
            actions += _ending(skipped, now, reason=reason, held_until=None)
            _count(write, solicitation, skipped)
        write.update(SolicitationRow(solicitation.id), actions, unchanged)


def hold(solicitation: Solicitation, until: datetime, reason: str, now: datetime) -> None:
    """Make the next decision due at this time. One request.

    Raises:
        Contention: the solicitation is no longer open or has changed since it was loaded.
    """
    planned = SolicitationRow.plan(ceil(until.timestamp()), held_until=until)
    _decide_later(solicitation, reason, now, planned)


def defer(solicitation: Solicitation, reason: str, now: datetime) -> None:
    """Defer a solicitation before it is claimed. One request.

    Raises:
        Contention: the solicitation is no longer open or has changed since it was loaded.
    """
    _decide_later(solicitation, reason, now, _deferral(solicitation, now, held_until=None))


def _deferral(solicitation: Solicitation, now: datetime, **values: Any) -> list[Action]:
    deferrals = solicitation.deferrals + 1
    due_at = due_after_deferral(now, deferrals)
    return SolicitationRow.leave_attempt(due_at=due_at, deferrals=deferrals, **values)


def _decide_later(
    solicitation: Solicitation, reason: str, now: datetime, actions: list[Action]
) -> None:
    row, unchanged = SolicitationRow(solicitation.id), _is_unchanged(solicitation)
    processed_at = solicitation.processed_at or now
    actions += SolicitationRow.changes(processed_at=processed_at, reason=reason)
    if not try_write(lambda: row.update(actions, condition=unchanged)):
        raise Contention(condition_failed=True)


def claim(write: Rows, claimed: Solicitation, counted_before: str | None, now: datetime) -> None:
    """Claim a solicitation in this transaction, and count its survey as sent.

    The transaction fails if the solicitation is no longer open or has changed since it was loaded.

    Args:
        claimed: the solicitation as loaded, with the new fencing token, survey, channel and
            tracker, and with the customer who receives the survey. An update of the purchase
            changes the customer of the purchase, but not the customer of a claimed solicitation.
        counted_before: the group in which an earlier claim counted the survey as sent, if any.
    """
    lease_end = ceil((now + LEASE).timestamp())
    chosen = {} if claimed.is_reminder else _chosen(claimed)
    actions = SolicitationRow.leave_attempt(
        claim_token=claimed.claim_token,
        leased_until=lease_end,
        due_at=lease_end,
        requeues=None,
        processed_at=claimed.processed_at or now,
        held_until=None,
        reason=None,
        text_day=claimed.text_day,
        **chosen,
    )
    write.update(SolicitationRow(claimed.id), actions, _is_unchanged(claimed))
    statistics.count_sent(write, claimed.account_id, claimed.id, counted_before, claimed.counted_as)


def _chosen(decided: Solicitation) -> dict[str, Any]:
    chosen = "survey_id channel tracker_id counted_as customer_id"
    return {name: getattr(decided, name) for name in chosen.split()}


def release(claimed: Solicitation, reason: str, now: datetime) -> bool:
    """Defer a claimed solicitation whose message was not sent. The tracker stays the same.

    Return False if the claim has expired. One request.
    """
    since = claimed.deferred_since or now
    actions = _deferral(claimed, now, leased_until=None, reason=reason, deferred_since=since)
    return _settle(claimed, actions, SolicitationState.PENDING)


def save_sent(
    claimed: Solicitation,
    message_id: str,
    contact_key: str,
    now: datetime,
    remind_at: datetime | None = None,
) -> bool:
    """Store the outcome SENT, and a row that maps the message id to the solicitation.

    Return False if the claim has expired, or if the person was erased. One request.

    Args:
        message_id: the provider's id of the message.
        contact_key: the contact of the recipient's address.
        remind_at: the time of the reminder; None without a reminder.
    """
    assert claimed.customer_id  # noqa: S101 - every claim has a customer and a channel
    assert claimed.channel  # noqa: S101
    sent = SentMessage(
        message_id=message_id,
        account_id=claimed.account_id,
        solicitation_id=claimed.purchase_id,
        customer_id=claimed.customer_id,
        channel=Channel(claimed.channel),
        contact_key=contact_key,
        sent_at=now,
    )
    of_survey = {} if claimed.is_reminder else {"message_id": message_id, "sent_at": now}
    actions = _ending(SolicitationState.SENT, now, **of_survey)

    def also(write: Rows) -> None:
        messages.add(write, sent)
        if claimed.is_reminder:
            _save_reminded(write, claimed, message_id, now)
        elif remind_at:
            _add_reminder(write, claimed, remind_at)

    return _settle(claimed, actions, SolicitationState.SENT, also)


def _save_reminded(write: Rows, reminder: Solicitation, message_id: str, now: datetime) -> None:
    """Store in this transaction when the customer was reminded.

    The transaction fails if the person was erased.
    """
    write.update(
        SolicitationRow(reminder.purchase_id),
        SolicitationRow.changes(reminded_at=now, reminder_message_id=message_id),
        SolicitationRow.customer_id == reminder.customer_id,
    )


def _add_reminder(write: Rows, sent: Solicitation, remind_at: datetime) -> None:
    """Add the reminder of a survey in this transaction, which fails if there is one."""
    record_id, due_at = reminder_id(sent.id), ceil(remind_at.timestamp())
    pending = pending_attributes(sent.account_id, record_id, PART, remind_at)
    values = {"solicitation_id": record_id, "account_id": sent.account_id, **pending}
    write.put_new(SolicitationRow, {**values, "due_at": due_at, "ready_at": due_at})


def save_end(claimed: Solicitation, state: SolicitationState, reason: str, now: datetime) -> bool:
    """Store the outcome of a message that was skipped or rejected, or that may have been sent.

    Return False if the claim has expired. One request.
    """
    return _settle(claimed, _ending(state, now, reason=reason), state)


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
        key
        for each in solicitation_ids
        for key in ((SolicitationRow, each), (PurchaseRow, account_key(account_id, each)))
    ]
    rows = read_together(*keys)
    return {
        row.solicitation_id: (build_solicitation(row), build_purchase_from(purchase))
        for row, purchase in zip(rows[::2], rows[1::2], strict=True)
        if row and purchase and row.account_id == account_id
    }


def of_customer(account_id: str, customer_id: str) -> Iterator[Solicitation]:
    """Yield the customer's solicitations.

    One request per MB of index entries and per 100 solicitations.
    """
    for row in read_indexed(SolicitationRow, SolicitationRow.by_customer.query(customer_id)):
        if row.account_id == account_id and row.customer_id == customer_id:
            yield build_solicitation(row)


def erase_customer(
    write: Rows, solicitation: Solicitation, answered_on: datetime | None, now: datetime
) -> None:
    """Remove the customer, the tracker and the message of a solicitation, in this transaction.

    Only the day of the answer remains. A pending solicitation ends: SKIPPED, or UNKNOWN if a worker
    may be sending the message. `count_erased` counts this outcome. A skipped solicitation can no
    longer get a link. The transaction fails if the solicitation has changed since it was loaded.
    """
    actions = SolicitationRow.changes(
        customer_id=None,
        tracker_id=None,
        message_id=None,
        reminder_message_id=None,
        answered_on=answered_on,
    )
    if outcome := _outcome_of_erasure(solicitation):
        actions += _ending(outcome, now, reason=SkipReason.ERASED, held_until=None)
    elif solicitation.can_be_linked:
        actions += SolicitationRow.changes(reason=SkipReason.ERASED)
    unchanged = SolicitationRow.has(
        customer_id=solicitation.customer_id,
        state=solicitation.state,
        leased_until=solicitation.leased_until,
        message_id=solicitation.message_id,
        reminder_message_id=solicitation.reminder_message_id,
    )
    write.update(SolicitationRow(solicitation.id), actions, unchanged)


def count_erased(write: Rows, erased: Iterable[Solicitation]) -> None:
    """Count the outcomes of erased solicitations of one account, in this transaction.

    The counts of several solicitations are added up, because a transaction can contain only one
    action per row.
    """
    ended = [(outcome, s) for s in erased if (outcome := _outcome_of_erasure(s))]
    numbers = Counter(outcome for outcome, _ in ended)
    for outcome, one in dict(ended).items():
        counters.count(write, one.account_id, OUTCOMES[outcome], one.id, numbers[outcome])


def _outcome_of_erasure(solicitation: Solicitation) -> SolicitationState | None:
    """Return the outcome that an erasure gives to a solicitation; None if it has an outcome."""
    if solicitation.outcome_is_final:
        return None
    is_open = solicitation.leased_until is None
    return SolicitationState.SKIPPED if is_open else SolicitationState.UNKNOWN


def build_solicitation(row: SolicitationRow) -> Solicitation:
    """Build a solicitation from its table row or its index entry."""
    values: dict[str, Any] = fields_of(row, Solicitation) | {
        "id": row.solicitation_id,
        "is_requested": bool(row.is_requested),
        "state": SolicitationState(row.state),
        "channel": SendMode(row.channel) if row.channel else None,
    }
    return Solicitation(**values)


def _is_unchanged(solicitation: Solicitation) -> Condition:
    revision = solicitation.revision or None
    return SolicitationRow.has(state=PENDING, leased_until=None, revision=revision)


def _ending(state: SolicitationState, now: datetime, **values: Any) -> list[Action]:
    return SolicitationRow.end(state, now, leased_until=None, **values)


def _count(write: Rows, solicitation: Solicitation, outcome: SolicitationState) -> None:
    """Count the outcome of a solicitation, but not of a reminder, in this transaction."""
    if solicitation.is_reminder:
        return
    counters.count(write, solicitation.account_id, OUTCOMES[outcome], solicitation.id)


def _settle(
    claimed: Solicitation,
    actions: list[Action],
    state: SolicitationState,
    also: Callable[[Rows], None] = lambda _: None,
) -> bool:
    """End a claim and return True, or False if the claim has expired.

    A survey whose message was not sent is no longer counted as sent. A message without a stored
    outcome becomes UNKNOWN.
    """

    is_sent = state in (SolicitationState.SENT, SolicitationState.UNKNOWN)
    if not is_sent:
        actions += SolicitationRow.changes(counted_as=None)
    row = SolicitationRow
    is_claimed = row.leased_until.exists() & row.has(state=PENDING, claim_token=claimed.claim_token)

    def store(write: Rows) -> None:
        write.update(SolicitationRow(claimed.id), actions, is_claimed)
        if state in OUTCOMES:
            _count(write, claimed, state)
        if not is_sent:
            account_id, counted_as = claimed.account_id, claimed.counted_as
            statistics.count_sent(write, account_id, claimed.id, counted_as, None)
        also(write)

    def is_settled() -> bool:
        stored = find(claimed.id)
        return stored is not None and (
            (stored.claim_token, stored.state, stored.leased_until)
            == (claimed.claim_token, state, None)
        )

    return settle(store, is_settled)
