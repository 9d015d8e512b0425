"""Import one chunk of a batch exactly once, even if its message is delivered several times."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from chalicelib.domain import clock
from chalicelib.domain.customers.customer import Customer, check_size
from chalicelib.domain.customers.import_batch import (
    ChunkPointer,
    ChunkProgress,
    ImportHeader,
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
from chalicelib.domain.errors import RecordTooLarge
from chalicelib.domain.ids import derived_id
from chalicelib.domain.language import Language
from chalicelib.domain.paging import MAX_LISTED_BYTES
from chalicelib.domain.parsing import MAX_CUSTOMER_BYTES
from chalicelib.domain.solicitation.channel import OPTINS, Channel
from chalicelib.domain.solicitation.contact import Contact, suppressed_channels
from chalicelib.domain.work import WorkState
from chalicelib.messages import decode
from chalicelib.queues import IMPORTS
from chalicelib.services.customers.read import with_tags
from chalicelib.services.solicitation.contact_keys import current_keys
from chalicelib.services.work.worker import Worker, WorkOutcome
from chalicelib.storage import contacts, customer_creation, customers, imports
from chalicelib.storage.counters import CounterRow, Listed, counter_key, next_position
from chalicelib.storage.customers import CustomerPairRow, pair_key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.imports import LoadedChunk

_BLANK_LENGTH: Final = 1_000
"""Maximum text length of all fields of a new customer that the import itself does not set.

