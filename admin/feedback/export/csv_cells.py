"""Encode texts as CSV cells that no spreadsheet evaluates as a formula, and decode them.

A spreadsheet evaluates a cell that starts with one of a few characters. If it splits the file at
semicolons, tabs or line breaks instead of commas, a cell can also start after one of these. An
apostrophe in front of each such start makes the cell a text. Numbers and phone numbers contain no
function names and no references, so they stay unchanged.
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
    """Return the text with an apostrophe in front of everything that could start a formula."""
    if _HARMLESS.fullmatch(text):
        return text
    return _UNSAFE_STARTS.sub(r"\1'", text)


def decode_cell(cell: str) -> str:
    """Return the text that `encode_cell` encoded."""
    return _ENCODED_STARTS.sub(r"\1", cell)
