"""The table of erasures. A restore must never replace this table.

The key of a row is a keyed hash of the account and the customer's id. While the erasure is
unfinished, the row also contains the customer's id and the digest of the pair.
"""

import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from math import ceil
from typing import Final

from pynamodb.attributes import UnicodeAttribute, UnicodeSetAttribute

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
)
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.dynamodb.work_records import WorkRecords, WorkRow
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
    others = optional(JsonAttribute[Sequence[str]])
    other_count = IntegerAttribute()
    last_found_at = TimestampAttribute(null=True)
    by_account = index("account_id", "erased_at", ALL)
    customers = optional(IntegerAttribute)
    purchases = optional(IntegerAttribute)
    feedback = optional(IntegerAttribute)
    solicitations = optional(IntegerAttribute)
    trackers = optional(IntegerAttribute)
    messages = optional(IntegerAttribute)
    import_rows = optional(IntegerAttribute)

    def pointer(self, _now: datetime) -> ErasurePointer:
        return ErasurePointer(self.account_id, self.erasure_id)


_COUNTS: Final = {
    Erased.CUSTOMERS: ErasureRow.customers,
    Erased.PURCHASES: ErasureRow.purchases,
    Erased.FEEDBACK: ErasureRow.feedback,
    Erased.SOLICITATIONS: ErasureRow.solicitations,
    Erased.TRACKERS: ErasureRow.trackers,
    Erased.MESSAGES: ErasureRow.messages,
    Erased.IMPORT_ROWS: ErasureRow.import_rows,
}
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


def find_earlier(rows: Rows, key: Key[ErasureRow]) -> Erasure | None:
    """Return an erasure that this unit of work has fetched, and rely on its state and time."""
    row = rows.get(key, ErasureRow.state, ErasureRow.erased_at)
    return build_erasure(row) if row else None


def save(rows: Rows, erasure: Erasure) -> None:
    """Add a pending erasure in this unit of work, or replace the one that `find_earlier` found.

    The transaction fails if records are counted meanwhile: `count` changes the time.
    """
    key = Key(ErasureRow, erasure.id)
    unchanged = ErasureRow.state, ErasureRow.erased_at, ErasureRow.last_found_at
    row = rows.get(key, *unchanged) or rows.create(key)
    row.attribute_values = {**key.values}
    row.account_id, row.operator = erasure.account_id, erasure.operator
    row.erased_at, row.customer_id = erasure.erased_at, erasure.customer_id
    row.pair, row.pair_contact = erasure.pair_digest, erasure.pair_contact
    row.email_contact = erasure.contacts.get(Channel.EMAIL)
    row.sms_contact = erasure.contacts.get(Channel.SMS)
    row.recreated = set(erasure.recreated) or None
    row.others, row.other_count = list(erasure.others), erasure.other_count
    row.make_pending(erasure.erased_at)


def record_addresses(rows: Rows, erasure: Erasure, *, is_last: bool) -> None:
    """Suppress the person's addresses in this unit of work, and stop concurrent imports.

    Work that received data of the person before the erasure does not create the person again.

    Args:
        is_last: whether the account has no later erasure.
    """
    account_id, at = erasure.account_id, erasure.erased_at
    contacts.record_erasure(rows, account_id, erasure.contacts, erasure.pair_contact, at)
    if is_last:
        counters.mark_erasure(rows, account_id, at)


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
        rows.set_default(key, _CONTACTS[channel], contact)
    count(rows, erasure, {Erased.CUSTOMERS: 1})


def count(rows: Rows, erasure: Erasure, numbers: Mapping[Erased, int]) -> None:
    """Increase the numbers of erased records in this unit of work, and store its time.

    The transaction fails if the erasure is not pending or was restarted.
    """
    key = Key(ErasureRow, erasure.id)
    rows.expect(key, ErasureRow.state, PENDING)
    rows.expect(key, ErasureRow.erased_at, erasure.erased_at)
    for kind, number in numbers.items():
        rows.add(key, _COUNTS[kind], number)
    rows.set(key, ErasureRow.last_found_at, clock.now())


def end_pass(rows: Rows, erasure: Erasure, recheck: timedelta, *, is_last: bool) -> Erasure | None:
    """Schedule the next pass of an erasure or, after the last one, end it. Return the erasure.

    The end removes the ids of customers and the pair. If records were erased since the erasure was
    loaded, more records of the customer may have been created after this pass looked for them, so
    there is another pass. An erasure that has ended or was restarted stays as it is.

    Args:
        erasure: the erasure as it was loaded before the pass.
        recheck: the time until the next pass.
    """
    key, now = Key(ErasureRow, erasure.id), clock.now()
    rows.prefetch(key)
    row = rows.get(key, ErasureRow.state, ErasureRow.erased_at, *_COUNTS.values())
    if row is None:
        return None
    stored = build_erasure(row)
    if stored.state is not WorkState.PENDING or stored.erased_at != erasure.erased_at:
        return stored
    if is_last and stored.counts == erasure.counts:
        row.finish(WorkState.DONE, now)
        row.customer_id = row.pair = row.next_holder = row.recreated = row.others = None
    else:
        row.plan_at(ceil((now + recheck).timestamp()))
        row.requeues = None
    return build_erasure(row)


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
        "counts": {
            kind: row.attribute_values.get(attribute.attr_name) or 0
            for kind, attribute in _COUNTS.items()
        },
    }
    return Erasure(**fields_of(row, Erasure) | values)
