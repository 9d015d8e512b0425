"""Generate the reference of definition files, and their JSON Schema for editors.

Both come from the models that validate definitions. The first part of `docs/definitions.md`, up to
the marker, is written by hand.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from admin.definitions.identify import MODELS
from admin.definitions.keys import KEYED
from chalicelib.domain.accounts.partner_view import PartnerPlace
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.platforms import IMPORT_METADATA_KEY
from chalicelib.domain.forms.contact_form import PartnerContactForm
from chalicelib.domain.forms.fields import FieldDependency, SavedField, SavedFieldGroup
from chalicelib.domain.forms.survey import PartnerSurvey, SupportEmail, Target

_DOCS: Final = Path(__file__).resolve().parent.parent / "docs"
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

_KEY: Final = "The name by which definitions in the account refer to it, instead of its id."
_PART_ID: Final = "The id. Default: derived from the key, or from the position."
_PART_KEY: Final = "The name by which other parts of the form, and exports, refer to it."
_GROUPS: Final = "Translations of the groups by key."
_FIELDS: Final = "Translations of the fields by key."
_TITLES: Final = "Translations of `title` and `subtitle`."

_MEANINGS: Final = {
    "key": _KEY,
    "StoreDefinition.brandId": "The id or the key of the brand.",
    "ContactFormDefinition.brandId": "The id or the key of the brand.",
    "PurchaseDefinition.date": "Time of the purchase. A survey about a future purchase waits until"
    " then. Here and in the other times, a time without offset is in the time zone of the account.",
    "PurchaseDefinition.storeId": "The id or the key of the store.",
    "TargetDefinition.targetId": "The id or the key of the brand or store.",
    "layout": "`STEPS` shows one question at a time, `PAGE` all of them.",
    "thanks": "The texts of the thank-you page by rating.",
    "translations": "Texts in other languages, by language; see [Translations](#translations).",
    "BrandDefinition.id": "The id. Default with a key: derived from the key.",
    "StoreDefinition.id": "The id. Default with a key: derived from the key.",
    "StoreDefinition.timeZone": "An IANA name. Default: the time zone of the account.",
    "StoreDefinition.address": "The postal address, in the footer of pages and e-mails.",
    "StoreDefinition.legalText": "A text that the law requires, below the address.",
    "ContactFormDefinition.id": "The id. Default with a key: derived from the key.",
    "SurveyDefinition.id": "The id. Default with a key: derived from the key.",
    "ContactFormDefinition.enabled": "Whether the form accepts submissions. An existing form stays"
    " as it is if this field is absent.",
    "SurveyDefinition.enabled": "Whether the survey accepts submissions and is sent. An existing"
    " survey stays as it is if this field is absent.",
    "SurveyDefinition.supportEmail": "The support address. An existing one stays if this field is"
    " absent; `null` removes it.",
    "SurveyDefinition.solicitationThreshold": "The maximum age of a purchase in seconds when it"
    " arrives. About older purchases, no survey is sent. 0: no limit.",
    "solicitationDelay": "Seconds between the purchase and the survey, up to 90 days. A purchase"
    " with `sendAt` has no delay.",
    "solicitationDelayFrom": "The date of the purchase from which `solicitationDelay` counts.",
    "reminderDelay": "Seconds between the survey and its only reminder, 1 to 30 days. 0: no"
    " reminder.",
    "SurveyDefinition.resolicitationDelay": "The minimum number of seconds between two surveys to a"
    " customer. 0: no limit.",
    "CustomerDefinition.id": "The id of the customer.",
    "CustomerDefinition.metadata": "Data by source. Each source is a field of its own.",
    "CustomerDefinition.type": "`Unknown`; the service computes all other types.",
    "FieldDefinition.id": _PART_ID,
    "FieldDefinition.key": _PART_KEY,
    "FieldDefinition.group": "The id or the key of the field's group.",
    "FieldDefinition.verticalIndex": "Row of the field, within its group if it has one. Default:"
    " the position in the list.",
    "FieldGroupDefinition.id": _PART_ID,
    "FieldGroupDefinition.key": _PART_KEY,
    "FieldGroupDefinition.verticalIndex": "Position of the group. Default: the position in the"
    " list.",
    "FieldDependencyDefinition.id": "The id. Default: derived from the ids of the two fields.",
    "FieldDependencyDefinition.field": "The id or the key of the field to show or hide.",
    "FieldDependencyDefinition.dependsOnField": "The id or the key of the field whose answer"
    " decides.",
    "TagDefinition.tag": "The name of the tag. Names that differ only in case are the same tag.",
    "TagDefinition.color": "The colour of the tag, for all customers. Default: the tag keeps its"
    " colour.",
    "TargetDefinition.id": "The id. Default: derived from `targetId`.",
    "TargetDefinition.newReviewUri": "The https URL of the page for public reviews.",
    "SupportEmailDefinition.id": "The id. Default: derived from the address.",
    "SupportEmailDefinition.domain": "The domain. Default: the domain of the address.",
    "SupportEmailDefinition.dkimVerified": "No effect: only `support-email check` sets it.",
    "SupportEmailDefinition.returnPathVerified": "No effect: only `support-email check` sets it.",
    "WorkflowDefinition.id": "The id of the workflow.",
    "WorkflowDefinition.name": "The name of the workflow, in webhooks.",
    "WorkflowDefinition.enabled": "Whether the workflow reacts to feedback. An existing workflow"
    " stays as it is if this field is absent.",
    "WorkflowDefinition.operator": "Whether all conditions must match (`$and`) or one (`$or`).",
    "WorkflowDefinition.conditions": "The conditions. Without conditions, all feedback matches.",
    "WorkflowDefinition.actions": "The webhooks to send.",
    "ConditionDefinition.operator": "A comparison, or `$and` or `$or` for a group.",
    "ConditionDefinition.subject": "The property of the feedback; not for a group.",
    "ConditionDefinition.field": "The id or the key of the field, for the subject `answer`.",
    "ConditionDefinition.value": "The value to compare with; a list with commas for `$in` and"
    " `$nin`. For brands, stores, forms and surveys, the id or the key.",
    "ConditionDefinition.conditions": "The conditions of a group.",
    "ActionDefinition.id": "The id. Default: derived from the key.",
    "ActionDefinition.key": "The name of the action, unique in the workflow.",
    "ActionDefinition.description": "Internal description, in webhooks.",
    "ActionDefinition.url": "The https URL of the receiver.",
    "ActionDefinition.headers": "Custom headers of the request.",
    "ActionDefinition.metadata": "Data that each webhook of the action contains.",
    "ActionDefinition.attempts": "The maximum number of attempts.",
    "FormTranslation.header": _TITLES,
    "FormTranslation.body": "Translation of the button.",
    "FormTranslation.footer": "Translations of the footer.",
    "FormTranslation.submission": _TITLES,
    "FormTranslation.thanks": "As many entries as `thanks`, in the same order.",
    "FormTranslation.fields": _FIELDS,
    "FormTranslation.groups": _GROUPS,
}
"""Meanings of fields by schema and name, or only by name. They precede all other descriptions."""


def definition_files() -> dict[Path, str]:
    """Return the texts of the reference and of the JSON Schema by path."""
    schemas = _schemas()
    manual, marker, _ = PAGE.read_text(encoding="utf-8").partition(_MARKER)
    kinds = {kind.value: MODELS[kind].__name__ for kind in MODELS}
    sections = [_section(f"`{kind}`", schemas[name], schemas) for kind, name in kinds.items()]
    parts = [
        _section(_title(name), schema, schemas)
        for name, schema in sorted(schemas.items(), key=lambda item: _title(item[0]))
        if "properties" in schema and name not in kinds.values()
    ]
    text = "\n".join(
        [manual + marker, "## Kinds\n", *sections, "## Parts of definitions\n", *parts]
    )
    return {PAGE: text, SCHEMA: json.dumps(_document(schemas, kinds), indent=1) + "\n"}


def _schemas() -> dict[str, Schema]:
    """Return the schemas of all models of definitions by name, with a meaning of each field."""
    models = [(model, "validation") for model in MODELS.values()]
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
        schema = schemas[MODELS[kind].__name__]
        schema["required"].remove("id")
        schema["anyOf"] = [{"required": ["id"]}, {"required": ["key"]}]
    return schemas


def _property(owner: str, name: str, content: Schema, required: Any) -> Schema:
    content = {key: value for key, value in content.items() if key not in ("title", "examples")}
    if name in ("brandId", "storeId", "targetId"):
        content = {"type": "string", "minLength": 1}
    content["description"] = _meaning(owner, name, content)
    null = {"type": "null"}
    if name in required or null in content.get("anyOf", ()):
        return content
    # Null has the same effect as an absent field.
    described: Schema = {
        name: content.pop(name) for name in ("default", "description") if name in content
    }
    return {"anyOf": [*content.get("anyOf", [content]), null], **described}


def _meaning(owner: str, name: str, content: Schema) -> str:
    model = "FormTranslation" if owner == "SurveyTranslation" else owner
    saved = _DESCRIBED_BY.get(owner)
    aliases = {field.alias: field for field in saved.model_fields.values()} if saved else {}
    text = (
        _MEANINGS.get(f"{model}.{name}")
        or content.get("description")
        or (aliases[name].description if name in aliases else None)
    )
    if not text and owner.endswith("Translation"):
        text = "Translated text."
    if not text and owner == "MetadataDefinition":
        is_own = name == IMPORT_METADATA_KEY
        text = "Your own data: a map of strings." if is_own else f"The record in `{name}`."
    return text or _MEANINGS[name]


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


def _section(title: str, schema: Schema, schemas: dict[str, Schema]) -> str:
    lines = [
        f"### {title}\n",
        f"{schema.get('description', 'Data of a customer by source.')}\n".replace("``", "`"),
    ]
    lines += ["| Field | Type | Default | Meaning |", "|---|---|---|---|"]
    for name, content in schema["properties"].items():
        is_required = name in schema.get("required", ())
        cells = (
            f"`{name}`",
            _type_text(content, schemas),
            "required" if is_required else _default_text(content),
            content["description"].replace("``", "`"),
        )
        lines.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |")
    return "\n".join(lines) + "\n"


def _title(name: str) -> str:
    """Return the heading of a part: ``SurveyStyle`` is ``survey style``."""
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in name.removesuffix("Definition"))
    return words.strip()


def _default_text(content: Schema) -> str:
    default = content.get("default")
    if default is None or default == "":
        return ""
    return "see there" if isinstance(default, dict) and default else f"`{json.dumps(default)}`"


def _type_text(content: Schema, schemas: dict[str, Schema]) -> str:
    return " or ".join(dict.fromkeys(_types(content, schemas)))


def _types(content: Schema, schemas: dict[str, Schema]) -> Iterator[str]:
    for choice in content.get("anyOf", ()):
        if choice != {"type": "null"}:
            yield from _types(choice, schemas)
    if reference := content.get("$ref"):
        name = reference.rpartition("/")[2]
        if "properties" in schemas[name]:
            yield f"[{_title(name)}](#{_title(name).replace(' ', '-')})"
        else:
            yield from _types(schemas[name], schemas)
    elif "const" in content or "enum" in content:
        values = content.get("enum") or [content["const"]]
        shown = ", ".join(f"`{value}`" for value in values[:12])
        yield shown if len(values) <= 12 else f"{shown} and {len(values) - 12} more"
    elif content.get("type") == "array":
        yield f"list of {_type_text(content['items'], schemas)}{_limits(content, 'Items')}"
    elif content.get("type") == "object":
        values = content.get("additionalProperties")
        yield f"map of {_type_text(values, schemas)}" if isinstance(values, dict) else "object"
    elif "type" in content:
        kind = {"uuid": "id", "email": "e-mail address", "date-time": "time"}
        text = kind.get(content.get("format", ""), content["type"])
        limits = _limits(content, "Length")
        yield f"{text}{limits}{' characters' if limits and text == 'string' else ''}"


def _limits(content: Schema, unit: str) -> str:
    least = content.get(f"min{unit}", content.get("minimum"))
    most = content.get(f"max{unit}", content.get("maximum"))
    if most is None:
        return f", at least {least}" if least else ""
    return f", {least or 0} to {most:,}"
