"""The secret that an account's webhooks are signed with (interface, section 6.2)."""

from datetime import datetime

from chalicelib.domain import clock
from chalicelib.domain.account import new_secret
from chalicelib.services.manage_accounts import require_account
from chalicelib.storage import webhook_secrets


def rotate_webhook_secret(account_id: str, active_from: datetime | None = None) -> str:
    """Gives the account a new secret and answers it, for the only time.

    Args:
        active_from: when it starts to sign, in place of now; the earlier one signs until then.

    Raises:
        NotFound: there is no such account.
    """
    require_account(account_id)
    secret = new_secret()
    webhook_secrets.put(account_id, active_from or clock.now(), secret)
    return secret
