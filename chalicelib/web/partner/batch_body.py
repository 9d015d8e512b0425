"""Validate the body of ``POST /partners/customer/batch``, row by row."""

from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from chalicelib.domain import clock
from chalicelib.domain.customers.body import CustomerBody, customer_from_body
from chalicelib.domain.customers.import_batch import BatchBody, RejectedRow
from chalicelib.domain.errors import InvalidInput, RecordTooLarge
from chalicelib.domain.ids import new_id
from chalicelib.domain.input_errors import MAX_ERRORS, InputError, json_pointer
from chalicelib.domain.parsing import MAX_ROWS, parse
from chalicelib.services.customers.accept_batch import ValidatedBatch
from chalicelib.web.error_collector import ErrorCollector

_SAFE_LENGTH: Final = 4_000
"""Rows of at most this number of characters cannot exceed a size limit of a customer.

This is true even if every character must be escaped: in the stored JSON, for example as
``\\u0001``, and in the response, for example as ``\\ud83d\\ude00``.
"""


def validate_batch(body: Any, *, partial: bool = False) -> ValidatedBatch:
    """Validate the body and, separately, each of its rows.

    Args:
        partial: accept a batch with invalid rows and report them as rejected.

    Raises:
        InvalidInput: the body is not a batch, or a row is invalid and ``partial`` is false.
    """
    with ErrorCollector() as errors:
        rows = errors.of(lambda: parse(body, BatchBody).batch, otherwise=[])
        candidates = rows or ([] if partial else _rows_of(body))
        valid, rejected = _validate_rows(candidates, partial=partial)
    return ValidatedBatch(rows, partial, valid, rejected)


def _rows_of(body: Any) -> list[Any]:
    """Return the rows of an invalid body; no rows if ``batch`` is not an array or is too long."""
    rows = body.get("batch") if isinstance(body, dict) else None
    return rows if isinstance(rows, list) and len(rows) <= MAX_ROWS else []


def _validate_rows(
    rows: list[Any], *, partial: bool
) -> tuple[list[tuple[int, CustomerBody]], tuple[RejectedRow, ...]]:
    """Return the valid rows with their indexes, and the rejected rows.

    Raises:
        InvalidInput: a row is invalid and ``partial`` is false. Validation stops after `MAX_ERRORS`
            errors.
    """
    now = clock.now()
    valid: list[tuple[int, CustomerBody]] = []
    rejected: list[RejectedRow] = []
    errors: list[InputError] = []
    error_count = 0
    for index, row in enumerate(rows):
        room = MAX_ERRORS - len(errors)
        try:
            valid.append((index, _parse_row(index, row, now, at_most=max(1, room))))
        except InvalidInput as error:
            error_count += error.error_count
            # A pointer to a field contains the field's name, which a client can choose to be long.
            # Pointers to rows limit the size of the response.
            of_row = replace(error.errors[0], pointer=json_pointer("batch", index))
            listed = error.errors[:room] or [of_row]
            row_errors = {"index": index, "errors": listed}
            rejected.append(RejectedRow.model_validate(row_errors, from_attributes=True))
            if room:
                errors.extend(listed)
            if error_count >= MAX_ERRORS and not partial:
                break
    if errors and not partial:
        raise InvalidInput(errors, error_count)
    return valid, tuple(rejected)


def _parse_row(index: int, row: Any, now: datetime, at_most: int) -> CustomerBody:
    body = parse(row, CustomerBody, "batch", index, at_most=at_most)
    if len(str(row)) > _SAFE_LENGTH:
        try:
            customer_from_body(body, new_id(), now)
        except RecordTooLarge as error:
            input_error = InputError(json_pointer("batch", index), "record_too_large", str(error))
            raise InvalidInput([input_error]) from None
    return body
