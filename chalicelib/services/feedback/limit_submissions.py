"""Limit the submissions of one source to one form per time window."""

from chalicelib.domain import clock
from chalicelib.domain.errors import TooManyRequests, Unavailable
from chalicelib.domain.feedback.submission_limit import SubmissionLimit, SubmissionWindow
from chalicelib.log import logger
from chalicelib.settings import settings
from chalicelib.storage import rate_limits


def limit_submissions(form_id: str, address: str) -> None:
    """Count a submission and check the limit. One AWS request, none without a limit.

    If the counter is unavailable, submissions are accepted: too many submissions are better than
    none.

    Raises:
        TooManyRequests: the source reached the limit of this window.
    """
    limit = SubmissionLimit(settings().submissions, settings().submission_window_s)
    if not limit.maximum or not address:
        return
    now = clock.now()
    window = SubmissionWindow.at(now, limit.window_s, form_id, address)
    try:
        submitted = rate_limits.count(window.key, window.ends_at)
    except Unavailable:
        logger.warning("submission not counted", form_id=form_id)
        return
    if submitted > limit.maximum:
        raise TooManyRequests(window.seconds_left(now))
