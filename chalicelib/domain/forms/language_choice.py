"""Which of a form's languages a reader gets.

Readers say what they want as language ranges (RFC 4647); a form has its texts in its own language
and in those that it is translated to.
"""

from collections.abc import Collection, Iterator
from typing import Final

from chalicelib.domain.language import Language

# What browsers call languages that have another code here.
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
_LANGUAGES: Final = {str(language).lower(): language for language in Language}


def choose_language(
    own: Language,
    translations: Collection[Language],
    *,
    asked_for: str | None = None,
    accept_language: str | None = None,
) -> Language:
    """The best language for a reader, which is the form's own where no other fits.

    Args:
        own: the form's own language.
        translations: the further languages of the form.
        asked_for: the one language range that the reader chose; when there is one, only it counts.
        accept_language: the value of an ``Accept-Language`` header.
    """
    ranges = [asked_for] if asked_for else accepted_ranges(accept_language or "")
    for wanted in ranges:
        if wanted == "*":
            return own
        for language in _lookup(wanted):
            if language is own or language in translations:
                return language
    return own


def accepted_ranges(accept_language: str) -> list[str]:
    """The language ranges of an ``Accept-Language`` header, most wanted first.

    What cannot be read, or is not wanted at all (``q=0``), is left out.
    """
    weighted: list[tuple[float, str]] = []
    for item in accept_language.split(","):
        wanted, _, parameter = (part.strip() for part in item.partition(";"))
        weight = _weight(parameter)
        if wanted and weight > 0:
            weighted.append((weight, wanted))
    return [wanted for _, wanted in sorted(weighted, key=lambda pair: -pair[0])]


def _weight(parameter: str) -> float:
    """The weight of a range: 1 when it has none, 0 when it cannot be read."""
    if not parameter:
        return 1.0
    name, _, value = parameter.partition("=")
    try:
        weight = float(value)
    except ValueError:
        return 0.0
    return weight if name.strip().lower() == "q" and 0 <= weight <= 1 else 0.0


def _lookup(wanted: str) -> Iterator[Language]:
    """The languages that a range means, the most exact first: ``fr-CA`` means ``fr`` too."""
    subtags = wanted.lower().replace("_", "-").split("-")[:8]
    for length in range(len(subtags), 0, -1):
        tag = "-".join(subtags[:length])
        language = _LANGUAGES.get(_OTHER_CODES.get(tag, tag))
        if language is not None:
            yield language
