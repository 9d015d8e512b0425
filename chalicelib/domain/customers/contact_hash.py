"""Hash customer ids, e-mail addresses and phone numbers. The hashes identify contacts.

The table of customers contains the hashes of addresses as index keys. The hashed text contains the
account id, so that equal addresses in two accounts have different hashes.
"""

from hashlib import sha256

from chalicelib.domain.customers.pair import normalize_email, normalize_phone_number


def customer_hash(account_id: str, customer_id: str) -> str:
    """Return the hash of a customer id."""
    return _hash(account_id, "customer", customer_id)


def email_hash(account_id: str, email: str | None) -> str | None:
    """Return the hash of an e-mail address, or None if there is none.

    The case and the spelling of an international domain are ignored.
    """
    return _hash(account_id, "email", normalize_email(email)) if email else None


def phone_hash(account_id: str, phone_number: str | None) -> str | None:
    """Return the hash of a phone number, or None if there is none. Separators are ignored.

    A number in international notation has the same hash as its E.164 format. The hash of a number
    in national notation differs from the hash of its E.164 format, because hashes do not depend on
    the account's default region.
    """
    if not phone_number:
        return None
    normalized = normalize_phone_number(_without_trunk_zero(phone_number))
    return _hash(account_id, "phone", normalized) if normalized else None


def pair_hash(account_id: str, digest: str) -> str:
    """Return the hash of a pair with this digest."""
    return _hash(account_id, "pair", digest)


def _without_trunk_zero(phone_number: str) -> str:
    """Remove the zero in brackets from ``+33 (0)6 12 34 56 78``. It is not part of the number."""
    is_international = phone_number.lstrip().startswith(("+", "00"))
    return phone_number.replace("(0)", "") if is_international else phone_number


def _hash(account_id: str, kind: str, contact: str) -> str:
    return sha256(f"{account_id}/{kind}/{contact}".encode()).hexdigest()
