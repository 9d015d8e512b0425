"""Request list positions for customers that were created without a position."""

from datetime import datetime, timedelta
from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.customers.listing import REQUEST_INTERVAL, listing_request
from chalicelib.domain.work import Swept
from chalicelib.outbound.queues import send
from chalicelib.queues import LISTING
from chalicelib.storage import customer_creation
from chalicelib.time_limits import has_time_for_work

_MAX_ACCOUNTS: Final = 1_000

_last_requests: Final[dict[str, datetime]] = {}


def request_positions(*account_ids: str) -> None:
    """Queue requests to assign positions to the new customers of accounts.

    At most one AWS request per ten accounts. If this process sent a request for an account less
    than a second ago, it sends none.

    The worker of the earlier request waits long enough to find the new customers too.
    If queueing fails, the sweeper queues a request.
    """
    now = clock.now()
    wanted = [account_id for account_id in account_ids if not _is_recent(account_id, now)]
    if len(_last_requests) + len(wanted) > _MAX_ACCOUNTS:
        _last_requests.clear()
    _last_requests.update(dict.fromkeys(wanted, now))
    requests = [listing_request(account_id, now) for account_id in wanted]
    if send(LISTING, requests) < len(requests):
        for account_id in wanted:
            _last_requests.pop(account_id, None)


def _is_recent(account_id: str, now: datetime) -> bool:
    last = _last_requests.get(account_id)
    return last is not None and timedelta(0) <= now - last < REQUEST_INTERVAL


def request_overdue_positions() -> Swept:
    """Queue one request for each account with overdue customers.

    Return the number of requests and the age of the oldest customer without a position.
    """
    now = clock.now()
    requested: set[str] = set()
    oldest = now
    for account_id, created_at in customer_creation.find_accounts_with_overdue(now):
        if not has_time_for_work():
            break
        oldest = min(oldest, created_at)
        if account_id not in requested:
            requested.add(account_id)
            send(LISTING, [listing_request(account_id, now)])
    return Swept(len(requested), int((now - oldest).total_seconds()))
