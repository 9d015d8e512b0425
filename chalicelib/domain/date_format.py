"""Format dates for a language."""

import json
from datetime import date
from functools import cache
from pathlib import Path
from typing import Final

from chalicelib.domain.language import Language

FORMATS: Final = Path(__file__).with_name("date_formats.json")
"""The formats of dates by language and month, which `infrastructure.catalogues` writes."""


def format_date(day: date, language: Language) -> str:
    """Return the date in words, such as ``20 November 2026``; in English by default."""
    formats = _formats()
    by_month = formats.get(str(language)) or formats["en"]
    return by_month[day.month - 1].format(day=day.day, year=day.year)


@cache
def _formats() -> dict[str, list[str]]:
    formats: dict[str, list[str]] = json.loads(FORMATS.read_text(encoding="utf-8"))
    return formats
