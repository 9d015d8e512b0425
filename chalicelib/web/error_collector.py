"""Collect the validation errors of all parts of a request."""

from collections.abc import Callable
from typing import TypeVar

from chalicelib.domain.errors import InvalidInput

_Read = TypeVar("_Read")
_Otherwise = TypeVar("_Otherwise")


class ErrorCollector:
    """Collect validation errors while the parts of a request are parsed.

        with ErrorCollector() as errors:
            key = errors.of(request.idempotency_key, otherwise=None)
            body = request.body(CustomerBody)

    At the end of the ``with`` block, one `InvalidInput` with all collected errors is raised. If an
    `InvalidInput` ended the block, the errors of this exception are added at the end. If another
    exception ended the block, it propagates and the collected errors are discarded.
    """

    def __init__(self) -> None:
        self._collected: list[InvalidInput] = []

    def of(self, read: Callable[[], _Read], otherwise: _Otherwise) -> _Read | _Otherwise:
        """Return the result of ``read``. On `InvalidInput`, collect it and return ``otherwise``."""
        try:
            return read()
        except InvalidInput as error:
            self._collected.append(error)
            return otherwise

    def __enter__(self) -> "ErrorCollector":
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if not self._collected or (error and not isinstance(error, InvalidInput)):
            return
        if isinstance(error, InvalidInput):
            self._collected.append(error)
        errors = [input_error for invalid in self._collected for input_error in invalid.errors]
        raise InvalidInput(
            errors, sum(invalid.error_count for invalid in self._collected)
        ) from None
