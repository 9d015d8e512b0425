"""Build the OpenAPI document from `base.yaml`, routes, operations, models and examples."""

import inspect
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from pydantic import BaseModel
from pydantic.alias_generators import to_camel

from chalicelib.domain.errors import (
    FeedbackError,
    IdempotencyKeyReused,
    MissingPermission,
    NotAuthenticated,
    NotFound,
    TooManyRequests,
    Unavailable,
)
from chalicelib.domain.forms.field_types import AnswerRules, FieldType
from chalicelib.domain.idempotency import HEADER as IDEMPOTENCY_HEADER
from chalicelib.domain.idempotency import MAX_KEY
from chalicelib.domain.solicitation.links import short_tracker
from chalicelib.web import problems
from chalicelib.web.openapi.operation import OPERATIONS, Operation, model_named, permissions_of
from chalicelib.web.pages.assets import SCRIPTS, asset_hash
from chalicelib.web.public.multipart import MEDIA_TYPE as MULTIPART
from chalicelib.web.request_log import REQUEST_ID_HEADER
from infrastructure.demo.ids import demo_id
from infrastructure.openapi.alternatives import split_alternatives
from infrastructure.openapi.codes import INPUT_CODES, PROBLEM_CODES
from infrastructure.openapi.examples import (
    EXAMPLE_KEY,
    QUERIES,
    REQUEST_ID,
    TRACKER,
    Example,
    Recorder,
)
from infrastructure.openapi.limits import limit_arrays
from infrastructure.openapi.schemas import Mode, Schema, component_schemas, reference

_STATUSES: Final = {
    304: "The resource has not changed.",
    400: "The request is invalid; `errors` lists the validation errors.",
    401: "The credentials are missing or invalid.",
    403: "The request is not allowed.",
    404: "The account has no such record.",
    409: "The current state does not allow the request; `code` contains the cause.",
    413: "The request body is too large.",
    415: "The media type or charset of the request body is not supported, or the request has a"
    " `Content-Encoding`.",
    422: "The `Idempotency-Key` was used with different input.",
    429: "Too many requests. The request was not processed.",
    500: "The service failed.",
    503: "The service is temporarily unavailable.",
}
_UNKNOWN_OUTCOME: Final = (
    " The request may have been processed. Retry with the same `Idempotency-Key`; without a key, a"
    " retry can create a duplicate."
)
_ERRORS: Final[dict[int, FeedbackError]] = {
    401: NotAuthenticated(),
    422: IdempotencyKeyReused(),
    429: TooManyRequests(retry_after=1),
    503: Unavailable("The database is busy."),
}
"""Errors by status. The example responses with these statuses are built without sending a request.
"""

_HTML: Final = {
    "content": {"text/html": {"schema": {"type": "string"}, "example": "<!doctype html>…"}}
}
"""The content of an error that is a page."""
_REQUEST_ID: Final = {REQUEST_ID_HEADER: {"$ref": "#/components/headers/RequestId"}}
THANKS: Final = {
    "description": "The thank-you page, for clients that prefer HTML to JSON.",
    "headers": {**_REQUEST_ID, "Cache-Control": {"$ref": "#/components/headers/NoStore"}},
    **_HTML,
}
_UUID: Final = {"type": "string", "format": "uuid"}
_KEY: Final = {"type": "string", "minLength": 1, "maxLength": MAX_KEY, "pattern": "^[ -~]+$"}
_PARAMETERS: Final[dict[str, tuple[Schema, Any]]] = {
    "tracker": (_UUID, TRACKER),
    "brand": (_UUID, demo_id("brand lumen")),
    "language": ({"type": "string"}, "fr"),
    "code": ({"type": "string", "pattern": "^[A-Za-z0-9_-]{22}$"}, short_tracker(TRACKER)),
    "token": ({"type": "string"}, "TOKEN"),
    "digest": ({"type": "string"}, asset_hash("page.js")),
    "name": ({"type": "string", "enum": list(SCRIPTS)}, "page.js"),
    "tag": ({"type": "string", "pattern": "^[a-z-]+$"}, "purchases"),
    "partial": ({"type": "boolean", "default": False}, True),
    "If-None-Match": ({"type": "string"}, 'W/"3f9c2a7d51e84b06"'),
    IDEMPOTENCY_HEADER: (_KEY, EXAMPLE_KEY),
}
"""Schema and example by name of parameter.

Any other parameter is a UUID, and its example comes from a recorded request.
"""


