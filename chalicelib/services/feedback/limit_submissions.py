"""Protecting open forms: so many submissions from one source to one form in a window of time."""

from chalicelib.domain import clock
from chalicelib.domain.errors import TooManyRequests, Unavailable
from chalicelib.domain.feedback.submission_limit import SubmissionLimit, SubmissionWindow
from chalicelib.log import logger
from chalicelib.settings import settings
from chalicelib.storage import rate_limits


def limit_submissions(form_id: str, address: str) -> None:
    """Counts a submission that is about to be kept. One request to AWS, none without a limit.

    When the counter fails, everything passes: a form that takes too much is better than one that
    takes nothing.

    Raises:
        TooManyRequests: this source has submitted to this form too often in this window.
    """
    limit = SubmissionLimit(settings().submissions, settings().submission_window_s)
    if not limit.most or not address:
        return
    now = clock.now()
    window = SubmissionWindow.at(now, limit.window_s, form_id, address)
    try:
        submitted = rate_limits.count(window.key, window.ends_at)
    except Unavailable:
        logger.warning("submissions pass uncounted", form_id=form_id)
        return
    if submitted > limit.most:
        raise TooManyRequests(window.seconds_left(now))
