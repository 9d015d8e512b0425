"""Hashes of e-mail addresses and phone numbers: the index keys that find records by them.

The hash contains the account, so that equal addresses in two accounts have different hashes.
"""

from hashlib import sha256

from chalicelib.domain.customers.pair import normalize_email, normalize_phone_number


def email_hash(account_id: str, email: str | None) -> str | None:
    """Return the hash of an e-mail address, or None if there is none. Case is ignored."""
    return _hash(account_id, "email", normalize_email(email)) if email else None


def phone_hash(account_id: str, phone_number: str | None) -> str | None:
    """Return the hash of a phone number, or None if there is none. Separators are ignored."""
    normalized = normalize_phone_number(phone_number or "")
    return _hash(account_id, "phone", normalized) if normalized else None


def pair_hash(account_id: str, digest: str | None) -> str | None:
    """Return the hash of a pair with this digest, or None if there is no pair."""
    return _hash(account_id, "pair", digest) if digest else None


def _hash(account_id: str, kind: str, contact: str) -> str:
    return sha256(f"{account_id}/{kind}/{contact}".encode()).hexdigest()
