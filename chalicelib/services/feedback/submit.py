"""Taking in what end users submit (interface, endpoints 11 and 13): judged, kept, then queued."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.errors import Conflict, FeedbackError, TooManyRequests, Unavailable
from chalicelib.domain.feedback.feedback import SOURCES, Feedback, FeedbackPointer, FormKind
from chalicelib.domain.feedback.submission import ContactFormSubmission, SurveySubmission
from chalicelib.domain.forms.contact_form import SavedContactForm
from chalicelib.domain.forms.redirect import redirect_to
from chalicelib.domain.forms.survey import Channel, SavedSurvey
from chalicelib.domain.forms.survey_context import SurveyContext
from chalicelib.domain.idempotency import Origin, origin_of
from chalicelib.outbound.feedback_queue import queue_feedback
from chalicelib.services.feedback.limit_submissions import limit_submissions
from chalicelib.services.forms import cached_forms as held_forms
from chalicelib.services.forms.cached_forms import CachedForm, Respondent
from chalicelib.services.forms.survey_access import require_fresh, require_places, require_public
from chalicelib.storage import feedback, trackers
from chalicelib.storage.dynamodb.transactions import retry_on_contention, transaction

CONTACT_FORM_ENDPOINT: Final = "POST /public/contact-form/submit"
SURVEY_ENDPOINT: Final = "POST /public/survey/submit"


@dataclass(frozen=True)
class Submitter:
    """Who submits, and how.

    Attributes:
        idempotency_key: the request's own, if it has one.
        is_trapped: whether a field was filled that no person sees. What a machine submits without
            a tracker is answered like any other submission, and not kept.
    """

    respondent: Respondent = field(default_factory=Respondent)
    idempotency_key: str | None = None
    is_honeypot_filled: bool = False


def submit_contact_form(submission: ContactFormSubmission, submitter: Submitter) -> Feedback:
    """Keeps the feedback, then queues it. Three requests to AWS.

    The same submission again under its idempotency key answers with the feedback that it made.

    Raises:
        InvalidInput: an answer, the store or the key breaks a rule.
        NotFound: there is no such contact form.
        Conflict: the form is disabled.
        IdempotencyKeyReused: the key came before with another input.
        TooManyRequests: the source has submitted too often.
        Unavailable: the feedback could not be kept.
    """
    form = held_forms.contact_form(submission.id)
    origin = _origin(submission, submitter, CONTACT_FORM_ENDPOINT)

    def submit() -> Feedback:
        _require_enabled(form)
        require_places(
            form.directory,
            "/",
            store_id=submission.store,
            brand_id=submission.brand,
            of_brand=form.saved.brand_id,
        )
        judged = form.questionnaire.validate(submission.fields)
        made = Feedback(
            id=origin.record_id,
            account_id=form.account_id,
            kind=FormKind.CONTACT_FORM,
            form_id=form.saved.id,
            brand_id=form.saved.brand_id,
            store_id=submission.store,
            language=form.language_for(submitter.respondent),
            source=SOURCES[FormKind.CONTACT_FORM],
            context_id=submission.store or form.saved.brand_id,
            answers=tuple(judged.answers),
            rating=judged.rating,
            created_at=clock.now(),
        )
        return _keep(made, origin, submitter)

    return _or_earlier(submit, origin, submitter)


def submit_survey(submission: SurveySubmission, submitter: Submitter) -> Feedback:
    """As `submit_contact_form`, for a survey; its tracker, if there is one, is used up with it.

    Raises:
        NotAllowed: the survey is private and there is no tracker.
        NotFound: there is no such survey, or no such tracker of it.
        Conflict: the survey is disabled or the tracker was used.
    """
    form = held_forms.survey(submission.id)
    origin = _origin(submission, submitter, SURVEY_ENDPOINT)
    if submission.tracker:
        tracker_id = submission.tracker
        return retry_on_contention(
            lambda: _submit_with_tracker(form, submission, tracker_id, submitter, origin)
        )

    def submit() -> Feedback:
        require_public(form.saved)
        context = SurveyContext.at(
            form.directory, store_id=submission.store, brand_id=submission.brand
        )
        made = _survey_feedback(form, submission, submitter, origin, context)
        return _keep(made, origin, submitter)

    return _or_earlier(submit, origin, submitter)


def _submit_with_tracker(
    form: CachedForm[SavedSurvey],
    submission: SurveySubmission,
    tracker_id: str,
    submitter: Submitter,
    origin: Origin,
) -> Feedback:
    earlier, found = feedback.find_with_tracker(origin.record_id, tracker_id)
    if earlier:
        origin.check_same_input(earlier.input_hash)
        return earlier.feedback
    tracker = require_fresh(found, form.saved)
    context = SurveyContext.at(
        form.directory, store_id=tracker.store_id, send_mode=Channel(tracker.send_mode)
    )
    made = _survey_feedback(form, submission, submitter, origin, context).model_copy(
        update={
            "tracker_id": tracker.id,
            "purchase_id": tracker.purchase_id,
            "customer_id": tracker.customer_id,
            "context_id": tracker.id,
            "store_id": tracker.store_id,
        }
    )
    with transaction() as write:
        feedback.add(write, made, origin.input_hash)
        trackers.consume(write, tracker.id, made.id, made.created_at)
    _queue(made)
    return made


def _survey_feedback(
    form: CachedForm[SavedSurvey],
    submission: SurveySubmission,
    submitter: Submitter,
    origin: Origin,
    context: SurveyContext,
) -> Feedback:
    _require_enabled(form)
    require_places(form.directory, "/", store_id=submission.store, brand_id=submission.brand)
    judged = form.questionnaire.validate(submission.fields)
    store_id = context.store.id if context.store else None
    brand_id = context.brand.id if context.brand else None
    return Feedback(
        id=origin.record_id,
        account_id=form.account_id,
        kind=FormKind.SURVEY,
        form_id=form.saved.id,
        brand_id=brand_id,
        store_id=store_id,
        language=form.language_for(submitter.respondent),
        source=SOURCES[FormKind.SURVEY],
        context_id=store_id or brand_id or form.saved.id,
        answers=tuple(judged.answers),
        rating=judged.rating,
        redirect_to=redirect_to(form.saved, context, judged.rating),
        created_at=clock.now(),
    )


def _keep(made: Feedback, origin: Origin, submitter: Submitter) -> Feedback:
    limit_submissions(made.form_id, submitter.respondent.address)
    if submitter.is_honeypot_filled:
        return made
    if not feedback.create(made, origin.input_hash):
        # The same request came before: the answer to it was lost, or it carries a key.
        earlier = feedback.find(made.id)
        if earlier is None:
            raise Unavailable("The feedback was not kept.")
        origin.check_same_input(earlier.input_hash)
        return earlier.feedback
    _queue(made)
    return made


def _queue(made: Feedback) -> None:
    queue_feedback([FeedbackPointer(made.account_id, made.id)])


def _or_earlier(submit: Callable[[], Feedback], origin: Origin, submitter: Submitter) -> Feedback:
    """What ``submit`` makes; if it is refused by now, what the same request made before."""
    try:
        return submit()
    except (TooManyRequests, Unavailable):
        raise
    except FeedbackError:
        if submitter.idempotency_key is None:
            raise
        earlier = feedback.find(origin.record_id)
        if earlier is None:
            raise
        origin.check_same_input(earlier.input_hash)
        return earlier.feedback


def _origin(
    submission: ContactFormSubmission | SurveySubmission, submitter: Submitter, endpoint: str
) -> Origin:
    key = submitter.idempotency_key
    given = None if key is None else submission.model_dump(mode="json", exclude_none=True)
    return origin_of(submission.id, endpoint, key, given)


def _require_enabled(form: CachedForm[SavedContactForm] | CachedForm[SavedSurvey]) -> None:
    if not form.saved.enabled:
        raise Conflict("This form takes no answers at present.")
