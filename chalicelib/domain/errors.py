"""Everything the service can refuse or fail to do. None of it knows of HTTP.

FeedbackError
├── InvalidInput             the input breaks rules: ``faults`` says which, and where
├── InputTooLarge            the input is larger than ``limit`` bytes
├── NotAuthenticated         the credentials are missing, unknown, wrong or revoked
├── NotAllowed               the caller may not do this
├── NotFound                 the account has no such ``resource``
├── Conflict                 the thing is not in a state that allows this
├── IdempotencyKeyReused     the key came before, with another input
├── TooManyRequests          asked too often; try again after ``retry_after`` seconds
└── Unavailable              the database throttles or contention does not end; same attribute
"""

from chalicelib.domain.input_errors import InputError


class FeedbackError(Exception):
    """The parent of every error that the service raises on purpose."""


class InvalidInput(FeedbackError):
    """The input breaks one or more rules; nothing was done with it.

    Attributes:
        faults: what is wrong and where, in the order of the rules; of very many, the first.
        fault_count: how many there are in all.
    """

    def __init__(self, errors: list[InputError], error_count: int | None = None) -> None:
        self.errors = errors
        self.error_count = len(errors) if error_count is None else error_count
        super().__init__(f"{self.error_count} fault(s) in the input, first: {errors[0]}")


class InputTooLarge(FeedbackError):
    """The input is over its size limit; nothing of it was read.

    Attributes:
        limit: the largest size accepted, in bytes.
    """

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(f"The {what} is larger than {limit} bytes.")
        self.limit = limit


class NotAuthenticated(FeedbackError):
    """The credentials are missing or not valid. Says nothing about which part is wrong."""

    def __init__(self) -> None:
        super().__init__("The partner credentials are missing or not valid.")


class NotAllowed(FeedbackError):
    """The caller may not do this."""


class NotFound(FeedbackError):
    """The account has nothing of this kind under this id, whether or not another account has.

    Attributes:
        resource: what was looked for, in words: ``"purchase"``, ``"contact form"``.
    """

    def __init__(self, resource: str) -> None:
        super().__init__(f"There is no {resource} with this id.")
        self.resource = resource


class Conflict(FeedbackError):
    """The thing is not in a state that allows what was asked."""


class IdempotencyKeyReused(FeedbackError):
    """The idempotency key was used before, with another input."""

    def __init__(self) -> None:
        super().__init__("This idempotency key was used before with another input.")


class TooManyRequests(FeedbackError):
    """Asked too often.

    Attributes:
        retry_after: seconds to wait before asking again.
    """

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"Too many requests; try again in {retry_after} seconds.")
        self.retry_after = retry_after


class Unavailable(FeedbackError):
    """The database throttles, does not answer, or contention does not end.

    Trying again is safe under an idempotency key; without one, what was asked may yet be done.

    Attributes:
        retry_after: seconds to wait before asking again.
    """

    def __init__(self, reason: str, retry_after: int = 2) -> None:
        super().__init__(reason)
        self.retry_after = retry_after
