"""Errors that the service raises deliberately. They are independent of HTTP.

FeedbackError
├── InvalidInput             the input is invalid; ``errors`` lists the validation errors
│   ├── InvalidCursor        the cursor does not belong to the list and its filters
│   └── TooMuch              there is too much data to read or to return
├── InputTooLarge            the input exceeds ``limit`` bytes
│   └── RecordTooLarge       the record built from the input exceeds ``limit`` bytes
├── NotAuthenticated         the credentials are missing, unknown, wrong or revoked
├── NotAllowed               the caller may not do this
│   └── MissingPermission    the API key lacks a permission
├── NotFound                 the account has no such ``resource``
├── Conflict                 the current state does not allow the operation
├── IdempotencyKeyReused     the idempotency key was used with different input
├── TooManyRequests          rate limit exceeded: retry after ``retry_after`` seconds
└── Unavailable              throttling or continued contention: retry after ``retry_after`` seconds
    ├── Blocked              a state that does not change by itself prevents the operation
    └── UnreadableForm       this version of the service cannot read a stored form
"""

from datetime import timedelta

from chalicelib.domain.input_errors import InputError


class FeedbackError(Exception):
    """Base class of all errors that the service raises deliberately.

    Attributes:
        code: machine-readable code of the error.
    """

    code = "error"


class InvalidInput(FeedbackError):
    """The input violates one or more rules. Nothing was stored.

    Attributes:
        errors: the validation errors. A response contains at most `MAX_ERRORS` of them.
        error_count: the total number of validation errors.
    """

    code = "invalid_input"

    def __init__(self, errors: list[InputError], error_count: int | None = None) -> None:
        self.errors = errors
        self.error_count = len(errors) if error_count is None else error_count
        super().__init__(f"{self.error_count} validation error(s), first: {errors[0]}")


class InvalidCursor(InvalidInput):
    """The cursor does not belong to the list and its filters, or the data was restored."""

    code = "invalid_cursor"

    def __init__(self) -> None:
        detail = (
            "Not a cursor of this list with these filters, or the data was restored. Start again"
            " without a cursor."
        )
        super().__init__([InputError("/cursor", self.code, detail)])


class TooMuch(InvalidInput):
    """The request selects too much data to read or to return."""

    code = "too_much"

    def __init__(self, detail: str) -> None:
        super().__init__([InputError("", self.code, detail)])


class InputTooLarge(FeedbackError):
    """The input exceeds its size limit. Nothing was stored.

    Attributes:
        limit: the maximum size, in bytes.
    """

    code = "too_large"

    def __init__(self, subject: str, limit: int) -> None:
        super().__init__(f"The {subject} exceeds {limit} bytes.")
        self.limit = limit


class RecordTooLarge(InputTooLarge):
    """The record built from the input exceeds its size limit. Nothing was stored."""

    code = "record_too_large"


class NotAuthenticated(FeedbackError):
    """The credentials are missing or invalid.

    The default message does not reveal whether the API key or the secret is wrong.
    """

    code = "not_authenticated"

    def __init__(self, detail: str = "The API key or its secret is invalid.") -> None:
        super().__init__(detail)


class NotAllowed(FeedbackError):
    """The caller may not do this."""

    code = "forbidden"


class MissingPermission(NotAllowed):
    """The API key lacks a permission."""

    code = "missing_permission"

    def __init__(self, permission: str) -> None:
        super().__init__(f"The API key lacks the permission {permission}.")


class NotFound(FeedbackError):
    """The account has no such resource.

    The error does not reveal whether another account has the resource.

    Attributes:
        resource: the name of the resource type: ``"purchase"``, ``"contact form"``.
    """

    code = "not_found"

    def __init__(self, resource: str) -> None:
        super().__init__(f"There is no {resource} with this id.")
        self.resource = resource


class Conflict(FeedbackError):
    """The current state of the resource does not allow the operation.

    Attributes:
        reason: machine-readable cause, if the code of the error has several causes.
    """

    code = "conflict"
    reason: str | None = None


class IdempotencyKeyReused(FeedbackError):
    """The idempotency key was used before with different input."""

    code = "idempotency_key_reused"

    def __init__(self) -> None:
        super().__init__("The idempotency key was used before with different input.")


class TooManyRequests(FeedbackError):
    """The caller exceeded a rate limit.

    Attributes:
        retry_after: seconds to wait before the next request.
    """

    code = "too_many_requests"

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"Too many requests. Retry after {retry_after} seconds.")
        self.retry_after = retry_after


class Unavailable(FeedbackError):
    """The database throttles requests or does not respond, or contention persists after retries.

    The operation may still take effect. With an idempotency key, a retry is safe.

    Attributes:
        retry_after: seconds to wait before the next request.
    """

    code = "unavailable"

    def __init__(self, reason: str, retry_after: int = 2) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class NoResponse(Unavailable):
    """The database did not respond to a request, which may still have taken effect."""


class Blocked(Unavailable):
    """A state prevents the operation, and no other process is changing this state.

    Attributes:
        counts_after: the time for which work must be blocked before its attempts count as failures.
    """

    def __init__(self, reason: str, counts_after: timedelta = timedelta(0)) -> None:
        super().__init__(reason)
        self.counts_after = counts_after


class UnreadableForm(Unavailable):
    """This version of the service cannot read a stored form. A later version may have saved it."""

    def __init__(self, form_id: str) -> None:
        super().__init__(f"This version of the service cannot read the form {form_id}.")
