"""JSON Schemas of the models, made ready to be read: components of the interface description.

The models are the truth about keys, types, limits and defaults. Here pydantic's habits are taken
out, and words are put in where a model has none.
"""

import re
from collections.abc import Iterable
from typing import Any, Final, Literal

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from chalicelib.domain.customers.platforms import IDENTIFIERS
from chalicelib.web.openapi.field_types import describe_field_types

Schema = dict[str, Any]
Mode = Literal["validation", "serialization"]

REF: Final = "#/components/schemas/{model}"

_FIRST_KEYS: Final = ("id", "createdAt", "updatedAt")
_SECTION: Final = re.compile(r"\s*\((?:interface, )?(?:sections? )?[\d., and]+\)")

_WORDS: Final = {
    "id": "Unique identifier.",
    "createdAt": "When it was first saved.",
    "updatedAt": "When it was last changed.",
    "items": "The records on this page, oldest first.",
    "meta": "Where this page stands in the list.",
    "Problem.type": "Kind of problem; `about:blank` where the status says it all.",
}
"""Words for properties that their models leave without, by name or by schema and name."""


_WORDS_FOR_SCHEMAS: Final = {
    "Customer": "A person who purchased, reviewed, or both.",
    "CustomerBody": "A customer as a partner sends it. At least one key must say something.",
    "Purchase": "What a customer bought or booked, where and when.",
    "PlaceKind": "Whether a place is a brand or a store.",
    "FieldType": describe_field_types(),
}
"""Words for schemas whose models say more about the code than about the thing."""


def component_schemas(models: Iterable[tuple[type[BaseModel], Mode]]) -> dict[str, Schema]:
    """The schemas of these models and of all that they are made of, by name."""
    _, generated = models_json_schema(
        sorted(models, key=lambda pair: (pair[0].__name__, pair[1])),
        ref_template=REF,
        schema_generator=_Untitled,
    )
    return {name: _component(name, schema) for name, schema in sorted(generated["$defs"].items())}


def reference(model: type[BaseModel]) -> Schema:
    """A schema that stands for the model's component."""
    return {"$ref": REF.format(model=model.__name__)}


class _Untitled(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _component(name: str, schema: Schema) -> Schema:
    component = _tidy(schema)
    component.pop("title", None)
    component["description"] = _WORDS_FOR_SCHEMAS.get(name) or _first_paragraph(
        component["description"]
    )
    if "properties" in component:
        component["properties"] = {
            key: _with_words(name, key, component["properties"][key])
            for key in sorted(component["properties"], key=_rank)
        }
    return component


def _tidy(schema: Schema) -> Schema:
    """The schema without pydantic's habits, all the way down."""
    tidy = dict(schema)
    for keyword in ("properties", "patternProperties"):
        if keyword in tidy:
            tidy[keyword] = {key: _tidy(value) for key, value in tidy[keyword].items()}
    for keyword in ("items", "additionalProperties", "propertyNames"):
        if isinstance(tidy.get(keyword), dict):
            tidy[keyword] = _tidy(tidy[keyword])
    if "anyOf" in tidy:
        tidy["anyOf"] = [_tidy(choice) for choice in tidy["anyOf"]]
        tidy = _nullable_in_short(tidy)
    if "default" in tidy and tidy["default"] is None and not _takes_null(tidy):
        del tidy["default"]  # a key that is left out when unset
    return tidy


def _nullable_in_short(schema: Schema) -> Schema:
    """``{"type": ["string", "null"]}`` for a choice between a plain type and null."""
    plain = [choice for choice in schema["anyOf"] if choice != {"type": "null"}]
    if len(plain) != 1 or len(schema["anyOf"]) != 2 or not isinstance(plain[0].get("type"), str):
        return schema
    if "enum" in plain[0] or "const" in plain[0]:
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**plain[0], "type": [plain[0]["type"], "null"], **rest}


def _takes_null(schema: Schema) -> bool:
    kinds = schema.get("type", ())
    return kinds == "null" or "null" in kinds or {"type": "null"} in schema.get("anyOf", ())


def _with_words(name: str, key: str, schema: Schema) -> Schema:
    if "description" in schema:
        return {**schema, "description": _one_backtick(schema["description"])}
    words = _WORDS.get(f"{name}.{key}") or _WORDS.get(key)
    return {**schema, "description": words} if words else schema


def _first_paragraph(docstring: str) -> str:
    paragraph = " ".join(docstring.strip().split("\n\n", 1)[0].split())
    return _one_backtick(_SECTION.sub("", paragraph))


def _one_backtick(text: str) -> str:
    return text.replace("``", "`")


def _rank(key: str) -> tuple[int, int]:
    """Identity first, the identifiers of other systems last, the rest as the model has it."""
    if key in _FIRST_KEYS:
        return 0, _FIRST_KEYS.index(key)
    return (2 if key in IDENTIFIERS else 1), 0
