"""Turn texts from definitions and customers into one line that is safe in messages and titles."""

import re
import unicodedata
from typing import Final

_CONTROLS: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")
_SPACE_BEFORE_PUNCTUATION: Final = re.compile(r" (?=[?!:;»](?:\s|$))|(?<=«) ")
_MAX_NAME: Final = 60
_NAME_PUNCTUATION: Final = frozenset(" '\u2018\u2019-\u2010\xb7\u30fb,&()\u05f3\u05f4\u200c\u200d")
"""Characters of names other than letters and marks, after NFKC normalization.

The last four are the Hebrew geresh and gershayim, and the joiners of Persian and Indian names.
"""


def shortened(text: str, length: int, ellipsis: str = "…") -> str:
    """Return the text as one line without control characters, with at most ``length`` characters.

    Characters that change the direction of the text count as control characters.

    Args:
        ellipsis: the end of a text that was shortened.
    """
    line = _CONTROLS.sub(" ", text).strip()
    return line if len(line) <= length else line[: length - len(ellipsis)].rstrip() + ellipsis


def unbroken(text: str) -> str:
    """Return the text without line breaks before French punctuation.

    A space before the punctuation becomes a narrow no-break space.
    """
    return _SPACE_BEFORE_PUNCTUATION.sub("\u202f", text)


def plain_name(name: str | None) -> str:
    """Return a customer's name if it contains only characters of names, otherwise ``""``.

    Anyone can submit a customer's name through a form. Mail clients and browsers map many
    characters to dots, slashes and digits (UTS 46), so only characters that cannot be part of a
    link are allowed.
    """
    line = _CONTROLS.sub(" ", name or "").strip()
    normalized = unicodedata.normalize("NFKC", line)
    is_plain = 0 < len(normalized) <= _MAX_NAME and all(
        unicodedata.category(character)[0] == "L"
        or (
            position > 0
            and (unicodedata.category(character)[0] == "M" or character in _NAME_PUNCTUATION)
        )
        for position, character in enumerate(normalized)
    )
    return line if is_plain else ""
