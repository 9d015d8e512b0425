"""Test API keys, secrets and the secrets that sign webhooks."""

import base64
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from admin.services.accounts.manage import new_api_key
from chalicelib.domain.accounts.account import (
    NO_CREDENTIAL,
    SigningSecrets,
    hash_of,
    is_api_key,
    new_secret,
)

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
CREDENTIAL = replace(NO_CREDENTIAL, secret_hash=hash_of("s"))
SECRETS = SigningSecrets(((NOW, "first"), (NOW + MILLISECOND, "second")))


def test_new_secret_has_32_random_bytes() -> None:
    assert len(base64.urlsafe_b64decode(f"{new_secret()}=")) == 32


def test_new_api_key_has_format_of_api_key() -> None:
    key = new_api_key()
    assert is_api_key(key)
    assert not is_api_key(key[:-1])
    assert not is_api_key(f"{key}0")


def test_credential_accepts_its_secret_until_it_is_revoked_or_expires() -> None:
    assert CREDENTIAL.accepts("s", NOW)
    assert not CREDENTIAL.accepts("S", NOW)
    assert not replace(CREDENTIAL, revoked_at=NOW).accepts("s", NOW)
    assert replace(CREDENTIAL, ends_at=NOW + MILLISECOND).accepts("s", NOW)
    assert not replace(CREDENTIAL, ends_at=NOW).accepts("s", NOW)


@pytest.mark.parametrize(
    ("at", "signing"),
    [
        (NOW - MILLISECOND, ()),
        (NOW, ("first", "second")),
        (NOW + MILLISECOND, ("second", "first")),
        (NOW + timedelta(days=1), ("second", "first")),
        (NOW + timedelta(days=1) + MILLISECOND, ("second",)),
    ],
)
def test_webhook_secret_signs_first_from_its_start_time_and_last_for_a_day_after_its_replacement(
    at: datetime, signing: tuple[str, ...]
) -> None:
    assert SECRETS.signing(at) == signing


def test_representation_of_webhook_secrets_contains_no_secret() -> None:
    assert repr(SECRETS) == "SigningSecrets(2)"
