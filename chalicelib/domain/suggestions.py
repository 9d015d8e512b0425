"""Suggest the known field for an unknown one, from the JSON Schema of the input's model."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from typing import Any, Final

from pydantic import BaseModel

from chalicelib.domain.input_errors import InputError

MAX_COMPARED: Final = 20
"""Maximum number of unknown fields of an input that are compared with the known fields."""
MAX_NAME: Final = 50
"""Maximum length of a name that is compared."""


def with_suggestions(errors: Iterable[InputError], model: type[BaseModel]) -> Iterator[InputError]:
    """Yield the errors. Add the most similar known field to those about unknown fields.

    Only the first `MAX_COMPARED` names of at most `MAX_NAME` characters are compared, because the
    author of the input chooses how many there are.
    """
    compared = 0
    for error in errors:
        *path, unknown = ["", *pointer_steps(error.pointer)]
        if error.code == "unknown_key" and compared < MAX_COMPARED and len(unknown) <= MAX_NAME:
            compared += 1
            if similar := similar_field(model, path[1:], unknown):
                error = replace(error, detail=f"{error.detail} Did you mean {similar}?")
        yield error


def similar_field(model: type[BaseModel], path: Iterable[str], unknown: str) -> str | None:
    """Return the field with the most similar name in the object at a path in the input."""
    by_name = {name.lower(): name for name in _known_fields(model, path)}
    similar = get_close_matches(unknown.lower().replace("_", ""), by_name, 1)
    return by_name[similar[0]] if similar else None


def pointer_steps(pointer: str) -> list[str]:
    """Return the names and indexes in a JSON pointer (RFC 6901)."""
    steps = pointer.split("/")[1:]
    return [step.replace("~1", "/").replace("~0", "~") for step in steps]


def _known_fields(model: type[BaseModel], path: Iterable[str]) -> Iterable[str]:
    """Return the names of the fields of the object at a path in the input."""
    root = schema = _schema_of(model)
    for step in path:
        schema = _object(schema, root)
        within = schema.get("additionalProperties", {})
        schema = schema.get("properties", {}).get(step) or schema.get("items") or within
        if not isinstance(schema, dict):
            return ()
    known: Iterable[str] = _object(schema, root).get("properties", ())
    return known


@cache
def _schema_of(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema(by_alias=True)


def _object(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """Resolve references, and choose the alternative to null, until the schema is neither."""
    while True:
        if choices := schema.get("anyOf"):
            schema = next(choice for choice in choices if choice != {"type": "null"})
        elif reference := schema.get("$ref"):
            schema = root["$defs"][reference.rpartition("/")[2]]
        else:
            return schema
