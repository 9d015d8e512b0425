"""The table of contacts: when each contact last received a survey, and suppressed channels.

The key is a keyed hash of the contact hash of a customer id, an e-mail address or a phone number.
Suppressions have no expiry, and they also apply to customers that are created later.
"""

import hmac
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pynamodb.attributes import BooleanAttribute, UnicodeAttribute

from chalicelib.domain.customers.addresses import customer_hash
from chalicelib.domain.paging import in_groups
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.consent import REMOVED_RETENTION
from chalicelib.domain.solicitation.contact import (
    WEAK_REASONS,
    Contact,
    Solicited,
    SuppressionReason,
)
from chalicelib.storage.dynamodb.attributes import (
    IntegerAttribute,
    JsonAttribute,
    TimestampAttribute,
    optional,
)
from chalicelib.storage.dynamodb.indexes import including, index
from chalicelib.storage.dynamodb.table import Key, fields_of, read_together
from chalicelib.storage.dynamodb.unit_of_work import Rows
from chalicelib.storage.dynamodb.work_records import WorkRecords, WorkRow
from chalicelib.storage.stage_values import stage_secret

_RETENTION: Final = timedelta(days=400)
"""The time after which contacts expire: longer than the maximum resolicitation delay, 366 days."""

_MAX_WRITES: Final = 100
"""Maximum number of writes in a transaction."""

_PURPOSE: Final = b"contact\n"
"""A prefix of the hashed text, so that other hashes with the same secret have other values."""


PART: Final = "contact"
"""The value of the attribute ``part`` of all rows. It is constant: the table has no sort key."""


@dataclass(frozen=True)
class ContactPointer:
    """The content of a queue message for a contact whose customers are to be changed."""

    account_id: str
    contact_key: str


class ContactRow(WorkRow[ContactPointer]):
    """The table row of a contact.

    ``solicited`` maps each scope to a time and a purchase. ``erased_at`` is the time of the
    last erasure of a customer with this address. Every change of the contact increments
    ``revision``.

    The row is a work record while customers with the address have to be changed: if more customers
    have it than fit into the transaction that suppresses the contact. ``contact_hash`` and
    ``further_channel`` find these customers, ``email_optin``, ``sms_optin`` and ``email_bounced``
    are their new values, ``is_learned`` says whether the change is listed, and ``after`` is the key
    of the last customer that has the new values.

    A customer has a row too, whose key is derived from its id. The row has ``customer_id`` and
    ``changed_at`` if the service has learned something about an address of the customer, or if the
    customer was erased (``removed``). ``email_contact`` and ``sms_contact`` are the keys of the
    contacts of these addresses. The index ``by_change`` lists the rows of customers.
    """

    class Meta:
        name = "contacts"

    key = UnicodeAttribute(hash_key=True)
    part = PART
    account_id = UnicodeAttribute()
    revision = IntegerAttribute()
    solicited = optional(JsonAttribute[Mapping[str, tuple[str, str]]])
    suppressed_email = optional(UnicodeAttribute)
    suppressed_sms = optional(UnicodeAttribute)
    suppressed_at = optional(TimestampAttribute)
    complained_at = optional(TimestampAttribute)
    erased_at = optional(TimestampAttribute)
    lifted_at = optional(TimestampAttribute)
    lifted_by = optional(UnicodeAttribute)
    expires_at = optional(IntegerAttribute)
    contact_hash = UnicodeAttribute(null=True)
    email_optin = optional(BooleanAttribute)
    sms_optin = optional(BooleanAttribute)
    email_bounced = optional(BooleanAttribute)
    further_channel = UnicodeAttribute(null=True)
    is_learned = optional(BooleanAttribute)
    after = optional(UnicodeAttribute)
    customer_id = optional(UnicodeAttribute)
    changed_at = optional(TimestampAttribute)
    email_contact = optional(UnicodeAttribute)
    sms_contact = optional(UnicodeAttribute)
    removed = optional(BooleanAttribute)
    by_change = index(
        "account_id", "changed_at", including("customer_id email_contact sms_contact removed")
    )

    def pointer(self, _now: datetime) -> ContactPointer:
        return ContactPointer(self.account_id, self.key)


