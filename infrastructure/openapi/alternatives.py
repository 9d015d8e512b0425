"""Split request bodies that have either some fields or others into one schema for each."""

from typing import Any, Final, NamedTuple

from infrastructure.openapi.schemas import Schema, reference


class _Alternative(NamedTuple):
    """A schema with a part of the fields of a body."""

    name: str
    description: str
    required: tuple[str, ...]
    optional: tuple[str, ...] = ()


_ALTERNATIVES: Final = {
    "PurchaseReference": (
        _Alternative("PurchaseById", "A purchase, by its id.", ("id",)),
        _Alternative("PurchaseByKey", "A purchase, by its key.", ("source", "externalId")),
    ),
    "OptOut": (
        _Alternative("EmailOptOut", "An e-mail address to suppress.", ("email",), ("channels",)),
        _Alternative(
            "PhoneNumberOptOut", "A phone number to suppress.", ("phoneNumber",), ("channels",)
        ),
    ),
    "DeliveryReplayRequest": (
        _Alternative("DeliveriesById", "The ids of the deliveries to replay.", ("ids",)),
        _Alternative(
            "DeliveriesByState",
            "The state and the period of the deliveries to replay.",
            ("state", "createdSince"),
            ("createdUntil", "limit", "cursor"),
        ),
    ),
}


def split_alternatives(schemas: dict[str, Schema]) -> None:
    """Replace these schemas by a choice of schemas. Together, they have the same fields."""
    for name, alternatives in _ALTERNATIVES.items():
        body = schemas[name]
        fields = {field for each in alternatives for field in (*each.required, *each.optional)}
        if fields != body["properties"].keys():
            raise ValueError(f"The alternatives of {name} do not have its fields.")
        for each in alternatives:
            schemas[each.name] = _part(body, each)
        schemas[name] = {
            "description": body["description"],
            "oneOf": [reference(each.name) for each in alternatives],
        }


def _part(body: Schema, part: _Alternative) -> Schema:
    properties: dict[str, Any] = body["properties"]
    required = {field: _without_null(properties[field]) for field in part.required}
    return {
        "type": "object",
        "description": part.description,
        "additionalProperties": False,
        "required": list(part.required),
        "properties": required | {field: properties[field] for field in part.optional},
    }


def _without_null(schema: Schema) -> Schema:
    if "anyOf" in schema:
        plain: Schema = next(choice for choice in schema["anyOf"] if choice != {"type": "null"})
        rest: Schema = {key: value for key, value in schema.items() if key != "anyOf"}
        return rest | plain
    if isinstance(schema.get("type"), list):
        (kind,) = (kind for kind in schema["type"] if kind != "null")
        return schema | {"type": kind}
    return schema
