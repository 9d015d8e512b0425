"""Request an erasure, and read requested erasures."""

from chalicelib.domain.accounts.account import Credential
from chalicelib.domain.erasure.partner_view import PartnerErasure, partner_erasure, requested_by
from chalicelib.domain.errors import NotFound
from chalicelib.outbound.queues import send
from chalicelib.queues import ERASURES
from chalicelib.services.erasure.erase import start_erasure
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
