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
from pynamodb.transactions import TransactWrite

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.forms.survey import SendMode
from chalicelib.domain.list_cursor import Position
from chalicelib.domain.purchases.purchase import Purchase
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.decide import SkipReason
from chalicelib.domain.solicitation.solicitation import (
    INTERRUPTED,
    Solicitation,
    SolicitationPointer,
    SolicitationState,
    purchase_id_of,
    reminder_id,
)
from chalicelib.domain.work import due_after_deferral, first_due
from chalicelib.storage import counters, messages, statistics
from chalicelib.storage.counters import Counted
from chalicelib.storage.customers import CustomerRow, build_customer
from chalicelib.storage.dynamodb.attributes import (
    IntegerAttribute,
    TimestampAttribute,
    is_unchanged,
)
from chalicelib.storage.dynamodb.indexes import including, index
from chalicelib.storage.dynamodb.table import account_key, fields_of, read_indexed, read_together
from chalicelib.storage.dynamodb.transactions import (
    Contention,
    put_new,
    settle,
    transaction,
    try_write,
)
from chalicelib.storage.dynamodb.work_records import (
    WorkRecords,
    WorkRow,
    leave_attempt,
    leave_index,
    pending_attributes,
    plan,
)
from chalicelib.storage.index_pages import read_index_page
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
    customer_id = UnicodeAttribute(null=True)
    is_requested = BooleanAttribute(null=True)
    revision = IntegerAttribute(null=True)
    claim_token = UnicodeAttribute(null=True)
    leased_until = IntegerAttribute(null=True)
    processed_at = TimestampAttribute(null=True)
    held_until = TimestampAttribute(null=True)
    survey_id = UnicodeAttribute(null=True)
    channel = UnicodeAttribute(null=True)
    tracker_id = UnicodeAttribute(null=True)
    text_day = UnicodeAttribute(null=True)
    deferred_since = TimestampAttribute(null=True)
    message_id = UnicodeAttribute(null=True)
    sent_at = TimestampAttribute(null=True)
    reminded_at = TimestampAttribute(null=True)
    reminder_message_id = UnicodeAttribute(null=True)
    send_at = TimestampAttribute(null=True)
    cancelled_at = TimestampAttribute(null=True)
    counted_as = UnicodeAttribute(null=True)
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

    def on_reopening(self) -> list[Action]:
        return [
            SolicitationRow.leased_until.remove(),
            SolicitationRow.held_until.remove(),
            SolicitationRow.reason.remove(),
            SolicitationRow.text_day.remove(),
            SolicitationRow.deferred_since.remove(),
        ]


OUTCOMES: Final = {
    SolicitationState.SENT: Counted.SENT,
    SolicitationState.SKIPPED: Counted.SKIPPED,
    SolicitationState.REJECTED: Counted.REJECTED,
    SolicitationState.UNKNOWN: Counted.UNKNOWN,
}
"""The counter of each outcome."""

WORK: Final[WorkRecords[SolicitationPointer]] = WorkRecords("solicitation", SolicitationRow)
"""The work records of solicitations."""


def add(write: TransactWrite, solicitation: Solicitation) -> None:
    """Add a solicitation in this transaction. The transaction fails if it already exists."""
    is_pending = solicitation.state is SolicitationState.PENDING
    if not is_pending:
        _count(write, solicitation, solicitation.state)
    work = (
        pending_attributes(solicitation.account_id, solicitation.id, PART, solicitation.created_at)
        if is_pending
        else {
            "state": solicitation.state.value,
            "reason": solicitation.reason,
            "ended_at": solicitation.created_at,
        }
    )
    put_new(
        write,
        SolicitationRow,
        {
            "solicitation_id": solicitation.id,
            "account_id": solicitation.account_id,
            "created_at": solicitation.created_at,
            "source": solicitation.source,
            "external_id": solicitation.external_id,
            "customer_id": solicitation.customer_id,
            "is_requested": solicitation.is_requested,
            "send_at": solicitation.send_at,
            **work,
        },
    )


