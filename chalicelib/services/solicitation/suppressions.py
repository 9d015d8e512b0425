"""Suppress addresses, at the request of partners or recipients, and lift suppressions.

Customers receive no messages at a suppressed address.
"""

from chalicelib.domain import clock
from chalicelib.domain.errors import NotFound
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.domain.solicitation.opt_out import OptedOut, OptOut
from chalicelib.domain.solicitation.tokens import UnsubscribeToken
from chalicelib.services.solicitation.contact_keys import address_hash
from chalicelib.storage import suppressions
from chalicelib.storage.stage_values import stage_secret


def opt_out(account_id: str, wish: OptOut) -> OptedOut:
    """Suppress an address at the request of a partner: ``POST /partners/customer/opt-out``.

    The customer need not exist yet. A repeated call has no effect. The reason of an earlier
    suppression stays. Two AWS requests. A worker changes the customers with this address that do
    not fit into one transaction.

    Raises:
        Unavailable: the database throttles, or contention persists. Nothing is written.
    """
    contact_hash = required_hash(account_id, wish.channel, wish.address)
    reason = SuppressionReason.OPTED_OUT
    suppressions.suppress(account_id, contact_hash, wish.channel, reason, clock.now())
    return OptedOut(channels=(wish.channel,))


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


def required_hash(account_id: str, channel: Channel, address: str) -> str:
    """Return the contact hash of an address that is not empty."""
    contact_hash = address_hash(account_id, channel, address)
    assert contact_hash  # noqa: S101 - the address is not empty
    return contact_hash
