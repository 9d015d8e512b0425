"""The pair of e-mail and phone number that identifies a customer in imports."""

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

_PHONE_FILLING: Final = re.compile(r"[\s.\-()\[\]{}‐-―−]")


@dataclass(frozen=True)
class CustomerPair:
    """A normalized e-mail address and phone number. A missing half is part of the pair."""

    email: str
    phone_number: str

    @property
    def digest(self) -> str:
        """Return a digest that is the same for equal pairs and reveals neither half."""
        return sha256(f"{len(self.email)}:{self.email}{self.phone_number}".encode()).hexdigest()


def pair_of(email: str | None, phone_number: str | None) -> CustomerPair | None:
    """Return the pair of these two, or None if both are missing.

    The e-mail address is lower-cased. The phone number loses spaces, dots, dashes and brackets, and
    a leading ``00`` becomes ``+``.
    """
    phone = _PHONE_FILLING.sub("", phone_number or "")
    if phone.startswith("00"):
        phone = "+" + phone[2:]
    pair = CustomerPair((email or "").lower(), phone)
    return pair if pair.email or pair.phone_number else None
