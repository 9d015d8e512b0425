"""Limit the number of submissions from one source address to one form per time window."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Final

from cachetools import FIFOCache

from chalicelib.domain import clock
from chalicelib.domain.errors import FeedbackError, NotFound, TooManyRequests, Unavailable
from chalicelib.domain.feedback.submission_limit import SubmissionWindow
from chalicelib.log import logger
from chalicelib.settings import settings
from chalicelib.storage import rate_limits

_exceeded: Final[FIFOCache[str, bool]] = FIFOCache(maxsize=10_000)
"""The keys of exceeded time windows. Keys are never reused, so no key needs to expire."""


def limit_submissions(form_id: str, address: str) -> datetime | None:
    """Count a submission and check that the count is within the limit.

    Return the time at which DynamoDB counted the submission, in full seconds, or None if it was not
    counted. If the counter is unavailable, accept the submission, so that no feedback is lost. One
    AWS request; none if no limit is configured, or if this process knows that the source address
    exceeded the limit. The process remembers exceeded limits, so that abuse cannot overload the
    partition that contains the counter.

    Raises:
        TooManyRequests: the source address exceeded the limit in this time window.
    """
    maximum = settings().submissions
    if not maximum or not address:
        return None
    now = clock.now()
    window = SubmissionWindow.at(now, settings().submission_window_s, form_id, address)
    if _exceeded.get(window.key):
        raise TooManyRequests(window.seconds_left(now))
    try:
        submitted, counted_at = rate_limits.count(window.key, window.ends_at)
    except Unavailable:
        logger.warning("submission not counted", form_id=form_id)
        return None
    if submitted > maximum:
        _exceeded[window.key] = True
        raise TooManyRequests(window.seconds_left(now))
    return counted_at


@contextmanager
def count_rejected(form_id: str, address: str) -> Iterator[None]:
    """Count the submission if the block rejects it with another error than the ones below.

    Each source address has one shared count for all its submissions whose form is unknown or whose
    form id is invalid. Pass ``""`` as ``form_id`` if the id is invalid. One AWS request if the
    submission is rejected; none if no limit is configured.

    Raises:
        TooManyRequests: the source address exceeded the limit in this time window.
        Unavailable: raised by the block.
    """
    try:
        yield
    except (TooManyRequests, Unavailable):
        raise
    except FeedbackError as error:
        limit_submissions("" if isinstance(error, NotFound) else form_id, address)
        raise
