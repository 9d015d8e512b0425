"""Read and lift suppressions of addresses, for the command ``suppression``."""

from chalicelib.domain import clock
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.customers.contact_hash import email_hash
from chalicelib.domain.errors import Conflict
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import Contact
from chalicelib.services.accounts.manage import require_account
from chalicelib.services.solicitation.contact_keys import phone_contact_hash
from chalicelib.storage import contacts, suppressions


def find_contact(account_id: str, channel: Channel, address: str) -> Contact:
    """Return the contact of an e-mail address or a phone number, with its suppression.

    Two AWS requests, and one more for a phone number. Another one reads the secret of the stage.

    Raises:
        NotFound: the account does not exist.
    """
    require_account(account_id)
    key = contacts.contact_key(_contact_hash(account_id, channel, address))
    return contacts.find_many([key])[key]


def lift_suppression(account_id: str, channel: Channel, address: str, operator: str) -> Contact:
    """Lift the suppression of an address. Return the contact as it was before.

    The opt-ins of customers do not change: a customer must give the consent again. Four AWS
    requests, and one more to read the secret of the stage.

    Args:
        operator: the identity of the operator, for the audit.

    Raises:
        NotFound: the account does not exist.
        Conflict: the address is not suppressed, or the suppression cannot be lifted.
    """
    contact = find_contact(account_id, channel, address)
    obstacle = contact.obstacle_to_lifting
    if obstacle:
        raise Conflict(obstacle)
    reason = contact.suppressed[channel].value
    subject = f"suppression {channel.value} {contact.key}"
    change = AccountChange(clock.now(), subject, operator, reason, "lifted")
    suppressions.lift(account_id, _contact_hash(account_id, channel, address), channel, change)
    return contact


def _contact_hash(account_id: str, channel: Channel, address: str) -> str:
    if channel is Channel.EMAIL:
        return email_hash(account_id, address) or ""
    return phone_contact_hash(account_id, address) or ""
