"""Compare e-mail addresses and phone numbers: normalize them, and hash them for keys and indexes.

A hash identifies a contact: an e-mail address, a phone number, a pair of both, or a customer id.
The hashed text contains the account id, so that equal addresses in two accounts have different
hashes.
"""

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

_PHONE_SEPARATORS: Final = re.compile(r"[\s.\-()\[\]{}‐-―−]")


@dataclass(frozen=True)
class CustomerPair:
    """The normalized e-mail address and phone number that identify a customer without an id.

    Either may be an empty string.
    """

    email: str
    phone_number: str

    @property
    def digest(self) -> str:
        """Return a SHA-256 digest of the pair, so that table keys contain no personal data."""
        return sha256(f"{len(self.email)}:{self.email}{self.phone_number}".encode()).hexdigest()


def pair_of(email: str | None, phone_number: str | None) -> CustomerPair | None:
    """Return the pair of an e-mail address and a phone number, or None if both are missing.

    The e-mail address is normalized (see `normalize_email`). Spaces, dots, dashes and brackets are
    removed from the phone number, and a leading ``00`` is replaced by ``+``.
    """
    pair = CustomerPair(normalize_email(email or ""), _normalize_phone_number(phone_number or ""))
    return pair if pair.email or pair.phone_number else None


def normalize_email(email: str) -> str:
    """Return the e-mail address in lower case, with the domain in ASCII (UTS 46).

    A domain that is not a valid international domain stays in lower case.
    """
    lower = email.lower()
    local, at, domain = lower.rpartition("@")
    if domain.isascii():
        return lower
    import idna  # Only addresses with international domains need this library.

    try:
        return f"{local}{at}{idna.encode(domain, uts46=True).decode()}"
    except UnicodeError:
        return lower


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
    normalized = _normalize_phone_number(_without_trunk_zero(phone_number))
    return _hash(account_id, "phone", normalized) if normalized else None


def pair_hash(account_id: str, digest: str) -> str:
    """Return the hash of a pair with this digest."""
    return _hash(account_id, "pair", digest)


def _normalize_phone_number(phone_number: str) -> str:
    """Return the phone number without separators and with ``+`` instead of a leading ``00``."""
    phone = _PHONE_SEPARATORS.sub("", phone_number)
    return f"+{phone[2:]}" if phone.startswith("00") else phone


def _without_trunk_zero(phone_number: str) -> str:
    """Remove the zero in brackets from ``+33 (0)6 12 34 56 78``. It is not part of the number."""
    is_international = phone_number.lstrip().startswith(("+", "00"))
    return phone_number.replace("(0)", "") if is_international else phone_number


def _hash(account_id: str, kind: str, contact: str) -> str:
    return sha256(f"{account_id}/{kind}/{contact}".encode()).hexdigest()
