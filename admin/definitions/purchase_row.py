"""Convert a row of a CSV file to the definition of a purchase.

Columns have the names of the fields of a purchase. A dot leads into an object: ``customer.email``
is the customer's e-mail, ``metadata.table`` is the field ``table`` of the metadata. An empty cell
is an absent field.
"""

from collections.abc import Mapping
from typing import Any, Final

from admin.definitions.definition import Kind

_TRUTHS: Final = {"true": True, "false": False}
_BOOLEAN_COLUMNS: Final = frozenset({"customer.emailOptin", "customer.smsOptin"})
_OBJECTS: Final = frozenset({"customer", "metadata"})


def purchase_of_row(row: Mapping[str, str]) -> dict[str, Any]:
    """Return the definition of the purchase in the row."""
    definition: dict[str, Any] = {"kind": Kind.PURCHASE.value}
    for column, cell in row.items():
        value: Any = cell.strip()
        if not value:
            continue
        if column in _BOOLEAN_COLUMNS:
            value = _TRUTHS.get(value.lower(), value)
        holder, dot, key = column.partition(".")
        if dot and holder in _OBJECTS:
            definition.setdefault(holder, {})[key] = value
        else:
            definition[column] = value
    return definition
