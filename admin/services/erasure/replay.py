"""Repeat the recorded erasures after a restore from a backup: ``customer erase --replay``.

The table of erasures contains only keyed hashes. Therefore the replay reads all tables with data
about persons, and computes the hash of each customer id in them.
"""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from functools import partial

from admin.storage import accounts, customer_ids, erasure_lists, feedback_ids
from chalicelib.domain import clock
from chalicelib.domain.customers.addresses import pair_hash
from chalicelib.domain.customers.import_batch import (
    groups_from_json,
)
from chalicelib.domain.erasure.erasure import Erasure
from chalicelib.services.erasure.erase import WORKER, start_erasure
from chalicelib.services.work.worker import Message, attempt
from chalicelib.storage import contacts, erasures, feedback, feedback_changes, imports
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.feedback import FeedbackRow
from chalicelib.storage.imports import ImportRow


def replay_erasures(on_read: Callable[[int], object]) -> list[Erasure]:
    """Repeat all recorded erasures. Return the repeated erasures.

    A customer that was created again after the erasure is not erased. The recorded addresses are
    suppressed again, and answers and unfinished imports from before the erasure are erased again.
    Reads all tables with data about persons; one AWS request per MB. You can repeat the call.

    Args:
        on_read: called with the number of records that were read.
    """
    # In this order, the time of the last erasure of an address remains.
    recorded = sorted(erasure_lists.list_all(), key=lambda erasure: erasure.erased_at)
    last = {erasure.account_id: erasure for erasure in recorded}
    for erasure in recorded:
        is_last = erasure is last[erasure.account_id]
        commit(partial(erasures.record_addresses, erasure=erasure, is_last=is_last))
    accounts.restart_retention()
    erased_at = {each.pair_contact: each.erased_at for each in recorded if each.pair_contact}
    # Import rows come first, because they could create the customers again.
    _erase_import_rows(erased_at)
    repeated = []
    by_id = {erasure.id: erasure.erased_at for erasure in recorded}
    for account_id, customer_id in _find_restored(by_id, on_read):
        started = start_erasure(account_id, customer_id, "replay", is_replay=True)
        # If the pass is blocked or fails, the worker continues the erasure.
        attempt(WORKER, Message(started.pointer))
        repeated.append(erasures.find(started.id) or started)
    _anonymize_unlinked(erased_at)
    return repeated


def _erase_import_rows(erased_at: Mapping[str, datetime]) -> None:
    """Erase rows with the pair of an erased person from imports that are older than the erasure."""
    for chunk in imports.unfinished():
        digests = [
            digest
            for digest in digests_of(chunk)
            if (erased := erased_at.get(contacts.contact_key(pair_hash(chunk.account_id, digest))))
            and not imports.was_accepted_after(chunk, erased)
        ]
        if digests:
            commit(partial(_erase_pairs, chunk.own_key(), digests), chunk)


def _erase_pairs(chunk: Key[ImportRow], digests: Collection[str], rows: Rows) -> None:
    imports.erase_pairs(rows, chunk, digests)


def _anonymize_unlinked(erased_at: Mapping[str, datetime]) -> None:
    """Anonymize feedback with the pair of an erased person that is older than the erasure."""
    for feedback_id, contact_hash, created_at in feedback_ids.scan_contacts():
        erased = erased_at.get(contacts.contact_key(contact_hash))
        if erased and created_at <= erased:
            commit(partial(_anonymize, feedback_id))


def _anonymize(feedback_id: str, rows: Rows) -> None:
    key = Key(FeedbackRow, feedback_id)
    rows.prefetch(key)
    row = rows.known(key)
    if row is None:
        return
    record, now = row.record, clock.now()
    rows.prefetch(feedback_changes.head_key(record.account_id))
    # If the customer still exists, its counts include the feedback, so the link to it stays.
    anonymized = record.anonymized() if record.customer_id else record.without_person()
    number = feedback_changes.add(rows, record.account_id, [feedback_id], now)
    feedback.anonymize(rows, row, anonymized, number, now)


def _find_restored(
    erased_at: Mapping[str, datetime], on_read: Callable[[int], object]
) -> list[tuple[str, str]]:
    """Return the account and the id of each erased customer that records still contain.

    The customers are in the order of their erasures.

    The memory depends on the number of erasures, not on the number of customers.

    Args:
        erased_at: the time of each recorded erasure by its id.
    """
    found: dict[str, tuple[str, str, datetime]] = {}
    for account_id, customer_id, created_at in customer_ids.scan():
        on_read(1)
        erasure_id = erasures.erasure_id(account_id, customer_id)
        if erasure_id in erased_at:
            # Only the first record of a customer counts. The table of customers is read first.
            found.setdefault(erasure_id, (account_id, customer_id, created_at))
    return [
        (account_id, customer_id)
        for erasure_id, (account_id, customer_id, created_at) in sorted(
            found.items(), key=lambda item: erased_at[item[0]]
        )
        if created_at <= erased_at[erasure_id]
    ]


def digests_of(chunk: ImportRow) -> set[str]:
    """Return the digests of the pairs in the rows of a chunk."""
    return {group.digest for group in groups_from_json(chunk.rows) if group.digest}
