"""The pair of e-mail and phone that makes two customers the same (interface, rule 4.2.2)."""

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

_PHONE_FILLING: Final = re.compile(r"[\s.\-()\[\]{}‐-―−]")


@dataclass(frozen=True)
class CustomerPair:
    """An e-mail and a phone number as they are compared; a missing half is part of the pair."""

    email: str
    phone_number: str

    @property
    def digest(self) -> str:
        """A key of fixed size that is the same for equal pairs and shows neither half."""
        return sha256(f"{len(self.email)}:{self.email}{self.phone_number}".encode()).hexdigest()


def pair_of(email: str | None, phone_number: str | None) -> CustomerPair | None:
    """The pair that these two make, or None when both are missing.

    E-mail is compared in lower case; phone without spaces, dots, dashes and brackets, and with a
    leading ``00`` as ``+``.
    """
    phone = _PHONE_FILLING.sub("", phone_number or "")
    if phone.startswith("00"):
        phone = "+" + phone[2:]
    pair = CustomerPair((email or "").lower(), phone)
    return pair if pair.email or pair.phone_number else None
