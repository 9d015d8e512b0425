"""Check all counts and list positions of an account against its records."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

from admin.services.accounts.manage import require_account
from admin.services.recount.difference import Difference
from admin.services.recount.positions import check_positions
from admin.services.recount.statistics import StatisticsCheck
from admin.storage import counts, forms
from admin.storage.counts import CustomerCounts
from admin.storage.forms import SubmissionCount
from admin.storage.list_positions import ListPositions, customer_positions, form_positions
from chalicelib.concurrency import map_concurrently
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.paging import MAX_LIMIT, in_groups
from chalicelib.storage import solicitations
from chalicelib.storage.counters import Counted
from chalicelib.storage.customers import CustomerRow
from chalicelib.storage.dynamodb.table import read_together
from chalicelib.storage.forms import TABLES

INDEX_LAG_S: Final = 5
"""The number of seconds after a write until all indexes contain the change."""

MAX_CONCURRENCY: Final = 8


def recount(
    account_id: str, *, fix: bool, advance: Callable[[int], None] = lambda _: None
) -> Iterator[Difference]:
    """Check all counts, statistics and list positions of the account. Yield the differences.

    Every repair is conditional: if a record changes during the check, it is not repaired. The
    needed memory does not depend on the number of customers, purchases and feedback records.

    Args:
        fix: whether to repair the differences.
        advance: called with the number of checked records after each group of records.

    Raises:
        NotFound: the account does not exist.
    """
    require_account(account_id)
    lists: list[ListPositions[Any]] = [
        customer_positions(account_id),
        *(form_positions(account_id, table) for table in TABLES.values()),
    ]
    totals = [positions.load_total() for positions in lists]
    check = _Check(account_id, fix, advance)
    time.sleep(INDEX_LAG_S)
    for positions, total in zip(lists, totals, strict=True):
        yield from check_positions(positions, total, fix, advance)
    yield from check.feedback()
    yield from check.purchases_and_solicitations()
    yield from check.customers()


class _Check:
    """The counts of an account at the start of the check, and their differences from the records.

    AWS requests at the start: one, two per 100 forms, and those of `StatisticsCheck`.
    """

    def __init__(self, account_id: str, fix: bool, advance: Callable[[int], None]) -> None:
        self._account_id, self._fix, self._advance = account_id, fix, advance
        self._forms: dict[tuple[FormKind, str], SubmissionCount] = {
            (kind, form_id): count
            for kind, table in TABLES.items()
            for rows in form_positions(account_id, table).walk()
            for form_id, count in forms.load_counts(table, [row.form_id for row in rows]).items()
        }
        self._totals = counts.load_counts(account_id)
        self._statistics = StatisticsCheck(account_id, fix=fix)

    def feedback(self) -> Iterator[Difference]:
        """Yield the wrong counts of forms and of all feedback, and the wrong statistics."""
        self._statistics.add_surveys()
        counted: Counter[tuple[FormKind, str]] = Counter()
        found = counts.counted_feedback(self._account_id)
        for group in in_groups(found, MAX_LIMIT):
            self._statistics.add_feedback(group)
            counted.update((each.feedback.kind, each.feedback.form_id) for each in group)
            self._advance(len(group))
        for (kind, form_id), count in self._forms.items():
            expected = counted[kind, form_id]
            if count.number == expected:
                continue
            # If the count has changed since, feedback changed during the check.
            is_repaired = self._fix and forms.correct_count(TABLES[kind], form_id, count, expected)
            subject = f"{kind.value.lower().replace('_', '-')} {form_id}"
            yield Difference(subject, "submissions", count.number, expected, is_repaired)
        yield from self._total(Counted.FEEDBACK, counted.total())
        yield from self._statistics.differences()

    def purchases_and_solicitations(self) -> Iterator[Difference]:
        """Yield the numbers of purchases, and of solicitations by outcome, that are wrong."""
        yield from self._total(Counted.PURCHASES, counts.count_purchases(self._account_id))
        outcomes = counts.count_outcomes(self._account_id)
        for kind in solicitations.OUTCOMES.values():
            yield from self._total(kind, outcomes[kind])

    def _total(self, kind: Counted, counted: int) -> Iterator[Difference]:
        """Yield the difference if a counter does not equal the number of records."""
        before = self._totals[kind]
        if before.number == counted:
            return
        if self._fix:
            # A record can be visible before the counter that the same transaction changes.
            time.sleep(INDEX_LAG_S)
        is_repaired = (
            self._fix
            and counts.load_counts(self._account_id)[kind] == before
            and counts.correct_count(self._account_id, kind, before, counted - before.number)
        )
        yield Difference("account", kind.value, before.number, counted, is_repaired)

    def customers(self) -> Iterator[Difference]:
        """Yield the wrong counts of customers.

        Two requests per customer, and one per 100 feedback records of a customer. The counts of
        customers that seem wrong are checked again.
        """
        for rows in customer_positions(self._account_id).walk():
            found = map_concurrently(self._expected, [row.id for row in rows], MAX_CONCURRENCY)
            # The customers were read from an index, which can be outdated.
            wrong = (
                row.own_key()
                for row, expected in zip(rows, found, strict=True)
                if counts.counts_of(row) != expected
            )
            current = [row for row in read_together(*wrong) if row]
            if current:
                # The indexes must contain all changes that the current counts include.
                time.sleep(INDEX_LAG_S)
                for differences in map_concurrently(self._customer, current, MAX_CONCURRENCY):
                    yield from differences
            self._advance(len(rows))

    def _customer(self, row: CustomerRow) -> list[Difference]:
        stored, expected = counts.counts_of(row), self._expected(row.id)
        # A customer that has changed since it was loaded is not repaired.
        is_repaired = self._fix and stored != expected and counts.correct_customer(row, expected)
        return [
            Difference(f"customer {row.id}", name, before, after, is_repaired)
            for name, before, after in zip(CustomerCounts._fields, stored, expected, strict=True)
            if before != after
        ]

    def _expected(self, customer_id: str) -> CustomerCounts:
        account_id = self._account_id
        feedback = list(counts.counted_feedback_of_customer(account_id, customer_id))
        ratings = [record.rating for record in feedback if record.rating is not None]
        purchases = counts.count_purchases_of_customer(account_id, customer_id)
        return CustomerCounts(purchases, len(feedback), sum(ratings), len(ratings))
