"""Read the records that the stored counts include, and correct the counts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import and_

from pynamodb.expressions.update import Action

from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.feedback.stored import StoredFeedback
from chalicelib.domain.paging import MAX_LIMIT, in_groups
from chalicelib.domain.solicitation.solicitation import SolicitationState
from chalicelib.storage import counters
from chalicelib.storage.counters import SHARDS, Counted, CounterRow, Listed, shard_key, total_of
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.dynamodb.table import Key, account_key, read_together
from chalicelib.storage.dynamodb.transactions import try_write
from chalicelib.storage.feedback import FeedbackRow, find_many
from chalicelib.storage.purchases import PurchaseRow
from chalicelib.storage.solicitations import OUTCOMES, SolicitationRow


def correct_customer(account_id: str, seen: Customer, corrected: Mapping[str, int]) -> bool:
    """Replace the counts of a customer. Return False if the customer has changed.

    Args:
        seen: the customer as it was loaded.
        corrected: the counts by name of the attribute.
    """
    row = CustomerRow(account_key(account_id, seen.id))
    unchanged = (
        counters.is_number(getattr(CustomerRow, name), getattr(seen, name)) for name in corrected
    )
    condition = reduce(and_, unchanged, CustomerRow.has(updated_at=seen.updated_at))
    return try_write(lambda: row.update(row.changes(**corrected), condition=condition))


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
    row, is_unchanged = shard_row(account_id, kind, 0), CounterRow.has(revision=read.revisions[0])
    return try_write(lambda: row.update(addition(by), is_unchanged))


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


def addition(by: int) -> list[Action]:
    """Return the actions that add ``by`` to a row of a counter of a kind in `Counted`."""
    return [CounterRow.total.add(by), CounterRow.revision.add(1)]


def shard_row(account_id: str, kind: Counted, shard: int) -> CounterRow:
    """Return the row of a shard of a counter, with only its key."""
    return CounterRow(shard_key(account_id, shard), kind.value)
