"""Collect the validation errors of all parts of a request."""

from collections.abc import Callable
from types import TracebackType
from typing import TypeVar

from chalicelib.domain.errors import InvalidInput

_Read = TypeVar("_Read")
_Otherwise = TypeVar("_Otherwise")


class ErrorCollector:
    """Collect validation errors while the parts of a request are parsed.

        with ErrorCollector() as errors:
            key = errors.of(request.idempotency_key, otherwise=None)
            body = request.body(CustomerBody)

    At the end of the block, raises one `InvalidInput` with the collected errors, followed by
    those of an `InvalidInput` that ended the block. Any other exception replaces the collected
    errors.
    """

    def __init__(self) -> None:
        self._gathered: list[InvalidInput] = []

    def of(self, read: Callable[[], _Read], otherwise: _Otherwise) -> _Read | _Otherwise:
        """Return the result of ``read``, or ``otherwise`` after an `InvalidInput`."""
        try:
            return read()
        except InvalidInput as error:
            self._gathered.append(error)
            return otherwise

    def __enter__(self) -> "ErrorCollector":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._gathered or (error and not isinstance(error, InvalidInput)):
            return
        if isinstance(error, InvalidInput):
            self._gathered.append(error)
        errors = [input_error for each in self._gathered for input_error in each.errors]
        raise InvalidInput(errors, sum(each.error_count for each in self._gathered)) from None
