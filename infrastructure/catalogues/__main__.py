"""Compile the catalogues, or check them: ``python -m infrastructure.catalogues [--check]``.

Options, pages, messages and reports share the catalogues. Each has compiled catalogues with its
words only.

To add a language, create an empty file ``po/<language>.po`` and run the command. The command adds
all messages to the file.
"""

import json
import sys
from collections.abc import Collection, Iterator
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

from admin.feedback.report import words as report_words
from chalicelib.domain.forms import option_words
from chalicelib.domain.language import DATE_FORMATS
from chalicelib.domain.solicitation import words as message_words
from chalicelib.web.pages import words

_SOURCES: Final = Path(__file__).with_name("po")
_WORDS: Final[tuple[Any, ...]] = (words, option_words, message_words, report_words)
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
        for file, content in _generated(catalogues).items():
            file.parent.mkdir(parents=True, exist_ok=True)
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
    compiled = {
        _compiled(module, language): _mo(catalogue, {message.id for message in _template(module)})
        for module in _WORDS
        for language, catalogue in catalogues.items()
    }
    dates = {language: _dates(language) for language in ("en", *catalogues)}
    formats = json.dumps(dates, indent=0, sort_keys=True, ensure_ascii=False) + "\n"
    return compiled | {DATE_FORMATS: formats.encode()}


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


def _source(language: str) -> Path:
    return _SOURCES / f"{language}.po"


def _compiled(module: Any, language: str) -> Path:
    folder: Path = module.LOCALES / language.replace("-", "_") / "LC_MESSAGES"
    return folder / f"{module.DOMAIN}.mo"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
