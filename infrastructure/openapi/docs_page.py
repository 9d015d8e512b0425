"""The documentation page: one HTML page, generated from the OpenAPI document and the guides."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from markupsafe import Markup, escape

from chalicelib.domain.idempotency import HEADER as IDEMPOTENCY_HEADER
from chalicelib.web.pages.assets import asset_hash
from chalicelib.web.pages.page import environment
from chalicelib.web.public.multipart import MEDIA_TYPE as MULTIPART
from infrastructure.openapi.docs_examples import LANGUAGES, NEW_KEY, Request, in_lines
from infrastructure.openapi.guides import guides

Schema = dict[str, Any]

SCRIPT: Final = "docs.js"
"""The script of the page. Its path is relative to the page."""
_NULL: Final = {"type": "null"}
_FORMATS: Final = {"uuid": "UUID", "date-time": "date-time", "email": "e-mail address"}
_LIMITS: Final = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "maxProperties": "at most {} fields",
    "minItems": "at least {} item",
    "maxItems": "at most {:,} items",
    "pattern": "matches {}",
}

NOW: Final = "NOW"
"""The variable of the current time: surveys about old purchases are not sent."""
SOURCES: Final = {
    "STORE_ID": ("the `id` of a store", "listPlaces"),
    "FORM_ID": ("the `id` of an item", "listContactForms"),
    "SURVEY_ID": ("the `id` of an item", "listSurveys"),
    "PURCHASE_ID": ("the `id` of an item", "reportPurchases"),
    "CUSTOMER_ID": ("the `id` of an item", "listCustomers"),
    "FORMER_CUSTOMER_ID": ("the `id` of a customer to erase", "createCustomer"),
    "IMPORT_ID": ("the `id`", "importCustomers"),
    "FEEDBACK_ID": ("the `id` of an item", "listFeedback"),
    "WORKFLOW_ID": ("the `id` of an item", "listWorkflows"),
    "ACTION_ID": ("the `id` of one of its `actions`", "listWorkflows"),
    "DELIVERY_ID": ("the `id`", "testWebhook"),
}
"""The variables of ids, and where to find each one: in the response to an operation."""
_FIELDS: Final = {
    "date": NOW,
    "storeId": "STORE_ID",
    "purchase": "PURCHASE_ID",
    "purchaseId": "PURCHASE_ID",
    "workflowId": "WORKFLOW_ID",
    "actionId": "ACTION_ID",
}
_IDS: Final = {
    "getPurchase": "PURCHASE_ID",
    "getContactForm": "FORM_ID",
    "getSurvey": "SURVEY_ID",
    "getCustomer": "CUSTOMER_ID",
    "changeCustomer": "CUSTOMER_ID",
    "eraseCustomer": "FORMER_CUSTOMER_ID",
    "getErasure": "FORMER_CUSTOMER_ID",
    "getCustomerBatch": "IMPORT_ID",
    "getFeedback": "FEEDBACK_ID",
    "getWebhookDelivery": "DELIVERY_ID",
}
"""The variable of the parameter or field ``id``, by operation."""


class Row(NamedTuple):
    """A row of a field table; `depth` is the number of objects that enclose the field."""

    name: str
    depth: int
    required: bool
    schema: Schema
    description: str


def render(document: Schema) -> str:
    """Render the documentation page of an OpenAPI document, with the guides for partners."""
    page = DocsPage(document)
    environment().filters |= {
        "prose": prose,
        "inline": inline,
        "anchor": lambda text: re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-"),
        "breakable": lambda path: Markup("/<wbr>").join(path.split("/")),
        "lowered": lambda sentence: sentence[:1].lower() + sentence[1:].removesuffix("."),
        "variable": _variable,
        "pretty": in_lines,
    }
    operations = [each for methods in document["paths"].values() for each in methods.values()]
    template = environment().get_template("docs.html")
    return template.render(
        document=document,
        summaries={each["operationId"]: each["summary"] for each in operations},
        page=page,
        kind_of=kind_of,
        limits=limits,
        guides=guides(),
        languages=LANGUAGES,
        sources=SOURCES,
        now=NOW,
        script_path=f"public/assets/{asset_hash(SCRIPT)}/{SCRIPT}",
    )


class DocsPage:
    """Functions that the template calls to look up parts of the OpenAPI document."""

    def __init__(self, document: Schema) -> None:
        self._document = document

    def operations(self, tag: str) -> list[tuple[str, str, Schema]]:
        """Return the path, the method and the OpenAPI object of each operation with this tag."""
        return [
            (path, method, operation)
            for path, methods in self._document["paths"].items()
            for method, operation in methods.items()
            if tag in operation["tags"]
        ]

    def rows(self, schema: Schema, depth: int = 0, deepest: int = 0) -> Iterator[Row]:
        """Yield the fields of an object. Nested fields follow the field that contains them.

        Nested fields that are defined by a component schema are included only if their depth is at
        most `deepest`.
        """
        target = self.resolve(schema)
        for name, value in target.get("properties", {}).items():
            resolved = self.resolve(value)
            description = value.get("description") or resolved.get("description", "")
            yield Row(name, depth, name in target.get("required", ()), value, description)
            inner = self._object_within(value)
            if inner and (depth < deepest or "properties" in value):
                yield from self.rows(inner, depth + 1, deepest)

    def choices(self, schema: Schema) -> Sequence[Schema]:
        """Return the schemas of a body, of which a request has one."""
        choices: Sequence[Schema] = self.resolve(schema).get("oneOf", [schema])
        return choices

    def resolve(self, node: Schema) -> Schema:
        """Return the component that the node refers to, or the node if it is not a reference."""
        while "$ref" in node:
            *_, group, name = node["$ref"].split("/")
            node = self._document["components"][group][name]
        return node

    def request(self, path: str, method: str, operation: Schema) -> "Request":
        """Return the request that sends the first example of the operation."""
        query, headers = "", {}
        is_partner = operation.get("security") != []
        variables = _FIELDS | {"id": _IDS.get(operation["operationId"], "")} if is_partner else {}
        for parameter in operation.get("parameters", ()):
            if parameter["name"] == IDEMPOTENCY_HEADER:
                headers[IDEMPOTENCY_HEADER] = NEW_KEY
            elif parameter["in"] == "path":
                path = path.replace(f"{{{parameter['name']}}}", parameter["example"])
            elif parameter["required"]:
                variable = variables.get(parameter["name"])
                value = f"${variable}" if variable else parameter["example"]
                query += f"{'&' if query else '?'}{parameter['name']}={value}"
        if is_partner:
            schemes = self._document["components"]["securitySchemes"].values()
            names = [scheme["name"] for scheme in schemes]
            headers = {name: f"${_variable(name)}" for name in names} | headers
        for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
            body = next(iter(content["examples"].values()))["value"]
            if media_type == MULTIPART:
                parts = {name: _part(value) for name, value in body.items()}
                return Request(method, path + query, headers, parts=parts)
            body = _with_variables(body, variables)
            return Request(method, path + query, headers | {"Content-Type": media_type}, body)
        return Request(method, path + query, headers)

    def _object_within(self, schema: Schema) -> Schema | None:
        """Return the schema of an object, or of the objects in an array; None for other values."""
        target = self.resolve(schema)
        if "anyOf" in target:
            target = self.resolve(target["anyOf"][0])
        if target.get("type") == "array":
            target = self.resolve(target["items"])
        return target if "properties" in target else None


def kind_of(schema: Schema) -> Markup:
    """Describe the type of a value in words, such as ``array of Tag``, with links to components."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return Markup('<a href="#schema-{0}">{0}</a>').format(name)
    if "anyOf" in schema:
        return kind_of(next(choice for choice in schema["anyOf"] if choice != _NULL)) + " or null"
    names = schema.get("type", "any")
    names = [names] if isinstance(names, str) else names
    name = next(name for name in names if name != "null")
    if name == "array":
        words = "array of " + kind_of(schema.get("items", {}))
    elif name == "object" and isinstance(schema.get("additionalProperties"), dict):
        words = "map to " + kind_of(schema["additionalProperties"])
    else:
        words = Markup("{}").format(_FORMATS.get(schema.get("format", ""), name))
    return words + " or null" if "null" in names else words


