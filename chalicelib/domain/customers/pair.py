"""The pair of e-mail and phone number that identifies a customer without an id.

E-mail addresses are compared in lower case, with the domain in ASCII (UTS 46).
"""

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

_PHONE_SEPARATORS: Final = re.compile(r"[\s.\-()\[\]{}‐-―−]")


@dataclass(frozen=True)
class CustomerPair:
    """A normalized e-mail address and phone number; either may be an empty string."""

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
    pair = CustomerPair(normalize_email(email or ""), normalize_phone_number(phone_number or ""))
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


def normalize_phone_number(phone_number: str) -> str:
    """Return the phone number without separators and with ``+`` instead of a leading ``00``."""
    phone = _PHONE_SEPARATORS.sub("", phone_number)
    return f"+{phone[2:]}" if phone.startswith("00") else phone
