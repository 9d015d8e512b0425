"""Compile the catalogues, or check them: ``python -m infrastructure.catalogues [--check]``.

To add a language, create an empty file ``po/<language>.po`` and run the command. The command adds
all messages to the file.
"""

import json
import sys
from collections.abc import Iterator
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import Final

from babel import Locale
from babel.dates import format_date
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from babel.numbers import get_group_symbol

from chalicelib.domain.date_format import FORMATS
from chalicelib.web.pages import words
from chalicelib.web.pages.number_format import SEPARATORS

_SOURCES: Final = Path(__file__).with_name("po")
_KEYWORDS: Final = {"_": None, "_plural": (1, 2)}
_MAX_LINE: Final = 100


def main(arguments: list[str]) -> int:
    """Write all files or, with ``--check``, report problems. Return the exit status."""
    catalogues = {file.stem: _read(file) for file in sorted(_SOURCES.glob("*.po"))}
    if "--check" not in arguments:
        for language, catalogue in catalogues.items():
            catalogue.update(_template(), no_fuzzy_matching=True, update_creation_date=False)
            catalogue.obsolete.clear()
            _source(language).write_bytes(_po(catalogue))
            _compiled(language).parent.mkdir(parents=True, exist_ok=True)
        for file, content in _generated(catalogues).items():
            file.write_bytes(content)
    problems = [*_problems(catalogues)]
    for problem in problems:
        print(problem, file=sys.stderr)
    return int(bool(problems))


def _problems(catalogues: dict[str, Catalog]) -> Iterator[str]:
    expected = {message.id for message in _template() if message.id}
    for language, catalogue in catalogues.items():
        messages = {message.id: message for message in catalogue if message.id}
        for message_id in expected ^ messages.keys():
            yield f"{language}.po: {message_id!r} is missing or unused. Run make catalogues."
        for message in messages.values():
            texts = message.string if message.pluralizable else [message.string]
            if not texts or not all(texts):
                yield f"{language}.po: {message.id!r} has no translation."
            for error in message.check(catalogue):
                yield f"{language}.po: {message.id!r}: {error}."
    for file, content in _generated(catalogues).items():
        if not file.exists() or file.read_bytes() != content:
            yield f"{file} is out of date. Run make catalogues."


def _generated(catalogues: dict[str, Catalog]) -> dict[Path, bytes]:
    """Return the content of each generated file."""
    separators = {
        language: get_group_symbol(Locale.parse(language, sep="-"), numbering_system="latn")
        for language in catalogues
    }
    table = json.dumps(separators, indent=2, sort_keys=True) + "\n"
    compiled = {_compiled(language): _mo(catalogue) for language, catalogue in catalogues.items()}
    dates = {language: _dates(language) for language in ("en", *catalogues)}
    formats = json.dumps(dates, indent=0, sort_keys=True, ensure_ascii=False) + "\n"
    return compiled | {SEPARATORS: table.encode(), FORMATS: formats.encode()}


def _dates(language: str) -> list[str]:
    """Return the format of a date in each month. In English, the day precedes the month."""
    locale = Locale.parse({"en": "en-GB"}.get(language, language), sep="-")
    days = (date(2001, month, 22) for month in range(1, 13))
    texts = (format_date(day, "long", locale) for day in days)
    return [text.replace("2001", "{year}").replace("22", "{day}") for text in texts]


def _template() -> Catalog:
    template = Catalog()
    found = extract_from_file("python", words.__file__, keywords=_KEYWORDS)
    for _, message_id, _, _ in found:
        template.add(message_id)
    return template


def _read(file: Path) -> Catalog:
    with file.open("rb") as source:
        return read_po(source, locale=file.stem.replace("-", "_"), abort_invalid=True)


def _po(catalogue: Catalog) -> bytes:
    file = BytesIO()
    write_po(file, catalogue, width=_MAX_LINE)
    return file.getvalue()


def _mo(catalogue: Catalog) -> bytes:
    file = BytesIO()
    write_mo(file, catalogue)
    return file.getvalue()


def _source(language: str) -> Path:
    return _SOURCES / f"{language}.po"


def _compiled(language: str) -> Path:
    folder = words.LOCALES / language.replace("-", "_") / "LC_MESSAGES"
    return folder / f"{words.DOMAIN}.mo"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
