"""Read purchases from the rows of CSV files, and recognize how Excel wrote a file: encoding,
separator, dates, words for yes and no.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from enum import StrEnum
from typing import Any, Final

from pydantic import BaseModel

from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.input_errors import InputError
from chalicelib.domain.purchases.definition import PurchaseDefinition
from chalicelib.domain.suggestions import similar_field

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
_REQUIRED: Final = ("source", "externalId", "storeId", "date")
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


def column_errors(columns: Sequence[str], *others: str) -> list[str]:
    """Return the errors in the column names of a file of purchases.

    Columns without a name are allowed, because Excel writes them; their cells must be empty.

    Args:
        others: the allowed columns that are not fields of a purchase.
    """
    named = [column for column in columns if column and column not in others]
    errors = [f"The column {column} occurs twice." for column in _repeated(named)]
    return errors + [_unknown_column(column) for column in named if not _is_known(column)]


def _unknown_column(column: str) -> str:
    *objects, name = _path(column)
    similar = similar_field(PurchaseDefinition, objects, name)
    advice = f" Did you mean {'.'.join([*objects, similar])}?" if similar else ""
    return f"Unknown column {column}.{advice}"


def missing_columns(columns: Sequence[str]) -> list[str]:
    """Return the errors of columns without which every row is invalid."""
    known = {*columns, "storeId"} if "store" in columns else {*columns}
    return [f"The column {name} is missing." for name in _REQUIRED if name not in known]


def _repeated(columns: Sequence[str]) -> list[str]:
    return [column for column, count in Counter(columns).items() if count > 1]


def _path(column: str) -> list[str]:
    object_name, dot, name = column.partition(".")
    return [object_name, name] if dot and object_name in _OBJECTS else [column]


def _is_known(column: str) -> bool:
    object_name, *names = _path(column)
    if not names:
        return object_name in _field_names(PurchaseDefinition)
    return object_name == "metadata" or names[0] in _field_names(CustomerBody)


def _field_names(model: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


def cell_error(column: str, cell: str, error: InputError) -> str:
    """Describe an error of a cell, with the value in the file and advice that fits a CSV file."""
    detail = error.detail
    if column in _BOOLEAN_COLUMNS:
        detail = "Must be a word for yes or no, such as yes, no, oui, non, 1 or 0."
    elif error.code == "invalid_timestamp" and _DATE.fullmatch(cell):
        detail = "There is no such date or time."
    elif error.code == "invalid_timestamp":
        detail = "Must be a date, such as 20/11/2026, 20/11/2026 14:30 or 2026-11-20."
    return f"{column} {cell!r}: {detail}"


def purchase_of_row(row: Mapping[str, str]) -> dict[str, Any]:
    """Return the definition of the purchase that a row describes.

    Column names are field names of a purchase. A dot separates an object from its field:
    ``customer.email`` is the field ``email`` of ``customer``, and ``metadata.table`` is the field
    ``table`` of ``metadata``. Empty cells are omitted. Opt-ins are words for yes and no in many
    languages.
    """
    definition: dict[str, Any] = {}
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
