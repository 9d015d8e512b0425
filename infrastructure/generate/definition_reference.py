"""Generate the JSON Schema of definition files, and the list of their fields.

Both come from the models that validate definitions. The first part of `docs/definitions.md`, up to
the marker, is written by hand.
"""

import json
import re
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from admin.services.definitions.keys import KEYED
from admin.services.definitions.kinds import RESOURCES
from chalicelib.domain.accounts.partner_view import PartnerPlace
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.forms.contact_form import PartnerContactForm
from chalicelib.domain.forms.fields import FieldDependency, SavedField, SavedFieldGroup
from chalicelib.domain.forms.survey import PartnerSurvey, SupportEmail, Target

_DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
PAGE: Final = _DOCS / "definitions.md"
SCHEMA: Final = _DOCS / "definitions.schema.json"
_MARKER: Final = "<!-- Do not edit below this line: make generate writes it. -->\n"

Schema = dict[str, Any]

_DESCRIBED_BY: Final[dict[str, type[BaseModel]]] = {
    "BrandDefinition": PartnerPlace,
    "ContactFormDefinition": PartnerContactForm,
    "CustomerDefinition": Customer,
    "FieldDefinition": SavedField,
    "FieldDependencyDefinition": FieldDependency,
    "FieldGroupDefinition": SavedFieldGroup,
    "StoreDefinition": PartnerPlace,
    "SupportEmailDefinition": SupportEmail,
    "SurveyDefinition": PartnerSurvey,
    "TargetDefinition": Target,
}
"""The models that describe the fields of definitions without a description of their own."""

_REFERENCES: Final = {
    "brandId": "The id or the key of the brand.",
    "targetId": "The id or the key of the brand or store.",
}
"""The meanings of fields in which a definition can refer to a resource by its key."""


def files() -> dict[Path, str]:
    """Return the texts of the reference and of the JSON Schema by path."""
    schemas = _schemas()
    manual, marker, _ = PAGE.read_text(encoding="utf-8").partition(_MARKER)
    kinds = {kind.value: row.model.__name__ for kind, row in RESOURCES.items()}
    parts = sorted(
        name
        for name, schema in schemas.items()
        if "properties" in schema and name not in kinds.values()
    )
    rows = ["| Object | Fields |", "|---|---|"]
    rows += [f"| `{kind}` | {_fields(schemas[name], schemas)} |" for kind, name in kinds.items()]
    rows += [f"| {_title(name)} | {_fields(schemas[name], schemas)} |" for name in parts]
    page = "\n".join([manual + marker, *rows, ""])
    return {PAGE: page, SCHEMA: json.dumps(_document(schemas, kinds), indent=1) + "\n"}


def _schemas() -> dict[str, Schema]:
    """Return the schemas of all models of definitions by name, with a meaning of each field."""
    models = [(row.model, "validation") for row in RESOURCES.values()]
    _, generated = models_json_schema(models, ref_template="#/$defs/{model}")  # type: ignore[arg-type]
    schemas: dict[str, Schema] = dict(sorted(generated["$defs"].items()))
    for name, schema in schemas.items():
        schema.pop("title", None)
        if "description" in schema:
            schema["description"] = schema["description"].partition("\n\n")[0].replace("\n", " ")
        if "properties" in schema:
            schema["additionalProperties"] = False
            schema["properties"] = {
                field: _property(name, field, content, schema.get("required", ()))
                for field, content in schema["properties"].items()
            }
    for kind in KEYED:
        schema = schemas[RESOURCES[kind].model.__name__]
        schema["required"].remove("id")
        schema["anyOf"] = [{"required": ["id"]}, {"required": ["key"]}]
    return schemas


def _property(owner: str, name: str, content: Schema, required: Any) -> Schema:
    content = {key: value for key, value in content.items() if key not in ("title", "examples")}
    if name in _REFERENCES:
        content = {"type": "string", "minLength": 1, "description": _REFERENCES[name]}
    content["description"] = content.get("description") or _saved_meaning(owner, name)
    null = {"type": "null"}
    if name in required or null in content.get("anyOf", ()):
        return content
    # Null has the same effect as an absent field.
    described: Schema = {
        name: content.pop(name) for name in ("default", "description") if name in content
    }
    return {"anyOf": [*content.get("anyOf", [content]), null], **described}


def _saved_meaning(owner: str, name: str) -> str:
    """Return the meaning of a field in the model of what the definition defines.

    Raises:
        KeyError: the field has no description, here and there.
    """
    if owner.endswith("Translation"):
        return "Translated text."
    fields = _DESCRIBED_BY[owner].model_fields.values()
    return {field.alias: field.description for field in fields if field.description}[name]


def _document(schemas: dict[str, Schema], kinds: dict[str, str]) -> Schema:
    """Return the JSON Schema of a file: a definition, or a list of definitions."""
    account = {"type": "string", "format": "uuid", "description": "The id of the account."}
    for kind, name in kinds.items():
        own = {"kind": {"const": kind, "description": "The kind of the resource."}}
        schemas[name]["properties"] = own | {"account": account} | schemas[name]["properties"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Definitions of the feedback service",
        "if": {"type": "array"},
        "then": {"items": {"$ref": "#/$defs/definition"}},
        "else": {"$ref": "#/$defs/definition"},
        "$defs": {
            "definition": {
                "type": "object",
                "required": ["kind"],
                "properties": {"kind": {"enum": list(kinds)}},
                "allOf": [
                    {
                        "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
                        "then": {"$ref": f"#/$defs/{name}"},
                    }
                    for kind, name in kinds.items()
                ],
            },
            **schemas,
        },
    }


def _fields(schema: Schema, schemas: dict[str, Schema]) -> str:
    """List the fields of an object, each with the object that it contains."""
    required = schema.get("required", ())
    texts = []
    for name, content in schema["properties"].items():
        parts = [
            _title(part)
            for part in re.findall(r"#/\$defs/(\w+)", json.dumps(content))
            if "properties" in schemas[part]
        ]
        text = f"**`{name}`**" if name in required else f"`{name}`"
        texts.append(text + "".join(f" ({part})" for part in parts if part != name))
    return ", ".join(texts)


def _title(name: str) -> str:
    """Return the name of a part in words: ``SurveyStyle`` is ``survey style``."""
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in name.removesuffix("Definition"))
    return words.strip()
