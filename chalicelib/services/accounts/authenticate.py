"""Authenticate partners by their API key and secret."""

from dataclasses import replace
from datetime import UTC, datetime

from chalicelib.domain import clock
from chalicelib.domain.accounts.account import NO_CREDENTIAL, Credential, is_api_key
from chalicelib.domain.errors import NotAuthenticated, Unavailable
from chalicelib.log import logger
from chalicelib.services.caching import cached
from chalicelib.storage import credentials


def authenticate(api_key: str, api_secret: str) -> Credential:
    """Return the credential of this API key and secret.

    Credentials are cached, so a revoked key can be accepted for up to a minute. A credential that
    does not accept the secret is read again, past the cache. The rejection of a well-formed key
    therefore always takes one AWS request, and its duration does not show whether the key exists.

    AWS requests: one if the credential is not cached on this day, and one more for the first use.

    Raises:
        NotAuthenticated: the key is unknown, revoked or expired, or the secret does not match it.
    """
    if not is_api_key(api_key):
        raise NotAuthenticated
    now = clock.now()
    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    for read in (_credential.cached, _credential.refresh):
        credential = read(api_key, day)
        if (credential or NO_CREDENTIAL).accepts(api_secret, now) and credential:
            return _mark_used(credential, day)
    raise NotAuthenticated


def _mark_used(credential: Credential, day: datetime) -> Credential:
    """Store the day of the use of a key, once a day."""
    if credential.last_used_at is None or credential.last_used_at < day:
        try:
            credentials.mark_used(credential.api_key, day)
        except Unavailable:
            # A request that reads the credential again repeats the write.
            logger.warning("use of key not stored", api_key=credential.api_key)
        credential = replace(credential, last_used_at=day)
        _credential.store(credential, credential.api_key, day)
    return credential


@cached(at_most=1024)
def _credential(api_key: str, _day: datetime) -> Credential | None:
    # On a new day, the credential is read again: caching an older one again would delay revocation.
    return credentials.find(api_key)