WORK: Final[WorkRecords[ContactPointer]] = WorkRecords("suppression", ContactRow)
"""The work records of contacts whose customers are to be changed."""

OPTIN_OF: Final = {Channel.EMAIL: ContactRow.email_optin, Channel.SMS: ContactRow.sms_optin}
"""The attribute with the opt-in of the contact's further customers, by channel."""

LISTED: Final = {Channel.EMAIL: ContactRow.email_contact, Channel.SMS: ContactRow.sms_contact}
"""The attribute with the key of the contact about which something was learned, by channel."""

SUPPRESSED: Final = {
    Channel.EMAIL: ContactRow.suppressed_email,
    Channel.SMS: ContactRow.suppressed_sms,
}
"""The attribute with the reason of a suppression, by channel."""


def contact_key(contact_hash: str) -> str:
    """Return the key of a contact, a keyed hash of its contact hash.

    The key is retained after the customer is erased. Unlike the contact hash, the key cannot be
    used to confirm a guessed address without the secret of the stage.
    """
    return hmac.digest(stage_secret(), _PURPOSE + contact_hash.encode(), "sha256").hex()


def find_many(keys: Collection[str]) -> dict[str, Contact]:
    """Load contacts by key. A contact without a row has revision 0. One consistent request."""
    rows = read_together(*(Key(ContactRow, key) for key in keys))
    return {key: build_contact(key, row) for key, row in zip(keys, rows, strict=True)}


def confirm_erasures(found: Collection[Contact]) -> None:
    """Check that the times of the last erasures are those that were loaded.

    An erasure can be visible in one row and not yet in another one. A transaction on a row that is
    not visible yet fails. One request per 100 contacts.

    Raises:
        Contention: another erasure has started, or is not visible in all rows yet.
    """
    for group in in_groups(found, _MAX_WRITES):
        rows = Rows()
        for contact in group:
            erased_at = ContactRow.erased_at
            known = contact.erased_at
            is_same = erased_at == known if known else erased_at.does_not_exist()
            rows.condition_check(Key(ContactRow, contact.key), is_same)
        rows.send()


def suppress(
    rows: Rows,
    account_id: str,
    key: str,
    channel: Channel,
    reason: SuppressionReason,
    at: datetime,
) -> None:
    """Suppress a channel of a contact in this unit of work.

    A later call replaces the reason and the time, unless the new reason is in `WEAK_REASONS`.
    """
    contact = Key(ContactRow, key)
    if reason in WEAK_REASONS:
        rows.set_default(contact, SUPPRESSED[channel], reason)
        rows.set_default(contact, ContactRow.suppressed_at, at)
    else:
        rows.set(contact, SUPPRESSED[channel], reason)
        rows.set(contact, ContactRow.suppressed_at, at)
    if reason is SuppressionReason.COMPLAINT:
        rows.set(contact, ContactRow.complained_at, at)
    _keep(rows, contact, account_id)


def opt_out(rows: Rows, account_id: str, key: str, channel: Channel, at: datetime) -> bool:
    """Suppress a channel of a contact at the request of a partner, in this unit of work.

    Return False if an earlier attempt has found that the channel is suppressed already.
    """
    contact = Key(ContactRow, key)
    if rows.has_failed(contact):
        return False
    rows.expect(contact, SUPPRESSED[channel], None)
    suppress(rows, account_id, key, channel, SuppressionReason.OPTED_OUT, at)
    return True


def lift(rows: Rows, key: str, channel: Channel, at: datetime) -> None:
    """Lift the suppression of a contact that this unit of work has fetched, and rely on it."""
    contact = Key(ContactRow, key)
    rows.value(contact, SUPPRESSED[channel])
    rows.set(contact, SUPPRESSED[channel], None)
    rows.set(contact, ContactRow.suppressed_at, None)
    rows.set(contact, ContactRow.expires_at, expires_at(at))
    # From now on, customers can opt in again.
    rows.set(contact, OPTIN_OF[channel], None)


