"""Erase a customer: delete the customer, and delete or anonymize all related records.

An erasure is a work record. Each step reads the records that still refer to the customer, and
changes the records and the counts of the erasure in one transaction. Therefore an interrupted
erasure continues where it stopped, and no record is counted twice.

A pass runs all steps. Workers can store new records during a pass, and the indexes are eventually
consistent. Therefore passes are repeated until a pass that starts at least 15 minutes after the
request, and after the last erased record, finds no records.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.customers.addresses import pair_hash, pair_of
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.erasure.erasure import Erased, Erasure, ErasurePointer
from chalicelib.domain.errors import NotFound
from chalicelib.domain.paging import in_groups
from chalicelib.domain.work import WorkState
from chalicelib.messages import decode
from chalicelib.queues import ERASURES
from chalicelib.services.customers.find import find_with_same_address
from chalicelib.services.solicitation.contact_keys import current_keys, pair_key
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
    purchases,
    solicitations,
    trackers,
)
from chalicelib.storage.customers import build_customer, customer_key
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.erasures import ErasureRow
from chalicelib.storage.feedback import FeedbackRow
from chalicelib.storage.imports import ImportRow
from chalicelib.storage.purchases import PurchaseRow
from chalicelib.storage.solicitations import SolicitationRow
from chalicelib.storage.trackers import TrackerRow

RECORDS_PER_TRANSACTION: Final = 15
"""Maximum number of records in a transaction. Each record has up to 256 KB, a transaction 4 MB."""

MAX_LISTED: Final = 100
"""Maximum number of other customers with the same address that the receipt lists."""


def start_erasure(
    account_id: str, customer_id: str, operator: str, *, is_replay: bool = False
) -> Erasure:
    """Store the erasure of a customer and suppress the person's addresses, in one transaction.

    If the erasure is already stored, return it. If the customer was created again after the
    erasure, or exists again after the erasure has ended, the erasure starts again. Three AWS
    requests, and one to three for each address. The time of the erasure is that of DynamoDB: the
    clock of an operator's computer can be wrong.

    Args:
        operator: the identity of the operator, for the receipt. A repeated request and a replay do
            not change the stored identity.
        is_replay: whether to repeat a recorded erasure, even if the customer does not exist. The
            time of the erasure stays the same.

    Raises:
        NotFound: the account has no such customer, and it was not erased.
    """
    return commit(partial(_start, account_id, customer_id, operator, is_replay=is_replay))


def _start(
    account_id: str, customer_id: str, operator: str, rows: Rows, *, is_replay: bool
) -> Erasure:
    customer_row = customer_key(account_id, customer_id)
    erasure_row = Key(ErasureRow, erasures.erasure_id(account_id, customer_id))
    # In this order, a customer that is erased meanwhile is found as such.
    rows.prefetch(customer_row)
    rows.prefetch(erasure_row)
    found = rows.peek(customer_row, because="its later addresses are suppressed when it is deleted")
    customer = build_customer(found) if found else None
    earlier = erasures.find_earlier(rows, erasure_row)
    if earlier and not _is_created_again(earlier, customer):
        if earlier.state is WorkState.PARKED:
            erasures.WORK.reopen([(earlier.id, erasures.PART)], clock.now())
            return earlier
        if earlier.state is WorkState.PENDING or not (customer or is_replay):
            return earlier
    if not (customer or earlier):
        raise NotFound("customer")
    # DynamoDB states the time in full seconds. No earlier record is newer than the next second.
    now = rows.read_at + timedelta(seconds=1)
    new = _new_erasure(account_id, customer_id, operator, customer, earlier, now)
    if earlier and is_replay:
        new = replace(new, erased_at=earlier.erased_at, operator=earlier.operator)
    erasures.save(rows, new)
    erasures.record_addresses(rows, new, is_last=not is_replay)
    if not is_replay:
        change = AccountChange(new.erased_at, f"erasure {new.id}", operator, None, "requested")
        account_changes.add(rows, account_id, [change])
    return new


def _is_created_again(erasure: Erasure, customer: Customer | None) -> bool:
    """Return whether the customer was created with the same id after the erasure.

    The id of a customer can be derived from a purchase, or be part of a definition.
    """
    return customer is not None and customer.created_at > erasure.erased_at


def _new_erasure(
    account_id: str,
    customer_id: str,
    operator: str,
    customer: Customer | None,
    earlier: Erasure | None,
    now: datetime,
) -> Erasure:
    pair, others = None, list[str]()
    keys, pair_contact = (dict(earlier.contacts), earlier.pair_contact) if earlier else ({}, None)
    if customer:
        pair = pair_of(customer.email, customer.phone_number)
        pair_contact = pair_key(account_id, pair)
        keys |= current_keys(account_id, customer.email, customer.phone_number)
        others = find_with_same_address(account_id, customer)
    return Erasure(
        id=erasures.erasure_id(account_id, customer_id),
        account_id=account_id,
        erased_at=now,
        customer_id=customer_id,
        pair_digest=pair.digest if pair else None,
        recreated=earlier.recreated if earlier else frozenset(),
        pair_contact=pair_contact,
        contacts=keys,
        operator=operator,
        others=tuple(others[:MAX_LISTED]),
        other_count=len(others),
    )


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
    if erasure.state is not WorkState.PENDING or erasure.customer_id is None:
        return erasure
    started, recheck = clock.now(), timedelta(seconds=settings().erasure_recheck_s)
    _run_pass(erasure, erasure.customer_id)
    # The customer can get records until its deletion, and the indexes may have hidden them from
    # this pass. An erasure does not finish if this pass has erased records.
    since = max(erasure.erased_at, erasure.last_found_at or erasure.erased_at)
    is_last = started >= since + recheck
    return commit(partial(erasures.end_pass, erasure=erasure, recheck=recheck, is_last=is_last))


def _run_pass(erasure: Erasure, customer_id: str) -> None:
    """Erase all records that still refer to the customer.

    Unfinished work comes first, because import rows and feedback could create the customer
    again. The customer is deleted last, so a deleted customer means that one pass was complete.
    After that, the records of a new customer with the same id are kept. The indexes may have hidden
    older feedback and purchases from the first pass.
    """
    _erase_import_rows(erasure)
    _erase_recreated_customer(erasure, customer_id)
    for recreated_id in erasure.recreated:
        _erase_customer(erasure, recreated_id, is_deleted=True)
    is_deleted = erasure.counts.get(Erased.CUSTOMERS, 0) > 0
    _erase_customer(erasure, customer_id, is_deleted=is_deleted)


def _erase_customer(erasure: Erasure, customer_id: str, *, is_deleted: bool) -> None:
    """Erase the records of a customer, then the customer.

    Args:
        is_deleted: whether an earlier pass deleted the customer.
    """
    customer = customers.find(erasure.account_id, customer_id) if is_deleted else None
    created_again = customer if _is_created_again(erasure, customer) else None
    _erase_feedback(erasure, customer_id, created_again=created_again)
    _erase_purchases(erasure, customer_id, created_again=created_again)
    if not created_again:
        _erase_solicitations(erasure, customer_id)
        _delete_trackers(erasure, customer_id)
        commit(partial(_delete_customer, erasure, customer_id))


def _erase_import_rows(erasure: Erasure) -> None:
    """Erase the rows with the pair from unfinished imports that are older than the erasure."""
    digest = erasure.pair_digest
    if not digest:
        return
    unfinished = imports.unfinished(erasure.account_id)
    for chunk in [each for each in unfinished if imports.rows_with_pair(each, digest)]:
        if not imports.was_accepted_after(chunk, erasure.erased_at):
            commit(partial(_erase_pair, erasure, digest, chunk.own_key()), chunk)


def _erase_pair(erasure: Erasure, digest: str, chunk: Key[ImportRow], rows: Rows) -> None:
    if erased := imports.erase_pairs(rows, chunk, [digest]):
        erasures.count(rows, erasure, {Erased.IMPORT_ROWS: erased})


def _erase_feedback(erasure: Erasure, customer_id: str, *, created_again: Customer | None) -> None:
    """Anonymize the customer's feedback, and earlier feedback whose answers contain the pair.

    Feedback of another customer stays linked to this customer, whose counts include it. Saved taps
    cannot be changed any more, and their trackers are used.

    Args:
        created_again: the customer with the same id that was created after the request, and whose
            own feedback is kept: later feedback that was processed since then. Earlier feedback
            that was processed since then is removed from its counts.
    """
    account_id = erasure.account_id
    contact_hash = erasure.pair_digest and pair_hash(account_id, erasure.pair_digest)

    def is_erased(row: FeedbackRow) -> bool:
        is_linked = row.customer_id == customer_id
        if row.created_at <= erasure.erased_at:
            return is_linked or (contact_hash is not None and row.contact_hash == contact_hash)
        return is_linked and not _is_of(created_again, row)

    def erase(keys: list[Key[FeedbackRow]], rows: Rows) -> None:
        rows.prefetch(*keys)
        found = [row for row in filter(None, map(rows.known, keys)) if is_erased(row)]
        tapped = [t for row in found if row.is_open and (t := row.document.tracker_id)]
        trackers_of_taps = (Key(TrackerRow, tracker_id) for tracker_id in tapped)
        rows.prefetch(feedback_changes.head_key(account_id), *trackers_of_taps)
        if not found:
            return
        ids, now = [row.feedback_id for row in found], clock.now()
        number = feedback_changes.add(rows, account_id, ids, now)
        for row in found:
            record, was_counted = row.record, feedback.build_stored(row).is_counted
            if was_counted and _is_of(created_again, row):
                key = customer_key(account_id, customer_id)
                customers.count_feedback(rows, key, record.rating, record.source, now, by=-1)
            if row.is_open and record.tracker_id:
                trackers.consume(rows, record.tracker_id, record.id, record.created_at)
            is_of_other = record.customer_id not in (None, customer_id, erasure.customer_id)
            anonymized = record.anonymized() if is_of_other else record.without_person()
            feedback.anonymize(rows, row, anonymized, number, now)
            row.saves = None
        erasures.count(rows, erasure, {Erased.FEEDBACK: len(found)})

    found = filter(is_erased, feedback.rows_of_person(account_id, customer_id, contact_hash))
    for group in in_groups(found, RECORDS_PER_TRANSACTION):
        commit(partial(erase, [row.own_key() for row in group]), *group)


def _is_of(created_again: Customer | None, row: FeedbackRow) -> bool:
    """Return whether feedback of a customer id was processed for the customer with it now."""
    return (
        created_again is not None
        and row.customer_id == created_again.id
        and row.changed_at is not None
        and row.changed_at >= created_again.created_at
    )


def _delete_customer(erasure: Erasure, customer_id: str, rows: Rows) -> None:
    """Delete the customer. Suppress addresses that the customer got after the request."""
    account_id = erasure.account_id
    deleted = customer_deletion.delete(rows, account_id, customer_id, clock.now())
    if deleted is None:
        if contacts.is_listed(account_id, customer_id):
            # A restore has removed the customer, but not the contact.
            contacts.record_removal(rows, account_id, customer_id, clock.now())
            erasures.count(rows, erasure, {})
        return
    customer, holder = deleted
    known = {*erasure.contacts.values(), erasure.pair_contact}
    keys = current_keys(account_id, customer.email, customer.phone_number).items()
    new = {channel: key for channel, key in keys if key not in known}
    pair = pair_key(account_id, pair_of(customer.email, customer.phone_number))
    new_pair = pair if pair not in known else None
    contacts.record_erasure(rows, account_id, new, new_pair, erasure.erased_at)
    contacts.record_removal(rows, account_id, customer_id, clock.now())
    erasures.count_customer(rows, erasure, customer_id, holder, new)


def _erase_purchases(erasure: Erasure, customer_id: str, *, created_again: Customer | None) -> None:
    found = purchases.rows_of_customer(erasure.account_id, customer_id)

    def erase(keys: list[Key[PurchaseRow]], rows: Rows) -> None:
        rows.prefetch(*keys)
        erased = 0
        for key in keys:
            seen = rows.peek(key, because="a purchase that is kept is not checked")
            if seen is None or seen.customer_id != customer_id:
                continue
            if not created_again or seen.updated_at < created_again.created_at:
                rows.get(key)
                purchases.erase_customer(seen, clock.now())
                erased += 1
        if erased:
            erasures.count(rows, erasure, {Erased.PURCHASES: erased})

    for group in in_groups(found, RECORDS_PER_TRANSACTION):
        commit(partial(erase, [row.own_key() for row in group]), *group)


def _erase_solicitations(erasure: Erasure, customer_id: str) -> None:
    """Erase solicitations, their trackers, and the rows that map message ids to the customer.

    The transaction that deletes the tracker of an answered survey keeps the day of the answer.
    """
    found = solicitations.rows_of_customer(erasure.account_id, customer_id)

    def erase(keys: list[Key[SolicitationRow]], rows: Rows) -> None:
        rows.prefetch(*keys)
        erased = [
            row for row in filter(None, map(rows.get, keys)) if row.customer_id == customer_id
        ]
        sent = trackers.delete(rows, [row.tracker_id for row in erased if row.tracker_id])
        messages = 0
        for row in erased:
            messages += len(solicitations.build_solicitation(row).message_ids)
            tracker = sent.get(row.tracker_id or "")
            answered_on = tracker.answered_on if tracker else None
            solicitations.erase_customer(rows, row, answered_on, clock.now())
        numbers = {Erased.TRACKERS: len(sent), Erased.MESSAGES: messages}
        if erased:
            erasures.count(rows, erasure, {Erased.SOLICITATIONS: len(erased), **numbers})

    for group in in_groups(found, RECORDS_PER_TRANSACTION):
        commit(partial(erase, [row.own_key() for row in group]), *group)


def _delete_trackers(erasure: Erasure, customer_id: str) -> None:
    """Delete the trackers that belong to no solicitation of the customer."""
    found = trackers.rows_of_customer(erasure.account_id, customer_id)

    def delete(tracker_ids: list[str], rows: Rows) -> None:
        if deleted := trackers.delete(rows, tracker_ids):
            erasures.count(rows, erasure, {Erased.TRACKERS: len(deleted)})

    for group in in_groups(found, RECORDS_PER_TRANSACTION):
        commit(partial(delete, [row.tracker_id for row in group]), *group)


def _erase_recreated_customer(erasure: Erasure, customer_id: str) -> None:
    """Erase the customer that old feedback or an old import created again.

    The customer has the pair of the erased customer, and was created when the service processed
    feedback or an import that it received before the erasure. It is deleted last, because a
    repeated pass finds it by its pair. Later passes erase records that an index hid from this pass.
    """
    if not erasure.pair_digest or erasure.next_holder != erasures.NO_HOLDER:
        return
    holder_id = customers.find_by_pair(erasure.account_id, erasure.pair_digest)
    holder = customers.find(erasure.account_id, holder_id) if holder_id else None
    if holder and holder.id != customer_id and holder.created_at < erasure.erased_at:
        _erase_customer(erasure, holder.id, is_deleted=False)


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
