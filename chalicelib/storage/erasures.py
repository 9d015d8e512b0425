"""The table of erasures. A restore must never replace this table.

The key of a row is a keyed hash of the account and the customer's id. While the erasure is
unfinished, the row also contains the customer's id and the digest of the pair.
"""

import hmac
from collections.abc import Mapping
from datetime import datetime, timedelta
from math import ceil
from typing import Final

from pynamodb.attributes import UnicodeAttribute, UnicodeSetAttribute
from pynamodb.expressions.condition import Condition

from chalicelib.domain import clock
from chalicelib.domain.erasure.erasure import Erased, Erasure, ErasurePointer
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.work import PENDING, WorkState
from chalicelib.storage import contacts, counters
from chalicelib.storage.dynamodb.attributes import (
    IntegerAttribute,
    JsonAttribute,
    TimestampAttribute,
    optional,
)
from chalicelib.storage.dynamodb.indexes import ALL, index
from chalicelib.storage.dynamodb.table import (
    Key,
    fields_of,
    read_together,
    read_with_response,
    time_of,
)
from chalicelib.storage.dynamodb.transactions import try_write
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.dynamodb.work_records import WorkRecords, WorkRow, pending_attributes
from chalicelib.storage.stage_values import stage_secret

PART: Final = "erasure"
"""The value of the attribute ``part`` of all rows. It is constant: the table has no sort key."""

NO_HOLDER: Final = ""
"""The value of ``next_holder`` if no other customer had the pair."""

_PURPOSE: Final = b"erasure\n"
"""A prefix of the hashed text, so that other hashes with the same secret have other values."""


class ErasureRow(WorkRow[ErasurePointer]):
    """The table row of an erasure, with the number of erased records of each kind in `Erased`.

    ``pair`` is the digest of the pair, and ``pair_contact`` its contact key.
    """

    class Meta:
        name = "erasures"

    erasure_id = UnicodeAttribute(hash_key=True)
    part = PART
    account_id = UnicodeAttribute()
    erased_at = TimestampAttribute()
    customer_id = optional(UnicodeAttribute)
    pair = optional(UnicodeAttribute)
    pair_contact = optional(UnicodeAttribute)
    next_holder = optional(UnicodeAttribute)
    recreated = optional(UnicodeSetAttribute)
    email_contact = optional(UnicodeAttribute)
    sms_contact = optional(UnicodeAttribute)
    operator = UnicodeAttribute()
    others = optional(JsonAttribute[list[str]])
    other_count = IntegerAttribute()
    last_found_at = TimestampAttribute(null=True)
    by_account = index("account_id", "erased_at", ALL)
    vars().update({kind.value: IntegerAttribute(null=True) for kind in Erased})

    def pointer(self, _now: datetime) -> ErasurePointer:
        return ErasurePointer(self.account_id, self.erasure_id)


_CONTACTS: Final = {
    Channel.EMAIL: ErasureRow.email_contact,
    Channel.SMS: ErasureRow.sms_contact,
}

WORK: Final[WorkRecords[ErasurePointer]] = WorkRecords("erasure", ErasureRow)
"""The work records of erasures."""


def erasure_id(account_id: str, customer_id: str) -> str:
    """Return the id of the erasure of a customer, a keyed hash."""
    name = f"{account_id}\n{customer_id}".encode()
    return hmac.digest(stage_secret(), _PURPOSE + name, "sha256").hex()


def find(erasure_id: str) -> Erasure | None:
    """Load an erasure. Return None if it does not exist. One consistent request."""
    (row,) = read_together(Key(ErasureRow, erasure_id))
    return build_erasure(row) if row else None


def find_with_time(erasure_id: str) -> tuple[Erasure | None, datetime]:
    """Load an erasure, and return the current time of DynamoDB. One consistent request.

    The time of a request must not depend on the clock of an operator's computer. DynamoDB states it
    in full seconds; the returned time is rounded up, so that no earlier record is newer.
    """
    (row,), response = read_with_response(Key(ErasureRow, erasure_id))
    return build_erasure(row) if row else None, time_of(response) + timedelta(seconds=1)


