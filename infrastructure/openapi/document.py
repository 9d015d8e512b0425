"""Build the OpenAPI document from `base.yaml`, routes, operations, models and their examples."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from chalicelib.domain.forms.field_types import AnswerRules, FieldType
from chalicelib.domain.idempotency import HEADER as IDEMPOTENCY_HEADER
from chalicelib.domain.idempotency import MAX_KEY
from chalicelib.domain.solicitation.links import short_tracker
from chalicelib.domain.solicitation.tokens import MAX_TOKEN
from chalicelib.web import problems
from chalicelib.web.json_body import MEDIA_TYPE as JSON
from chalicelib.web.openapi.operation import OPERATIONS, Operation, model_named, permissions_of
from chalicelib.web.pages.assets import SCRIPTS, asset_hash
from chalicelib.web.public.multipart import MEDIA_TYPE as MULTIPART
from infrastructure.openapi.alternatives import split_alternatives
from infrastructure.openapi.codes import INPUT_CODES, PROBLEM_CODES
from infrastructure.openapi.errors import IDS, REQUEST_ID, error_responses, header
from infrastructure.openapi.examples import compose, example_id
from infrastructure.openapi.limits import limit_arrays
from infrastructure.openapi.schemas import Mode, Schema, component_schemas, reference

_HTML: Final = {
    "content": {"text/html": {"schema": {"type": "string"}, "example": "<!doctype html>…"}}
}
"""The content of an error that is a page."""
THANKS: Final = {
    "description": "The thank-you page, for clients that prefer HTML to JSON.",
    "headers": REQUEST_ID | header("Cache-Control", "NoStore"),
    **_HTML,
}
_UUID: Final = {"type": "string", "format": "uuid"}
_KEY: Final = {"type": "string", "minLength": 1, "maxLength": MAX_KEY, "pattern": "^[ -~]+$"}
_TEXT: Final = {"type": "string", "maxLength": 10_240}
"""Any text. The gateway limits the size of the request line with all headers."""
_CODE: Final = {"type": "string", "pattern": "^[A-Za-z0-9_-]{22}$"}
_PARAMETERS: Final[dict[str, tuple[Schema, Any]]] = {
    "language": (_TEXT, "fr"),
    "code": (_CODE, short_tracker(example_id("tracker"))),
    "token": ({"type": "string", "maxLength": MAX_TOKEN}, "TOKEN"),
    "digest": ({"type": "string", "pattern": "^[0-9a-f]{16}$"}, asset_hash("page.js")),
    "name": ({"type": "string", "enum": list(SCRIPTS)}, "page.js"),
    "tag": ({"type": "string", "pattern": "^[a-z-]+$"}, "purchases"),
    "partial": ({"type": "boolean", "default": False}, True),
    "If-None-Match": (_TEXT, 'W/"3f9c2a7d51e84b06"'),
    IDEMPOTENCY_HEADER: (_KEY, "example-2026-11-20"),
}
"""Schema and example by name of parameter. Any other parameter is the id of a record."""


def build_document(routes: dict[str, dict[str, Any]]) -> Schema:
    """Build the OpenAPI document for the app's routes."""
    document: Schema = yaml.safe_load(Path(__file__).with_name("base.yaml").read_text())
    views = {
        (path, method): inspect.unwrap(route.view_function)
        for path, methods in routes.items()
        for method, route in methods.items()
        if method not in ("HEAD", "OPTIONS")
    }
    schemas = _schemas(
        map(OPERATIONS.__getitem__, views.values()), document["components"]["schemas"]
    )
    for (path, method), view in views.items():
        operation = _operation(method, path, view, schemas)
        document["paths"].setdefault(path, {})[method.lower()] = operation
    split_alternatives(schemas)
    document["components"]["schemas"] = dict(sorted(schemas.items()))
    return document


def _schemas(declared: Iterable[Operation], added: dict[str, Schema]) -> dict[str, Schema]:
    """Return the schemas of the models that the operations use, merged with those of the base."""
    models: set[tuple[type[BaseModel], Mode]] = {(problems.Problem, "serialization")}
    for operation in declared:
        if "body" in operation:
            models.add((model_named(operation["body"]), "validation"))
        if "response" in operation:
            models.add((model_named(operation["response"]), "serialization"))
    schemas = component_schemas(models)
    schemas["FieldType"]["description"] = _describe_field_types()
    _describe_codes(schemas["Problem"]["properties"]["code"], PROBLEM_CODES)
    for name in ("ProblemError", "RowInputError"):
        _describe_codes(schemas[name]["properties"]["code"], INPUT_CODES)
    for name, schema in added.items():
        _merge(schemas.setdefault(name, {}), schema)
    limit_arrays(schemas)
    return schemas


def _operation(
    method: str, path: str, view: Callable[..., Any], schemas: dict[str, Schema]
) -> Schema:
    declared, is_partner = OPERATIONS[view], path.startswith("/partners/")
    operation: Schema = {
        "operationId": to_camel(view.__name__),
        "tags": [declared["tag"]],
        "summary": (view.__doc__ or "").partition("\n")[0].removesuffix("."),
        "description": declared["description"] + (_permission(declared) if is_partner else ""),
    }
    responses = _success(method, declared, schemas)
    operation["parameters"] = [
        _parameter(path, name, description, responses)
        for name, description in declared.get("parameters", {}).items()
    ]
    if "body" in declared:
        operation["requestBody"] = _body(declared, JSON if is_partner else MULTIPART)
    if not is_partner:
        operation["security"] = []
    errors = error_responses(declared, is_partner=is_partner)
    if path.endswith(("/page", "/unsubscribe")):
        errors = {status: error | _HTML for status, error in errors.items()}
    operation["responses"] = responses | errors
    if path.endswith("/submit"):  # the client gets pages if it prefers HTML
        for error in errors.values():
            error["content"] |= _HTML["content"]
        operation["responses"]["200"] = THANKS
    return operation