def record_erasure(
    rows: Rows,
    account_id: str,
    keys: Mapping[Channel, str],
    pair_key: str | None,
    at: datetime,
) -> None:
    """Suppress the contacts of an erased customer, in this unit of work.

    Args:
        keys: the contact of each channel.
        pair_key: the contact of the customer's pair; None without a pair. It receives no messages,
            but an import that is older than the erasure checks it.
    """
    for channel, key in keys.items():
        suppress(rows, account_id, key, channel, SuppressionReason.ERASED, at)
    for key in filter(None, (*keys.values(), pair_key)):
        rows.set(Key(ContactRow, key), ContactRow.erased_at, at)
        _keep(rows, Key(ContactRow, key), account_id)


def record_change(
    rows: Rows,
    account_id: str,
    customer_id: str,
    learned: Mapping[Channel, str],
    at: datetime,
) -> None:
    """List in this unit of work that the service has learned something about an address.

    The unit must rely on the existence of the customer.

    Args:
        learned: the contacts of the addresses, by channel.
    """
    own = _own_key(account_id, customer_id)
    for channel, key in learned.items():
        rows.set(own, LISTED[channel], key)
    rows.set(own, ContactRow.customer_id, customer_id)
    rows.set(own, ContactRow.changed_at, at)
    rows.set(own, ContactRow.removed, None)
    _keep(rows, own, account_id)


def record_removal(rows: Rows, account_id: str, customer_id: str, at: datetime) -> None:
    """List in this unit of work that a customer was erased, and remove the customer's surveys."""
    own = _own_key(account_id, customer_id)
    for attribute in LISTED.values():
        rows.set(own, attribute, None)
    rows.set(own, ContactRow.solicited, None)
    rows.set(own, ContactRow.customer_id, customer_id)
    rows.set(own, ContactRow.changed_at, at)
    rows.set(own, ContactRow.removed, True)
    rows.set(own, ContactRow.account_id, account_id)
    rows.set(own, ContactRow.expires_at, int((at + REMOVED_RETENTION).timestamp()))


def is_listed(account_id: str, customer_id: str) -> bool:
    """Return whether `record_change` has listed a customer last. One consistent request."""
    key = _own_key(account_id, customer_id).hash_key
    own = find_many([key])[key]
    return own.changed_at is not None and not own.removed


def record_solicitation(
    rows: Rows,
    account_id: str,
    contacts: Iterable[Contact],
    scopes: Iterable[str],
    purchase_id: str,
    at: datetime,
) -> None:
    """Record a survey for all contacts of a customer and in all scopes, in this unit of work."""
    new = dict.fromkeys(scopes, (format_timestamp(at), purchase_id))
    oldest = format_timestamp(at - _RETENTION)
    for contact in contacts:
        key = Key(ContactRow, contact.key)
        row = rows.get(key)
        stored = (row and row.solicited) or {}
        kept = {scope: last for scope, last in stored.items() if last[0] > oldest}
        rows.set(key, ContactRow.account_id, account_id)
        rows.set(key, ContactRow.solicited, kept | new)
        if not contact.suppressed and (contact.removed or not contact.changed_at):
            rows.set(key, ContactRow.expires_at, expires_at(at))


def _own_key(account_id: str, customer_id: str) -> Key[ContactRow]:
    """Return the key of the row of a customer itself, instead of one of its addresses."""
    return Key(ContactRow, contact_key(customer_hash(account_id, customer_id)))


def _keep(rows: Rows, contact: Key[ContactRow], account_id: str) -> None:
    """Keep a contact that more than surveys is known about for an unlimited time."""
    rows.set(contact, ContactRow.account_id, account_id)
    rows.set(contact, ContactRow.expires_at, None)


def expires_at(at: datetime) -> int:
    """Return the time at which a contact expires that nothing but surveys is known about."""
    return int((at + _RETENTION).timestamp())


def build_contact(key: str, row: ContactRow | None) -> Contact:
    """Build a contact from its table row, or an empty contact without a row."""
    if row is None:
        return Contact(key)
    values = {
        "key": key,
        "solicited": {
            scope: Solicited(datetime.fromisoformat(at), by)
            for scope, (at, by) in (row.solicited or {}).items()
        },
        "suppressed": {
            channel: SuppressionReason(reason)
            for channel, attribute in SUPPRESSED.items()
            if (reason := row.attribute_values.get(attribute.attr_name))
        },
    }
    return Contact(**fields_of(row, Contact) | values)
