"""Compile the catalogues. Options, pages, messages and reports have compiled ones of their own.

To add a language, create an empty file ``po/<language>.po`` and run ``make generate``, which adds
all messages to the file.
"""

import json
from collections.abc import Collection
from copy import deepcopy
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from babel import Locale
from babel.dates import format_date
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from admin.services.feedback.report import words as report_words
from chalicelib.domain.forms import option_words
from chalicelib.domain.language import DATE_FORMATS
from chalicelib.domain.solicitation import words as message_words
from chalicelib.web.pages import words

_SOURCES: Final = Path(__file__).with_name("po")
_WORDS: Final[tuple[Any, ...]] = (words, option_words, message_words, report_words)
_KEYWORDS: Final = {"_": None, "_plural": (1, 2)}
_MAX_LINE: Final = 100


def files() -> dict[Path, bytes]:
    """Return the catalogues with the present messages, and what is compiled from them, by path."""
    catalogues = _catalogues()
    compiled = {
        _compiled(module, language): _mo(catalogue, {message.id for message in _template(module)})
        for module in _WORDS
        for language, catalogue in catalogues.items()
    }
    dates = {language: _dates(language) for language in ("en", *catalogues)}
    formats = json.dumps(dates, indent=0, sort_keys=True, ensure_ascii=False) + "\n"
    sources = {_SOURCES / f"{name}.po": _po(catalogue) for name, catalogue in catalogues.items()}
    return sources | compiled | {DATE_FORMATS: formats.encode()}


def untranslated() -> list[str]:
    """Return a sentence about each message without a translation, or with an invalid one."""
    found = []
    for language, catalogue in _catalogues().items():
        for message in (message for message in catalogue if message.id):
            texts = message.string if message.pluralizable else [message.string]
            if not texts or not all(texts):
                found.append(f"{language}.po: {message.id!r} has no translation.")
            found += [f"{language}.po: {message.id!r}: {e}." for e in message.check(catalogue)]
    return found


def _catalogues() -> dict[str, Catalog]:
    """Return the catalogues by language, with the messages of the modules."""
    catalogues = {file.stem: _read(file) for file in sorted(_SOURCES.glob("*.po"))}
    for catalogue in catalogues.values():
        catalogue.update(_template(), no_fuzzy_matching=True, update_creation_date=False)
        catalogue.obsolete.clear()
    return catalogues


def _dates(language: str) -> list[str]:
    """Return the format of a date in each month. In English, the day precedes the month."""
    locale = Locale.parse({"en": "en-GB"}.get(language, language), sep="-")
    days = (date(2001, month, 22) for month in range(1, 13))
    texts = (format_date(day, "long", locale) for day in days)
    return [text.replace("2001", "{year}").replace("22", "{day}") for text in texts]


def _template(*modules: Any) -> Catalog:
    """Return the messages of these modules, by default of all."""
    template = Catalog()
    for module in modules or _WORDS:
        for _, message_id, _, _ in extract_from_file("python", module.__file__, keywords=_KEYWORDS):
            template.add(message_id)
    return template


def _read(file: Path) -> Catalog:
    with file.open("rb") as source:
        return read_po(source, locale=file.stem.replace("-", "_"), abort_invalid=True)


def _po(catalogue: Catalog) -> bytes:
    file = BytesIO()
    write_po(file, catalogue, width=_MAX_LINE)
    return file.getvalue()


def _mo(catalogue: Catalog, ids: Collection[Any]) -> bytes:
    """Return the compiled messages with these ids."""
    part = deepcopy(catalogue)
    for message in catalogue:
        if message.id not in ids:
            part.delete(message.id)
    file = BytesIO()
    write_mo(file, part)
    return file.getvalue()


def _compiled(module: Any, language: str) -> Path:
    folder: Path = module.LOCALES / language.replace("-", "_") / "LC_MESSAGES"
    return folder / f"{module.DOMAIN}.mo"