def decide_again(
    write: TransactWrite,
    solicitation: Solicitation,
    customer_id: str | None,
    send_at: datetime | None,
    now: datetime,
) -> None:
    """Request a new decision in this transaction, because the purchase has changed.

    The transaction fails if the solicitation is no longer open or has changed since it was loaded.
    """
    customer, earliest = SolicitationRow.customer_id, SolicitationRow.send_at
    write.update(
        SolicitationRow(solicitation.id),
        actions=[
            SolicitationRow.revision.set(solicitation.revision + 1),
            SolicitationRow.due_at.set(first_due(now)),
            SolicitationRow.ready_at.set(int(now.timestamp())),
            customer.set(customer_id) if customer_id else customer.remove(),
            earliest.set(send_at) if send_at else earliest.remove(),
            SolicitationRow.held_until.remove(),
        ],
        condition=_is_unchanged(solicitation),
    )


def find(solicitation_id: str) -> Solicitation | None:
    """Load a solicitation. Return None if it does not exist. One consistent request."""
    (row,) = read_together((SolicitationRow, solicitation_id))
    return build_solicitation(row) if row else None


def find_with_purchase(
    pointer: SolicitationPointer,
) -> tuple[Solicitation | None, Purchase | None, Customer | None]:
    """Load a solicitation with its purchase and customer. One consistent request.

    One more request for a reminder, or if the customer of the purchase differs from the customer of
    the pointer.
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


def confirm_survey(write: TransactWrite, reminder: Solicitation) -> None:
    """Check in this transaction that the survey of a reminder is not cancelled or erased.

    The purchase must still belong to the customer who received the survey.
    """
    row, purchase_key = SolicitationRow, account_key(reminder.account_id, reminder.purchase_id)
    is_same = PurchaseRow.customer_id == reminder.customer_id
    write.condition_check(PurchaseRow, purchase_key, condition=is_same)
    write.condition_check(
        SolicitationRow,
        reminder.purchase_id,
        condition=(row.state == SolicitationState.SENT.value)
        & (row.customer_id == reminder.customer_id)
        & (row.tracker_id == reminder.tracker_id)
        & row.cancelled_at.does_not_exist(),
    )


def skip(write: TransactWrite, solicitation: Solicitation, reason: str, now: datetime) -> None:
    """End a solicitation without a message, in this transaction.

    The transaction fails if the solicitation is no longer open or has changed since it was loaded.
    """
    write.update(
        SolicitationRow(solicitation.id),
        actions=[
            SolicitationRow.held_until.remove(),
            SolicitationRow.reason.set(reason),
            *_ending(SolicitationState.SKIPPED, now),
        ],
        condition=_is_unchanged(solicitation),
    )
    _count(write, solicitation, SolicitationState.SKIPPED)


def link(write: TransactWrite, loaded: Solicitation, linked: Solicitation, now: datetime) -> None:
    """Give the survey to the partner as a link, and count it as sent, in this transaction.

    The transaction fails if the solicitation has changed since it was loaded.

    Args:
        linked: the solicitation with its new outcome, the survey, the tracker and the customer.
    """
    row = SolicitationRow
    write.update(
        row(loaded.id),
        actions=[
            *_chosen(linked),
            row.sent_at.set(now),
            row.held_until.remove(),
            row.reason.remove(),
            *_ending(linked.state, now),
        ],
        condition=(row.state == loaded.state.value)
        & is_unchanged(row.reason, loaded.reason or None)
        & is_unchanged(row.revision, loaded.revision or None)
        & is_unchanged(row.customer_id, loaded.customer_id)
        & row.leased_until.does_not_exist()
        & row.cancelled_at.does_not_exist(),
    )
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
    row = SolicitationRow
    is_leased = solicitation.leased_until is not None
    ends = not solicitation.outcome_is_final and not is_leased
    actions: list[Action] = [row.cancelled_at.set(now)]
    if ends:
        reason = SkipReason.CANCELLED.value
        actions += [
            row.held_until.remove(),
            row.reason.set(reason),
            *_ending(SolicitationState.SKIPPED, now),
        ]
    with transaction() as write:
        write.update(
            row(solicitation.id),
            actions=actions,
            condition=(row.state == solicitation.state.value)
            & (
                row.claim_token == solicitation.claim_token
                if is_leased
                else row.leased_until.does_not_exist()
            ),
        )
        if ends:
            _count(write, solicitation, SolicitationState.SKIPPED)


def hold(solicitation: Solicitation, until: datetime, reason: str, now: datetime) -> None:
    """Make the next decision due at this time. One request.

    Raises:
        Contention: the solicitation is no longer open or has changed since it was loaded.
    """
    held_until = SolicitationRow.held_until.set(until)
    planned = plan(SolicitationRow, ceil(until.timestamp()))
    _decide_later(solicitation, reason, now, held_until, *planned)


def defer(solicitation: Solicitation, reason: str, now: datetime) -> None:
    """Defer a solicitation before it is claimed. One request.

    Raises:
        Contention: the solicitation is no longer open or has changed since it was loaded.
    """
    deferrals = solicitation.deferrals + 1
    _decide_later(
        solicitation,
        reason,
        now,
        SolicitationRow.due_at.set(due_after_deferral(now, deferrals)),
        SolicitationRow.held_until.remove(),
        *leave_attempt(SolicitationRow),
        SolicitationRow.deferrals.set(deferrals),
    )


def _decide_later(solicitation: Solicitation, reason: str, now: datetime, *also: Action) -> None:
    row, unchanged = SolicitationRow(solicitation.id), _is_unchanged(solicitation)
    actions: list[Action] = [
        SolicitationRow.processed_at.set(solicitation.processed_at or now),
        SolicitationRow.reason.set(reason),
        *also,
    ]
    if not try_write(lambda: row.update(actions, condition=unchanged)):
        raise Contention(condition_failed=True)


def claim(
    write: TransactWrite, claimed: Solicitation, counted_before: str | None, now: datetime
) -> None:
    """Claim a solicitation in this transaction, and count its survey as sent.

    The transaction fails if the solicitation is no longer open or has changed since it was loaded.

    Args:
        claimed: the solicitation as loaded, with the new fencing token, survey, channel and
            tracker, and with the customer who receives the survey. An update of the purchase
            changes the customer of the purchase, but not the customer of a claimed solicitation.
        counted_before: the group in which an earlier claim counted the survey as sent, if any.
    """
    lease_end = ceil((now + LEASE).timestamp())
    write.update(
        SolicitationRow(claimed.id),
        actions=[
            *(() if claimed.is_reminder else _chosen(claimed)),
            SolicitationRow.claim_token.set(claimed.claim_token),
            SolicitationRow.leased_until.set(lease_end),
            SolicitationRow.due_at.set(lease_end),
            SolicitationRow.requeues.remove(),
            *leave_attempt(SolicitationRow),
            SolicitationRow.processed_at.set(claimed.processed_at or now),
            SolicitationRow.held_until.remove(),
            SolicitationRow.reason.remove(),
            *([SolicitationRow.text_day.set(claimed.text_day)] if claimed.text_day else ()),
        ],
        condition=_is_unchanged(claimed),
    )
    statistics.count_sent(write, claimed.account_id, claimed.id, counted_before, claimed.counted_as)


def _chosen(decided: Solicitation) -> list[Action]:
    row, customer = SolicitationRow, SolicitationRow.customer_id
    assert decided.survey_id  # noqa: S101 - every claim and link has survey, channel and tracker
    assert decided.channel  # noqa: S101
    assert decided.tracker_id  # noqa: S101
    assert decided.counted_as  # noqa: S101
    return [
        row.survey_id.set(decided.survey_id),
        row.channel.set(decided.channel.value),
        row.tracker_id.set(decided.tracker_id),
        row.counted_as.set(decided.counted_as),
        customer.set(decided.customer_id) if decided.customer_id else customer.remove(),
    ]


def release(claimed: Solicitation, reason: str, now: datetime) -> bool:
    """Defer a claimed solicitation whose message was not sent. The tracker stays the same.

    Return False if the claim has expired. One request.
    """
    actions: list[Action] = [
        SolicitationRow.leased_until.remove(),
        SolicitationRow.reason.set(reason),
        SolicitationRow.deferred_since.set(claimed.deferred_since or now),
        SolicitationRow.deferrals.set(claimed.deferrals + 1),
        SolicitationRow.due_at.set(due_after_deferral(now, claimed.deferrals + 1)),
        *leave_attempt(SolicitationRow),
    ]
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
    actions = _ending(SolicitationState.SENT, now)
    if not claimed.is_reminder:
        actions += [
            SolicitationRow.message_id.set(message_id),
            SolicitationRow.sent_at.set(now),
        ]

    def also(write: TransactWrite) -> None:
        messages.add(write, sent)
        if claimed.is_reminder:
            _save_reminded(write, claimed, message_id, now)
        elif remind_at:
            _add_reminder(write, claimed, remind_at)

    return _settle(claimed, actions, SolicitationState.SENT, also)


def _save_reminded(
    write: TransactWrite, reminder: Solicitation, message_id: str, now: datetime
) -> None:
    """Store in this transaction when the customer was reminded.

    The transaction fails if the person was erased.
    """
    write.update(
        SolicitationRow(reminder.purchase_id),
        actions=[
            SolicitationRow.reminded_at.set(now),
            SolicitationRow.reminder_message_id.set(message_id),
        ],
        condition=SolicitationRow.customer_id == reminder.customer_id,
    )


def _add_reminder(write: TransactWrite, sent: Solicitation, remind_at: datetime) -> None:
    """Add the reminder of a survey in this transaction, which fails if there is one."""
    record_id, due_at = reminder_id(sent.id), ceil(remind_at.timestamp())
    pending = pending_attributes(sent.account_id, record_id, PART, remind_at)
    values = {"solicitation_id": record_id, "account_id": sent.account_id, **pending}
    put_new(write, SolicitationRow, {**values, "due_at": due_at, "ready_at": due_at})


def save_end(claimed: Solicitation, state: SolicitationState, reason: str, now: datetime) -> bool:
    """Store the outcome of a message that was skipped or rejected, or that may have been sent.

    Return False if the claim has expired. One request.
    """
    return _settle(claimed, [SolicitationRow.reason.set(reason), *_ending(state, now)], state)


def expire(solicitation: Solicitation, now: datetime) -> bool:
    """Store UNKNOWN for a claim whose lease ended. Return False if the claim has an outcome.

    One request.
    """
    return save_end(solicitation, SolicitationState.UNKNOWN, INTERRUPTED, now)


def list_page(account_id: str, after: Position | None, at_most: int) -> tuple[list[Position], bool]:
    """Load positions of the account's solicitations, and whether the list ends with them.

    One request. The index is eventually consistent.

    Args:
        after: the position of the last solicitation of the preceding page.
    """
    key = ("account_id", account_id)
    return read_index_page(SolicitationRow.by_account, key, "solicitation_id", after, at_most)


def list_page_of_customer(
    customer_id: str, after: Position | None, at_most: int
) -> tuple[list[Position], bool]:
    """Load positions of a customer's solicitations; see `list_page`.

    The customer can belong to any account, so the caller checks the account of the solicitations.
    """
    key = ("customer_id", customer_id)
    return read_index_page(SolicitationRow.by_customer, key, "solicitation_id", after, at_most)


def find_many_with_stores(
    account_id: str, solicitation_ids: Collection[str]
) -> dict[str, tuple[Solicitation, str]]:
    """Load solicitations of the account by id, each with the store of its purchase.

    Omit missing ones and those of other accounts. One consistent request per 50 solicitations.
    """
    keys = [
        key
        for each in solicitation_ids
        for key in ((SolicitationRow, each), (PurchaseRow, account_key(account_id, each)))
    ]
    rows = read_together(*keys)
    return {
        row.solicitation_id: (build_solicitation(row), purchase.store_id)
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


def erase_customer(write: TransactWrite, solicitation: Solicitation, now: datetime) -> None:
    """Remove the customer, the tracker and the message of a solicitation, in this transaction.

    A pending solicitation ends: SKIPPED, or UNKNOWN if a worker may be sending the message.
    `count_erased` counts this outcome. A skipped solicitation can no longer get a link. The
    transaction fails if the solicitation has changed since it was loaded.
    """
    row = SolicitationRow
    actions: list[Action] = [
        row.customer_id.remove(),
        row.tracker_id.remove(),
        row.message_id.remove(),
        row.reminder_message_id.remove(),
    ]
    if outcome := _outcome_of_erasure(solicitation):
        actions += [
            row.held_until.remove(),
            row.reason.set(SkipReason.ERASED.value),
            *_ending(outcome, now),
        ]
    elif solicitation.can_be_linked:
        actions.append(row.reason.set(SkipReason.ERASED.value))
    write.update(
        SolicitationRow(solicitation.id),
        actions=actions,
        condition=(row.customer_id == solicitation.customer_id)
        & (row.state == solicitation.state.value)
        & is_unchanged(row.leased_until, solicitation.leased_until)
        & is_unchanged(row.message_id, solicitation.message_id)
        & is_unchanged(row.reminder_message_id, solicitation.reminder_message_id),
    )


def count_erased(write: TransactWrite, erased: Iterable[Solicitation]) -> None:
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
    values = fields_of(row, Solicitation) | {
        "id": row.solicitation_id,
        "is_requested": bool(row.is_requested),
        "state": SolicitationState(row.state),
        "channel": SendMode(row.channel) if row.channel else None,
    }
    return Solicitation(**values)


def _is_unchanged(solicitation: Solicitation) -> Condition:
    unchanged: Condition = (
        SolicitationRow.is_pending()
        & SolicitationRow.leased_until.does_not_exist()
        & is_unchanged(SolicitationRow.revision, solicitation.revision or None)
    )
    return unchanged


def _is_claimed_with(token: str) -> Condition:
    claimed: Condition = (
        SolicitationRow.is_pending()
        & SolicitationRow.leased_until.exists()
        & (SolicitationRow.claim_token == token)
    )
    return claimed


def _ending(state: SolicitationState, now: datetime) -> list[Action]:
    return [
        SolicitationRow.state.set(state.value),
        SolicitationRow.ended_at.set(now),
        SolicitationRow.leased_until.remove(),
        *leave_index(SolicitationRow),
    ]


def _count(write: TransactWrite, solicitation: Solicitation, outcome: SolicitationState) -> None:
    """Count the outcome of a solicitation, but not of a reminder, in this transaction."""
    if solicitation.is_reminder:
        return
    counters.count(write, solicitation.account_id, OUTCOMES[outcome], solicitation.id)


def _settle(
    claimed: Solicitation,
    actions: list[Action],
    state: SolicitationState,
    also: Callable[[TransactWrite], None] = lambda _: None,
) -> bool:
    """End a claim and return True, or False if the claim has expired.

    A survey whose message was not sent is no longer counted as sent. A message without a stored
    outcome becomes UNKNOWN.
    """

    is_sent = state in (SolicitationState.SENT, SolicitationState.UNKNOWN)
    if not is_sent:
        actions = [*actions, SolicitationRow.counted_as.remove()]

    def store(write: TransactWrite) -> None:
        is_claimed = _is_claimed_with(claimed.claim_token)
        write.update(SolicitationRow(claimed.id), actions=actions, condition=is_claimed)
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
