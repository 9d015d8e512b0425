"""Accept the submission or the tapped answers in a request: ``POST /public/…/submit``."""

from chalicelib.domain.errors import InvalidInput
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.feedback.submission import (
    MAX_SUBMISSION_BYTES,
    AnySubmission,
    SurveySubmission,
)
from chalicelib.domain.idempotency import HEADER as IDEMPOTENCY_HEADER
from chalicelib.domain.idempotency import key_errors
from chalicelib.log import logger
from chalicelib.services.feedback.limit_submissions import count_rejected
from chalicelib.services.feedback.submit import SubmissionMetadata, submit_feedback
from chalicelib.services.forms.cached_forms import reject_private_survey
from chalicelib.web.public.endpoint import PublicRequest
from chalicelib.web.public.multipart import read_parts
from chalicelib.web.public.submission_body import HONEYPOT, PostedForm


def read_submission(request: PublicRequest, *, is_survey: bool) -> PostedForm:
    """Read the submission in a request, valid or not. A body that cannot be read is rejected.

    Raises:
        UnsupportedMediaType, InputTooLarge, InvalidInput: see `read_parts`.
    """
    address, key = request.respondent.address, request.http.headers.get(IDEMPOTENCY_HEADER)
    logger.append_keys(source=address, form_id="")
    with count_rejected("", address):
        try:
            parts = read_parts(request.http, max_bytes=MAX_SUBMISSION_BYTES)
        except InvalidInput as error:
            raise InvalidInput([*key_errors(key), *error.errors]) from None
    posted = PostedForm.of(parts, is_survey=is_survey, key=key)
    logger.append_keys(form_id=posted.form_id)
    return posted


def accept_submission(request: PublicRequest, posted: PostedForm) -> Feedback:
    """Accept a submission. If it is rejected, it counts towards the rate limit.

    Raises:
        InvalidInput: the submission or the idempotency key is invalid. Lists every error.
        FeedbackError: see `submit_feedback`.
    """
    with count_rejected(posted.form_id, request.respondent.address):
        feedback = submit_feedback(*_require_valid(request, posted))
    logger.append_keys(feedback_id=feedback.id)
    return feedback


def accept_taps(request: PublicRequest, posted: PostedForm) -> None:
    """Save tapped answers. If they are rejected, they count towards the rate limit.

    Raises:
        FeedbackError: see `accept_submission` and `save_taps`.
    """
    from chalicelib.services.feedback.save_taps import save_taps

    with count_rejected(posted.form_id, request.respondent.address):
        submission, metadata = _require_valid(request, posted)
        if isinstance(submission, SurveySubmission):
            save_taps(submission, metadata)


def _require_valid(
    request: PublicRequest, posted: PostedForm
) -> tuple[AnySubmission, SubmissionMetadata]:
    if posted.submission is None:
        if posted.is_survey and not posted.has_tracker:
            reject_private_survey(posted.form_id)
        raise InvalidInput(posted.errors)
    is_honeypot_filled = HONEYPOT in posted.texts
    metadata = SubmissionMetadata(request.respondent, posted.idempotency_key, is_honeypot_filled)
    return posted.submission, metadata
