"""Suppress a contact, or lift its suppression, and change all customers with its address.

A transaction changes the contact and the first customers. If more customers have the address, the
contact becomes a work record in this transaction, and a worker changes the others in further
transactions. Customers that have the new values already are not written. Partners can list the
customers for whose address the service has learned something; see `contacts.record_change`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple

from pynamodb.attributes import Attribute

from chalicelib.domain import clock
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.domain.work import PENDING, WorkState, first_due, shard_of
from chalicelib.storage import account_changes, contacts, customer_consent
from chalicelib.storage.contacts import ContactPointer, ContactRow, contact_key
from chalicelib.storage.customers import OPTIN_OF, CustomerRow
from chalicelib.storage.dynamodb.table import Key, account_key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit

_MAX_CUSTOMERS: Final = 49
"""Maximum number of customers in a transaction of 100 writes. Each takes two writes. The other two
are for the contact and the audit.
"""

_MAX_READ: Final = 1_000
"""Maximum number of customers that one request reads."""

_HASH_OF: Final = {Channel.EMAIL: CustomerRow.email_hash, Channel.SMS: CustomerRow.phone_hash}
"""The attribute with the contact hash of the address, by channel."""


_BOUNCED: Final = (CustomerRow.email_bounced, ContactRow.email_bounced)
_OPTINS: Final = {each: (OPTIN_OF[each], contacts.OPTIN_OF[each]) for each in Channel}
_VALUES: Final = (*_OPTINS.values(), _BOUNCED)
"""The attributes that a suppression changes, each with that of the contact with its new value."""


_NewValue = tuple[Attribute[bool | None], Attribute[bool | None], bool]
"""An attribute of all customers with an address, that of the contact, and their new value."""


@dataclass(frozen=True)
class AddressChange:
    """A change of all customers with an address.

    Attributes:
        is_learned: whether the change of the customers is listed; see `contacts.record_change`.
    """

    account_id: str
    contact_hash: str
    channel: Channel
    values: Sequence[_NewValue]
    at: datetime
    is_learned: bool = False

    @property
    def contact(self) -> Key[ContactRow]:
        """The key of the contact of the address."""
        return Key(ContactRow, contact_key(self.contact_hash))


def suppress(
    account_id: str,
    contact_hash: str,
    channel: Channel,
    reason: SuppressionReason,
    at: datetime,
    audited: AccountChange | None = None,
) -> None:
    """Suppress a channel of a contact, and change all customers with its address.

    After a permanent bounce, the e-mail address of these customers is marked as bounced. For any
    other reason, their opt-in is turned off. The suppression also applies to customers who get this
    address later. A repeated call writes no customer again.

    Two requests. A worker changes the customers that do not fit into the transaction. The index of
    customers is eventually consistent, so a customer that was created in the last second may keep
    the opt-in. This customer still receives no message, because the contact is suppressed.

    Args:
        audited: the change to store for the audit; None if no operator made it.

    Raises:
        Unavailable: the database throttles, or contention persists. Nothing is written.
    """
    is_bounce = reason is SuppressionReason.BOUNCED and channel is Channel.EMAIL
    values = bounced(value=True) if is_bounce else _optin_off(channel)
    is_learned = audited is not None or reason is not SuppressionReason.OPTED_OUT
    change = AddressChange(account_id, contact_hash, channel, values, at, is_learned)

    def use_case(rows: Rows) -> None:
        contacts.suppress(rows, account_id, change.contact.hash_key, channel, reason, at)
        if audited:
            account_changes.add(rows, account_id, [audited])
        change_customers(rows, change)

    commit(use_case)


def turn_other_optins_off(
    account_id: str, contact_hash: str, channel: Channel, customer_id: str, at: datetime
) -> None:
    """Turn the opt-in of the other customers with an opted-out address off.

    One request if no other customer with the address has the opt-in, otherwise two; see `suppress`.
    """
    change = AddressChange(account_id, contact_hash, channel, _optin_off(channel), at)
    key, reason = change.contact.hash_key, SuppressionReason.OPTED_OUT

    def use_case(rows: Rows) -> None:
        if change_customers(rows, change, excepted=account_key(account_id, customer_id)):
            contacts.suppress(rows, account_id, key, channel, reason, at)

    commit(use_case)


def bounced(*, value: bool) -> list[_NewValue]:
    """Return the new value of customers whose e-mail address bounces, or bounces no longer."""
    return [(*_BOUNCED, value)]


def _optin_off(channel: Channel) -> list[_NewValue]:
    return [(*_OPTINS[channel], False)]


def change_customers(rows: Rows, change: AddressChange, excepted: str | None = None) -> bool:
    """Change the first customers with an address. Return False if there is nothing to change.

    A worker changes further customers. It starts with the first one, because earlier values may
    have to be changed too. One request; none without values and without a change to list.

    Args:
        excepted: the key of a customer that has the new values already.
    """
    step = _read_step(rows, change, excepted=excepted)
    _change(rows, step, change)
    if step.after:
        _request_further(rows, change)
    return bool(step.customers or step.after)


def change_further_customers(pointer: ContactPointer, now: datetime) -> bool:
    """Change the next customers of a contact. Return whether no further customer is to be changed.

    Three requests for up to 49 customers; two if there is nothing to change.

    Raises:
        Unavailable: the database throttles, or contention persists.
    """
    return commit(partial(_change_further, pointer, now))


def _change_further(pointer: ContactPointer, now: datetime, rows: Rows) -> bool:
    key = Key(ContactRow, pointer.contact_key)
    rows.prefetch(key)
    row = rows.get(key)
    if row is None or row.state != PENDING or row.account_id != pointer.account_id:
        return True
    assert row.contact_hash and row.further_channel  # noqa: PT018, S101 - a pending contact has them
    values = [
        (attribute, stored, value)
        for attribute, stored in _VALUES
        if (value := row.attribute_values.get(stored.attr_name)) is not None
    ]
    channel, is_learned = Channel(row.further_channel), bool(row.is_learned)
    change = AddressChange(row.account_id, row.contact_hash, channel, values, now, is_learned)
    step = _read_step(rows, change, row.after)
    _change(rows, step, change)
    if step.after:
        row.after, row.due_at = step.after, first_due(now)
        row.requeues = row.deferrals = row.started_at = row.waits_since = None
    else:
        row.finish(WorkState.DONE, now)
        row.contact_hash = row.further_channel = row.is_learned = row.after = None
        row.email_optin = row.sms_optin = row.email_bounced = None
    return step.after is None


class _Step(NamedTuple):
    """The customers that one transaction changes.

    Attributes:
        after: the key after which the next step starts; None if this is the last step.
    """

    customers: list[CustomerRow]
    after: str | None = None


def _read_step(
    rows: Rows, change: AddressChange, after: str | None = None, excepted: str | None = None
) -> _Step:
    """Read the next customers to change, without those that no longer have the address."""
    if not (change.values or change.is_learned):
        return _Step([])
    channel, contact_hash = change.channel, change.contact_hash
    found = customer_consent.find_values_with_contact(channel, contact_hash, after, _MAX_READ)
    changed = [
        row
        for row in found
        if row.key != excepted and not rows.has_failed(row.own_key())
        if change.is_learned or _differs(row, change)
    ]
    if len(changed) > _MAX_CUSTOMERS:
        return _Step(changed[:_MAX_CUSTOMERS], changed[_MAX_CUSTOMERS - 1].key)
    return _Step(changed, found[-1].key if len(found) == _MAX_READ else None)


def _differs(row: CustomerRow, change: AddressChange) -> bool:
    return any(
        bool(row.attribute_values.get(attribute.attr_name)) is not value
        for attribute, _, value in change.values
    )


def _change(rows: Rows, step: _Step, change: AddressChange) -> None:
    for row in step.customers:
        key = row.own_key()
        rows.expect(key, _HASH_OF[change.channel], change.contact_hash)
        if _differs(row, change):
            for attribute, _, value in change.values:
                rows.set(key, attribute, value)
            rows.set(key, CustomerRow.updated_at, clock.now())
        if change.is_learned:
            account_id, _, customer_id = row.key.partition("#")
            learned = {change.channel: change.contact.hash_key}
            contacts.record_change(rows, account_id, customer_id, learned, change.at)


def _request_further(rows: Rows, change: AddressChange) -> None:
    """Make the contact a work record that is due at once, so that the sweeper queues it."""
    key, due_at = change.contact, int(change.at.timestamp())
    rows.set(key, ContactRow.state, PENDING)
    rows.set(key, ContactRow.work_shard, shard_of(change.account_id, key.hash_key, contacts.PART))
    for time in (ContactRow.due_at, ContactRow.ready_at):
        rows.set(key, time, due_at)
    for number in (ContactRow.claims, ContactRow.deferrals, ContactRow.requeues):
        rows.set(key, number, None)
    rows.set(key, ContactRow.started_at, None)
    rows.set(key, ContactRow.ended_at, None)
    rows.set(key, ContactRow.reason, None)
    rows.set(key, ContactRow.contact_hash, change.contact_hash)
    rows.set(key, ContactRow.further_channel, change.channel.value)
    rows.set(key, ContactRow.after, None)
    if change.is_learned:
        rows.set(key, ContactRow.is_learned, True)
    for _, stored, value in change.values:
        rows.set(key, stored, value)
