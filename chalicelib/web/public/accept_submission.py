"""Read the submission in a request, and accept it: ``POST /public/…/submit``."""

from chalicelib.domain.errors import FeedbackError
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.feedback.submission import ContactFormSubmission, SurveySubmission
from chalicelib.domain.idempotency import HEADER as IDEMPOTENCY_HEADER
from chalicelib.domain.idempotency import read_key
from chalicelib.log import logger
from chalicelib.services.feedback.submit import (
    SubmissionMetadata,
    reject_submission,
    submit_contact_form,
    submit_survey,
)
from chalicelib.web.error_collector import ErrorCollector
from chalicelib.web.public.endpoint import PublicRequest
from chalicelib.web.public.multipart import Part
from chalicelib.web.public.submission_body import (
    Submission,
    has_tracker,
    parse_submission,
    read_form_id,
)


def accept_submission(request: PublicRequest, *, is_survey: bool) -> Feedback:
    """Accept the submission in a request.

    Raises:
        UnsupportedMediaType: the content type is not ``multipart/form-data``.
        InputTooLarge: the body exceeds `MAX_SUBMISSION_BYTES`.
        InvalidInput: the body or the idempotency key is invalid. Lists every error.
        FeedbackError: see `submit_contact_form` and `submit_survey`.
    """
    if is_survey:
        feedback = submit_survey(*_read(request, SurveySubmission))
    else:
        feedback = submit_contact_form(*_read(request, ContactFormSubmission))
    logger.append_keys(feedback_id=feedback.id)
    return feedback


def _read(request: PublicRequest, model: type[Submission]) -> tuple[Submission, SubmissionMetadata]:
    respondent = request.respondent
    logger.append_keys(source=respondent.address)
    parts: list[Part] = []
    try:
        with ErrorCollector() as errors:
            header = request.http.headers.get(IDEMPOTENCY_HEADER)
            key = errors.of(lambda: read_key(header), otherwise=None)
            parts = request.parts
            logger.append_keys(form_id=read_form_id(parts))
            body = parse_submission(parts, model)
    except FeedbackError as error:
        is_without_tracker = model is SurveySubmission and not has_tracker(parts)
        reject_submission(
            read_form_id(parts),
            respondent.address,
            error,
            is_survey_without_tracker=is_without_tracker,
        )
    key = key or body.idempotency_key
    return body.submission, SubmissionMetadata(respondent, key, body.is_honeypot_filled)
