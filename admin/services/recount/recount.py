"""Check all counts and list positions of an account against its records."""

import time
from collections.abc import Callable, Iterator
from typing import Final

from admin.services.accounts.manage import require_account
from admin.services.recount import counts
from admin.services.recount.difference import Difference
from admin.services.recount.positions import check_positions
from admin.services.recount.statistics import StatisticsCheck
from admin.storage.list_positions import customer_positions, form_positions
from chalicelib.domain import clock
from chalicelib.storage.counters import load_counts
from chalicelib.storage.forms import TABLES

INDEX_LAG_S: Final = 5
"""The number of seconds after a write until all indexes contain the change."""


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
    lists = [
        customer_positions(account_id),
        *(form_positions(account_id, table) for table in TABLES.values()),
    ]
    totals = [positions.load_total() for positions in lists]
    form_counts = counts.load_form_counts(account_id)
    stored = load_counts(account_id)
    statistics = StatisticsCheck(account_id, fix=fix)
    started_at = clock.now()
    time.sleep(INDEX_LAG_S)
    for positions, total in zip(lists, totals, strict=True):
        yield from check_positions(positions, total, fix, advance)
    statistics.add_surveys()
    yield from counts.check_feedback(
        account_id, form_counts, stored, statistics, started_at, fix, advance
    )
    yield from counts.check_purchases_and_solicitations(account_id, stored, fix)
    yield from counts.check_customers(account_id, started_at, fix, advance)
