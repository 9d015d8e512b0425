"""List the solicitations of an account, and make them pending again."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from chalicelib.domain.solicitation.solicitation import (
    Solicitation,
    SolicitationPointer,
    SolicitationState,
)
from chalicelib.storage import counters
from chalicelib.storage.counters import Counted
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.solicitations import SolicitationRow, build_solicitation

_FILTERED_PAGE_SIZE: Final = 1_000


def reopen_unknown(solicitation_id: str, now: datetime) -> SolicitationPointer | None:
    """Make a solicitation with the outcome UNKNOWN pending again and return its pointer.

    Return None if the solicitation has another state. The transaction also corrects the number of
    unknown outcomes. Two requests.

    Raises:
        Unavailable: the database throttles, or contention persists.
    """

    def use_case(rows: Rows) -> SolicitationPointer | None:
        key = Key(SolicitationRow, solicitation_id)
        rows.prefetch(key)
        row = rows.get(key, SolicitationRow.state)
        if row is None or row.state != SolicitationState.UNKNOWN:
            return None
        row.reopen(now)
        counters.count(rows, row.account_id, Counted.UNKNOWN, row.solicitation_id, -1)
        return row.pointer(now)

    return commit(use_case)


def list_for_account(
    account_id: str,
    *,
    state: SolicitationState | None = None,
    reason: str | None = None,
    since: datetime | None = None,
    at_most: int,
) -> Iterator[Solicitation]:
    """Yield up to ``at_most`` solicitations of the account, newest first."""
    filters = []
    if state:
        filters.append(SolicitationRow.state == state.value)
    if reason:
        filters.append(SolicitationRow.reason == reason)
    rows = SolicitationRow.by_account.query(
        account_id,
        SolicitationRow.created_at >= since if since else None,
        filter_condition=filters[0] & filters[-1] if filters else None,
        scan_index_forward=False,
        limit=at_most,
        page_size=_FILTERED_PAGE_SIZE if filters else min(at_most, _FILTERED_PAGE_SIZE),
    )
    return (build_solicitation(row) for row in rows)
