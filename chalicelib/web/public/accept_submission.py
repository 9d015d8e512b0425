"""Accept the submission or the tapped answers in a request: ``POST /public/…/submit``."""

from chalicelib.domain.errors import FeedbackError
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.feedback.submission import ContactFormSubmission, SurveySubmission
from chalicelib.domain.idempotency import HEADER as IDEMPOTENCY_HEADER
from chalicelib.domain.idempotency import read_key
from chalicelib.log import logger
from chalicelib.services.feedback.limit_submissions import count_rejected
from chalicelib.services.feedback.submit import (
    SubmissionMetadata,
    submit_contact_form,
    submit_survey,
)
from chalicelib.services.forms.cached_forms import reject_private_survey
from chalicelib.web.error_collector import ErrorCollector
from chalicelib.web.public.endpoint import PublicRequest
from chalicelib.web.public.submission_body import PostedForm


def accept_submission(request: PublicRequest, posted: PostedForm) -> Feedback:
    """Accept the submission in a request.

    Raises:
        UnsupportedMediaType: the content type is not ``multipart/form-data``.
        InputTooLarge: the body exceeds `MAX_SUBMISSION_BYTES`.
        InvalidInput: the body or the idempotency key is invalid. Lists every error.
        FeedbackError: see `submit_contact_form` and `submit_survey`.
    """
    submission, metadata = _read(request, posted)
    if isinstance(submission, SurveySubmission):
        feedback = submit_survey(submission, metadata)
    else:
        feedback = submit_contact_form(submission, metadata)
    logger.append_keys(feedback_id=feedback.id)
    return feedback


def accept_taps(request: PublicRequest, posted: PostedForm) -> None:
    """Save the tapped answers in a request.

    Raises:
        FeedbackError: see `accept_submission` and `save_taps`.
    """
    from chalicelib.services.feedback.save_taps import save_taps

    submission, metadata = _read(request, posted)
    if isinstance(submission, SurveySubmission):
        save_taps(submission, metadata)


def _read(
    request: PublicRequest, posted: PostedForm
) -> tuple[ContactFormSubmission | SurveySubmission, SubmissionMetadata]:
    respondent = request.respondent
    logger.append_keys(source=respondent.address, form_id=posted.form_id)
    with count_rejected(posted.form_id, respondent.address):
        try:
            with ErrorCollector() as errors:
                header = request.http.headers.get(IDEMPOTENCY_HEADER)
                key = errors.of(lambda: read_key(header), otherwise=None)
                body = posted.parse()
        except FeedbackError:
            if posted.is_survey and not posted.has_tracker:
                reject_private_survey(posted.form_id)
            raise
    key = key or body.idempotency_key
    return body.submission, SubmissionMetadata(respondent, key, body.is_honeypot_filled)
