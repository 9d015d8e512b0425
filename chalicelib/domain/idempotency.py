"""Safe retries: a request's key gives its record's id; a hash of its input is kept beside it."""

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from chalicelib.domain.errors import IdempotencyKeyReused, InvalidInput
from chalicelib.domain.ids import derived_id, new_id
from chalicelib.domain.input_errors import InputError

HEADER: Final = "Idempotency-Key"
MAX_KEY: Final = 255
_KEY_FORM: Final = re.compile(rf"[\x20-\x7e]{{1,{MAX_KEY}}}")


@dataclass(frozen=True)
class Origin:
    """Where a record comes from.

    Attributes:
        record_id: its id: follows from the key where there is one, new otherwise.
        input_hash: SHA-256 of the parsed input, None without a key.
    """

    record_id: str
    input_hash: str | None

    def check_same_input(self, kept_hash: str | None) -> None:
        """That the record already there was made from this input.

        Raises:
            IdempotencyKeyReused: it was made from another.
        """
        if kept_hash != self.input_hash:
            raise IdempotencyKeyReused


def read_key(given: str | None) -> str | None:
    """The key that a request's ``Idempotency-Key`` gives; None without one.

    Raises:
        InvalidInput: the key is not 1 to 255 printable ASCII characters.
    """
    if given is not None and not _KEY_FORM.fullmatch(given):
        detail = f"The header {HEADER} takes 1 to {MAX_KEY} printable ASCII characters."
        raise InvalidInput([InputError(HEADER, "invalid", detail)])
    return given


def origin_of(owner_id: str, operation: str, key: str | None, parsed_input: Any) -> Origin:
    """The origin of what a request makes.

    Args:
        owner_id: the account or form that keys belong to.
        operation: the name of the operation; operations do not share keys.
        key: the request's own, as `read_key` gives it.
        parsed_input: the input as JSON values; how it was written does not matter.
    """
    if key is None:
        return Origin(new_id(), None)
    canonical = json.dumps(parsed_input, sort_keys=True, separators=(",", ":"))
    return Origin(derived_id(owner_id, operation, key), sha256(canonical.encode()).hexdigest())
