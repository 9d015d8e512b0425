"""Erase a customer: delete the customer, and delete or anonymize all related records.

An erasure is a work record. Each step reads the records that still refer to the customer, and
changes the records and the counts of the erasure in one transaction. Therefore an interrupted
erasure continues where it stopped, and no record is counted twice.

A pass runs all steps. Workers can store new records during a pass, and the indexes are eventually
consistent. Therefore passes are repeated until a pass that starts at least 15 minutes after the
request finds no records.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, TypeVar

from chalicelib.domain import clock
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.customers.contact_hash import customer_hash, pair_hash
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.customers.pair import pair_of
from chalicelib.domain.erasure import (
    Erased,
    Erasure,
    ErasurePointer,
    ErasureState,
)
from chalicelib.domain.errors import NotFound
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.paging import in_groups
from chalicelib.messages import decode
from chalicelib.queues import ERASURES
from chalicelib.services.customers.find import find_with_same_address
from chalicelib.services.solicitation.contact_keys import current_keys, pair_keys
from chalicelib.services.work.worker import Message, Worker, WorkOutcome
from chalicelib.settings import settings
from chalicelib.storage import (
    account_changes,
    contacts,
    customer_deletion,
    customers,
    erasures,
    feedback,
    feedback_changes,
    imports,
    messages,
    purchases,
    solicitations,
    trackers,
)
from chalicelib.storage.dynamodb.transactions import retry_on_contention, transaction

RECORDS_PER_TRANSACTION: Final = 15
"""Maximum number of records in a transaction. Each record has up to 256 KB, a transaction 4 MB."""

_MAX_LISTED: Final = 100
"""Maximum number of other customers with the same address that the receipt lists."""

Record = TypeVar("Record")


def start_erasure(
    account_id: str, customer_id: str, operator: str | None, *, is_replay: bool = False
) -> Erasure:
    """Store the erasure of a customer and suppress the person's addresses, in one transaction.

    If the erasure is already stored, return it. If the customer was created again after the
    erasure, or exists again after the erasure has ended, the erasure starts again. Three AWS
    requests, and one to three for each address. The time of the erasure is that of DynamoDB: the
    clock of an operator's computer can be wrong.

    Args:
        operator: the identity of the operator, for the receipt. A repeated request does not change
            the stored identity.
        is_replay: whether to repeat a recorded erasure, even if the customer does not exist. The
            time of the erasure stays the same.

    Raises:
        NotFound: the account has no such customer, and it was not erased.
    """

    def attempt() -> Erasure:
        erasure_id = erasures.erasure_id(account_id, customer_id)
        earlier, now = erasures.find_with_time(erasure_id)
        customer = customers.find(account_id, customer_id)
        is_created_again = earlier is not None and _is_created_again(earlier, customer)
        if earlier and earlier.state is ErasureState.PARKED and not is_created_again:
            erasures.WORK.reopen([(erasure_id, erasures.PART)], clock.now())
            return earlier
        is_pending = earlier is not None and earlier.state is ErasureState.PENDING
        if earlier and not is_created_again and (is_pending or not (customer or is_replay)):
            return earlier
        if not (customer or earlier):
            raise NotFound("customer")
        new = _new_erasure(erasure_id, account_id, customer_id, operator, customer, earlier, now)
        if earlier and is_replay:
            new = replace(new, erased_at=earlier.erased_at, operator=earlier.operator)
        return _store(new, earlier, is_replay=is_replay)

    return retry_on_contention(attempt)


def _is_created_again(erasure: Erasure, customer: Customer | None) -> bool:
    """Return whether the customer was created with the same id after the erasure.

    The id of a customer is derived from a purchase or from an idempotency key.
    """
    return customer is not None and customer.created_at > erasure.erased_at


def _new_erasure(
    erasure_id: str,
    account_id: str,
    customer_id: str,
    operator: str | None,
    customer: Customer | None,
    earlier: Erasure | None,
    now: datetime,
) -> Erasure:
    pair, keys = None, dict(earlier.contacts) if earlier else {}
    pair_contacts = earlier.pair_contacts if earlier else ()
    others: tuple[str, ...] = ()
    if customer:
        pair = pair_of(customer.email, customer.phone_number)
        pair_contacts = pair_keys(account_id, pair)
        keys |= current_keys(account_id, customer.email, customer.phone_number)
        others = tuple(find_with_same_address(account_id, customer))
    return Erasure(
        id=erasure_id,
        account_id=account_id,
        erased_at=now,
        customer_id=customer_id,
        pair_digests=pair.digests if pair else (),
        recreated=earlier.recreated if earlier else frozenset(),
        pair_contacts=pair_contacts,
        contacts=keys,
        operator=operator,
        others=others[:_MAX_LISTED],
        other_count=len(others),
    )


def _store(erasure: Erasure, earlier: Erasure | None, *, is_replay: bool) -> Erasure:
    customer_id = erasure.customer_id or ""
    own_key = contacts.contact_key(customer_hash(erasure.account_id, customer_id))
    with transaction() as write:
        erasures.put(write, erasure, earlier)
        erasures.record_addresses(write, erasure, is_last=not is_replay)
        contacts.delete(write, own_key)
        if not is_replay:
            subject, operator = f"erasure {erasure.id}", erasure.operator or ""
            change = AccountChange(erasure.erased_at, subject, operator, None, "requested")
            account_changes.add(write, erasure.account_id, [change])
    return erasure


def continue_erasure(pointer: ErasurePointer) -> Erasure | None:
    """Run one pass of an erasure, then finish it or schedule the next pass.

    Return the erasure, or None if it does not exist. AWS requests: about 30, one per 100 records,
    one per 15 records to erase, and one more per 15 feedback records.

    Raises:
        Unavailable: the database throttles, or contention persists. A repeated call continues.
    """
    erasure = erasures.find(pointer.erasure_id)
    if erasure is None or erasure.account_id != pointer.account_id:
        return None
    if erasure.state is not ErasureState.PENDING or erasure.customer_id is None:
        return erasure
    started, recheck = clock.now(), timedelta(seconds=settings().erasure_recheck_s)
    erased = _run_pass(erasure, erasure.customer_id)
    if erased or started < erasure.erased_at + recheck:
        erasures.schedule(erasure, clock.now() + recheck)
    else:
        erasures.finish(erasure, clock.now())
    return erasures.find(pointer.erasure_id)


def _run_pass(erasure: Erasure, customer_id: str) -> int:
    """Erase all records that still refer to the customer. Return the number of records.

    Unfinished work comes first, because import rows and feedback could create the customer
    again. The customer is deleted last, so a deleted customer means that one pass was complete.
    After that, the records of a new customer with the same id are kept. The indexes may have hidden
    older feedback and purchases from the first pass.
    """
    is_deleted = erasure.counts.get(Erased.CUSTOMERS, 0) > 0
    return (
        _erase_import_rows(erasure)
        + _erase_recreated_customer(erasure, customer_id)
        + sum(_erase_customer(erasure, each, is_deleted=True) for each in erasure.recreated)
        + _erase_customer(erasure, customer_id, is_deleted=is_deleted)
    )


def _erase_customer(erasure: Erasure, customer_id: str, *, is_deleted: bool) -> int:
    """Erase the records of a customer, then the customer.

    Args:
        is_deleted: whether an earlier pass deleted the customer.
    """
    if is_deleted and _is_created_again(erasure, customers.find(erasure.account_id, customer_id)):
        return _erase_feedback(erasure, customer_id, only_earlier=True) + _erase_purchases(
            erasure, customer_id, only_earlier=True
        )
    steps: tuple[Callable[[Erasure, str], int], ...] = (
        _erase_feedback,
        _erase_purchases,
        _erase_solicitations,
        _delete_trackers,
        _delete_customer,
    )
    return sum(step(erasure, customer_id) for step in steps)


def _erase_import_rows(erasure: Erasure) -> int:
    """Erase the rows with the pair from unfinished imports that are older than the erasure."""
    if not erasure.pair_digests:
        return 0

    def erase() -> int:
        number = 0
        for chunk in list(imports.unfinished_with_pairs(erasure.account_id, erasure.pair_digests)):
            if imports.was_accepted_after(chunk, erasure.erased_at):
                continue
            rows = len(imports.rows_with_pairs(chunk, erasure.pair_digests))
            with transaction() as write:
                imports.erase_pairs(write, chunk, erasure.pair_digests)
                erasures.count(write, erasure, {Erased.IMPORT_ROWS: rows})
            number += rows
        return number

    return retry_on_contention(erase)


def _erase_feedback(erasure: Erasure, customer_id: str, *, only_earlier: bool = False) -> int:
    """Anonymize the customer's feedback, and earlier feedback whose answers contain the pair.

    Feedback of another customer stays linked to this customer, whose counts include it.

    Args:
        only_earlier: whether to keep the customer's feedback from after the request.
    """
    contact_hashes = [pair_hash(erasure.account_id, digest) for digest in erasure.pair_digests]

    def find() -> Iterator[StoredFeedback]:
        for stored in feedback.of_person(erasure.account_id, customer_id, contact_hashes):
            record = stored.feedback
            is_earlier = record.created_at <= erasure.erased_at
            if is_earlier or (record.customer_id == customer_id and not only_earlier):
                yield stored

    def erase(write: Any, stored: StoredFeedback) -> None:
        record = stored.feedback
        is_of_other = record.customer_id not in (None, customer_id, erasure.customer_id)
        anonymized = record.anonymized() if is_of_other else record.without_person()
        feedback.anonymize(write, stored, anonymized, clock.now())

    def publish(write: Any, group: list[StoredFeedback]) -> dict[Erased, int]:
        head = feedback_changes.load_head(erasure.account_id)
        ids = [stored.feedback.id for stored in group]
        feedback_changes.add(write, erasure.account_id, head, ids, clock.now())
        return {}

    return _erase_all(erasure, Erased.FEEDBACK, find, erase, publish)


def _delete_customer(erasure: Erasure, customer_id: str) -> int:
    """Delete the customer. Suppress addresses that the customer got after the request."""
    account_id = erasure.account_id

    def delete() -> int:
        deletion = customer_deletion.plan(account_id, customer_id, clock.now())
        if deletion is None:
            return 0
        customer = deletion.customer
        known = {*erasure.contacts.values(), *erasure.pair_contacts}
        keys = current_keys(account_id, customer.email, customer.phone_number).items()
        new = {channel: key for channel, key in keys if key not in known}
        pair = pair_of(customer.email, customer.phone_number)
        new_pairs = [key for key in pair_keys(account_id, pair) if key not in known]
        with transaction() as write:
            customer_deletion.delete(write, deletion)
            contacts.record_erasure(write, account_id, new, new_pairs, erasure.erased_at)
            holder = deletion.release.holder_afterwards
            erasures.count_customer(write, erasure, customer_id, holder, new)
        return 1

    return retry_on_contention(delete)


def _erase_purchases(erasure: Erasure, customer_id: str, *, only_earlier: bool = False) -> int:
    return _erase_all(
        erasure,
        Erased.PURCHASES,
        lambda: (
            purchase
            for purchase in purchases.of_customer(erasure.account_id, customer_id)
            if not only_earlier or purchase.updated_at <= erasure.erased_at
        ),
        lambda write, purchase: purchases.erase_customer(
            write, erasure.account_id, purchase, clock.now()
        ),
    )


def _erase_solicitations(erasure: Erasure, customer_id: str) -> int:
    """Erase solicitations, and the rows that map the provider's message ids to the customer."""

    def erase(write: Any, solicitation: Any) -> None:
        solicitations.erase_customer(write, solicitation, clock.now())
        for message_id in solicitation.message_ids:
            messages.delete(write, message_id)

    def count(write: Any, group: list[Any]) -> dict[Erased, int]:
        solicitations.count_erased(write, group)
        return {Erased.MESSAGES: sum(len(record.message_ids) for record in group)}

    return _erase_all(
        erasure,
        Erased.SOLICITATIONS,
        lambda: solicitations.of_customer(erasure.account_id, customer_id),
        erase,
        count,
    )


