"""Suppress addresses, at the request of partners or recipients, and lift suppressions.

Customers receive no messages at a suppressed address.
"""

from chalicelib.domain import clock
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.errors import Conflict, NotFound
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import Contact, SuppressionReason
from chalicelib.domain.solicitation.opt_out import OptedOut, OptOut
from chalicelib.domain.solicitation.tokens import UnsubscribeToken
from chalicelib.services.solicitation.contact_keys import address_hash
from chalicelib.storage import contacts, suppressions
from chalicelib.storage.stage_values import stage_secret


def opt_out(account_id: str, wish: OptOut) -> OptedOut:
    """Suppress an address at the request of a partner: ``POST /partners/customer/opt-out``.

    The customer need not exist yet. A repeated call has no effect. The reason of an earlier
    suppression stays. Two AWS requests. A worker changes the customers with this address that do
    not fit into one transaction.

    Raises:
        Unavailable: the database throttles, or contention persists. Nothing is written.
    """
    contact_hash = _hash_of(account_id, wish.channel, wish.address)
    reason = SuppressionReason.OPTED_OUT
    suppressions.suppress(account_id, contact_hash, wish.channel, reason, clock.now())
    return OptedOut(channels=(wish.channel,))


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
    contact_hash = _hash_of(account_id, wish.channel, wish.address)
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


def require_unsubscribe_token(token: str) -> UnsubscribeToken:
    """Return the content of a token. No AWS request if the secret of the stage is cached.

    Raises:
        NotFound: the token is invalid.
    """
    parsed = UnsubscribeToken.parse(token, stage_secret())
    if parsed is None:
        raise NotFound("unsubscribe link")
    return parsed


def unsubscribe(token: str) -> UnsubscribeToken:
    """Suppress the channel of the contact in the token, and return the content of the token.

    A repeated call has no effect.

    Two AWS requests. A worker changes the customers with this address that do not fit into one
    transaction.

    Raises:
        NotFound: the token is invalid.
        Unavailable: the database throttles or does not respond.
    """
    parsed = require_unsubscribe_token(token)
    reason = SuppressionReason.UNSUBSCRIBED
    suppressions.suppress(
        parsed.account_id, parsed.contact_hash, parsed.channel, reason, clock.now()
    )
    return parsed


def find_contact(account_id: str, channel: Channel, address: str) -> Contact:
    """Return the contact of an e-mail address or a phone number, with its suppression.

    One AWS request, and one more for a phone number. Another one reads the secret of the stage.
    """
    return _load(_hash_of(account_id, channel, address))


def lift_suppression(account_id: str, channel: Channel, address: str, operator: str) -> Contact:
    """Lift the suppression of an address. Return the contact as it was before.

    The opt-ins of customers do not change: a customer must give the consent again. Three AWS
    requests, and one more to read the secret of the stage.

    Args:
        operator: the identity of the operator, for the audit.

    Raises:
        Conflict: the address is not suppressed, or the suppression cannot be lifted.
    """
    contact_hash = _hash_of(account_id, channel, address)
    contact = _load(contact_hash)
    if contact.obstacle_to_lifting:
        raise Conflict(contact.obstacle_to_lifting)
    reason = contact.suppressed[channel].value
    subject = _audited(channel, contact.key)
    change = AccountChange(clock.now(), subject, operator, reason, "lifted")
    suppressions.lift(account_id, contact_hash, channel, change)
    return contact


def _hash_of(account_id: str, channel: Channel, address: str) -> str:
    contact_hash = address_hash(account_id, channel, address)
    assert contact_hash  # noqa: S101 - the address is not empty
    return contact_hash


def _load(contact_hash: str) -> Contact:
    key = contacts.contact_key(contact_hash)
    return contacts.find_many([key])[key]


def _audited(channel: Channel, contact_key: str) -> str:
    """Return the subject of a change of a suppression."""
    return f"suppression {channel.value} {contact_key}"
