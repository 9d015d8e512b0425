"""Suppress addresses and lift suppressions, with a record for the audit."""

from functools import partial

from admin.domain.lifting import obstacle_to_lifting
from chalicelib.domain import clock
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.errors import Conflict
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import Contact, SuppressionReason
from chalicelib.domain.solicitation.opt_out import OptOut
from chalicelib.services.solicitation.suppressions import required_hash
from chalicelib.storage import account_changes, contacts, suppressions
from chalicelib.storage.contacts import ContactRow
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.suppressions import AddressChange


def add_suppression(account_id: str, wish: OptOut, operator: str) -> SuppressionReason | None:
    """Suppress an address as `opt_out` does, and store the change for the audit.

    Return the reason of an earlier suppression, which stays. Then nothing is written. Otherwise
    return None. Three AWS requests, and one to read the secret of the stage.

    Args:
        operator: the identity of the operator, for the audit.
    """
    earlier = find_contact(account_id, wish.channel, wish.address)
    if wish.channel in earlier.suppressed:
        return earlier.suppressed[wish.channel]
    contact_hash = required_hash(account_id, wish.channel, wish.address)
    reason = SuppressionReason.OPTED_OUT
    change = AccountChange(
        clock.now(),
        _audited(wish.channel, contacts.contact_key(contact_hash)),
        operator,
        None,
        reason.value,
    )
    suppressions.suppress(account_id, contact_hash, wish.channel, reason, change.changed_at, change)
    return None


def find_contact(account_id: str, channel: Channel, address: str) -> Contact:
    """Return the contact of an e-mail address or a phone number, with its suppression.

    One AWS request, and one more for a phone number. Another one reads the secret of the stage.
    """
    return _load(required_hash(account_id, channel, address))


def lift_suppression(account_id: str, channel: Channel, address: str, operator: str) -> Contact:
    """Lift the suppression of an address. Return the contact as it was before.

    The opt-ins of customers do not change: a customer must give the consent again. Three AWS
    requests, and one more to read the secret of the stage.

    Args:
        operator: the identity of the operator, for the audit.

    Raises:
        Conflict: the address is not suppressed, or the suppression cannot be lifted.
    """
    contact_hash = required_hash(account_id, channel, address)
    values = suppressions.bounced(value=False) if channel is Channel.EMAIL else ()
    return commit(
        partial(
            _lift,
            AddressChange(account_id, contact_hash, channel, values, clock.now(), is_learned=True),
            operator,
        )
    )


def _lift(change: AddressChange, operator: str, rows: Rows) -> Contact:
    """Lift a suppression, and mark the e-mail address of all customers as not bounced."""
    key, channel, at = change.contact, change.channel, change.at
    rows.prefetch(key)
    contact = contacts.build_contact(
        key.hash_key, rows.get(key, ContactRow.complained_at, ContactRow.erased_at)
    )
    if obstacle := obstacle_to_lifting(contact):
        raise Conflict(obstacle)
    contacts.lift(rows, key.hash_key, channel, at)
    rows.set(key, ContactRow.lifted_at, at)
    rows.set(key, ContactRow.lifted_by, operator)
    # A worker that still applies a bounce must stop.
    rows.set(key, ContactRow.email_bounced, None)
    reason = contact.suppressed[channel].value
    audited = AccountChange(at, _audited(channel, contact.key), operator, reason, "lifted")
    account_changes.add(rows, change.account_id, [audited])
    suppressions.change_customers(rows, change)
    return contact


def _load(contact_hash: str) -> Contact:
    key = contacts.contact_key(contact_hash)
    return contacts.find_many([key])[key]


def _audited(channel: Channel, contact_key: str) -> str:
    """Return the subject of a change of a suppression."""
    return f"suppression {channel.value} {contact_key}"
