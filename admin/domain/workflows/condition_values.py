"""Validate the expected values in a workflow's conditions."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.comparison import Comparator, as_number, parse_list
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.ids import parse_id
from chalicelib.domain.input_errors import InputError, json_pointer, not_allowed, unknown_reference
from chalicelib.domain.language import Language
from chalicelib.domain.workflows.workflow import Subject

SUBJECTS_WITH_ID: Final = frozenset({Subject.FORM, Subject.SURVEY, Subject.BRAND, Subject.STORE})

_LISTS: Final = frozenset({Comparator.IN, Comparator.NIN})
_UNCHECKED: Final = frozenset({Comparator.EXISTS, Comparator.CONTAINS})
"""Comparators whose expected value has the same format for every subject.

`$exists` expects true or false, `$contains` any text.
"""


def condition_value_errors(
    subject: Subject,
    comparator: Comparator,
    value: str,
    directory: Directory | None,
    *path: str | int,
) -> Iterator[InputError]:
    """Yield the errors in the value that a subject is compared with.

    Args:
        directory: the account's brands and stores. If it is None, the ids of brands and stores are
            not checked for existence.
    """
    if comparator in _UNCHECKED:
        return
    for item in parse_list(value) if comparator in _LISTS else [value]:
        error = _format_error(subject, item, *path)
        error = error or _place_error(subject, item, directory, *path)
        if error:
            yield error


def _format_error(subject: Subject, value: str, *path: str | int) -> InputError | None:
    if subject in SUBJECTS_WITH_ID and parse_id(value) is None:
        return InputError(
            json_pointer(*path), "invalid_uuid", f"{value!r} is not a valid id of a {subject}."
        )
    if subject is Subject.RATING and as_number(value) is None:
        return not_allowed(f"{value!r} is not a number.", *path)
    if subject in _ALLOWED_VALUES and value not in _ALLOWED_VALUES[subject]:
        return not_allowed(f"{value!r} is not one of {', '.join(_ALLOWED_VALUES[subject])}.", *path)
    return None


def _place_error(
    subject: Subject, value: str, directory: Directory | None, *path: str | int
) -> InputError | None:
    look_up = _PLACES.get(subject)
    place_id = parse_id(value)
    if look_up is None or directory is None or place_id is None or look_up(directory, place_id):
        return None
    return unknown_reference(subject.value, *path)


_ALLOWED_VALUES: Final[Mapping[Subject, tuple[str, ...]]] = {
    Subject.LANGUAGE: tuple(language.value for language in Language),
    Subject.SOURCE: tuple(source.value for source in DataSource),
}
_PLACES: Final[Mapping[Subject, Callable[[Directory, str], object]]] = {
    Subject.BRAND: Directory.brand,
    Subject.STORE: Directory.store,
}
