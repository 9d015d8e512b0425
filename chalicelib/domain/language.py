"""The supported languages, the direction of their scripts, and their formats."""

import json
from datetime import date
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final

DATE_FORMATS: Final = Path(__file__).with_name("date_formats.json")
"""The formats of dates by language and month, which `infrastructure.catalogues` writes."""

LANGUAGE_CODES: Final = (
    "af sq am ar hy as az ba eu be bn bs br bg my ca ceb ny zh zh-TW co hr cs da dv nl en eo et fo "
    "tl fi fr fy gl ka de el kl gu ht ha haw he hi hmn hu is ig ilo id iu ga it ja jv kn kk km rw "
    "ko ku ky lo la lv lt lb mk mg ms ml mt mi mr arn mn moh ne no oc or ps fa pl pt pa qu ro ru "
    "sm gd sr st sn sd si sk sl so es su sw sv tg ta tt te th bo tr tk uk ur ug uz vi cy xh yi yo "
    "zu"
).split()

Language = StrEnum("Language", {code: code for code in LANGUAGE_CODES})  # type: ignore[misc]
Language.__doc__ = "The language used to generate review responses."

_RIGHT_TO_LEFT: Final = frozenset("ar dv fa he ps sd ug ur yi".split())


_DECIMAL_COMMA: Final = frozenset(
    "af az be bg bs ca cs da de el eo es et eu fi fr fy gl hr hu hy id is it jv ka kk kl ky lb lt"
    " lv mk mn nl no oc pl pt ro ru sk sl sq sr sv tg tk tr tt uk uz vi".split()
)


def uses_decimal_comma(language: Language) -> bool:
    """Return whether texts in this language write 12.5 as 12,5."""
    return str(language) in _DECIMAL_COMMA


def is_right_to_left(language: Language) -> bool:
    """Return whether texts in this language are written from right to left."""
    return str(language) in _RIGHT_TO_LEFT


def format_date(day: date, language: Language) -> str:
    """Return the date in words, such as ``20 November 2026``; in English by default."""
    formats = _formats()
    by_month = formats.get(str(language)) or formats["en"]
    return by_month[day.month - 1].format(day=day.day, year=day.year)


@cache
def _formats() -> dict[str, list[str]]:
    formats: dict[str, list[str]] = json.loads(DATE_FORMATS.read_text(encoding="utf-8"))
    return formats
