"""Accept a batch of customers: store it as an import, then queue the import's chunks."""

from dataclasses import dataclass
from typing import Any, Final

from chalicelib.domain import clock
from chalicelib.domain.customers.body import CustomerBody
from chalicelib.domain.customers.import_batch import (
    AcceptedBatch,
    ImportProgress,
    ImportStatus,
    RejectedRow,
    pack_chunks,
    progress_of,
    status_of,
)
from chalicelib.domain.customers.merge import group_rows
from chalicelib.domain.errors import NotFound, Unavailable
from chalicelib.domain.idempotency import origin_of
from chalicelib.domain.ids import new_id
from chalicelib.outbound.queues import send
from chalicelib.queues import IMPORTS
from chalicelib.storage import imports

_OPERATION: Final = "accept batch"


@dataclass(frozen=True)
class ValidatedBatch:
    """A batch after validation.

    Attributes:
        rows: all rows of the request, unparsed.
        partial: whether the valid rows are imported if other rows are invalid.
        valid: the rows to import, with their indexes in ``rows``.
        rejected: the invalid rows.
    """

    rows: list[Any]
    partial: bool
    valid: list[tuple[int, CustomerBody]]
    rejected: tuple[RejectedRow, ...]


def accept_batch(
    account_id: str, batch: ValidatedBatch, idempotency_key: str | None = None
) -> AcceptedBatch:
    """Store a batch of customers durably, then queue it.

    If the idempotency key was used before, do not create a second import. Queue the unfinished
    chunks of the first import again.

    AWS requests: one, plus one per 25 chunks, one per 10 messages, and one if there is an
    idempotency key.

    Raises:
        IdempotencyKeyReused: the key was used before with different input.
        Unavailable: the batch could not be stored. None of its rows will be imported.
    """
    key_input = None if idempotency_key is None else [batch.partial, *_parsed_rows(batch)]
    origin, now = origin_of(account_id, _OPERATION, idempotency_key, key_input), clock.now()
    existing = None if idempotency_key is None else imports.find(origin.record_id, now)
    if existing is None:
        chunks = pack_chunks(group_rows(batch.valid))
        header = imports.header_key(origin.record_id).row()
        header.account_id, header.edition = account_id, new_id()
        header.row_count, header.input_hash = len(batch.valid), origin.input_hash
        pointers = imports.save_chunks(header, chunks, now)
        if imports.accept(header, now):
            send(IMPORTS, pointers)
            return AcceptedBatch(
                id=header.import_id,
                status=ImportStatus.QUEUED if chunks else ImportStatus.COMPLETED,
                row_count=header.row_count,
                rejected=batch.rejected,
            )
        # A concurrent request with the same idempotency key was accepted first.
        existing = imports.find(header.import_id, now)
        if existing is None:
            raise Unavailable("The batch was not stored.")
    origin.check_same_input(existing.input_hash)
    send(IMPORTS, imports.list_unfinished(existing.import_id, existing.edition, clock.now()))
    return AcceptedBatch(
        id=existing.import_id,
        status=status_of(imports.load_progress(existing)),
        row_count=existing.row_count,
        rejected=batch.rejected,
    )


def read_import(account_id: str, import_id: str) -> ImportProgress:
    """Return the progress of the account's import.

    Raises:
        NotFound: the account has no such import.
    """
    header = imports.find(import_id, clock.now())
    if header is None or header.account_id != account_id:
        raise NotFound("batch")
    chunks = imports.load_progress(header)
    return progress_of(import_id, header.row_count, header.created_at, chunks)


def _parsed_rows(batch: ValidatedBatch) -> list[Any]:
    """Return all rows of the request as JSON values, in order.

    Valid rows are in their normalized form, rejected rows are unchanged.
    """
    parsed = {i: body.model_dump(mode="json", exclude_none=True) for i, body in batch.valid}
    return [parsed.get(index, row) for index, row in enumerate(batch.rows)]
