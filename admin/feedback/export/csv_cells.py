"""Encode texts as CSV cells that no spreadsheet evaluates as a formula, and decode them.

A spreadsheet evaluates a cell as a formula if the cell starts with certain characters, such as
``=``. Some spreadsheets also start a new cell after a semicolon, a tab or a line break in a text.
An apostrophe at each place where a formula could start makes the spreadsheet treat the cell as
text. Numbers and phone numbers cannot call functions or refer to other cells, so they stay
unchanged.
"""

import re
from typing import Final

_CELL_STARTS: Final = r"(\A|[;\t\r\n])"
_HARMLESS: Final = re.compile(r"[+-][0-9][0-9 ().\-/]*", re.ASCII)
_UNSAFE_STARTS: Final = re.compile(
    _CELL_STARTS + r"(?=['\"]|[\s\x00-\x20\ufeff]*[=+\-@|%＝＋－＠])"
)
_ENCODED_STARTS: Final = re.compile(_CELL_STARTS + "'")


def encode_cell(text: str) -> str:
    """Return the text with an apostrophe at each place where a formula could start."""
    if _HARMLESS.fullmatch(text):
        return text
    return _UNSAFE_STARTS.sub(r"\1'", text)


def decode_cell(cell: str) -> str:
    """Return the original text of a cell that `encode_cell` encoded."""
    return _ENCODED_STARTS.sub(r"\1", cell)
