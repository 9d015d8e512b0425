"""Problem responses (RFC 9457), and the status code of each domain error."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any, Final

from chalice import Response
from pydantic import Field

from chalicelib.domain.errors import (
    Conflict,
    FeedbackError,
    IdempotencyKeyReused,
    InputTooLarge,
    InvalidInput,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    TooManyRequests,
    Unavailable,
)
from chalicelib.domain.input_errors import MAX_ERRORS
from chalicelib.domain.schema import OmittedWhenNone, Resource

MEDIA_TYPE: Final = "application/problem+json"
HTML: Final = "text/html; charset=utf-8"
"""The media type of pages, including pages that report an error."""


_TITLES: Final = {413: "Content Too Large", 422: "Unprocessable Content"}
"""Reason phrases of RFC 9110 that differ from those of the standard library."""

Headers = dict[str, str | list[str]]


class UnsupportedMediaType(FeedbackError):
    """The endpoint does not accept the body's media type, charset or content encoding."""

    code = "unsupported_media_type"


_STATUS: Final[dict[type[FeedbackError], int]] = {
    InvalidInput: 400,
    NotAuthenticated: 401,
    NotAllowed: 403,
    NotFound: 404,
    Conflict: 409,
    InputTooLarge: 413,
    UnsupportedMediaType: 415,
    IdempotencyKeyReused: 422,
    TooManyRequests: 429,
    Unavailable: 503,
}


class ProblemError(Resource):
    """One validation error."""

    pointer: str = Field(
        description="JSON pointer into the body, `?name` for a query parameter, or the name of a"
        " header.",
        examples=["/batch/3/email"],
    )
    code: str = Field(description="Machine-readable error code.", examples=["invalid_email"])
    detail: str = Field(description="Human-readable explanation.")


class Problem(Resource):
    """Problem details of a failed request (RFC 9457)."""

    type: str = Field(default="about:blank")
    title: str = Field(description="Reason phrase of the HTTP status.", examples=["Bad Request"])
    status: int = Field(description="The HTTP status.", examples=[400])
    code: str = Field(
        description="Machine-readable code of the problem.", examples=["invalid_input"]
    )
    detail: str = Field(description="Human-readable explanation.")
    request_id: str = Field(description="Id of this request in the service's logs.")
    reason: Annotated[str | None, OmittedWhenNone] = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="For the code `no_link`: the `reason` of a survey tracker, its state if it is"
        " `SENT`, `REJECTED` or `UNKNOWN`, or `SENDING` if a message is being sent.",
        examples=["ALREADY_SOLICITED"],
    )
    errors: Annotated[tuple[ProblemError, ...] | None, OmittedWhenNone] = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="For invalid input: the validation errors, at most the first 1,000.",
    )
    error_count: Annotated[int | None, OmittedWhenNone] = Field(
        alias="faultCount",
        default=None,
        exclude_if=lambda value: value is None,
        description="For invalid input: the number of validation errors that were found."
        " Validation stops after 1,000 errors.",
    )


def problem(error: FeedbackError | None, request_id: str) -> Response:
    """Return the response for a domain error; for None, an unhandled exception without details."""
    if error is None:
        return plain_problem(500, "Internal server error.", request_id)
    status, headers = status_of(error), retry_headers(error)
    if not isinstance(error, InvalidInput):
        reason = error.reason if isinstance(error, Conflict) else None
        return plain_problem(
            status, str(error), request_id, headers, code=error.code, reason=reason
        )
    return plain_problem(
        status,
        error.errors[0].detail
        if error.error_count == 1
        else f"The request has {error.error_count} errors.",
        request_id,
        headers,
        code=error.code,
        errors=error.errors[:MAX_ERRORS],
        error_count=error.error_count,
    )


def status_of(error: FeedbackError | None) -> int:
    """Return the status code of a domain error; for None, that of an unhandled exception."""
    if error is None:
        return 500
    return next(_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS)


def code_of(status: int) -> str:
    """Return the code of a problem that has no domain error."""
    codes = (kind.code for kind, mapped in _STATUS.items() if mapped == status)
    return next(codes, HTTPStatus(status).name.lower())


def title_of(status: int) -> str:
    """Return the reason phrase of a status."""
    return _TITLES.get(status) or HTTPStatus(status).phrase


def retry_headers(error: FeedbackError | None) -> dict[str, str]:
    """Return the header `Retry-After` for an error after which the client can retry."""
    if isinstance(error, (TooManyRequests, Unavailable)):
        return {"Retry-After": str(error.retry_after)}
    return {}


def plain_problem(
    status: int,
    detail: str,
    request_id: str,
    headers: Mapping[str, str | list[str]] = {},
    **members: Any,
) -> Response:
    """Return a problem response; by default, its code is that of the status.

    Args:
        members: further members of the problem.
    """
    content = {
        "title": title_of(status),
        "status": status,
        "code": code_of(status),
        "detail": detail,
        "request_id": request_id,
        **members,
    }
    body = Problem.model_validate(content, from_attributes=True)
    return Response(
        body=body.model_dump_json(),
        status_code=status,
        headers={"Content-Type": MEDIA_TYPE, "Cache-Control": "no-store", **headers},
    )