def _parameter(path: str, name: str, description: str, responses: Schema) -> Schema:
    schema, example = _PARAMETERS.get(name) or (_UUID, _id_example(path, name, responses))
    in_path = f"{{{name}}}" in path
    return {
        "name": name,
        "in": "path" if in_path else "header" if name[0].isupper() else "query",
        "required": in_path or name in (*IDS, "token"),
        "description": description,
        "schema": schema,
        "example": example,
    }


def _id_example(path: str, name: str, responses: Schema) -> str:
    """Return the example of an id: in the parameter ``id``, that of the record in the response."""
    if name != "id":
        return example_id(name)
    contents = (response.get("content", {}) for response in responses.values())
    ids = (content[JSON]["example"].get("id") for content in contents if JSON in content)
    return next(filter(None, ids), example_id(to_camel(path.split("/")[2].replace("-", "_"))))


def _body(declared: Operation, media_type: str) -> Schema:
    examples = {
        title.lower().replace(" ", "-"): {"summary": title, "value": value}
        for title, value in declared["examples"].items()
    }
    content = {"schema": _model(declared["body"]), "examples": examples}
    if media_type == MULTIPART:
        content["encoding"] = {name: {"contentType": JSON} for name in ("fields", "labels")}
    return {
        "required": not declared.get("body_optional", False),
        "description": declared["body_description"],
        "content": {media_type: content},
    }


def _success(method: str, declared: Operation, schemas: dict[str, Schema]) -> Schema:
    """Return the response of a successful request by status, and 304 if the client has a copy."""
    headers, content = _headers(declared), _content(method, declared, schemas)
    success = {"description": declared["returns"], "headers": headers}
    usual = 200 if method in ("GET", "PATCH") else 201 if content else 204
    unchanged = {"304": {"description": "The resource has not changed.", "headers": headers}}
    status = str(declared.get("status", usual))
    success |= {"content": content} if content else {}
    empty = {"204": {"description": declared.get("no_content"), "headers": headers}}
    others = (unchanged if "ETag" in headers else {}) | (empty if "no_content" in declared else {})
    return {status: success} | others


def _headers(declared: Operation) -> Schema:
    if "If-None-Match" in declared.get("parameters", {}):
        cacheable = "CacheableView" if "response" in declared else "Cacheable"
        return REQUEST_ID | header("ETag", "ETag") | header("Cache-Control", cacheable)
    headers = REQUEST_ID | header("Cache-Control", declared.get("cache_header", "NoStore"))
    return headers | (header("Location", "Location") if declared.get("status") == 302 else {})


def _content(method: str, declared: Operation, schemas: dict[str, Schema]) -> Schema:
    """Return the content of a successful response by media type."""
    if "response" in declared:
        schema = _model(declared["response"])
        return {JSON: {"schema": schema, "example": compose(schema, schemas)}}
    if media_types := declared.get("media_types"):
        return {media_type: {"schema": {"type": "string"}} for media_type in media_types}
    if method == "GET" and "status" not in declared:
        return {JSON: {"schema": {"type": "object", "required": ["openapi", "info", "paths"]}}}
    return {}


def _model(declared: str) -> Schema:
    return reference(declared.rpartition(".")[2])


def _describe_codes(schema: Schema, meanings: Mapping[str, str]) -> None:
    lines = [f"`{code}`: {meaning}" for code, meaning in sorted(meanings.items())]
    schema["description"] = "\n\n".join([schema["description"], *lines])
    schema["enum"] = sorted(meanings)


def _merge(schema: Schema, added: Schema) -> None:
    for key, value in added.items():
        if isinstance(value, dict):
            _merge(schema.setdefault(key, {}), value)
        else:
            schema[key] = value


def _permission(declared: Operation) -> str:
    names = [f"`{name}`" for name in permissions_of(declared)]
    noun = "permissions" if len(names) > 1 else "permission"
    return f"\n\nThe API key needs the {noun} {' and '.join(names)}."


def _describe_field_types() -> str:
    """Return one paragraph per field type: its valid values and their ratings."""
    introduction = "Type of a field, which determines its valid answers. Every value is text."
    types = [
        f"`{field_type.value}`: {_valid_values(field_type.rules)}." for field_type in FieldType
    ]
    return "\n\n".join([introduction, *types])


def _valid_values(rules: AnswerRules) -> str:
    if rules.options_from_field:
        options = "of the field's `values`, or other text if `allowCustomValue` is true"
        return f"one or several {options}" if rules.accepts_several_values else f"one {options}"
    if rules.options:
        return "one of " + ", ".join(
            f"`{option}`" if rating is None else f"`{option}` (rating {rating})"
            for option, rating in rules.options.items()
        )
    return rules.format.description if rules.format else "any text"
