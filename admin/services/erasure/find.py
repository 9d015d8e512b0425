"""Find erasures."""

from admin.storage import erasure_lists
from chalicelib.domain.erasure.erasure import Erasure
from chalicelib.domain.errors import NotFound
from chalicelib.services.solicitation.contact_keys import current_keys
from chalicelib.storage import erasures


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
        for erasure in erasure_lists.list_for_account(account_id)
        if wanted <= {erasure.id, *erasure.contacts.values()}
    ]
