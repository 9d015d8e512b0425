"""Compose the examples of responses from the examples of their fields."""

import re
from typing import Any, Final

from infrastructure.demo.ids import demo_id
from infrastructure.openapi.schemas import Schema, name_of

_DEMO: Final = {
    "brand": "brand lumen",
    "contactForm": "contact-form lumen",
    "context": "tracker example",
    "form": "survey visit",
    "place": "store lyon",
    "store": "store lyon",
    "survey": "survey visit",
}
"""The names of records whose ids are examples, most of them in the demo data."""
_NOUNS: Final = {
    "AcceptedBatch": "batch",
    "ImportProgress": "batch",
    "NamedReference": "form",
    "PartnerErasure": "customer",
    "ReplayedDelivery": "delivery",
}


def example_id(noun: str) -> str:
    """Return the id of the example of a record, such as ``purchase``. It is the same everywhere."""
    return demo_id(_DEMO.get(noun, f"{noun} example"))


def compose(schema: Schema, schemas: dict[str, Schema], noun: str = "") -> Any:
    """Return an example of a value: its own example, or one that consists of its parts' examples.

    An id is derived from the name of its record. A value without an example is its default or null,
    and an optional property without one is omitted.

    Args:
        schemas: the component schemas by name.
        noun: the record to which the value belongs.

    Raises:
        ValueError: a text or number has neither an example nor a default.
    """
    if "examples" in schema:
        return schema["examples"][0]
    if "$ref" in schema:
        name = name_of(schema)
        return compose(schemas[name], schemas, noun or _noun_of(name))
    if "anyOf" in schema:
        return compose(schema["anyOf"][0], schemas, noun)
    if "enum" in schema:
        return schema["enum"][0]
    if "properties" in schema:
        return {
            name: compose(value, schemas, _noun_of_property(name, noun))
            for name, value in schema["properties"].items()
            if "examples" in value or name in schema["required"]
        }
    types = schema.get("type", ())
    if schema.get("format") == "uuid":
        return example_id(noun)
    if "array" in types:
        is_reference = "$ref" in schema["items"]
        return [compose(schema["items"], schemas, "" if is_reference else noun)]
    if "default" in schema or "null" in types:
        return schema.get("default")
    if "boolean" in types:
        return False
    raise ValueError(f"A field of {noun} needs an example: {schema}")


def _noun_of(name: str) -> str:
    """Return the record that a schema describes: ``contactForm`` for ``PartnerContactForm``."""
    noun = _NOUNS.get(name) or re.sub("^(Partner|Public|Webhook)|Details$", "", name)
    return noun[:1].lower() + noun[1:]


def _noun_of_property(name: str, noun: str) -> str:
    return noun if name in ("id", "ids") else re.sub("Ids?$", "", name)
