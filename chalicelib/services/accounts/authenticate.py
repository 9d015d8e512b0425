"""Authenticate partners: map credentials to an account."""

from chalicelib.domain.accounts.account import NO_CREDENTIAL, Credential, is_api_key
from chalicelib.domain.errors import NotAuthenticated
from chalicelib.services.caching import cached
from chalicelib.storage import credentials


def authenticate(api_key: str, api_secret: str) -> str:
    """Return the id of the account that these credentials belong to.

    A revoked key is rejected within a minute of its revocation.

    Raises:
        NotAuthenticated: the key is unknown or revoked, or the secret does not match the key.
    """
    credential = _credential(api_key) if is_api_key(api_key) else None
    known = credential or NO_CREDENTIAL
    if not known.accepts(api_secret) or credential is None:
        raise NotAuthenticated
    return credential.account_id


@cached(at_most=1024)
def _credential(api_key: str) -> Credential | None:
    return credentials.find(api_key)
