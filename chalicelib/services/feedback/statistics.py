"""Read the statistics about feedback and surveys: ``POST /partners/statistics``."""

from collections.abc import Iterator
from datetime import date
from typing import Final

from chalicelib.domain.errors import InvalidInput, TooMuch
from chalicelib.domain.feedback.daily import DailyGroup, Numbers
from chalicelib.domain.feedback.statistics import (
    Statistics,
    StatisticsRequest,
    build_statistics,
)
from chalicelib.storage import statistics

MAX_REQUESTS: Final = 20
"""Maximum number of AWS requests, each of which reads up to 1 MB."""


def read_statistics(account_id: str, request: StatisticsRequest) -> Statistics:
    """Return the account's statistics. One AWS request per MB.

    Raises:
        TooMuch: the fields contradict each other, or the statistics would be too large.
    """
    errors = list(request.rule_errors())
    if errors:
        raise InvalidInput(errors)
    numbers = daily_numbers(account_id, request.since, request.until, MAX_REQUESTS)
    return build_statistics(request, numbers)


def daily_numbers(
    account_id: str, since: date, until: date, max_requests: int | None = None
) -> Iterator[tuple[DailyGroup, Numbers]]:
    """Yield the numbers of each day and group. One AWS request per MB.

    Args:
        since: the first day.
        until: the last day.
        max_requests: the maximum number of requests. Default: no limit.

    Raises:
        TooMuch: the period needs more requests.
    """
    pages = statistics.load_pages(account_id, since.isoformat(), until.isoformat())
    for number, page in enumerate(pages, 1):
        if max_requests is not None and number > max_requests:
            raise TooMuch(f"The period has more than {max_requests} MB of numbers.")
        for key, numbers in page:
            yield DailyGroup.parse(key), numbers