class DocumentBuilder:
    """Build the document and collect the models that its operations use."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._models: set[tuple[type[BaseModel], Mode]] = {(problems.Problem, "serialization")}

    def document(self, routes: dict[str, dict[str, Any]]) -> Schema:
        """Build the OpenAPI document for the app's routes."""
        document: Schema = yaml.safe_load(Path(__file__).with_name("base.yaml").read_text())
        for path, methods in routes.items():
            for method, route in methods.items():
                if method not in ("HEAD", "OPTIONS"):
                    operation = self._operation(method, path, inspect.unwrap(route.view_function))
                    document["paths"].setdefault(path, {})[method.lower()] = operation
        schemas = component_schemas(self._models)
        schemas["FieldType"]["description"] = _describe_field_types()
        _describe_codes(schemas["Problem"]["properties"]["code"], PROBLEM_CODES)
        for name in ("ProblemError", "RowInputError"):
            _describe_codes(schemas[name]["properties"]["code"], INPUT_CODES)
        for name, added in document["components"]["schemas"].items():
            _merge(schemas.setdefault(name, {}), added)
        limit_arrays(schemas)
        split_alternatives(schemas)
        document["components"]["schemas"] = dict(sorted(schemas.items()))
        return document

    def _operation(self, method: str, path: str, view: Callable[..., Any]) -> Schema:
        declared, name = OPERATIONS[view], to_camel(view.__name__)
        is_partner = path.startswith("/partners/")
        parameters = declared.get("parameters", {})
        creates = IDEMPOTENCY_HEADER in parameters
        statuses = {*declared.get("errors", ()), 429, 500, 503}
        statuses |= {404} if parameters.keys() & {"id", "purchase", "survey"} else set()
        statuses |= {401, 403} if is_partner else set()
        statuses |= {413, 415} if "body" in declared else set()
        statuses |= {422} if creates else set()
        example = Example(QUERIES.get(name, {}))
        if "body" in declared or "response" in declared:
            statuses |= {400} if "body" in declared or parameters else set()
            recorded = statuses - set(_ERRORS) - {500} - ({403} if is_partner else set())
            example = self._recorder.record(name, method, path, recorded)
        operation: Schema = {
            "operationId": name,
            "tags": [declared["tag"]],
            "summary": (view.__doc__ or "").partition("\n")[0].removesuffix("."),
            "description": declared["description"] + (_permission(declared) if is_partner else ""),
            "parameters": [
                _parameter(path, *parameter, example.query) for parameter in parameters.items()
            ],
        }
        if "body" in declared:
            media_type = "application/json" if is_partner else MULTIPART
            operation["requestBody"] = self._body(declared, media_type, example.bodies)
        if not is_partner:
            operation["security"] = []
        missing = {"s": "survey link", "docs": "page"}.get(path.split("/")[1], "file")
        errors = {
            str(status): _error(status, example, missing, creates) for status in sorted(statuses)
        }
        if "403" in errors:
            causes = ("missing_permission" if is_partner else "tracker_required", "forbidden")
            described = (f" `{code}`: {PROBLEM_CODES[code]}" for code in causes)
            errors["403"]["description"] += "".join(described)
        if path.endswith(("/page", "/unsubscribe")):
            errors = {status: error | _HTML for status, error in errors.items()}
        operation["responses"] = self._success(method, declared, example.response) | errors
        if path.endswith("/submit"):  # the client gets pages if it prefers HTML
            for error in errors.values():
                error["content"] |= _HTML["content"]
            operation["responses"]["200"] = THANKS
        return operation

    def _body(self, declared: Operation, media_type: str, bodies: dict[str, Any]) -> Schema:
        examples = {
            title.lower().replace(" ", "-"): {"summary": title, "value": value}
            for title, value in bodies.items()
        }
        schema = self._model(declared["body"], "validation")
        content: Schema = {"schema": schema, "examples": examples}
        if media_type == MULTIPART:
            content["encoding"] = {"fields": {"contentType": "application/json"}}
        return {
            "required": not declared.get("body_optional", False),
            "description": declared["body_description"],
            "content": {media_type: content},
        }

    def _success(self, method: str, declared: Operation, example: Any) -> Schema:
        headers = _header("Cache-Control", declared.get("cache_header", "NoStore"))
        if declared.get("status") == 302:
            headers |= _header("Location", "Location")
        if "If-None-Match" in declared.get("parameters", {}):
            cacheable = "CacheableView" if "response" in declared else "Cacheable"
            headers = _header("ETag", "ETag") | _header("Cache-Control", cacheable)
        headers = _REQUEST_ID | headers
        success: Schema = {"description": declared["returns"], "headers": headers}
        if "response" in declared:
            schema = self._model(declared["response"], "serialization")
            success["content"] = {"application/json": {"schema": schema, "example": example}}
        elif media_types := declared.get("media_types"):
            text = {"schema": {"type": "string"}}
            success["content"] = dict.fromkeys(media_types, text)
        elif method == "GET" and "status" not in declared:
            schema = {"type": "object", "required": ["openapi", "info", "paths"]}
            success["content"] = {"application/json": {"schema": schema}}
        usual = 200 if method in ("GET", "PATCH") else 201 if "content" in success else 204
        status = str(declared.get("status", usual))
        unchanged = {"304": {"description": _STATUSES[304], "headers": headers}}
        return {status: success} | (unchanged if "ETag" in headers else {})

    def _model(self, declared: str, mode: Mode) -> Schema:
        model = model_named(declared)
        self._models.add((model, mode))
        return reference(model.__name__)


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


def _parameter(path: str, name: str, description: str, recorded: dict[str, str]) -> Schema:
    schema, example = _PARAMETERS.get(name) or (_UUID, recorded[name])
    in_path = f"{{{name}}}" in path
    return {
        "name": name,
        "in": "path" if in_path else "header" if name[0].isupper() else "query",
        "required": in_path or name in ("id", "purchase", "survey", "token"),
        "description": description,
        "schema": schema,
        "example": example,
    }


def _error(status: int, example: Example, missing: str, creates: bool) -> Schema:
    body = example.errors.get(status)
    generated = _ERRORS | (
        {} if body else {403: MissingPermission("write"), 404: NotFound(missing)}
    )
    if status in generated or status == 500:
        body = json.loads(problems.problem(generated.get(status), REQUEST_ID).body)
    is_unknown = creates and status in (500, 503)
    return {
        "description": _STATUSES[status] + (_UNKNOWN_OUTCOME if is_unknown else ""),
        "headers": _REQUEST_ID
        | (_header("Retry-After", "RetryAfter") if status in (429, 503) else {}),
        "content": {problems.MEDIA_TYPE: {"schema": reference("Problem"), "example": body}},
    }


def _header(name: str, component: str) -> Schema:
    return {name: {"$ref": f"#/components/headers/{component}"}}


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
