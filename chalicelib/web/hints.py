"""Add hints to the errors of a request: the field or the parameter that the client may mean."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from chalice.app import Request

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.input_errors import InputError
from chalicelib.domain.solicitation.links import ANSWER_PREFIX, LABEL_PREFIX
from chalicelib.domain.suggestions import MAX_NAME, with_suggestions
from chalicelib.web.openapi.operation import Operation, model_named
from chalicelib.web.query import parameters

_MAX_NAMED: Final = 3
"""Maximum number of unknown query parameters that an error names."""


def add_hints(error: InvalidInput, http: Request, declared: Operation) -> None:
    """Suggest known fields for unknown ones, and name unknown parameters if one is missing."""
    codes = {each.code for each in error.errors}
    if "unknown_key" in codes and "body" in declared:
        error.errors = [*with_suggestions(error.errors, model_named(declared["body"]))]
    if "required" in codes:
        error.errors = [*_with_unknown_parameters(error.errors, http, declared)]


def _with_unknown_parameters(
    errors: list[InputError], http: Request, declared: Operation
) -> Iterator[InputError]:
    known = declared.get("parameters", {})
    others = (name for name in parameters(http) if name not in known)
    unknown = (name for name in others if not name.startswith((ANSWER_PREFIX, LABEL_PREFIX)))
    names = ", ".join(name[:MAX_NAME] for name in islice(unknown, _MAX_NAMED))
    for error in errors:
        if names and error.code == "required" and error.pointer.startswith("?"):
            error = replace(error, detail=f"{error.detail} Unknown: {names}.")
        yield error
