"""Merge the rows of an import: create a customer or fill an existing customer's null fields.

The rows with the same pair of e-mail and phone number form a group, in row order. The effect of a
group contains the customer to create or the fields to fill, and the outcome of each row.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from chalicelib.domain.customers.addresses import pair_of
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.customers.customer import Customer, check_size
from chalicelib.domain.customers.platforms import IMPORT_METADATA_KEY
from chalicelib.domain.errors import RecordTooLarge
from chalicelib.domain.language import Language
from chalicelib.domain.paging import MAX_LISTED_BYTES

FieldValue = str | bool | dict[str, str]
"""A text or an identifier, an opt-in, or the metadata of a row."""

Fields = dict[str, FieldValue]
"""The values that a row sets, by field of the customer. `IMPORT_METADATA` is one of the fields."""

IMPORT_METADATA: Final = "import_metadata"
"""The metadata of a row. It becomes one entry of the metadata of a customer."""

_BLANK_LENGTH: Final = 1_000
"""Maximum text length of all fields of a new customer that the import itself does not set.

These are, for example, the id and the timestamps.
"""

_MAX_GROUP_LENGTH: Final = 100_000
_NEVER_FILLED: Final = frozenset({"email_optin", "sms_optin"})


class RowOutcome(StrEnum):
    """Outcome of importing one row."""

    CREATED = "created"
    FILLED = "filled"
    UNCHANGED = "unchanged"
    TOO_LARGE = "too large"
    ERASED = "erased"


@dataclass(frozen=True)
class GroupRow:
    """One row of a group.

    Attributes:
        index: the row's index in the batch, from 0.
        fields: the row's values by field name.
    """

    index: int
    fields: Fields


@dataclass(frozen=True)
class RowGroup:
    """The rows with the same pair of e-mail and phone number, in row order.

    A row without a pair is the only row of its group.

    Attributes:
        digest: the digest of the pair, or None.
        is_erased: whether the customer was erased before the import of the rows. Such rows have no
            pair and no values.
    """

    digest: str | None
    rows: tuple[GroupRow, ...]
    is_erased: bool = False

    def erased(self) -> "RowGroup":
        """Return the group without its pair and its values. Its rows are not imported."""
        return RowGroup(None, tuple(GroupRow(row.index, {}) for row in self.rows), is_erased=True)

    def without_optins(self, fields: Collection[str]) -> "RowGroup":
        """Return the group with these opt-ins off in the rows that contain them."""
        rows = (
            GroupRow(row.index, row.fields | {name: False for name in fields if name in row.fields})
            for row in self.rows
        )
        return replace(self, rows=tuple(rows))


@dataclass(frozen=True)
class GroupEffect:
    """The effect of a row group on the customer that its pair identifies.

    Attributes:
        customer: the customer with the values of the group.
        creates: whether the group creates the customer.
        fields: the values of the new customer, or the values that fill null fields of the existing
            customer; may be empty.
        outcomes: the outcome of each row, in row order.
    """

    customer: Customer
    creates: bool
    fields: Fields
    outcomes: tuple[RowOutcome, ...]


def fields_of(body: CustomerBody) -> Fields:
    """Return the values of an import row by field name.

    Opt-ins are included, but they apply only if the row creates the customer.
    """
    fields: Fields = body.values
    if body.metadata:
        fields[IMPORT_METADATA] = body.metadata
    return fields


def group_rows(rows: Iterable[tuple[int, CustomerBody]]) -> list[RowGroup]:
    """Group the rows by pair. The groups are in the order of their first rows."""
    groups: dict[object, tuple[str | None, list[GroupRow]]] = {}
    for index, body in rows:
        pair = pair_of(body.email, body.phone_number)
        digest = pair.digest if pair else None
        groups.setdefault(digest or index, (digest, []))[1].append(GroupRow(index, fields_of(body)))
    return [RowGroup(digest, _bounded(group)) for digest, group in groups.values()]


def _bounded(rows: list[GroupRow]) -> tuple[GroupRow, ...]:
    """Return the rows of a group. If the rows' text is too long, remove duplicate fields.

    A field is a duplicate if an earlier row of the group sets the same field. Without duplicates,
    all rows of a group together are about as large as one customer, even if there are thousands of
    rows. Removing a duplicate changes the result only if the earlier row fails: the field then
    remains unset.
    """
    if sum(_text_length(row.fields) for row in rows) <= _MAX_GROUP_LENGTH:
        return tuple(rows)
    bounded: list[GroupRow] = []
    earlier_names: set[str] = set()
    for row in rows:
        removed = earlier_names | _NEVER_FILLED if bounded else earlier_names
        fields = {name: value for name, value in row.fields.items() if name not in removed}
        bounded.append(GroupRow(row.index, fields))
        earlier_names.update(fields)
    return tuple(bounded)


def effect_of(group: RowGroup, customer: Customer, *, exists: bool) -> GroupEffect:
    """Compute the effect of a group on the customer that its pair identifies.

    A row with which the customer would exceed a size limit fails; the other rows are still applied.

    Args:
        customer: the existing customer, or the new one without the values of the group.
    """
    creates = False
    set_fields = _set_fields(customer) if exists else set()
    length = _text_length(dict(customer)) if exists else _BLANK_LENGTH
    fields: Fields = {}
    outcomes = []
    for row in group.rows:
        is_new = not exists and not creates
        new_fields = {
            name: value
            for name, value in row.fields.items()
            if is_new or (name not in set_fields and name not in _NEVER_FILLED)
        }
        if new_fields and not _is_within_size_limit(customer, length, fields | new_fields):
            outcomes.append(RowOutcome.TOO_LARGE)
            continue
        fields |= new_fields
        set_fields.update(new_fields)
        if is_new:
            creates = True
            outcomes.append(RowOutcome.CREATED)
        else:
            outcomes.append(RowOutcome.FILLED if new_fields else RowOutcome.UNCHANGED)
    return GroupEffect(_with_fields(customer, fields), creates, fields, tuple(outcomes))


def _set_fields(customer: Customer) -> set[str]:
    fields = {name for name in Customer.model_fields if getattr(customer, name) is not None}
    return fields | {IMPORT_METADATA} if IMPORT_METADATA_KEY in customer.metadata else fields


def _is_within_size_limit(customer: Customer, length: int, fields: Fields) -> bool:
    # JSON needs at most six bytes per character, and twelve if characters are escaped. For most
    # customers, even these upper bounds are within the limits. Such customers need not be
    # serialized.
    if (length + _text_length(fields)) * 12 < MAX_LISTED_BYTES:
        return True
    try:
        check_size(_with_fields(customer, fields))
    except RecordTooLarge:
        return False
    return True


def _with_fields(customer: Customer, fields: Fields) -> Customer:
    update: dict[str, Any] = dict(fields)
    imported = update.pop(IMPORT_METADATA, None)
    if imported:
        update["metadata"] = customer.metadata | {IMPORT_METADATA_KEY: imported}
    if "language" in update:
        update["language"] = Language(update["language"])
    return customer.model_copy(update=update)


def _text_length(fields: Fields) -> int:
    """Return the approximate length of the fields' names and values in characters."""
    return sum(len(name) + len(str(value)) for name, value in fields.items())
