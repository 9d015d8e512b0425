"""Read the records that the stored counts include, and correct the counts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.paging import MAX_LIMIT, in_groups
from chalicelib.domain.solicitation.solicitation import SolicitationState
from chalicelib.storage.counters import SHARDS, Counted, CounterRow, Listed, shard_key, total_of
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.dynamodb.table import Key, account_key, read_together
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.feedback import FeedbackRow, find_many
from chalicelib.storage.purchases import PurchaseRow
from chalicelib.storage.solicitations import OUTCOMES, SolicitationRow


class CustomerCounts(NamedTuple):
    """The counts of a customer."""

    purchase_count: int
    feedback_count: int
    rating_sum: int
    rating_count: int


def counts_of(row: CustomerRow) -> CustomerCounts:
    """Return the stored counts of a customer."""
    numbers = row.purchase_count, row.feedback_count, row.rating_sum, row.rating_count
    return CustomerCounts(*(number or 0 for number in numbers))


def correct_customer(seen: CustomerRow, corrected: CustomerCounts) -> bool:
    """Replace the counts of a customer. Return False if the customer has changed. One request.

    Args:
        seen: the customer as it was loaded.
    """
    key, read = seen.own_key(), Rows()
    read.know(seen)
    counts = CustomerRow.purchase_count, CustomerRow.feedback_count
    ratings = CustomerRow.rating_sum, CustomerRow.rating_count

    def correct(rows: Rows) -> bool:
        row = rows.get(key, CustomerRow.updated_at, *counts, *ratings)
        if row is None or rows.has_failed(key):
            return False
        row.purchase_count, row.feedback_count = corrected.purchase_count, corrected.feedback_count
        row.rating_sum, row.rating_count = corrected.rating_sum, corrected.rating_count
        return True

    return commit(correct, read=read)


def counted_feedback(account_id: str) -> Iterator[StoredFeedback]:
    """Yield the account's counted feedback. Two requests per 100 records."""
    yield from _counted(FeedbackRow.by_account.query(account_id))


def counted_feedback_of_customer(account_id: str, customer_id: str) -> Iterator[Feedback]:
    """Yield the feedback records that the customer's count includes.

    One request for the ids, and one per 100 records.
    """
    for stored in _counted(FeedbackRow.by_customer.query(customer_id)):
        if stored.feedback.account_id == account_id:
            yield stored.feedback


def _counted(entries: Iterable[FeedbackRow]) -> Iterator[StoredFeedback]:
    ids = (entry.feedback_id for entry in entries)
    for group in in_groups(ids, MAX_LIMIT):
        for stored in find_many(group).values():
            if stored.is_counted:
                yield stored


def count_purchases_of_customer(account_id: str, customer_id: str) -> int:
    """Return the number of the customer's purchases. One request per MB of index entries."""
    is_of_account = PurchaseRow.key.startswith(account_key(account_id, ""))
    return PurchaseRow.by_customer.count(customer_id, filter_condition=is_of_account)


def count_purchases(account_id: str) -> int:
    """Return the number of the account's purchases. Reads the whole table, consistently.

    One request per MB of the table.
    """
    rows = PurchaseRow.scan(
        PurchaseRow.key.startswith(account_key(account_id, "")),
        attributes_to_get=["key"],
        consistent_read=True,
    )
    return sum(1 for _ in rows)


def count_outcomes(account_id: str) -> Counter[Counted]:
    """Return the number of the account's solicitations by outcome.

    One request per MB of index entries. The index is eventually consistent.
    """
    rows = SolicitationRow.by_account.query(
        account_id, attributes_to_get=["solicitation_id", "state"]
    )
    states = (SolicitationState(row.state) for row in rows)
    return Counter(OUTCOMES[state] for state in states if state in OUTCOMES)


@dataclass(frozen=True)
class Count:
    """The number of an account's records of one kind.

    Attributes:
        revisions: the revisions of the rows that contain parts of the number. Each change of the
            number increases one of them.
    """

    number: int
    revisions: tuple[int | None, ...]


def correct_count(account_id: str, kind: Counted, read: Count, by: int) -> bool:
    """Add ``by`` to the number of the account's records of this kind. One request.

    Return False if the row that the correction changes has changed.

    Args:
        read: the number when it was loaded.
    """
    key = Key(CounterRow, shard_key(account_id, 0), kind.value)

    def correct(rows: Rows) -> bool:
        if rows.has_failed(key):
            return False
        rows.expect(key, CounterRow.revision, read.revisions[0])
        rows.add(key, CounterRow.total, by)
        rows.add(key, CounterRow.revision, 1)
        return True

    return commit(correct)


def load_counts(account_id: str) -> dict[Listed | Counted, Count]:
    """Return the number of the account's records of each kind. One consistent request."""
    keys: list[tuple[str, Listed | Counted]] = [(account_id, kind) for kind in Listed]
    keys += [(shard_key(account_id, n), kind) for kind in Counted for n in range(SHARDS)]
    rows = read_together(*(Key(CounterRow, key, kind.value) for key, kind in keys))
    by_kind: dict[Listed | Counted, list[CounterRow | None]] = defaultdict(list)
    for (_, kind), row in zip(keys, rows, strict=True):
        by_kind[kind].append(row)
    return {
        kind: Count(
            sum(map(total_of, parts)), tuple(part.revision if part else None for part in parts)
        )
        for kind, parts in by_kind.items()
    }
