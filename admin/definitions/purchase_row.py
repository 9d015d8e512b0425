"""A purchase as one row of a CSV file.

Columns are called as the keys of a purchase document. A dot leads into an object:
``customer.email`` is the customer's e-mail, ``metadata.table`` the text under ``table`` in the
metadata. An empty cell is a key that is not given.
"""

from collections.abc import Mapping
from typing import Any, Final

from admin.definitions.definition import Kind

_TRUTHS: Final = {"true": True, "false": False}
_BOOLEAN_COLUMNS: Final = frozenset({"customer.emailOptin", "customer.smsOptin"})
_OBJECTS: Final = frozenset({"customer", "metadata"})


def purchase_of_row(row: Mapping[str, str]) -> dict[str, Any]:
    """The purchase document that a row describes."""
    document: dict[str, Any] = {"kind": Kind.PURCHASE.value}
    for column, cell in row.items():
        value: Any = cell.strip()
        if not value:
            continue
        if column in _BOOLEAN_COLUMNS:
            value = _TRUTHS.get(value.lower(), value)
        holder, dot, key = column.partition(".")
        if dot and holder in _OBJECTS:
            document.setdefault(holder, {})[key] = value
        else:
            document[column] = value
    return document
