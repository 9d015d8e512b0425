"""Read and lift suppressions of addresses, for the command ``suppression``."""

from chalicelib.domain import clock
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.errors import Conflict
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import Contact
from chalicelib.services.solicitation.contact_keys import contact_hashes
from chalicelib.storage import contacts, suppressions


def find_contact(account_id: str, channel: Channel, address: str) -> Contact:
    """Return the contact of an e-mail address or a phone number, with its suppression.

    If earlier versions of the service suppressed another spelling of the address, return the
    contact of this spelling. One AWS request, and one more for a phone number. Another one reads
    the secret of the stage.
    """
    return _by_severity(_find_contacts(account_id, channel, address))[0]


def lift_suppression(account_id: str, channel: Channel, address: str, operator: str) -> Contact:
    """Lift the suppression of an address. Return the contact as it was before.

    The opt-ins of customers do not change: a customer must give the consent again. Three AWS
    requests, and one more to read the secret of the stage.

    Args:
        operator: the identity of the operator, for the audit.

    Raises:
        Conflict: the address is not suppressed, or the suppression cannot be lifted.
    """
    found = _find_contacts(account_id, channel, address)
    suppressed = {h: contact for h, contact in found.items() if contact.suppressed}
    obstacles = (contact.obstacle_to_lifting for contact in (suppressed or found).values())
    if obstacle := next(filter(None, obstacles), None):
        raise Conflict(obstacle)
    for contact_hash, contact in suppressed.items():
        reason = contact.suppressed[channel].value
        subject = f"suppression {channel.value} {contact.key}"
        change = AccountChange(clock.now(), subject, operator, reason, "lifted")
        suppressions.lift(account_id, contact_hash, channel, change)
    return _by_severity(found)[0]


def _find_contacts(account_id: str, channel: Channel, address: str) -> dict[str, Contact]:
    """Load the contacts of an address by contact hash, the current one first."""
    hashes = contact_hashes(account_id, channel, address)
    found = contacts.find_many([contacts.contact_key(contact_hash) for contact_hash in hashes])
    return dict(zip(hashes, found.values(), strict=True))


def _by_severity(found: dict[str, Contact]) -> list[Contact]:
    """Return the contacts, those whose suppression cannot be lifted first."""
    return sorted(
        found.values(),
        key=lambda contact: (not contact.suppressed, contact.obstacle_to_lifting is None),
    )
