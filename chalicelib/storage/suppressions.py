"""Suppress a contact, or lift its suppression, and change all customers with its address.

A transaction changes the contact and the first customers. If more customers have the address, the
contact becomes a work record in this transaction, and a worker changes the others in further
transactions. Customers that have the new values already are not written.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final, NamedTuple

from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.errors import Conflict
from chalicelib.domain.solicitation.channel import Channel, optins_off
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.storage import account_changes, contacts, customer_consent
from chalicelib.storage.contacts import ContactPointer
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.dynamodb.table import account_key
from chalicelib.storage.dynamodb.transactions import retry_on_contention
from chalicelib.storage.dynamodb.unit_of_work import CONDITION_FAILED, Contention, Rows, transaction

_MAX_CUSTOMERS: Final = 98
"""Maximum number of customers in a transaction of 100 writes. The other two are for the contact and
the audit.
"""

_MAX_READ: Final = 1_000
"""Maximum number of customers that one request reads."""


def suppress(
    account_id: str,
    contact_hash: str,
    channel: Channel,
    reason: SuppressionReason,
    at: datetime,
    change: AccountChange | None = None,
) -> None:
    """Suppress a channel of a contact, and change all customers with its address.

    After a permanent bounce, the e-mail address of these customers is marked as bounced. For any
    other reason, their opt-in is turned off. The suppression also applies to customers who get this
    address later. A repeated call writes no customer again.

    Two requests. A worker changes the customers that do not fit into the transaction. The index of
    customers is eventually consistent, so a customer that was created in the last second may keep
    the opt-in. This customer still receives no message, because the contact is suppressed.

    Args:
        change: the change to store for the audit; None if no operator made it.

    Raises:
        Unavailable: the database throttles, or contention persists. Nothing is written.
    """
    key, values = contacts.contact_key(contact_hash), _values(channel, reason)

    def add_writes(write: Rows, further: Mapping[str, Any]) -> None:
        contacts.suppress(write, account_id, key, channel, reason, at, further)
        if change:
            account_changes.add(write, account_id, [change])

    change_first(account_id, contact_hash, channel, values, at, add_writes)


def turn_other_optins_off(
    account_id: str, contact_hash: str, channel: Channel, customer_id: str, at: datetime
) -> None:
    """Turn the opt-in of the other customers with an opted-out address off.

    One request if no other customer with the address has the opt-in, otherwise two; see `suppress`.
    """
    key, reason = contacts.contact_key(contact_hash), SuppressionReason.OPTED_OUT

    def add_writes(write: Rows, further: Mapping[str, Any]) -> None:
        contacts.suppress(write, account_id, key, channel, reason, at, further)

    change_first(
        account_id,
        contact_hash,
        channel,
        _values(channel, reason),
        at,
        add_writes,
        excepted=customer_id,
    )


def change_further_customers(pointer: ContactPointer, now: datetime) -> bool:
    """Change the next customers of a contact. Return whether no further customer is to be changed.

    Three requests for up to 98 customers; two if there is nothing to change.

    Raises:
        Unavailable: the database throttles, or contention persists.
    """
    gone: set[str] = set()

    def attempt() -> bool:
        further = contacts.find_further_customers(pointer)
        if further is None:
            return True
        channel, contact_hash, values = further.channel, further.contact_hash, further.values
        step = _read_step(channel, contact_hash, values, gone, further.after)
        with _noting_gone(gone), transaction() as write:
            contacts.record_progress(write, further, step.after, now)
            _change(write, step.keys, channel, contact_hash, values)
        return step.after is None

    return retry_on_contention(attempt)


def _values(channel: Channel, reason: SuppressionReason) -> dict[str, bool]:
    if reason is SuppressionReason.BOUNCED and channel is Channel.EMAIL:
        return {"email_bounced": True}
    return optins_off([channel])


class _Step(NamedTuple):
    """The customers that one transaction changes.

    Attributes:
        keys: the keys of the customers.
        after: the key after which the next step starts; None if this is the last step.
    """

    keys: list[str]
    after: str | None


def _read_step(
    channel: Channel,
    contact_hash: str,
    values: Mapping[str, bool],
    gone: Collection[str],
    after: str | None = None,
) -> _Step:
    if not values:
        return _Step([], None)
    found = customer_consent.find_values_with_contact(channel, contact_hash, after, _MAX_READ)
    keys = [row.key for row in found if row.key not in gone and _differs(row, values)]
    if len(keys) > _MAX_CUSTOMERS:
        return _Step(keys[:_MAX_CUSTOMERS], keys[_MAX_CUSTOMERS - 1])
    return _Step(keys, found[-1].key if len(found) == _MAX_READ else None)


def _differs(row: CustomerRow, values: Mapping[str, bool]) -> bool:
    return any(bool(getattr(row, name)) is not value for name, value in values.items())


def change_first(
    account_id: str,
    contact_hash: str,
    channel: Channel,
    values: Mapping[str, bool],
    at: datetime,
    add_writes: Callable[[Rows, Mapping[str, Any]], None],
    excepted: str | None = None,
) -> None:
    """Change a contact and the first customers with its address in one transaction.

    Args:
        values: the new values of the customers; without values, no customer is read.
        add_writes: adds the writes of the contact, with the attributes of `further_customers`.
        excepted: the id of a customer that has the new values already. If it is given, the contact
            is changed only if another customer has to be changed.

    Raises:
        Conflict: a condition of the contact failed.
    """
    gone = {account_key(account_id, excepted)} if excepted else set[str]()

    def attempt() -> None:
        step = _read_step(channel, contact_hash, values, gone)
        if excepted and not (step.keys or step.after):
            return
        further: Mapping[str, Any] = {}
        if step.after:
            further = contacts.further_customers(account_id, contact_hash, values, at)
        try:
            with _noting_gone(gone), transaction() as write:
                add_writes(write, further)
                _change(write, step.keys, channel, contact_hash, values)
        except Contention as contention:
            if contacts.failed_conditions(contention):
                raise Conflict("The suppression of the address has changed.") from None
            raise

    retry_on_contention(attempt)


def _change(
    write: Rows,
    keys: Collection[str],
    channel: Channel,
    contact_hash: str,
    values: Mapping[str, bool],
) -> None:
    for key in keys:
        customer_consent.change_with_address(write, key, channel, contact_hash, **values)


@contextmanager
def _noting_gone(gone: set[str]) -> Iterator[None]:
    """Add customers that were erased, or whose address has changed, if their conditions fail."""
    try:
        yield
    except Contention as contention:
        for failed in contention.failures:
            if failed.reason == CONDITION_FAILED and failed.key.model is CustomerRow:
                gone.add(failed.key.hash_key)
        raise
