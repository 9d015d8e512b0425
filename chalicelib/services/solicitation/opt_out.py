"""Suppress an address at the request of a partner: ``POST /partners/customer/opt-out``."""

from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.domain.solicitation.opt_out import OptedOut, OptOut
from chalicelib.services.solicitation.contact_keys import contact_hashes
from chalicelib.services.solicitation.suppress import suppress_contact
from chalicelib.storage import customer_consent


def opt_out(account_id: str, wish: OptOut) -> OptedOut:
    """Suppress an address, also if no customer has it yet. A repeated call has no effect.

    The reason of an earlier suppression stays. Two AWS requests; one more for each further 99
    customers with this address.

    Raises:
        Unavailable: the database throttles, or contention persists. A repeated call completes the
            work.
    """
    contact_hash = contact_hashes(account_id, wish.channel, wish.address)[0]
    suppress_contact(account_id, contact_hash, wish.channel, SuppressionReason.OPTED_OUT)
    return OptedOut(channels=(wish.channel,))


def opt_out_others(account_id: str, contact_hash: str, channel: Channel, customer_id: str) -> None:
    """Turn off the opt-in of the other customers with an address that is suppressed already.

    One AWS request if no other customer has the address. Without this call, dispatch would turn the
    opt-ins off before it sends the next survey.
    """
    keys = customer_consent.find_keys_with_contact(channel, contact_hash)
    if any(not key.endswith(f"#{customer_id}") for key in keys):
        suppress_contact(account_id, contact_hash, channel, SuppressionReason.OPTED_OUT)
