"""Read purchases from the rows of CSV files, and recognize how Excel wrote a file: encoding,
separator, dates, words for yes and no.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from enum import StrEnum
from typing import Any, Final

from admin.definitions.definition import Kind

_BYTE_ORDER_MARKS: Final = {
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
WINDOWS_ENCODING: Final = "windows-1252"
"""The encoding of CSV files that Excel writes in most of Europe and America."""

_SEPARATORS: Final = ",;\t"
_DATE: Final = re.compile(
    r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?:[ T]+(\d{1,2}):(\d{2})(?::(\d{2}))?)?"
)
_YES: Final = (
    "true yes y 1 vrai oui o wahr ja j verdadero sí si s verdadeiro sim vero sì waar sant sand "
    "kyllä tosi tak prawda ano áno pravda da igen igaz evet doğru adevărat да истина так ναι αληθής"
)
_NO: Final = (
    "false no n 0 faux non falsch nein falso não nao onwaar nee falskt nej falsk nei ei epätosi "
    "nie fałsz ne nepravda nem hamis hayır yanlış fals nu нет ложь ні όχι ψευδής"
)
_BOOLEANS: Final = dict.fromkeys(_YES.split(), True) | dict.fromkeys(_NO.split(), False)
_BOOLEAN_COLUMNS: Final = frozenset({"customer.emailOptin", "customer.smsOptin"})
_OBJECTS: Final = frozenset({"customer", "metadata"})


class DateOrder(StrEnum):
    """The order of day and month in dates."""

    DAY_FIRST = "day-first"
    MONTH_FIRST = "month-first"


class AmbiguousDates(Exception):
    """The dates of a column can be read in both orders. The message names the column."""


def encoding_of(start: bytes) -> str:
    """Return the encoding of a file by its byte order mark; UTF-8 if there is none."""
    found = (name for mark, name in _BYTE_ORDER_MARKS.items() if start.startswith(mark))
    return next(found, "utf-8")


def separator_of(first_line: str) -> str:
    """Return the separator of the column names: the most frequent of comma, semicolon and tab."""
    return max(_SEPARATORS, key=first_line.count)


def purchase_of_row(row: Mapping[str, str]) -> dict[str, Any]:
    """Return the definition of the purchase that a row describes.

    Column names are field names of a purchase. A dot separates an object from its field:
    ``customer.email`` is the field ``email`` of ``customer``, and ``metadata.table`` is the field
    ``table`` of ``metadata``. Empty cells are omitted. Opt-ins are words for yes and no in many
    languages.
    """
    definition: dict[str, Any] = {"kind": Kind.PURCHASE.value}
    for column, cell in row.items():
        value: Any = cell.strip()
        if not value:
            continue
        if column in _BOOLEAN_COLUMNS:
            value = _BOOLEANS.get(value.casefold(), value)
        object_name, dot, field = column.partition(".")
        if dot and object_name in _OBJECTS:
            fields = definition.setdefault(object_name, {})
            # With a column for the whole object, this is a string, which is invalid.
            if isinstance(fields, dict):
                fields[field] = value
        else:
            definition[column] = value
    return definition


@dataclass
class DateOrders:
    """Find out the order of day and month of each column from all its cells."""

    _parts: dict[str, set[DateOrder]] = field(default_factory=dict)

    def add(self, column: str, cell: str) -> None:
        """Add a cell. Cells without a date such as 03/04/2026 are ignored."""
        if found := _DATE.fullmatch(cell.strip()):
            orders = self._parts.setdefault(column, set())
            first, second = int(found[1]), int(found[3])
            if found[2] == "." or first > 12:
                orders.add(DateOrder.DAY_FIRST)
            if found[2] != "." and second > 12:
                orders.add(DateOrder.MONTH_FIRST)

    def chosen(self, order: DateOrder | None) -> Mapping[str, DateOrder]:
        """Return the order of day and month of each column that contains dates.

        Args:
            order: the order that the operator chose for all columns, or None.

        Raises:
            AmbiguousDates: no order was chosen, and the cells do not determine one.
        """
        for column, orders in self._parts.items():
            if order is None and len(orders) != 1:
                example = "13/12/2026 and 12/13/2026" if orders else "03/04/2026"
                raise AmbiguousDates(
                    f"The dates of the column {column}, such as {example}, can be read as"
                    " day/month/year and as month/day/year. Add --dates day-first or"
                    " --dates month-first."
                )
        return {column: order or next(iter(orders)) for column, orders in self._parts.items()}


def iso_date(cell: str, order: DateOrder, zone: tzinfo) -> str:
    """Convert a date such as 20/11/2026 14:30 to ISO 8601. Return other cells unchanged.

    Args:
        zone: the time zone of the date.
    """
    found = _DATE.fullmatch(cell)
    if found is None:
        return cell
    day, month = int(found[1]), int(found[3])
    if order is DateOrder.MONTH_FIRST:
        day, month = month, day
    year = int(found[4]) + (2000 if len(found[4]) == 2 else 0)
    try:
        hour, minute, second = (int(part or 0) for part in found.groups()[4:])
        return datetime(year, month, day, hour, minute, second, tzinfo=zone).isoformat()
    except ValueError:
        return cell