These are, for example, the id and the timestamps.
"""

_ERASED: Final = "The person was erased before the row was imported."

_DISCARD_AFTER: Final = timedelta(hours=1)


class ChunkOutcome(WorkOutcome):
    """The outcome of processing one queue message."""

    DONE = "done", "import chunk done"
    NOTHING_TO_DO = "nothing to do", "import chunk skipped"
    DEFERRED = "deferred", "import chunk deferred"
    RESCHEDULED = "retry scheduled", "import chunk failed"
    PARKED = "parked", "import chunk parked", "parked"


def import_chunk(pointer: ChunkPointer) -> ChunkOutcome:
    """Import the chunk's rows and mark the chunk as done, in one transaction.

    At most three AWS requests without contention; one more per minute and account if existing
    customers have tags, one if rows contain opt-ins for phone numbers, and one per 100 addresses if
    a person of the account was erased after the import was accepted. The opt-in of a
    suppressed address is off, even if the row contains `true`.

    Raises:
        Unavailable: the database throttles, or contention persists. Nothing is written.
    """
    return commit(partial(_import, pointer))


@dataclass(frozen=True)
class _Plan:
    """The effect of importing one group of rows, and the resulting customer."""

    group: RowGroup
    effect: GroupEffect
    customer: Customer


def _import(pointer: ChunkPointer, rows: Rows) -> ChunkOutcome:
    chunk, now = imports.load_chunk(rows, pointer), clock.now()
    if chunk is None:
        return ChunkOutcome.NOTHING_TO_DO
    if chunk.header is None or chunk.is_leftover:
        # Keep a chunk without a header for an hour, because the request that accepts the import may
        # still write the header.
        if chunk.is_leftover or now - chunk.row.created_at > _DISCARD_AFTER:
            rows.remove(chunk.row.own_key())
        return ChunkOutcome.NOTHING_TO_DO
    keys = _contact_keys(chunk, chunk.header)
    contact_keys = {key for of_group in keys for each in of_group.values() for key in each}
    found, persons = imports.load_persons(rows, chunk, contact_keys)
    if _is_before_erasure(chunk, chunk.header):
        contacts.confirm_erasures(persons.values())
    groups = [
        _with_wishes(group, of_group, persons, chunk.header)
        for group, of_group in zip(chunk.groups, keys, strict=True)
    ]
    existing = {customer.id: customer for customer in with_tags(pointer.account_id, found.values())}
    plans = [
        _plan(chunk, chunk.header, group, existing, now) for group in groups if not group.is_erased
    ]
    erased_rows = [row.index for group in groups if group.is_erased for row in group.rows]
    for plan in plans:
        _save(rows, pointer.account_id, plan, now)
    imports.finish_chunk(rows, chunk.row, _progress(plans, erased_rows, now), now)
    return ChunkOutcome.DONE


def _save(rows: Rows, account_id: str, plan: _Plan, now: datetime) -> None:
    """Create or fill a customer, as planned."""
    if plan.group.digest and (plan.effect.creates or plan.effect.fields):
        # If the customer was erased after the pair was read, this fails.
        rows.value(pair_key(account_id, plan.group.digest), CustomerPairRow.customer_id)
    if plan.effect.creates:
        counter = counter_key(account_id, Listed.CUSTOMERS)
        # If a person is erased after the chunk was read, this fails.
        rows.value(counter, CounterRow.erasures)
        position = next_position(rows, counter)
        customer_creation.add(rows, account_id, plan.customer, position)
    elif plan.effect.fields:
        customers.fill(rows, account_id, plan.customer.id, plan.effect.fields, now)


def _contact_keys(chunk: LoadedChunk, header: ImportHeader) -> list[dict[Channel, tuple[str, ...]]]:
    """Return the keys of the contacts to check for each group, by channel.

    These are the contacts of opt-ins of new customers. If a person of the account was erased after
    the import was accepted, these are the contacts of all addresses.
    """
    all_addresses = _is_before_erasure(chunk, header)
    return [_keys_of_group(chunk, group, all_addresses=all_addresses) for group in chunk.groups]


def _is_before_erasure(chunk: LoadedChunk, header: ImportHeader) -> bool:
    """Return whether a person of the account was erased after the import was accepted."""
    return chunk.last_erased_at is not None and chunk.last_erased_at >= header.created_at


def _keys_of_group(
    chunk: LoadedChunk, group: RowGroup, *, all_addresses: bool
) -> dict[Channel, tuple[str, ...]]:
    is_new = group.digest not in chunk.holders
    keys: dict[Channel, tuple[str, ...]] = defaultdict(tuple)
    addresses = {
        tuple(
            address if all_addresses or (is_new and row.fields.get(OPTINS[channel])) else None
            for channel, address in zip((Channel.EMAIL, Channel.SMS), row.address, strict=True)
        )
        for row in group.rows
    }
    for email, phone_number in filter(any, addresses):
        for channel, key in current_keys(chunk.row.account_id, email, phone_number).items():
            keys[channel] += (key,)
    return keys


def _with_wishes(
    group: RowGroup,
    keys: Mapping[Channel, Collection[str]],
    persons: Mapping[str, Contact],
    header: ImportHeader,
) -> RowGroup:
    """Return a group without the data of an erased person, and without suppressed opt-ins."""
    if not keys:
        return group
    found = [(channel, persons[key]) for channel, each in keys.items() for key in each]
    if any(contact.erased_at and contact.erased_at >= header.created_at for _, contact in found):
        return group.erased()
    return group.without_optins({OPTINS[channel] for channel in suppressed_channels(found)})


def _plan(
    chunk: LoadedChunk,
    header: ImportHeader,
    group: RowGroup,
    customers_by_id: dict[str, Customer],
    now: datetime,
) -> _Plan:
    # If the customer was erased after the pair was read, the customer is missing.
    existing = customers_by_id.get(chunk.holders.get(group.digest or "", ""))
    base = existing or Customer(
        # An idempotency key can be used for another batch after 90 days. The edition is different.
        id=derived_id(chunk.row.import_id, chunk.row.edition, str(group.rows[0].index)),
        # An erasure keeps customers that are newer than the erasure.
        created_at=header.created_at,
        updated_at=now,
    )
    base_length = text_length(dict(base)) if existing else _BLANK_LENGTH
    effect = effect_of(
        group,
        _set_fields(existing) if existing else None,
        lambda fields: _is_within_size_limit(base, base_length, fields),
    )
    return _Plan(group, effect, _with_fields(base, effect.fields))


def _is_within_size_limit(base: Customer, base_length: int, fields: Fields) -> bool:
    # JSON needs at most six bytes per character, and twelve if characters are escaped. For most
    # customers, even these upper bounds are within the limits. Such customers need not be
    # serialized.
    if (base_length + text_length(fields)) * 12 < MAX_LISTED_BYTES:
        return True
    try:
        check_size(_with_fields(base, fields))
    except RecordTooLarge:
        return False
    return True


def _set_fields(customer: Customer) -> list[str]:
    fields = [name for name in Customer.model_fields if getattr(customer, name) is not None]
    return [*fields, IMPORT_METADATA] if IMPORT_METADATA_KEY in customer.metadata else fields


def _with_fields(customer: Customer, fields: Fields) -> Customer:
    update: dict[str, Any] = dict(fields)
    imported = update.pop(IMPORT_METADATA, None)
    if imported:
        update["metadata"] = customer.metadata | {IMPORT_METADATA_KEY: imported}
    if "language" in update:
        update["language"] = Language(update["language"])
    return customer.model_copy(update=update)


def _progress(plans: list[_Plan], erased: list[int], now: datetime) -> ChunkProgress:
    outcomes = [
        (row.index, outcome)
        for plan in plans
        for row, outcome in zip(plan.group.rows, plan.effect.outcomes, strict=True)
    ]
    counts = Counter(outcome for _, outcome in outcomes)
    failed = sorted(index for index, outcome in outcomes if outcome is RowOutcome.FAILED)
    detail = (
        f"The customer would be larger than {MAX_CUSTOMER_BYTES} bytes, or than {MAX_LISTED_BYTES}"
        " bytes with escaped characters."
    )
    return ChunkProgress(
        state=WorkState.DONE,
        created=counts[RowOutcome.CREATED],
        filled=counts[RowOutcome.FILLED],
        unchanged=counts[RowOutcome.UNCHANGED],
        failed=counts[RowOutcome.FAILED] + len(erased),
        errors=(
            *(RowError(index=i, code="record_too_large", detail=detail) for i in failed),
            *(RowError(index=i, code="erased", detail=_ERASED) for i in erased),
        ),
        ended_at=now,
    )


WORKER: Final = Worker(
    queue=IMPORTS,
    parse=partial(decode, ChunkPointer),
    run=lambda message: import_chunk(message.pointer),
    records=imports.WORK,
    key=lambda pointer: (pointer.import_id, pointer.part),
    outcomes=ChunkOutcome,
    log_fields=("account_id", "import_id", "part"),
)
