"""Accept submissions from browsers that display the response: ``POST /public/…/submit``.

The response is a page: the thank-you page, or the form with the submitted answers and the errors.
"""

from typing import Final

from chalice import Response

from chalicelib.domain.errors import (
    FeedbackError,
    IdempotencyKeyReused,
    InvalidInput,
    TooManyRequests,
    Unavailable,
)
from chalicelib.domain.idempotency import PART as IDEMPOTENCY_PART
from chalicelib.services.forms.pages import get_submitted_form
from chalicelib.web import query
from chalicelib.web.pages.pre_redirect import FORM, STEP
from chalicelib.web.pages.words import PageWords, page_words
from chalicelib.web.problems import retry_headers, status_of
from chalicelib.web.public.accept_submission import accept_submission
from chalicelib.web.public.endpoint import PublicRequest
from chalicelib.web.public.form_page import FormState, show_form, show_thanks
from chalicelib.web.public.form_request import FormRequest
from chalicelib.web.public.submission_body import PostedForm

_CHECK: Final = (STEP, "check")
"""The form part that requests the form again, without storing the answers."""


def submit_page(request: PublicRequest, posted: PostedForm) -> Response:
    """Accept a submission, or only evaluate its conditions, and return a page.

    Raises:
        FeedbackError: the form cannot be displayed again.
    """
    if _CHECK in posted.parts:
        return _show_again(request, posted, None)
    try:
        feedback = accept_submission(request, posted)
    except (InvalidInput, TooManyRequests, Unavailable, IdempotencyKeyReused) as error:
        if not posted.form_id:
            raise
        return _show_again(request, posted, error)
    form = get_submitted_form(feedback, request.respondent)
    return show_thanks(form, feedback, is_offered=query.text(request.http, STEP) == FORM)


def _show_again(
    request: PublicRequest, posted: PostedForm, error: FeedbackError | None
) -> Response:
    """Return the form with the respondent's answers and, if there is one, the error.

    If the idempotency key is already used for other answers, the form gets a new key, so that the
    respondent can decide to send these answers too.
    """
    wanted, form = FormRequest.of_submission(request, posted).display(request.respondent)
    words = page_words(form.view.language)
    questionnaire, posted_answers = form.cached.questionnaire, posted.answers
    errors, has_other_errors = _errors_by_field(error, [field_id for field_id, _ in posted_answers])
    state = FormState(
        answers={
            field_id: questionnaire.canonical(field_id, values)
            for field_id, values in reversed(posted_answers)
            if field_id in questionnaire.fields
        },
        errors=errors,
        message=_message(error, words) if has_other_errors else "",
        idempotency_key=""
        if isinstance(error, IdempotencyKeyReused)
        else posted.texts.get(IDEMPOTENCY_PART, ""),
    )
    return show_form(wanted, form, state, status_of(error) if error else 200, retry_headers(error))


def _errors_by_field(
    error: FeedbackError | None, field_ids: list[str]
) -> tuple[dict[str, str], bool]:
    """Return the code of the first error of each field, and whether there are other errors."""
    if not isinstance(error, InvalidInput):
        return {}, error is not None
    codes: dict[str, str] = {}
    others = False
    for each in error.errors:
        match each.path:
            case ["fields", int(position), *_] if position < len(field_ids):
                codes.setdefault(field_ids[position], each.code)
            case _:
                others = True
    return codes, others


def _message(error: FeedbackError | None, words: PageWords) -> str:
    messages = {
        "too_many_requests": words.too_many_requests,
        "idempotency_key_reused": words.already_received,
        "unavailable": words.not_sent,
    }
    return messages.get(error.code if error else "", words.errors["invalid"])