def prose(text: str) -> Markup:
    """Convert a description to HTML paragraphs, including `code` and **strong** markup."""
    return Markup("").join(
        Markup("<p>{}</p>").format(inline(paragraph)) for paragraph in text.split("\n\n")
    )


def inline(text: str) -> Markup:
    """Convert a description to HTML without paragraph elements."""
    marked = Markup("")
    for piece in re.split(r"(`[^`]+`|\*\*[^*]+\*\*)", text):
        if piece.startswith("`"):
            marked += Markup("<code>{}</code>").format(piece[1:-1])
        elif piece.startswith("**"):
            marked += Markup("<strong>{}</strong>").format(piece[2:-2])
        else:
            marked += escape(piece)
    return marked


def limits(schema: Schema) -> Iterator[str]:
    """Yield the limits and the default of a value in words."""
    if "minimum" in schema and "maximum" in schema:
        yield f"{schema['minimum']:,} to {schema['maximum']:,}"
    else:
        yield from (
            words.format(schema[keyword]) for keyword, words in _LIMITS.items() if keyword in schema
        )
    if "default" in schema and not isinstance(schema["default"], dict):
        yield f"default {json.dumps(schema['default'], ensure_ascii=False)}"


def _with_variables(value: Any, variables: Mapping[str, str]) -> Any:
    """Return the JSON value with variables instead of the values of these fields."""
    if isinstance(value, list):
        return [_with_variables(item, variables) for item in value]
    if isinstance(value, dict):
        return {
            name: f"${variables[name]}" if variables.get(name) else _with_variables(item, variables)
            for name, item in value.items()
        }
    return value


def _part(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _variable(header: str) -> str:
    return header.removeprefix("X-").replace("-", "_")
