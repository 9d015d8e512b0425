"""Save validated definitions. A definition is saved after the definitions that it refers to."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from admin.services.customers.save import save_customer
from admin.services.definitions.definition import Definition, Kind, Problem
from admin.services.definitions.kinds import RESOURCES, Replaced, save
from chalicelib.domain.errors import Conflict, InvalidInput, NotFound, RecordTooLarge
from chalicelib.domain.input_errors import InputError

Check = Callable[[Any], object]


class ChangedMeanwhile(Exception):
    """The stored resource is not the one with which the definition was compared."""


def write(
    definitions: Iterable[Definition],
    written: Callable[[Definition], None],
    operator: str | None = None,
    check: Callable[[Definition, Any], object] = lambda _definition, _stored: None,
) -> list[Problem]:
    """Save the definitions and return the problems. Call ``written`` for each saved definition.

    Definitions are saved one after another, because lists in the API have the order in which
    resources were created.

    Args:
        operator: the identity of the operator, for the history. None for data of the
            service itself, such as demo data.
        check: called with a definition and the stored resource that it replaces, or None. If it
            raises `ChangedMeanwhile`, the definition is not saved.

    Raises:
        Unavailable: the database throttles or does not respond. The remaining definitions are not
            saved.
    """
    problems: list[Problem] = []
    for definition in sorted(definitions, key=lambda each: list(Kind).index(each.kind)):
        try:
            errors = _save_errors(definition, operator, partial(check, definition))
        except ChangedMeanwhile:
            continue
        problems += [Problem(definition.origin, error) for error in errors]
        if not errors:
            written(definition)
    return problems


def _save_errors(definition: Definition, operator: str | None, check: Check) -> list[InputError]:
    resource = RESOURCES[definition.kind]
    try:
        if isinstance(resource, Replaced):
            save(resource, definition.account_id, definition.content, operator, check)
        else:
            save_customer(definition.account_id, definition.content, check)
    except InvalidInput as error:
        return error.errors
    except (RecordTooLarge, Conflict, NotFound) as error:
        return [InputError("", error.code, str(error))]
    return []
