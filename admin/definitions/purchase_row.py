"""Convert a row of a CSV file to the definition of a purchase.

Column names are field names of a purchase. A dot separates an object from its field:
``customer.email`` is the field ``email`` of ``customer``, and ``metadata.table`` is the field
``table`` of ``metadata``. Empty cells are omitted. Opt-ins are words for yes and no in many
languages.
"""

from collections.abc import Mapping
from typing import Any, Final

from admin.definitions.csv_format import boolean_of
from admin.definitions.definition import Kind

_BOOLEAN_COLUMNS: Final = frozenset({"customer.emailOptin", "customer.smsOptin"})
_OBJECTS: Final = frozenset({"customer", "metadata"})


def purchase_of_row(row: Mapping[str, str]) -> dict[str, Any]:
    """Return the definition of the purchase that the row describes."""
    definition: dict[str, Any] = {"kind": Kind.PURCHASE.value}
    for column, cell in row.items():
        value: Any = cell.strip()
        if not value:
            continue
        if column in _BOOLEAN_COLUMNS:
            known = boolean_of(value)
            value = value if known is None else known
        object_name, dot, field = column.partition(".")
        if dot and object_name in _OBJECTS:
            fields = definition.setdefault(object_name, {})
            # With a column for the whole object, this is a string, which is invalid.
            if isinstance(fields, dict):
                fields[field] = value
        else:
            definition[column] = value
    return definition
