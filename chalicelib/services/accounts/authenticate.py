"""Authenticate partners by their API key and secret."""

from chalicelib.domain.accounts.account import NO_CREDENTIAL, Credential, is_api_key
from chalicelib.domain.errors import NotAuthenticated
from chalicelib.services.caching import cached
from chalicelib.storage import credentials


def authenticate(api_key: str, api_secret: str) -> Credential:
    """Return the credential of this API key and secret.

    Credentials are cached, so a revoked key can be accepted for up to a minute.

    Raises:
        NotAuthenticated: the key is unknown or revoked, or the secret does not match the key.
    """
    credential = _credential(api_key) if is_api_key(api_key) else None
    secret_matches = (credential or NO_CREDENTIAL).accepts(api_secret)
    if credential is None or not secret_matches:
        raise NotAuthenticated
    return credential


@cached(at_most=1024)
def _credential(api_key: str) -> Credential | None:
    return credentials.find(api_key)
