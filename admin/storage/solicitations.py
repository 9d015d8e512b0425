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
from chalicelib.storage.dynamodb.table import read_together
from chalicelib.storage.dynamodb.transactions import retry_on_contention
from chalicelib.storage.dynamodb.unit_of_work import transaction
from chalicelib.storage.solicitations import WORK, SolicitationRow, build_solicitation

_FILTERED_PAGE_SIZE: Final = 1_000


def reopen_unknown(solicitation_id: str, now: datetime) -> SolicitationPointer | None:
    """Make a solicitation with the outcome UNKNOWN pending again and return its pointer.

    Return None if the solicitation has another state. The transaction also corrects the number of
    unknown outcomes. Two requests.

    Raises:
        Unavailable: the database throttles, or contention persists.
    """

    def attempt() -> SolicitationPointer | None:
        (row,) = read_together((SolicitationRow, solicitation_id))
        if row is None or row.state != SolicitationState.UNKNOWN:
            return None
        unchanged = SolicitationRow.has(state=row.state, claim_token=row.claim_token)
        with transaction() as write:
            write.update(row, WORK.reopening(row, now), unchanged)
            counters.count(write, row.account_id, Counted.UNKNOWN, row.solicitation_id, -1)
        pointer: SolicitationPointer = row.pointer(now)
        return pointer

    return retry_on_contention(attempt)


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
