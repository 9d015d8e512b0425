"""Choose the language of a public view.

A request specifies languages as language ranges (RFC 4647). A form has texts in its original
language and in the languages of its translations.
"""

import re
from collections.abc import Collection, Iterator
from typing import Final

from chalicelib.domain.language import Language

# Language codes that browsers send, mapped to the different code of the same language in
# `Language`.
_OTHER_CODES: Final = {
    "fil": "tl",
    "in": "id",
    "iw": "he",
    "ji": "yi",
    "jw": "jv",
    "nb": "no",
    "nn": "no",
    "zh-hant": "zh-tw",
    "zh-hk": "zh-tw",
    "zh-mo": "zh-tw",
}
_WEIGHTED: Final = re.compile(
    r"(?P<range>[^\s;]+)\s*(?:;\s*q\s*=\s*(?P<weight>0?\.[0-9]+|0\.?|1(?:\.0*)?)\s*)?",
    re.IGNORECASE,
)
"""A language range, and its weight from 0 to 1 (RFC 9110, section 12.4.2)."""
_LANGUAGES: Final = {str(language).lower(): language for language in Language}


def choose_language(
    original: Language,
    translations: Collection[Language],
    *,
    requested_range: str | None = None,
    accept_language: str | None = None,
) -> Language:
    """Return the language of the form that best matches the request.

    If no language matches, return the original language.

    Args:
        original: the language of the form's original texts.
        translations: the languages of the form's translations.
        requested_range: a language range that takes precedence over ``accept_language``.
        accept_language: the value of an ``Accept-Language`` header.
    """
    ranges = [requested_range] if requested_range else accepted_ranges(accept_language or "")
    for language_range in ranges:
        if language_range == "*":
            return original
        for language in _lookup(language_range):
            if language is original or language in translations:
                return language
    return original


def accepted_ranges(accept_language: str) -> list[str]:
    """Return the language ranges of an ``Accept-Language`` header, highest weight first.

    Malformed ranges and ranges with ``q=0`` are ignored.
    """
    matches = [_WEIGHTED.fullmatch(item.strip()) for item in accept_language.split(",")]
    weighted = [(float(match["weight"] or 1), match["range"]) for match in matches if match]
    accepted = sorted((each for each in weighted if each[0] > 0), key=lambda each: -each[0])
    return [language_range for _, language_range in accepted]


def _lookup(language_range: str) -> Iterator[Language]:
    """Yield the languages that match a range, most specific first: ``zh-TW``, then ``zh``."""
    subtags = language_range.lower().replace("_", "-").split("-")[:8]
    for length in range(len(subtags), 0, -1):
        tag = "-".join(subtags[:length])
        language = _LANGUAGES.get(_OTHER_CODES.get(tag, tag))
        if language is not None:
            yield language
