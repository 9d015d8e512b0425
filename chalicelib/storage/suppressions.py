"""Suppress a contact, or lift its suppression, and change all customers with its address.

A transaction changes the contact and the first customers. If more customers have the address, the
contact becomes a work record in this transaction, and a worker changes the others in further
transactions. Customers that have the new values already are not written. Partners can list the
customers for whose address the service has learned something; see `contacts.record_change`.
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

_MAX_CUSTOMERS: Final = 49
"""Maximum number of customers in a transaction of 100 writes. Each takes two writes. The other two
are for the contact and the audit.
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
    is_learned = change is not None or reason is not SuppressionReason.OPTED_OUT

    def add_writes(write: Rows, further: Mapping[str, Any]) -> None:
        contacts.suppress(write, account_id, key, channel, reason, at, further)
        if change:
            account_changes.add(write, account_id, [change])

    change_first(account_id, contact_hash, channel, values, at, add_writes, is_learned=is_learned)


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

    Three requests for up to 49 customers; two if there is nothing to change.

    Raises:
        Unavailable: the database throttles, or contention persists.
    """
    gone: set[str] = set()

    def attempt() -> bool:
        further = contacts.find_further_customers(pointer)
        if further is None:
            return True
        step = _read_step(
            further.channel,
            further.contact_hash,
            further.values,
            gone,
            further.after,
            is_learned=further.is_learned,
        )
        with _noting_gone(gone), transaction() as write:
            contacts.record_progress(write, further, step.after, now)
            _change(write, step, further.channel, further.contact_hash, further.values, now)
        return step.after is None

    return retry_on_contention(attempt)


def _values(channel: Channel, reason: SuppressionReason) -> dict[str, bool]:
    if reason is SuppressionReason.BOUNCED and channel is Channel.EMAIL:
        return {"email_bounced": True}
    return optins_off([channel])


class _Step(NamedTuple):
    """The customers that one transaction changes.

    Attributes:
        after: the key after which the next step starts; None if this is the last step.
        is_learned: whether their change is listed.
    """

    customers: list[CustomerRow]
    after: str | None = None
    is_learned: bool = False


def _read_step(
    channel: Channel,
    contact_hash: str,
    values: Mapping[str, bool],
    gone: Collection[str],
    after: str | None = None,
    *,
    is_learned: bool = False,
) -> _Step:
    if not (values or is_learned):
        return _Step([])
    found = customer_consent.find_values_with_contact(channel, contact_hash, after, _MAX_READ)
    changed = [
        row for row in found if row.key not in gone and (is_learned or _differs(row, values))
    ]
    if len(changed) > _MAX_CUSTOMERS:
        return _Step(changed[:_MAX_CUSTOMERS], changed[_MAX_CUSTOMERS - 1].key, is_learned)
    return _Step(changed, found[-1].key if len(found) == _MAX_READ else None, is_learned)


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
    *,
    is_learned: bool = False,
) -> None:
    """Change a contact and the first customers with its address in one transaction.

    Args:
        values: the new values of the customers; without values, no customer is read.
        add_writes: adds the writes of the contact, with the attributes of `further_customers`.
        excepted: the id of a customer that has the new values already. If it is given, the contact
            is changed only if another customer has to be changed.
        is_learned: whether to list the change of all customers with the address.

    Raises:
        Conflict: a condition of the contact failed.
    """
    gone = {account_key(account_id, excepted)} if excepted else set[str]()

    def attempt() -> None:
        step = _read_step(channel, contact_hash, values, gone, is_learned=is_learned)
        if excepted and not (step.customers or step.after):
            return
        further: Mapping[str, Any] = {}
        if step.after:
            further = contacts.further_customers(
                account_id, contact_hash, channel, values, at, is_learned=is_learned
            )
        try:
            with _noting_gone(gone), transaction() as write:
                add_writes(write, further)
                _change(write, step, channel, contact_hash, values, at)
        except Contention as contention:
            if contacts.failed_conditions(contention):
                raise Conflict("The suppression of the address has changed.") from None
            raise

    retry_on_contention(attempt)


def _change(
    write: Rows,
    step: _Step,
    channel: Channel,
    contact_hash: str,
    values: Mapping[str, bool],
    at: datetime,
) -> None:
    for row in step.customers:
        differing = values if _differs(row, values) else {}
        customer_consent.change_with_address(write, row.key, channel, contact_hash, **differing)
        if step.is_learned:
            account_id, _, customer_id = row.key.partition("#")
            learned = {channel: contacts.contact_key(contact_hash)}
            contacts.record_change(write, account_id, customer_id, learned, at)


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
