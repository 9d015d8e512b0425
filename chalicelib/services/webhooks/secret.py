"""The secret that an account's webhooks are signed with (interface, section 6.2)."""

from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.domain import clock
from chalicelib.domain.accounts.account import new_secret
from chalicelib.domain.errors import Conflict
from chalicelib.services.accounts.manage import require_account
from chalicelib.storage import webhook_secrets


@dataclass(frozen=True)
class NewSecret:
    """A secret, for the only time that it is told.

    Attributes:
        replaced: how many earlier ones that were still to come it takes the place of. One that
            was to start in this minute may still sign until the minute is over.
    """

    secret: str = field(repr=False)
    replaced: int


def rotate_webhook_secret(account_id: str, active_from: datetime | None = None) -> NewSecret:
    """Gives the account a new secret, which also takes the place of those that do not sign yet.

    Args:
        active_from: when it starts to sign, in place of now; the earlier one signs until then.

    Raises:
        Conflict: that moment is over.
        NotFound: there is no such account.
    """
    require_account(account_id)
    now = clock.now()
    if active_from and active_from < now:
        raise Conflict("That moment is over: give one to come, or none to begin now.")
    secret = new_secret()
    return NewSecret(secret, webhook_secrets.save(account_id, active_from or now, secret, now))
