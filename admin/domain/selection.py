"""Select one of a few records by its id, its key, its name or the beginning of one of them."""

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from chalicelib.domain.errors import Conflict, NotFound

_MIN_BEGINNING: Final = 3
_MAX_NAMED: Final = 10

Record = TypeVar("Record")


def select(
    text: str, records: Iterable[Record], names_of: Callable[[Record], Iterable[str]], word: str
) -> Record:
    """Return the record with this name or, without one, the only one that begins with the text.

    Case is ignored. A beginning has at least three characters.

    Args:
        names_of: returns the texts that name a record, such as its id, its key and its name.
        word: the kind of record for errors, such as ``survey``.

    Raises:
        NotFound: no record has this name or beginning.
        Conflict: several records have it.
    """
    wanted = text.strip().casefold()
    named = [(record, [n.casefold() for n in names_of(record) if n]) for record in records]
    found = [record for record, names in named if wanted in names]
    if not found and len(wanted) >= _MIN_BEGINNING:
        found = [record for record, names in named if any(n.startswith(wanted) for n in names)]
    if not found:
        raise NotFound(word)
    if len(found) > 1:
        listed = ", ".join(
            " ".join(filter(None, names_of(record))) for record in found[:_MAX_NAMED]
        )
        raise Conflict(f"{text!r} is not unique: {listed}.")
    return found[0]