def put(write: Rows, erasure: Erasure, earlier: Erasure | None) -> None:
    """Add a pending erasure in this transaction, or replace an erasure that has ended.

    The transaction fails if the stored erasure has changed since it was loaded.

    Args:
        earlier: the erasure as it was loaded.
    """
    unchanged = ErasureRow.has(erasure_id=None)
    if earlier:
        unchanged = ErasureRow.has(state=earlier.state, erased_at=earlier.erased_at)
    write.save(
        ErasureRow(
            erasure.id,
            account_id=erasure.account_id,
            erased_at=erasure.erased_at,
            customer_id=erasure.customer_id,
            pair=erasure.pair_digest,
            pair_contact=erasure.pair_contact,
            recreated=set(erasure.recreated) or None,
            others=list(erasure.others),
            other_count=erasure.other_count,
            email_contact=erasure.contacts.get(Channel.EMAIL),
            sms_contact=erasure.contacts.get(Channel.SMS),
            operator=erasure.operator,
            **pending_attributes(erasure.account_id, erasure.id, PART, erasure.erased_at),
        ),
        unchanged,
    )


def record_addresses(write: Rows, erasure: Erasure, *, is_last: bool) -> None:
    """Suppress the person's addresses in this transaction, and stop concurrent imports.

    Work that received data of the person before the erasure does not create the person again.

    Args:
        is_last: whether the account has no later erasure.
    """
    account_id, at = erasure.account_id, erasure.erased_at
    contacts.record_erasure(write, account_id, erasure.contacts, erasure.pair_contact, at)
    if is_last:
        counters.mark_erasure(write, account_id, at)


def count_customer(
    rows: Rows,
    erasure: Erasure,
    customer_id: str,
    next_holder: str | None,
    new_contacts: Mapping[Channel, str],
) -> None:
    """Count the deleted customer in the erasure; see `count`.

    Args:
        customer_id: the id of the deleted customer: the erased customer, or a customer that old
            work had created for the person.
        next_holder: the id of the customer that the service now finds by the deleted customer's
            pair.
        new_contacts: the contacts of addresses that the customer got after the request. They are
            stored for channels without a contact.
    """
    key = Key(ErasureRow, erasure.id)
    rows.set(key, ErasureRow.next_holder, next_holder or NO_HOLDER)
    if customer_id != erasure.customer_id:
        rows.add(key, ErasureRow.recreated, {customer_id})
    for channel, contact in new_contacts.items():
        if channel not in erasure.contacts:
            rows.expect(key, _CONTACTS[channel], None)
            rows.set(key, _CONTACTS[channel], contact)
    count(rows, erasure, {Erased.CUSTOMERS: 1})


def count(rows: Rows, erasure: Erasure, numbers: Mapping[Erased, int]) -> None:
    """Increase the numbers of erased records in this unit of work, and store its time.

    The transaction fails if the erasure is not pending or was restarted.
    """
    key, attributes = Key(ErasureRow, erasure.id), ErasureRow.get_attributes()
    rows.expect(key, ErasureRow.state, PENDING)
    rows.expect(key, ErasureRow.erased_at, erasure.erased_at)
    for kind, number in numbers.items():
        rows.add(key, attributes[kind.value], number)
    rows.set(key, ErasureRow.last_found_at, clock.now())


def schedule(erasure: Erasure, at: datetime) -> None:
    """Make the next pass of a pending erasure due at this time. One request."""
    row = ErasureRow(erasure.id)
    planned = ErasureRow.plan(ceil(at.timestamp()), requeues=None)
    try_write(lambda: row.update(planned, condition=_is_unchanged(erasure)))


def finish(erasure: Erasure, now: datetime) -> bool:
    """End an erasure, and remove the ids of customers and the pair. One request.

    Return False if the erasure has changed since it was loaded. If a pass has erased records since
    then, more records of the customer may have been created after this pass looked for them.
    """
    row = ErasureRow(erasure.id)
    removed = dict.fromkeys(("customer_id", "pair", "next_holder", "recreated", "others"))
    actions = ErasureRow.end(WorkState.DONE, now, **removed)
    unchanged = _is_unchanged(erasure)
    for kind, number in erasure.counts.items():
        unchanged &= counters.is_number(getattr(ErasureRow, kind.value), number)
    return try_write(lambda: row.update(actions, condition=unchanged))


def _is_unchanged(erasure: Erasure) -> Condition:
    """Return a write condition: the erasure is pending and was not restarted."""
    return ErasureRow.has(state=PENDING, erased_at=erasure.erased_at)


def build_erasure(row: ErasureRow) -> Erasure:
    """Build an erasure from its table row."""
    keys = {Channel.EMAIL: row.email_contact, Channel.SMS: row.sms_contact}
    values = {
        "id": row.erasure_id,
        "pair_digest": row.pair,
        "others": tuple(row.others or ()),
        "recreated": frozenset(row.recreated or ()),
        "contacts": {channel: key for channel, key in keys.items() if key},
        "state": WorkState(row.state),
        "counts": {kind: getattr(row, kind.value) or 0 for kind in Erased},
    }
    return Erasure(**fields_of(row, Erasure) | values)
