"""Suppress an address, so that no customer receives messages at this address."""

from chalicelib.domain import clock
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.storage import suppressions


def suppress_contact(
    account_id: str, contact_hash: str, channel: Channel, reason: SuppressionReason
) -> None:
    """Suppress a channel of a contact, and change all customers with this address.

    After a permanent bounce, the e-mail address of these customers is marked as bounced. For any
    other reason, their opt-in is turned off. The suppression also applies to customers who get this
    address later. A repeated call has no further effect.

    Two AWS requests; one more for each further 99 customers with this address.

    Raises:
        Unavailable: the database throttles or does not respond. A repeated call completes the work.
    """
    suppressions.suppress(account_id, contact_hash, channel, reason, clock.now())
