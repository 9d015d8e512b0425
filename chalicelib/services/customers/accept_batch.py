"""Taking in a batch of customers: judged row by row, kept, and only then queued."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from chalicelib.domain import clock
from chalicelib.domain.customers.customer import CustomerBody, customer_from_body
from chalicelib.domain.customers.import_batch import (
    MAX_ROWS,
    AcceptedBatch,
    BatchBody,
    ImportHeader,
    ImportProgress,
    ImportStatus,
    RejectedRow,
    RowInputError,
    pack_chunks,
    progress_of,
    status_of,
)
from chalicelib.domain.customers.merge import group_rows
from chalicelib.domain.errors import InputTooLarge, InvalidInput, NotFound, Unavailable
from chalicelib.domain.idempotency import Origin, origin_of
from chalicelib.domain.ids import new_id
from chalicelib.domain.input_errors import InputError, json_pointer
from chalicelib.domain.parsing import parse
from chalicelib.outbound.import_queue import queue_chunks
from chalicelib.storage import imports

ENDPOINT: Final = "POST /partners/customer/batch"
MAX_LISTED_INPUT_ERRORS: Final = 1_000
_SURELY_SMALL: Final = 5_000
"""Characters of a row that cannot be over a customer's limit, however they are escaped."""


@dataclass(frozen=True)
class ValidatedBatch:
    """A batch that may be kept.

    Attributes:
        rows: all of it, as they came.
        partial: whether rows may be rejected.
        good: the rows to do, by their place.
    """

    rows: list[Any]
    partial: bool
    good: list[tuple[int, CustomerBody]]
    rejected: tuple[RejectedRow, ...]


def validate_batch(document: Any, *, partial: bool = False) -> ValidatedBatch:
    """The batch that a document is, each of its rows judged on its own.

    Raises:
        InvalidInput: a row is bad and the batch is not partial, or it is no batch at all.
    """
    try:
        rows = parse(document, BatchBody).batch
    except InvalidInput as error:
        merge_headers = _judge([] if partial else _rows_in(document))
        errors = [*error.errors, *merge_headers.errors][:MAX_LISTED_INPUT_ERRORS]
        raise InvalidInput(errors, error.error_count + merge_headers.error_count) from None
    judged = _judge(rows)
    if judged.errors and not partial:
        raise InvalidInput(judged.errors, judged.error_count)
    return ValidatedBatch(rows, partial, judged.good, judged.rejected)


def _rows_in(document: Any) -> list[Any]:
    """The rows of what is no batch, when they at least are in their place and not too many."""
    rows = document.get("batch") if isinstance(document, dict) else None
    return rows if isinstance(rows, list) and len(rows) <= MAX_ROWS else []


def accept_batch(
    account_id: str, batch: ValidatedBatch, idempotency_key: str | None = None
) -> AcceptedBatch:
    """Keeps a batch of customers, then queues it. What is answered is durable.

    Requests to AWS: one, one more for each 25 chunks, one more for each 10 messages, and one more
    with an idempotency key. A batch repeated with its key makes no second import; what of it is
    still to be done is queued again.

    Raises:
        IdempotencyKeyReused: the key came before with another input.
        Unavailable: the batch could not be kept; nothing of it will be done.
    """
    given = None if idempotency_key is None else [batch.partial, *_as_parsed(batch)]
    origin = origin_of(account_id, ENDPOINT, idempotency_key, given)
    if idempotency_key is not None:
        earlier = imports.find(origin.record_id)
        if earlier:
            return _answer_again(earlier, origin, batch.rejected)
    return _keep(account_id, batch, origin)


def read_import(account_id: str, import_id: str) -> ImportProgress:
    """How far the account's import has come.

    Raises:
        NotFound: the account has no such import.
    """
    header = imports.find(import_id)
    if header is None or header.account_id != account_id:
        raise NotFound("batch")
    return progress_of(header, imports.load_progress(header))


@dataclass(frozen=True)
class _Judged:
    good: list[tuple[int, CustomerBody]]
    rejected: tuple[RejectedRow, ...]
    errors: list[InputError]
    error_count: int


def _judge(rows: list[Any]) -> _Judged:
    now = clock.now()
    good: list[tuple[int, CustomerBody]] = []
    rejected: list[RejectedRow] = []
    errors: list[InputError] = []
    error_count = 0
    for index, row in enumerate(rows):
        try:
            good.append((index, _parse_row(index, row, now)))
        except InvalidInput as error:
            error_count += error.error_count
            room = max(1, MAX_LISTED_INPUT_ERRORS - len(errors))
            listed = error.errors[:room]
            rejected.append(_rejected(index, listed))
            if len(errors) < MAX_LISTED_INPUT_ERRORS:
                errors.extend(listed)
    return _Judged(good, tuple(rejected), errors, error_count)


def _as_parsed(batch: ValidatedBatch) -> list[Any]:
    """The rows as JSON values; a good one as it is understood, a bad one as it came."""
    parsed = {i: body.model_dump(mode="json", exclude_none=True) for i, body in batch.good}
    return [parsed.get(index, row) for index, row in enumerate(batch.rows)]


def _parse_row(index: int, row: Any, now: datetime) -> CustomerBody:
    body = parse(row, CustomerBody, "batch", index)
    if len(str(row)) > _SURELY_SMALL:
        try:
            customer_from_body(body, new_id(), now)
        except InputTooLarge as error:
            input_error = InputError(json_pointer("batch", index), "too_large", str(error))
            raise InvalidInput([input_error]) from None
    return body


def _rejected(index: int, errors: list[InputError]) -> RejectedRow:
    return RejectedRow(
        index=index,
        errors=tuple(
            RowInputError(pointer=f.pointer, code=f.code, detail=f.detail) for f in errors
        ),
    )


def _keep(account_id: str, batch: ValidatedBatch, origin: Origin) -> AcceptedBatch:
    now = clock.now()
    chunks = pack_chunks(group_rows(batch.good))
    header = ImportHeader(
        id=origin.record_id,
        account_id=account_id,
        edition=new_id(),
        row_count=len(batch.good),
        chunk_count=len(chunks),
        input_hash=origin.input_hash,
        created_at=now,
    )
    pointers = imports.save_chunks(header, chunks, now)
    if not imports.accept(header, now):
        # The same request came twice at once, and the other one was first.
        earlier = imports.find(header.id)
        if earlier is None:
            raise Unavailable("The batch was not kept.")
        return _answer_again(earlier, origin, batch.rejected)
    queue_chunks(pointers)
    return AcceptedBatch(
        id=header.id,
        status=ImportStatus.QUEUED if chunks else ImportStatus.COMPLETED,
        row_count=header.row_count,
        rejected=batch.rejected,
    )


def _answer_again(
    earlier: ImportHeader, origin: Origin, rejected: tuple[RejectedRow, ...]
) -> AcceptedBatch:
    origin.check_same_input(earlier.input_hash)
    queue_chunks(imports.list_unfinished(earlier.id, earlier.edition, clock.now()))
    return AcceptedBatch(
        id=earlier.id,
        status=status_of(imports.load_progress(earlier)),
        row_count=earlier.row_count,
        rejected=rejected,
    )
