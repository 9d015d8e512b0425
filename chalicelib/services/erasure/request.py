"""Request an erasure, and read requested erasures."""

from chalicelib.domain.accounts.account import Credential
from chalicelib.domain.erasure import Erasure
from chalicelib.domain.erasure_view import PartnerErasure, partner_erasure, requested_by
from chalicelib.domain.errors import NotFound
from chalicelib.outbound.queues import send
from chalicelib.queues import ERASURES
from chalicelib.services.erasure.erase import start_erasure
from chalicelib.services.solicitation.contact_keys import current_keys
from chalicelib.storage import erasures


def request_erasure(credential: Credential, customer_id: str) -> PartnerErasure:
    """Start the erasure of a customer. A repeated call returns the same erasure.

    Four AWS requests, and one to three for each address.

    Raises:
        NotFound: the account has no such customer, and it was not erased.
        Unavailable: the database throttles, or contention persists.
    """
    by = requested_by(credential.api_key)
    erasure = start_erasure(credential.account_id, customer_id, by)
    if erasure.ended_at is None:
        send(ERASURES, [erasure.pointer])
    return partner_erasure(customer_id, erasure)


def read_erasure(account_id: str, customer_id: str) -> PartnerErasure:
    """Return the erasure of a customer. One AWS request.

    Raises:
        NotFound: no erasure of this customer was requested.
    """
    erasure = erasures.find(erasures.erasure_id(account_id, customer_id))
    if erasure is None:
        raise NotFound("erasure")
    return partner_erasure(customer_id, erasure)


def require_erasure(erasure_id: str) -> Erasure:
    """Return an erasure of any account. One AWS request.

    Raises:
        NotFound: the erasure does not exist.
    """
    erasure = erasures.find(erasure_id)
    if erasure is None:
        raise NotFound("erasure")
    return erasure


def list_erasures(
    account_id: str,
    *,
    customer_id: str | None = None,
    email: str | None = None,
    phone_number: str | None = None,
) -> list[Erasure]:
    """Return the account's erasures, newest first. Only erasures that match all arguments.

    One AWS request, and one more for each further MB (about 1,500 erasures). With an argument, one
    more request reads the secret of the stage; with a phone number, another one reads the settings
    of the account.

    Args:
        email: only erasures of persons with this address.
        phone_number: only erasures of persons with this number, in any notation.
    """
    wanted = {*current_keys(account_id, email, phone_number).values()}
    if customer_id:
        wanted.add(erasures.erasure_id(account_id, customer_id))
    return [
        erasure
        for erasure in erasures.list_for_account(account_id)
        if wanted <= {erasure.id, *erasure.contacts.values()}
    ]
