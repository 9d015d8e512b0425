"""What a workflow's condition may compare its subject with, so that it can ever hold."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.comparison import Comparator, as_number, listed
from chalicelib.domain.customers.platforms import DataSource
from chalicelib.domain.ids import parse_id
from chalicelib.domain.input_errors import InputError, json_pointer, unknown_reference
from chalicelib.domain.language import Language
from chalicelib.domain.workflows.workflow import Subject

NAMED_BY_ID: Final = frozenset({Subject.FORM, Subject.SURVEY, Subject.BRAND, Subject.STORE})

_LISTS: Final = frozenset({Comparator.IN, Comparator.NIN})
_UNJUDGED: Final = frozenset({Comparator.EXISTS, Comparator.CONTAINS})
"""One has a value of its own, the other looks for a part of a text."""


def condition_value_errors(
    subject: Subject,
    comparator: Comparator,
    value: str,
    directory: Directory | None,
    *path: str | int,
) -> Iterator[InputError]:
    """What is wrong with a value that a subject is compared with.

    Args:
        directory: the account's brands and stores; None leaves out whether there is such a one.
    """
    if comparator in _UNJUDGED:
        return
    for each in listed(value) if comparator in _LISTS else [value]:
        input_error = _form_error(subject, each, *path) or _place_error(
            subject, each, directory, *path
        )
        if input_error:
            yield input_error


def _form_error(subject: Subject, value: str, *path: str | int) -> InputError | None:
    if subject in NAMED_BY_ID and parse_id(value) is None:
        return InputError(
            json_pointer(*path), "invalid_uuid", f"{value!r} is no id of a {subject}."
        )
    if subject is Subject.RATING and as_number(value) is None:
        return InputError(
            json_pointer(*path), "not_allowed", f"A rating is a number, not {value!r}."
        )
    if subject in _WORDS and value not in _WORDS[subject]:
        words = ", ".join(_WORDS[subject])
        return InputError(json_pointer(*path), "not_allowed", f"{value!r} is none of {words}.")
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
