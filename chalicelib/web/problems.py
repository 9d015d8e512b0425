"""Problem details (RFC 9457): the shape of every error answer, and which error has which status."""

from http import HTTPStatus
from typing import Annotated, Final

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
from chalicelib.domain.schema import LeftOutWhenNone, Resource

MEDIA_TYPE: Final = "application/problem+json"
MAX_ERRORS: Final = 1_000

_TITLES: Final = {413: "Content Too Large", 422: "Unprocessable Content"}
"""Titles where RFC 9110 has other words than the standard library."""

Headers = dict[str, str | list[str]]


class UnsupportedMediaType(FeedbackError):
    """The body is of a media type that the endpoint does not take."""

    def __init__(self, wanted: str) -> None:
        super().__init__(f"The body must be of the media type {wanted}.")


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
    """One thing that is wrong with the request."""

    pointer: str = Field(
        description="Where: a JSON pointer into the body, ?name of a query parameter, or a header.",
        examples=["/batch/3/email"],
    )
    code: str = Field(description="Which rule is broken, for programs.", examples=["invalid_email"])
    detail: str = Field(description="What is wrong, for people.")


class Problem(Resource):
    """Why a request was not done (RFC 9457)."""

    type: str = Field(default="about:blank")
    title: str = Field(description="The status in words.", examples=["Bad Request"])
    status: int = Field(description="The HTTP status.", examples=[400])
    detail: str = Field(description="What happened, for people.")
    request_id: str = Field(description="Names this request in the service's logs.")
    errors: Annotated[tuple[ProblemError, ...] | None, LeftOutWhenNone] = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="For bad input: every fault, at most the first 1,000.",
    )
    error_count: Annotated[int | None, LeftOutWhenNone] = Field(
        alias="faultCount",
        default=None,
        exclude_if=lambda value: value is None,
        description="For bad input: how many faults there are in all.",
    )


def problem(error: FeedbackError, request_id: str) -> Response:
    """The answer that tells of an error."""
    headers: Headers = {}
    if isinstance(error, (TooManyRequests, Unavailable)):
        headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, InvalidInput):
        return _answer(400, _detail_of(error), request_id, headers, error)
    return _answer(_STATUS[type(error)], str(error), request_id, headers)


def unhandled_exception(request_id: str) -> Response:
    """The answer to a request that met a bug; it says nothing of what went wrong inside."""
    return _answer(500, "Something went wrong on our side.", request_id, {})


def plain_problem(
    status: int, detail: str, request_id: str, headers: Headers | None = None
) -> Response:
    """The problem of a status that no error of the service stands for."""
    return _answer(status, detail, request_id, headers or {})


def _detail_of(error: InvalidInput) -> str:
    if error.error_count == 1:
        return error.errors[0].detail
    return f"The request has {error.error_count} faults."


def _answer(
    status: int,
    detail: str,
    request_id: str,
    headers: Headers,
    invalid: InvalidInput | None = None,
) -> Response:
    body = Problem(
        title=_TITLES.get(status) or HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        request_id=request_id,
        errors=tuple(
            ProblemError(pointer=f.pointer, code=f.code, detail=f.detail)
            for f in invalid.errors[:MAX_ERRORS]
        )
        if invalid
        else None,
        error_count=invalid.error_count if invalid else None,
    )
    return Response(
        body=body.model_dump_json(),
        status_code=status,
        headers={"Content-Type": MEDIA_TYPE, "Cache-Control": "no-store", **headers},
    )
