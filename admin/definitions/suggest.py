"""Suggest the known field for an unknown one, from the JSON Schema of the definition's model."""

from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel

from chalicelib.domain.input_errors import InputError


def with_suggestion(error: InputError, model: type[BaseModel]) -> InputError:
    """Add the most similar known field to the error about an unknown field."""
    if error.code != "unknown_key":
        return error
    *path, unknown = pointer_steps(error.pointer)
    root = model.model_json_schema(by_alias=True)
    schema = root
    for step in path:
        schema = _object(schema, root)
        within = schema.get("additionalProperties", {})
        schema = schema.get("properties", {}).get(step) or schema.get("items") or within
        if not isinstance(schema, dict):
            return error
    names = _object(schema, root).get("properties", ())
    by_name = {name.lower(): name for name in names}
    similar = get_close_matches(unknown.lower().replace("_", ""), by_name, 1)
    if not similar:
        return error
    return replace(error, detail=f"{error.detail} Did you mean {by_name[similar[0]]}?")


def pointer_steps(pointer: str) -> list[str]:
    """Return the names and indexes in a JSON pointer (RFC 6901)."""
    steps = pointer.split("/")[1:]
    return [step.replace("~1", "/").replace("~0", "~") for step in steps]


def _object(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """Resolve references, and choose the alternative to null, until the schema is neither."""
    while True:
        if choices := schema.get("anyOf"):
            schema = next(choice for choice in choices if choice != {"type": "null"})
        elif reference := schema.get("$ref"):
            schema = root["$defs"][reference.rpartition("/")[2]]
        else:
            return schema
