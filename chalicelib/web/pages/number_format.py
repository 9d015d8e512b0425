"""Format numbers for a language."""

import json
from functools import cache
from pathlib import Path
from typing import Final

from chalicelib.domain.language import Language

SEPARATORS: Final = Path(__file__).with_name("locale") / "separators.json"
"""The table of group separators by language, which `infrastructure.catalogues` writes."""


def format_number(number: int, language: Language) -> str:
    """Return the number with the group separators of the language, or of English by default.

    The digits are those of the values that respondents choose: 0 to 9.
    """
    return f"{number:,}".replace(",", _separators().get(str(language), ","))


@cache
def _separators() -> dict[str, str]:
    separators: dict[str, str] = json.loads(SEPARATORS.read_text(encoding="utf-8"))
    return separators
