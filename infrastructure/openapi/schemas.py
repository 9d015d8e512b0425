"""Build the component schemas of the OpenAPI document from the pydantic models."""

from collections.abc import Iterable
from typing import Any, Final, Literal

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from chalicelib.domain.customers.platforms import IDENTIFIERS

Schema = dict[str, Any]
Mode = Literal["validation", "serialization"]

_NAMES: Final = {
    "Customer": "PartnerCustomer",
    "Purchase": "PartnerPurchase",
    "SurveyTracker": "PartnerSurveyTracker",
}
"""Schema names in the API contract that differ from the model's class name."""

_FIRST: Final = ("id", "createdAt", "updatedAt")

_DESCRIPTIONS: Final = {
    "id": "Unique identifier.",
    "createdAt": "Time of creation.",
    "updatedAt": "Time of the last change.",
    "items": "The records of this page, oldest first.",
    "meta": "Pagination metadata.",
}
"""Descriptions of properties that have no description in their model."""


class _Untitled(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def component_schemas(models: Iterable[tuple[type[BaseModel], Mode]]) -> dict[str, Schema]:
    """Return the schemas of the models and of all models that they contain, by name."""
    _, generated = models_json_schema(
        sorted(models, key=lambda pair: (pair[0].__name__, pair[1])),
        ref_template="#/components/schemas/{model}",
        schema_generator=_Untitled,
    )
    return {
        _NAMES.get(name, name): _component(schema) for name, schema in generated["$defs"].items()
    }


def reference(name: str) -> Schema:
    """Return a reference to the component schema of the model with this name."""
    return {"$ref": f"#/components/schemas/{_NAMES.get(name, name)}"}


def name_of(reference: Schema) -> str:
    """Return the name of the component schema to which a reference leads."""
    name: str = reference["$ref"].rpartition("/")[2]
    return name


def _component(schema: Schema) -> Schema:
    component = _clean(schema)
    component.pop("title", None)
    component["description"] = _first_paragraph(component["description"])
    if "properties" in component:
        component["properties"] = {
            name: _described(name, component["properties"][name])
            for name in sorted(component["properties"], key=_rank)
        }
        for name in component["properties"].keys() - set(component.get("required", ())):
            # Generators of clients make a property with a default required.
            component["properties"][name].pop("default", None)
    return component


def _described(name: str, schema: Schema) -> Schema:
    description = schema.get("description") or _DESCRIPTIONS.get(name)
    return {**schema, "description": description.replace("``", "`")} if description else schema


def _clean(schema: Schema) -> Schema:
    """Simplify nullable types, and remove null defaults of properties that are never null."""
    cleaned = {key: _clean_within(key, value) for key, value in schema.items()}
    if "$ref" in cleaned:
        cleaned |= reference(name_of(cleaned))
    choices = cleaned.get("anyOf", ())
    plain = [choice for choice in choices if choice != {"type": "null"}]
    is_nullable = len(plain) < len(choices)
    if is_nullable and len(plain) == 1 and _is_plain(plain[0]):
        del cleaned["anyOf"]
        cleaned = {**plain[0], "type": [plain[0]["type"], "null"], **cleaned}
    if cleaned.get("default", ...) is None and not is_nullable:
        del cleaned["default"]  # responses omit the property if it has no value
    return cleaned


def _clean_within(key: str, value: Any) -> Any:
    if key == "properties":
        return {name: _clean(schema) for name, schema in value.items()}
    if key == "anyOf":
        return [_clean(choice) for choice in value]
    is_schema = key in ("items", "additionalProperties") and isinstance(value, dict)
    return _clean(value) if is_schema else value


def _is_plain(schema: Schema) -> bool:
    return isinstance(schema.get("type"), str) and not {"enum", "const"} & set(schema)


def _first_paragraph(docstring: str) -> str:
    paragraph = docstring.strip().split("\n\n", 1)[0]
    return " ".join(paragraph.split()).replace("``", "`")


def _rank(name: str) -> tuple[int, int]:
    """Return the sort key of a property.

    Ids and timestamps come first, external identifiers last.
    """
    if name in _FIRST:
        return 0, _FIRST.index(name)
    return (2 if name in IDENTIFIERS else 1), 0
