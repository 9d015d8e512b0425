"""The interface description, OpenAPI 3.1: made from the table of operations and the models.

Only `GET /openapi.json` and `GET /docs` import this, on their first request, so that no other
request pays for it.
"""

import json
from functools import lru_cache
from typing import Any, Final

from pydantic import BaseModel

from chalicelib.domain.errors import FeedbackError
from chalicelib.web import problems
from chalicelib.web.openapi.examples import REQUEST_ID
from chalicelib.web.openapi.operation import Answer, Operation, Parameter, RequestBody
from chalicelib.web.openapi.operations import OPERATIONS as OTHER_OPERATIONS
from chalicelib.web.openapi.operations import TAGS
from chalicelib.web.openapi.public_operations import PUBLIC_OPERATIONS
from chalicelib.web.openapi.schemas import Mode, Schema, component_schemas, reference
from chalicelib.web.partner.endpoint import KEY_HEADER, SECRET_HEADER

VERSION: Final = "1.0.0"
OPERATIONS: Final = (*OTHER_OPERATIONS, *PUBLIC_OPERATIONS)

_INTRODUCTION: Final = """\
Read purchases, contact forms, surveys and customers of your account, create customers, and import \
them in batches.

**Credentials.** Every request to a partner endpoint carries two headers, `X-API-KEY` and \
`X-API-SECRET`. They are judged before anything else of the request.

**Lists.** A list is a POST whose body says which page. Its records stand in the order of their \
creation, so pages do not shift while you walk through them.

**Values.** Identifiers are UUIDs, answered in lower case. Moments are UTC with milliseconds. A \
key is `null` only where its type says so; otherwise what is not set is an empty text, 0, `false`, \
or an empty array or object.

**Requests.** A key that the interface does not know is refused, so that a misspelt one is \
noticed. Unknown query parameters are ignored. Answers may gain keys: do not refuse those that \
you do not know.

**Errors.** Every error is a problem (RFC 9457) with a `requestId` to quote when you ask about it. \
Bad input is answered with every fault at once. After 429 and 503, wait for as many seconds as \
`Retry-After` says and send the request again.

**Safe retries.** A request that makes something takes an `Idempotency-Key`: sent again with the \
same key and input, it is answered with what it made the first time and makes nothing new."""

_STATUS_WORDS: Final = {
    400: "The request breaks one or more rules; `errors` names each.",
    401: "The credentials are missing or not valid.",
    403: "This may not be used in this way.",
    404: "The account has nothing of this kind under this identifier.",
    409: "The thing is not in a state that allows this.",
    413: "The body is too large.",
    415: "The body is of a media type that is not taken here.",
    422: "The `Idempotency-Key` came before, with another input.",
    429: "Too many requests.",
    503: "The service cannot answer just now. It is safe to ask again.",
}

_SECURITY_SCHEMES: Final = {
    "ApiKey": {
        "type": "apiKey",
        "in": "header",
        "name": KEY_HEADER,
        "description": "The partner's key. It names the account.",
    },
    "ApiSecret": {
        "type": "apiKey",
        "in": "header",
        "name": SECRET_HEADER,
        "description": "The secret of that key, shown once when the key was issued.",
    },
}

_HEADERS: Final[dict[str, Schema]] = {
    "RetryAfter": {
        "name": "Retry-After",
        "description": "Seconds to wait before asking again.",
        "schema": {"type": "integer", "minimum": 0},
        "example": 2,
    },
    "NoStore": {
        "name": "Cache-Control",
        "description": "Nobody may keep a copy: the answer holds an account's data.",
        "schema": {"type": "string"},
        "example": "no-store",
    },
    "MayBeKept": {
        "name": "Cache-Control",
        "description": "For how many seconds anybody may keep a copy.",
        "schema": {"type": "string"},
        "example": "public, max-age=300",
    },
    "MayBeKeptBriefly": {
        "name": "Cache-Control",
        "description": "For how many seconds anybody may keep a copy; of what followed from a"
        " tracker nobody may.",
        "schema": {"type": "string"},
        "example": "public, max-age=60",
    },
    "ETag": {
        "name": "ETag",
        "description": "Stands for what was answered; send it as `If-None-Match`.",
        "schema": {"type": "string"},
        "example": 'W/"3f9c2a7d51e84b06"',
    },
}


