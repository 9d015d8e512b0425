"""The pair of e-mail and phone number that identifies a customer without an id.

E-mail addresses are compared in lower case, with the domain in ASCII (UTS 46). Earlier versions of
the service stored digests and hashes of addresses with international domains in the spelling of the
address. They cannot be computed again, so such records are looked up under all spellings.
"""

import re
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

_PHONE_SEPARATORS: Final = re.compile(r"[\s.\-()\[\]{}‐-―−]")


@dataclass(frozen=True)
class CustomerPair:
    """A normalized e-mail address and phone number; either may be an empty string.

    Attributes:
        earlier_spellings: other spellings of the address, if its domain is international.
    """

    email: str
    phone_number: str
    earlier_spellings: tuple[str, ...] = field(default=(), compare=False)

    @property
    def digest(self) -> str:
        """Return a SHA-256 digest of the pair, so that table keys contain no personal data."""
        return _digest(self.email, self.phone_number)

    @property
    def digests(self) -> tuple[str, ...]:
        """Return the digest, and the digests under which the pair may have been stored earlier."""
        emails = (self.email, *self.earlier_spellings)
        return tuple(_digest(email, self.phone_number) for email in emails)


def pair_of(email: str | None, phone_number: str | None) -> CustomerPair | None:
    """Return the pair of an e-mail address and a phone number, or None if both are missing.

    The e-mail address is normalized (see `normalize_email`). Spaces, dots, dashes and brackets are
    removed from the phone number, and a leading ``00`` is replaced by ``+``.
    """
    normalized, *earlier = email_spellings(email or "")
    pair = CustomerPair(normalized, normalize_phone_number(phone_number or ""), tuple(earlier))
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


def email_spellings(email: str) -> tuple[str, ...]:
    """Return the normalized e-mail address, and its other spellings if its domain is international.

    The other spellings are the address in lower case and the address with its domain in Unicode.
    """
    normalized, lower = normalize_email(email), email.lower()
    if normalized == lower and "xn--" not in lower:
        return (normalized,)
    import idna

    spellings = [normalized, lower]
    local, at, domain = normalized.rpartition("@")
    with suppress(UnicodeError):  # Not every domain has a spelling in Unicode.
        spellings.append(f"{local}{at}{idna.decode(domain)}")
    return tuple(dict.fromkeys(spellings))


def normalize_phone_number(phone_number: str) -> str:
    """Return the phone number without separators and with ``+`` instead of a leading ``00``."""
    phone = _PHONE_SEPARATORS.sub("", phone_number)
    return f"+{phone[2:]}" if phone.startswith("00") else phone


def _digest(email: str, phone_number: str) -> str:
    return sha256(f"{len(email)}:{email}{phone_number}".encode()).hexdigest()
