"""Import one chunk of a batch exactly once, even if its message is delivered several times."""

from collections import Counter
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.import_batch import ChunkPointer, RowError
from chalicelib.domain.customers.merge import GroupEffect, RowGroup, RowOutcome, effect_of
from chalicelib.domain.ids import derived_id
from chalicelib.domain.paging import MAX_LISTED_BYTES
from chalicelib.domain.parsing import MAX_CUSTOMER_BYTES
from chalicelib.domain.solicitation.channel import OPTINS, Channel
from chalicelib.domain.solicitation.contact import suppressed_channels
from chalicelib.messages import decode
from chalicelib.queues import IMPORTS
from chalicelib.services.customers.read import with_tags
from chalicelib.services.solicitation.contact_keys import address_hash
from chalicelib.services.work.worker import Worker, WorkOutcome
from chalicelib.storage import contacts, customer_creation, customers, imports
from chalicelib.storage.counters import CounterRow, Listed, counter_key, next_position
from chalicelib.storage.customers import CustomerPairRow, pair_key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.imports import ImportRow, LoadedChunk

_ERRORS: Final = {
    RowOutcome.TOO_LARGE: (
        "record_too_large",
        f"The customer would be larger than {MAX_CUSTOMER_BYTES} bytes, or than {MAX_LISTED_BYTES}"
        " bytes with escaped characters.",
    ),
    RowOutcome.ERASED: ("erased", "The person was erased before the row was imported."),
}
"""The code and the detail of the error of a failed row."""

_ADDRESSES: Final = {Channel.EMAIL: "email", Channel.SMS: "phone_number"}
"""The field of the address of each channel."""

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
    accepted_at = chunk.header.created_at
    is_before_erasure = chunk.last_erased_at is not None and chunk.last_erased_at >= accepted_at
    keys = [_contact_keys(chunk, group, is_before_erasure) for group in chunk.groups]
    found, persons = imports.load_persons(rows, chunk, {key for each in keys for _, key in each})
    if is_before_erasure:
        contacts.confirm_erasures(persons.values())
    existing = {customer.id: customer for customer in with_tags(pointer.account_id, found.values())}
    # An erasure keeps customers that are newer than the erasure.
    blank = Customer(id="", created_at=accepted_at, updated_at=now)
    outcomes: dict[int, RowOutcome] = {}
    for group, keys_of_group in zip(chunk.groups, keys, strict=True):
        checked = [(channel, persons[key]) for channel, key in keys_of_group]
        erasures = (contact.erased_at for _, contact in checked if contact.erased_at)
        if group.is_erased or any(erased_at >= accepted_at for erased_at in erasures):
            outcomes |= {row.index: RowOutcome.ERASED for row in group.rows}
            continue
        refused = {OPTINS[channel] for channel in suppressed_channels(checked)}
        # If the customer was erased after the pair was read, the customer is missing.
        customer = existing.get(chunk.holders.get(group.digest or "", ""))
        effect = effect_of(
            group.without_optins(refused) if refused else group,
            customer or blank.model_copy(update={"id": _new_id(chunk.row, group)}),
            exists=customer is not None,
        )
        _save(rows, chunk, group, effect, now)
        outcomes |= zip((row.index for row in group.rows), effect.outcomes, strict=True)
    _finish(rows, chunk.row, outcomes, now)
    return ChunkOutcome.DONE


def _contact_keys(
    chunk: LoadedChunk, group: RowGroup, is_before_erasure: bool
) -> set[tuple[Channel, str]]:
    """Return the keys of the contacts to check for a group, each with its channel.

    These are the contacts of opt-ins of a new customer. If a person of the account was erased after
    the import was accepted, these are the contacts of all addresses.
    """
    is_new, account_id = group.digest not in chunk.holders, chunk.row.account_id
    addresses = {
        (channel, str(address))
        for row in group.rows
        for channel, name in _ADDRESSES.items()
        if (address := row.fields.get(name))
        and (is_before_erasure or (is_new and row.fields.get(OPTINS[channel])))
    }
    return {
        (channel, contacts.contact_key(contact_hash))
        for channel, address in addresses
        if (contact_hash := address_hash(account_id, channel, address))
    }


def _new_id(chunk: ImportRow, group: RowGroup) -> str:
    # An idempotency key can be used for another batch after 90 days. The edition is different.
    return derived_id(chunk.import_id, chunk.edition, str(group.rows[0].index))


def _save(
    rows: Rows, chunk: LoadedChunk, group: RowGroup, effect: GroupEffect, now: datetime
) -> None:
    """Create or fill the customer of a group."""
    account_id = chunk.row.account_id
    if group.digest in chunk.holders and (effect.creates or effect.fields):
        # If the customer was erased after the pair was read, this fails.
        rows.value(pair_key(account_id, group.digest), CustomerPairRow.customer_id)
    if effect.creates:
        counter = counter_key(account_id, Listed.CUSTOMERS)
        # If a person is erased after the chunk was read, this fails.
        rows.value(counter, CounterRow.erasures)
        position = next_position(rows, counter)
        customer_creation.add(rows, account_id, effect.customer, position)
    elif effect.fields:
        customers.fill(rows, account_id, effect.customer.id, effect.fields, now)


def _finish(rows: Rows, chunk: ImportRow, outcomes: dict[int, RowOutcome], now: datetime) -> None:
    """Store the number of rows with each outcome, and the errors."""
    counts = Counter(outcomes.values())
    chunk.created, chunk.filled = counts[RowOutcome.CREATED], counts[RowOutcome.FILLED]
    chunk.unchanged = counts[RowOutcome.UNCHANGED]
    chunk.failed = sum(counts[outcome] for outcome in _ERRORS)
    errors = [
        RowError(index=index, code=_ERRORS[outcome][0], detail=_ERRORS[outcome][1])
        for index, outcome in outcomes.items()
        if outcome in _ERRORS
    ]
    imports.finish_chunk(rows, chunk, errors, now)


WORKER: Final = Worker(
    queue=IMPORTS,
    parse=partial(decode, ChunkPointer),
    run=lambda message: import_chunk(message.pointer),
    records=imports.WORK,
    key=lambda pointer: (pointer.import_id, pointer.part),
    outcomes=ChunkOutcome,
    log_fields=("account_id", "import_id", "part"),
)