@lru_cache(maxsize=8)
def description(server: str = "/") -> dict[str, Any]:
    """The whole document, as JSON values, for those who reach the interface at this address."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Feedback platform",
            "version": VERSION,
            "summary": "Customer feedback: purchases, contact forms, surveys and customers.",
            "description": _INTRODUCTION,
        },
        # An absolute path at least: some tools do not resolve "." against the document's address.
        "servers": [{"url": server}],
        "tags": [{"name": name, "description": words} for name, words in TAGS.items()],
        # Both headers in one requirement: one without the other opens nothing.
        "security": [{scheme: [] for scheme in _SECURITY_SCHEMES}],
        "paths": _paths(),
        "components": {
            "schemas": component_schemas(_models()),
            "headers": {
                name: {key: value for key, value in header.items() if key != "name"}
                for name, header in _HEADERS.items()
            },
            "securitySchemes": _SECURITY_SCHEMES,
        },
    }


@lru_cache(maxsize=8)
def description_json(server: str = "/") -> str:
    """The whole document, as it is sent."""
    return json.dumps(description(server), ensure_ascii=False, separators=(",", ":"))


def _models() -> set[tuple[type[BaseModel], Mode]]:
    """Every model that comes in, as it is validated, and that goes out, as it is written."""
    models: set[tuple[type[BaseModel], Mode]] = {(problems.Problem, "serialization")}
    for operation in OPERATIONS:
        if operation.body:
            models.add((operation.body.model, "validation"))
        for answer in operation.answers:
            if isinstance(answer.content, type):
                models.add((answer.content, "serialization"))
    return models


def _paths() -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return paths


def _operation(operation: Operation) -> Schema:
    described: Schema = {
        "operationId": operation.identifier,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": operation.description,
    }
    if operation.parameters:
        described["parameters"] = [_parameter(each) for each in operation.parameters]
    if operation.body:
        described["requestBody"] = _request_body(operation.body)
    if not operation.needs_credentials:
        described["security"] = []
    errors = [_error(error) for error in operation.all_errors]
    described["responses"] = {
        **{str(answer.status): _answer(answer) for answer in operation.answers},
        **dict(sorted(errors)),
    }
    return described


def _parameter(parameter: Parameter) -> Schema:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.required,
        "description": parameter.description,
        "schema": parameter.schema,
        "example": parameter.example,
    }


def _request_body(body: RequestBody) -> Schema:
    examples = {
        title.lower().replace(" ", "-"): {"summary": title, "value": value}
        for title, value in body.examples.items()
    }
    content = {"schema": reference(body.model), "examples": examples}
    return {
        "required": body.required,
        "description": body.description,
        "content": {body.media_type: content},
    }


def _answer(answer: Answer) -> Schema:
    described: Schema = {"description": answer.description, "headers": _headers(answer.headers)}
    if answer.content is not None:
        content = answer.content
        schema = reference(content) if isinstance(content, type) else content
        described["content"] = {
            answer.media_type: {"schema": schema}
            | ({} if answer.example is None else {"example": answer.example})
        }
    return described


def _error(error: FeedbackError) -> tuple[str, Schema]:
    """The status of an error and its answer; the example is what is really answered."""
    response = problems.problem(error, REQUEST_ID)
    names = ("RetryAfter",) if "Retry-After" in response.headers else ()
    return str(response.status_code), {
        "description": _STATUS_WORDS[response.status_code],
        "headers": _headers(names),
        "content": {
            problems.MEDIA_TYPE: {
                "schema": reference(problems.Problem),
                "example": json.loads(response.body),
            }
        },
    }


def _headers(names: tuple[str, ...]) -> Schema:
    return {_HEADERS[name]["name"]: {"$ref": f"#/components/headers/{name}"} for name in names}
