"""Import one chunk of a batch exactly once, however often its message is delivered."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.customers.customer import MAX_CUSTOMER_BYTES, Customer
from chalicelib.domain.customers.import_batch import (
    ChunkPointer,
    ChunkProgress,
    ChunkState,
    RowError,
)
from chalicelib.domain.customers.merge import (
    IMPORT_METADATA,
    Fields,
    GroupEffect,
    RowGroup,
    RowOutcome,
    effect_of,
    text_length,
)
from chalicelib.domain.customers.platforms import IMPORT_METADATA_KEY
from chalicelib.domain.ids import derived_id
from chalicelib.domain.language import Language
from chalicelib.storage import customers, imports
from chalicelib.storage.counters import Listed, increment_total
from chalicelib.storage.dynamodb.transactions import retry_on_contention, transaction
from chalicelib.storage.imports import LoadedChunk

_BLANK_LENGTH: Final = 1_000
"""More characters than an empty customer has."""

_DEFER_FOR: Final = timedelta(hours=1)


class ChunkOutcome(StrEnum):
    """The outcome of a message that points to a chunk."""

    DONE = "done"
    NOTHING_TO_DO = "nothing to do"
    DEFERRED = "deferred"
    FAILED = "failed"
    PARKED = "parked"


def import_chunk(pointer: ChunkPointer) -> ChunkOutcome:
    """Import the chunk's rows and mark the chunk as done, in one transaction.

    At most three requests to AWS without contention.

    Raises:
        Unavailable: the database throttles or contention does not end; the chunk is unchanged.
    """
    return retry_on_contention(lambda: _attempt(pointer))


def defer(pointer: ChunkPointer) -> ChunkOutcome:
    """Defer the chunk by some minutes, without counting a failure."""
    imports.WORK.defer(pointer.import_id, pointer.part, clock.now())
    return ChunkOutcome.DEFERRED


def record_failure(pointer: ChunkPointer, reason: str) -> ChunkOutcome:
    """Record a failed attempt: reschedule the chunk, or park it after the last attempt."""
    is_parked = imports.WORK.record_failure(pointer.import_id, pointer.part, reason, clock.now())
    return ChunkOutcome.PARKED if is_parked else ChunkOutcome.FAILED


@dataclass(frozen=True)
class _Plan:
    """The effect of one group and the resulting customer."""

    group: RowGroup
    effect: GroupEffect
    customer: Customer


def _attempt(pointer: ChunkPointer) -> ChunkOutcome:
    chunk = imports.load_chunk(pointer)
    now = clock.now()
    if chunk is None or chunk.row.state != ChunkState.PENDING.value:
        return ChunkOutcome.NOTHING_TO_DO
    if chunk.header is None or chunk.is_leftover:
        _discard_if_unused(chunk, now)
        return ChunkOutcome.NOTHING_TO_DO
    found = customers.find_many(pointer.account_id, set(chunk.known.values()))
    plans = [_plan(chunk, group, found, now) for group in chunk.groups]
    position = chunk.total
    with transaction() as write:
        created = sum(plan.effect.creates for plan in plans)
        if created:
            increment_total(
                write, pointer.account_id, Listed.CUSTOMERS, read=chunk.total, by=created
            )
        for plan in plans:
            if plan.effect.creates:
                position += 1
                customers.add(write, pointer.account_id, plan.customer, position, plan.group.pair)
            elif plan.effect.fields:
                fields = plan.effect.fields
                customers.fill(write, pointer.account_id, plan.customer.id, fields, now)
        imports.finish_chunk(write, chunk, _progress(plans, now), now)
    return ChunkOutcome.DONE


def _discard_if_unused(chunk: LoadedChunk, now: datetime) -> None:
    # The request that accepts the import may not have written the header yet.
    written_at = datetime.fromisoformat(chunk.row.created_at)
    if chunk.is_leftover or now - written_at > _DEFER_FOR:
        imports.discard(chunk)


def _plan(chunk: LoadedChunk, group: RowGroup, found: dict[str, Customer], now: datetime) -> _Plan:
    known_id = chunk.known.get(group.pair) if group.pair else None
    existing = found[known_id] if known_id else None
    base = existing or Customer(
        id=derived_id(chunk.row.import_id, str(group.first_index)), created_at=now, updated_at=now
    )
    known = text_length(dict(base)) if existing else _BLANK_LENGTH
    effect = effect_of(
        group,
        _set_fields(existing) if existing else None,
        lambda fields: _fits(base, known, fields),
    )
    return _Plan(group, effect, _with_fields(base, effect.fields))


def _fits(base: Customer, known: int, fields: Fields) -> bool:
    # A character takes at most six bytes of JSON, so most customers need not be serialized.
    if (known + text_length(fields)) * 6 < MAX_CUSTOMER_BYTES:
        return True
    return len(_with_fields(base, fields).model_dump_json().encode()) <= MAX_CUSTOMER_BYTES


def _set_fields(customer: Customer) -> list[str]:
    fields = [name for name in Customer.model_fields if getattr(customer, name) is not None]
    return [*fields, IMPORT_METADATA] if IMPORT_METADATA_KEY in customer.metadata else fields


def _with_fields(customer: Customer, fields: Fields) -> Customer:
    update = dict(fields)
    imported = update.pop(IMPORT_METADATA, None)
    if imported:
        update["metadata"] = customer.metadata | {IMPORT_METADATA_KEY: imported}
    if "language" in update:
        update["language"] = Language(update["language"])
    return customer.model_copy(update=update)


def _progress(plans: list[_Plan], now: datetime) -> ChunkProgress:
    outcomes = [
        (row.index, outcome)
        for plan in plans
        for row, outcome in zip(plan.group.rows, plan.effect.outcomes, strict=True)
    ]
    counts = Counter(outcome for _, outcome in outcomes)
    failed = sorted(index for index, outcome in outcomes if outcome is RowOutcome.FAILED)
    detail = f"The customer would be larger than {MAX_CUSTOMER_BYTES} bytes."
    return ChunkProgress(
        state=ChunkState.DONE,
        created=counts[RowOutcome.CREATED],
        filled=counts[RowOutcome.FILLED],
        unchanged=counts[RowOutcome.UNCHANGED],
        failed=counts[RowOutcome.FAILED],
        errors=tuple(RowError(index=i, code="too_large", detail=detail) for i in failed),
        ended_at=now,
    )
