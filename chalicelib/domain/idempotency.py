"""Idempotency keys.

The id of the record that a request creates is derived from the idempotency key. The record also
stores a hash of the request's input. The service uses the hash to detect that a key is reused with
different input.
"""

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from chalicelib.domain.errors import IdempotencyKeyReused, InvalidInput
from chalicelib.domain.ids import derived_id, new_id
from chalicelib.domain.input_errors import InputError

HEADER: Final = "Idempotency-Key"
PART: Final = "idempotencyKey"
"""The name of the form part with the key. HTML forms cannot send headers."""
MAX_KEY: Final = 255
_KEY_PATTERN: Final = re.compile(rf"[\x20-\x7e]{{1,{MAX_KEY}}}")


@dataclass(frozen=True)
class Origin:
    """The id and the input hash of the record that a request creates.

    Attributes:
        record_id: the record's id, derived from the idempotency key; random if there is no key.
        input_hash: SHA-256 of the parsed input; None if there is no key.
        key_hash: SHA-256 of the key; None if there is no key.
    """

    record_id: str
    input_hash: str | None
    key_hash: str | None = None

    def check_same_input(self, stored_hash: str | None) -> None:
        """Check that this request has the same input as the request that created the record.

        Raises:
            IdempotencyKeyReused: the input is different.
        """
        if stored_hash != self.input_hash:
            raise IdempotencyKeyReused


def key_errors(key: str | None, pointer: str = HEADER) -> list[InputError]:
    """Return the error of a key that is not 1 to 255 printable ASCII characters.

    Args:
        key: the value of the header or of the form part; None if the request contains no key.
        pointer: the location of the key.
    """
    if key is None or _KEY_PATTERN.fullmatch(key):
        return []
    detail = f"Invalid idempotency key (1 to {MAX_KEY} printable ASCII characters)."
    return [InputError(pointer, "invalid", detail)]


def read_key(header: str | None) -> str | None:
    """Validate and return an idempotency key. Return None if the request contains no key.

    Raises:
        InvalidInput: see `key_errors`.
    """
    if errors := key_errors(header):
        raise InvalidInput(errors)
    return header


def origin_of(owner_id: str, operation: str, key: str | None, parsed_input: Any) -> Origin:
    """Return the id and the input hash for the record that a request creates.

    Args:
        owner_id: the id of the account or the form in which the key is unique.
        operation: the name of the operation. If a key is used in two operations, the ids differ.
        key: the key from `read_key`.
        parsed_input: the parsed input as JSON values. The property order does not change the hash.
    """
    if key is None:
        return Origin(new_id(), None)
    record_id = derived_id(owner_id, operation, key)
    return Origin(record_id, hash_of_input(parsed_input), hash_of_input(key))


def hash_of_input(parsed_input: Any) -> str:
    """Return the SHA-256 of parsed input, in hexadecimal. The property order has no effect."""
    canonical = json.dumps(parsed_input, sort_keys=True, separators=(",", ":"))
    return sha256(canonical.encode()).hexdigest()
