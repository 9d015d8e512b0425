"""Describe the error responses of an operation, each with the example of a problem."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, cast

from chalicelib.domain.errors import (
    FeedbackError,
    IdempotencyKeyReused,
    InputTooLarge,
    InvalidCursor,
    InvalidInput,
    MissingPermission,
    NotAuthenticated,
    NotFound,
    TooManyRequests,
    Unavailable,
)
from chalicelib.domain.feedback.submission import MAX_SUBMISSION_BYTES
from chalicelib.domain.forms.access import FormDisabled, TrackerRequired, TrackerUsed
from chalicelib.domain.idempotency import HEADER as IDEMPOTENCY_HEADER
from chalicelib.domain.input_errors import InputError
from chalicelib.domain.parsing import MAX_BODY_BYTES, parse
from chalicelib.domain.solicitation.decide import SkipReason
from chalicelib.domain.suggestions import with_suggestions
from chalicelib.services.solicitation.link_survey import NoLink
from chalicelib.web import problems
from chalicelib.web.json_body import MEDIA_TYPE as JSON
from chalicelib.web.openapi.operation import Operation, model_named, permissions_of
from chalicelib.web.public.multipart import MEDIA_TYPE as MULTIPART
from chalicelib.web.request_log import REQUEST_ID_HEADER
from infrastructure.openapi.codes import PROBLEM_CODES
from infrastructure.openapi.schemas import Schema, reference

if TYPE_CHECKING:
    from chalicelib.domain.forms.form import SavedForm

IDS: Final = ("id", "purchase", "survey")
"""The query parameters with the id of a record. They are required."""
_REQUEST_ID: Final = "8f3b1a52-6c0e-4d0f-9a53-b1e7c2d4f601"
_STATUSES: Final = {
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
_FORM: Final = cast("SavedForm", None)  # the examples of errors about forms need no form
_DECLARED: Final[dict[str, FeedbackError]] = {
    error.code: error
    for error in (
        FormDisabled(_FORM),
        InvalidCursor(),
        NoLink(SkipReason.CANCELLED),
        TrackerRequired(_FORM),
        TrackerUsed(_FORM),
    )
}
"""The errors that operations declare, by code."""


def header(name: str, component: str) -> Schema:
    """Return a header of a response that a component describes."""
    return {name: {"$ref": f"#/components/headers/{component}"}}


REQUEST_ID: Final = header(REQUEST_ID_HEADER, "RequestId")
"""The header that every response has."""


def error_responses(declared: Operation, *, is_partner: bool) -> dict[str, Schema]:
    """Return the error responses of an operation by status."""
    errors = {problems.status_of(error): error for error in _errors(declared, is_partner)}
    creates = IDEMPOTENCY_HEADER in declared.get("parameters", {})
    responses = {
        str(status): _response(status, errors.get(status), creates=creates)
        for status in sorted([*errors, 500])
    }
    if "403" in responses:
        causes = ("missing_permission" if is_partner else "tracker_required", "forbidden")
        described = (f" `{code}`: {PROBLEM_CODES[code]}" for code in causes)
        responses["403"]["description"] += "".join(described)
    return responses


def _errors(declared: Operation, is_partner: bool) -> Iterator[FeedbackError]:
    """Yield an error of each status except 500. A later error replaces one of the same status."""
    yield TooManyRequests(retry_after=1)
    yield Unavailable("The database is busy.")
    parameters = declared.get("parameters", {})
    for name in parameters.keys() & set(IDS):
        yield InvalidInput([InputError(f"?{name}", "required", "Required.")])
    if is_partner:
        yield NotAuthenticated()
        yield MissingPermission(permissions_of(declared)[-1])
    if IDEMPOTENCY_HEADER in parameters:
        yield IdempotencyKeyReused()
    if "missing" in declared:
        yield NotFound(declared["missing"])
    if "body" in declared:
        yield InputTooLarge("body", MAX_BODY_BYTES if is_partner else MAX_SUBMISSION_BYTES)
        expected = JSON if is_partner else MULTIPART
        yield problems.UnsupportedMediaType(f"The media type must be {expected}.")
    if "invalid" in declared:
        yield _rejection(declared["body"], declared["invalid"])
    yield from map(_DECLARED.__getitem__, declared.get("errors", ()))


def _rejection(body: str, invalid: dict[str, Any]) -> InvalidInput:
    """Return the error with which a model rejects this request body.

    Raises:
        ValueError: the model accepts the body.
    """
    model = model_named(body)
    try:
        parse(invalid, model)
    except InvalidInput as error:
        error.errors = [*with_suggestions(error.errors, model)]
        return error
    raise ValueError(f"{body} accepts the example of an invalid body: {invalid}")


def _response(status: int, error: FeedbackError | None, *, creates: bool) -> Schema:
    is_unknown = creates and status in (500, 503)
    retry = header("Retry-After", "RetryAfter") if status in (429, 503) else {}
    example = json.loads(problems.problem(error, _REQUEST_ID).body)
    return {
        "description": _STATUSES[status] + (_UNKNOWN_OUTCOME if is_unknown else ""),
        "headers": REQUEST_ID | retry,
        "content": {problems.MEDIA_TYPE: {"schema": reference("Problem"), "example": example}},
    }
