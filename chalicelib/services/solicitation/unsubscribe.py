"""Unsubscribe the recipient of a message with the token of its unsubscribe link."""

from chalicelib.domain.errors import NotFound
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.domain.solicitation.unsubscribe_token import UnsubscribeToken
from chalicelib.services.solicitation.suppress import suppress_contact
from chalicelib.storage.stage_secret import stage_secret


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

    Two AWS requests; one more for each further 99 customers with this address.

    Raises:
        NotFound: the token is invalid.
        Unavailable: the database throttles or does not respond.
    """
    parsed = require_unsubscribe_token(token)
    suppress_contact(
        parsed.account_id, parsed.contact_hash, parsed.channel, SuppressionReason.UNSUBSCRIBED
    )
    return parsed
