"""Validate the values that a workflow's conditions compare their subjects with."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.comparison import Comparator, as_number, listed
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.ids import parse_id
from chalicelib.domain.input_errors import InputError, json_pointer, not_allowed, unknown_reference
from chalicelib.domain.language import Language
from chalicelib.domain.workflows.workflow import Subject

NAMED_BY_ID: Final = frozenset({Subject.FORM, Subject.SURVEY, Subject.BRAND, Subject.STORE})

_LISTS: Final = frozenset({Comparator.IN, Comparator.NIN})
_UNCHECKED: Final = frozenset({Comparator.EXISTS, Comparator.CONTAINS})
"""`$exists` compares with true or false, `$contains` with a part of a text."""


def condition_value_errors(
    subject: Subject,
    comparator: Comparator,
    value: str,
    directory: Directory | None,
    *path: str | int,
) -> Iterator[InputError]:
    """Yield the errors in the value that a subject is compared with.

    Args:
        directory: the account's brands and stores; None skips the check that the place exists.
    """
    if comparator in _UNCHECKED:
        return
    for each in listed(value) if comparator in _LISTS else [value]:
        error = _format_error(subject, each, *path) or _place_error(subject, each, directory, *path)
        if error:
            yield error


def _format_error(subject: Subject, value: str, *path: str | int) -> InputError | None:
    if subject in NAMED_BY_ID and parse_id(value) is None:
        return InputError(
            json_pointer(*path), "invalid_uuid", f"{value!r} is not a valid id of a {subject}."
        )
    if subject is Subject.RATING and as_number(value) is None:
        return not_allowed(f"{value!r} is not a number.", *path)
    if subject in _WORDS and value not in _WORDS[subject]:
        return not_allowed(f"{value!r} is not one of {', '.join(_WORDS[subject])}.", *path)
    return None


def _place_error(
    subject: Subject, value: str, directory: Directory | None, *path: str | int
) -> InputError | None:
    look_up = _PLACES.get(subject)
    own_id = parse_id(value)
    if look_up is None or directory is None or own_id is None or look_up(directory, own_id):
        return None
    return unknown_reference(subject.value, *path)


_WORDS: Final[Mapping[Subject, tuple[str, ...]]] = {
    Subject.LANGUAGE: tuple(language.value for language in Language),
    Subject.SOURCE: tuple(source.value for source in DataSource),
}
_PLACES: Final[Mapping[Subject, Callable[[Directory, str], object]]] = {
    Subject.BRAND: Directory.brand,
    Subject.STORE: Directory.store,
}
