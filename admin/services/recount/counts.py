"""Check the counts of forms, customers and accounts against the records."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Final

from admin.services.recount.difference import Difference
from admin.services.recount.statistics import StatisticsCheck
from admin.storage import counts as records
from admin.storage.list_positions import form_positions
from chalicelib.concurrency import map_concurrently
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.paging import MAX_LIMIT, in_groups
from chalicelib.storage import counters, customers, solicitations
from chalicelib.storage.counters import Counted, Listed
from chalicelib.storage.forms import TABLES

MAX_CONCURRENCY: Final = 8

Advance = Callable[[int], None]
FormCounts = Mapping[tuple[FormKind, str], int]
Totals = Mapping[Listed | Counted, int]


def load_form_counts(account_id: str) -> FormCounts:
    """Load the submission counts by kind and id of the form. Two requests per 100 forms."""
    return {
        (kind, form_id): count
        for kind, table in TABLES.items()
        for rows in form_positions(account_id, table).walk()
        for form_id, count in table.load_counts([row.form_id for row in rows]).items()
    }


def check_feedback(
    account_id: str,
    forms: FormCounts,
    totals: Totals,
    statistics: StatisticsCheck,
    until: datetime,
    fix: bool,
    advance: Advance,
) -> Iterator[Difference]:
    """Yield the wrong counts of forms, the account's feedback count and the wrong statistics.

    Args:
        forms, totals: the counts at the time ``until``.
        statistics: the statistics at this time.
    """
    counted: Counter[tuple[FormKind, str]] = Counter()
    for group in in_groups(records.counted_feedback(account_id, until), MAX_LIMIT):
        statistics.add_feedback(group)
        counted.update((each.feedback.kind, each.feedback.form_id) for each in group)
        advance(len(group))
    for (kind, form_id), count in forms.items():
        expected = counted[kind, form_id]
        if count == expected:
            continue
        # If the count has changed since, feedback was processed during the check.
        is_repaired = fix and TABLES[kind].correct_count(form_id, count, expected)
        subject = f"{kind.value.lower().replace('_', '-')} {form_id}"
        yield Difference(subject, "submissions", count, expected, is_repaired)
    yield from _check_total(account_id, Counted.FEEDBACK, totals, counted.total(), fix)
    yield from statistics.differences()


def check_purchases_and_solicitations(
    account_id: str, totals: Totals, fix: bool
) -> Iterator[Difference]:
    """Yield the numbers of purchases, and of solicitations by outcome, that are wrong."""
    purchases = records.count_purchases(account_id)
    yield from _check_total(account_id, Counted.PURCHASES, totals, purchases, fix)
    outcomes = records.count_outcomes(account_id)
    for kind in solicitations.OUTCOMES.values():
        yield from _check_total(account_id, kind, totals, outcomes[kind], fix)


def _check_total(
    account_id: str, kind: Counted, totals: Totals, counted: int, fix: bool
) -> Iterator[Difference]:
    """Yield the difference if a counter does not equal the number of records."""
    before = totals[kind]
    if before == counted:
        return
    is_unchanged = counters.load_counts(account_id)[kind] == before
    if fix and is_unchanged:
        counters.correct_count(account_id, kind, counted - before)
    yield Difference("account", kind.value, before, counted, fix and is_unchanged)


def check_customers(
    account_id: str, until: datetime, fix: bool, advance: Advance
) -> Iterator[Difference]:
    """Yield the wrong counts of customers.

    Two requests per customer, and one per 100 feedback records of a customer.

    Args:
        until: the start of the check. A customer that has changed since is not repaired.
    """
    check = partial(_check_customer, account_id, until, fix)
    for group in records.walk_customers(account_id):
        if group:
            for differences in map_concurrently(check, group, MAX_CONCURRENCY):
                yield from differences
        advance(len(group))


def _check_customer(
    account_id: str, until: datetime, fix: bool, customer: Customer
) -> list[Difference]:
    feedback = list(records.counted_feedback_of_customer(account_id, customer.id))
    ratings = [record.rating for record in feedback if record.rating is not None]
    expected = {
        "purchase_count": records.count_purchases_of_customer(account_id, customer.id),
        "feedback_count": len(feedback),
        "rating_sum": sum(ratings),
        "rating_count": len(ratings),
    }
    if not _differing(customer, expected):
        return []
    # The customer was read from an index, and the index can be outdated.
    current = customers.find(account_id, customer.id)
    differing = _differing(current, expected) if current else {}
    if current is None or not differing:
        return []
    is_repaired = (
        fix
        and current.updated_at <= until
        and records.correct_customer(account_id, current, expected)
    )
    return [
        Difference(f"customer {customer.id}", name, stored, value, is_repaired)
        for name, (stored, value) in differing.items()
    ]


def _differing(customer: Customer, expected: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """Return the stored and the expected value of each wrong count, by name of the count."""
    return {
        name: (getattr(customer, name), value)
        for name, value in expected.items()
        if getattr(customer, name) != value
    }
