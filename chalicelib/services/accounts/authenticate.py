"""Authenticate partners by their API key and secret."""

from chalicelib.domain.accounts.account import NO_CREDENTIAL, Credential, is_api_key
from chalicelib.domain.errors import NotAuthenticated
from chalicelib.services.caching import cached
from chalicelib.storage import credentials


def authenticate(api_key: str, api_secret: str) -> Credential:
    """Return the credential of this API key and secret.

    Credentials are cached, so a revoked key can be accepted for up to a minute. A credential that
    does not accept the secret is read again, past the cache. The rejection of a well-formed key
    therefore always takes one AWS request, and its duration does not show whether the key exists.

    Raises:
        NotAuthenticated: the key is unknown or revoked, or the secret does not match the key.
    """
    if not is_api_key(api_key):
        raise NotAuthenticated
    for read in (_credential.cached, _credential.refresh):
        credential = read(api_key)
        if (credential or NO_CREDENTIAL).accepts(api_secret) and credential:
            return credential
    raise NotAuthenticated


@cached(at_most=1024)
def _credential(api_key: str) -> Credential | None:
    return credentials.find(api_key)
