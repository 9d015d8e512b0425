"""Telling at once all that is wrong with a request, in whichever parts of it that is."""

from collections.abc import Callable
from types import TracebackType
from typing import TypeVar

from chalicelib.domain.errors import InvalidInput

_Read = TypeVar("_Read")
_Otherwise = TypeVar("_Otherwise")


class ErrorCollector:
    """Gathers the faults of the parts of a request while they are read.

        with AllFaults() as faults:
            key = faults.of(request.idempotency_key, otherwise=None)
            body = request.body(CustomerBody)

    The end of the block raises one `InvalidInput` with those that were gathered, and after them
    those that ended it. Any other error that ends it stands in place of them.
    """

    def __init__(self) -> None:
        self._gathered: list[InvalidInput] = []

    def of(self, read: Callable[[], _Read], otherwise: _Otherwise) -> _Read | _Otherwise:
        """What ``read`` gives, or ``otherwise`` until the end of the block when it is faulty."""
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