def _delete_trackers(erasure: Erasure, customer_id: str) -> int:
    return _erase_all(
        erasure,
        Erased.TRACKERS,
        lambda: trackers.of_customer(erasure.account_id, customer_id),
        trackers.delete,
    )


def _erase_recreated_customer(erasure: Erasure, customer_id: str) -> int:
    """Erase the customer that old feedback or an old import created again.

    The customer has the pair of the erased customer, and was created when the service processed
    feedback or an import that it received before the erasure. It is deleted last, because a
    repeated pass finds it by its pair. Later passes erase records that an index hid from this pass.
    """
    if not erasure.pair_digests or erasure.next_holder != erasures.NO_HOLDER:
        return 0
    holders = customers.find_holders(erasure.account_id, erasure.pair_digests)
    holder_id = next(iter(holders.values()), None)
    holder = customers.find(erasure.account_id, holder_id) if holder_id else None
    if holder is None or holder.id == customer_id or holder.created_at >= erasure.erased_at:
        return 0
    return _erase_customer(erasure, holder.id, is_deleted=False)


def _erase_all(
    erasure: Erasure,
    kind: Erased,
    find: Callable[[], Iterable[Record]],
    erase: Callable[[Any, Record], None],
    count_also: Callable[[Any, list[Record]], dict[Erased, int]] = lambda _write, _group: {},
) -> int:
    """Erase all records of one kind, in transactions that also count them. Return their number.

    Args:
        count_also: adds writes for the records of a transaction, and returns the number of other
            records that the transaction erases.
    """

    def attempt() -> int:
        number = 0
        for group in in_groups(find(), RECORDS_PER_TRANSACTION):
            with transaction() as write:
                for record in group:
                    erase(write, record)
                erasures.count(write, erasure, {kind: len(group), **count_also(write, group)})
            number += len(group)
        return number

    return retry_on_contention(attempt)


class PassOutcome(WorkOutcome):
    """The outcome of processing one queue message."""

    CONTINUED = "continued", "erasure continued", "done"
    DEFERRED = "deferred", "erasure deferred"
    RESCHEDULED = "retry scheduled", "erasure rescheduled"
    PARKED = "parked", "erasure parked", "parked"


def _continue(message: Message[ErasurePointer]) -> PassOutcome:
    continue_erasure(message.pointer)
    return PassOutcome.CONTINUED


WORKER: Final = Worker(
    queue=ERASURES,
    parse=partial(decode, ErasurePointer),
    run=_continue,
    records=erasures.WORK,
    key=lambda pointer: (pointer.erasure_id, erasures.PART),
    outcomes=PassOutcome,
    log_fields=("account_id", "erasure_id"),
)
