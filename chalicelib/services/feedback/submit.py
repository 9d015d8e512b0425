"""Accept submissions to contact forms and surveys: ``POST /public/…/submit``."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from chalicelib.domain import clock
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.feedback.answers import Questionnaire
from chalicelib.domain.feedback.feedback import (
    SOURCES,
    Feedback,
    FeedbackPointer,
    FormKind,
    feedback_id_of,
)
from chalicelib.domain.feedback.submission import (
    AnySubmission,
    ContactFormSubmission,
    SurveySubmission,
)
from chalicelib.domain.forms.access import (
    place_errors,
    require_open,
    require_public,
    require_unused,
)
from chalicelib.domain.forms.labels import label_errors
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.forms.survey_context import SurveyContext, redirect_to
from chalicelib.domain.forms.tracker import Tracker
from chalicelib.domain.idempotency import Origin, origin_of
from chalicelib.outbound.queues import send
from chalicelib.queues import FEEDBACK
from chalicelib.services.feedback.limit_submissions import limit_submissions
from chalicelib.services.forms.cached_forms import (
    AnyCachedForm,
    CachedForm,
    Respondent,
    get_contact_form,
    get_survey,
)
from chalicelib.storage import feedback, trackers
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.feedback import FeedbackRow
from chalicelib.storage.trackers import TrackerRow


@dataclass(frozen=True)
class SubmissionMetadata:
    """The data of a submit request that is not part of the submission.

    Attributes:
        idempotency_key: the idempotency key of the request, or None.
        is_honeypot_filled: whether the hidden field is filled. Normally, only bots fill it. Such a
            submission gets a normal response and is discarded, unless it has a tracker.
    """

    respondent: Respondent = field(default_factory=Respondent)
    idempotency_key: str | None = None
    is_honeypot_filled: bool = False


def submit_feedback(submission: AnySubmission, metadata: SubmissionMetadata) -> Feedback:
    """Store a submission as a feedback record, and queue the record. Mark its tracker as used.

    If the idempotency key was used before, return the feedback record of the first request. If
    queueing fails, the sweeper queues the record. Three AWS requests; without a tracker, one more
    with an idempotency key. If the submission is not counted, one of them reads the time of
    DynamoDB.

    Raises:
        InvalidInput: an answer, the store or the brand is invalid.
        TrackerRequired: the survey is private and the submission has no tracker.
        NotFound: the form does not exist, or the tracker does not belong to it.
        Conflict: the form is disabled, or the tracker is already used.
        IdempotencyKeyReused: the key was used before with different input.
        TooManyRequests: the source address exceeded its limit of submissions.
        Unavailable: the feedback record was not stored.
    """
    origin = origin_of_submission(submission, metadata)
    if isinstance(submission, ContactFormSubmission):
        return _submit(get_contact_form(submission.id), submission, metadata, origin)
    survey = get_survey(submission.id)
    if tracker_id := submission.tracker:
        use_case = partial(_use_tracker, survey, tracker_id, submission, metadata, origin)
        record, is_new = commit(use_case)
        if is_new:
            send(FEEDBACK, [FeedbackPointer(record.account_id, record.id)])
        return record
    require_public(survey.saved)
    return _submit(survey, submission, metadata, origin)


def _use_tracker(
    survey: CachedForm[SavedSurvey],
    tracker_id: str,
    submission: SurveySubmission,
    metadata: SubmissionMetadata,
    origin: Origin,
    rows: Rows,
) -> tuple[Feedback, bool]:
    """Return the feedback of the tracker. Return also whether this unit of work adds it."""
    key, tracker_key = Key(FeedbackRow, origin.record_id), Key(TrackerRow, tracker_id)
    rows.prefetch(key, tracker_key)
    row, tracker_row = rows.known(key), rows.known(tracker_key)
    stored = feedback.build_stored(row) if row and not row.is_open else None
    if stored is None and tracker_row and tracker_row.used_at:
        # The tracker was used between the reads of feedback and tracker, or an operator has
        # deleted the feedback.
        stored = feedback.find(origin.record_id)
    if stored and origin.key_hash and stored.key_hash == origin.key_hash:
        origin.check_same_input(stored.input_hash)
        return stored.feedback, False
    found = trackers.build_tracker(tracker_row) if tracker_row else None
    tracker = require_unused(found, survey.saved)
    new = _at(rows.read_at, build_submitted(survey, submission, metadata, origin, tracker))
    feedback.put(rows, new, origin)
    trackers.consume(rows, tracker_id, new.id, new.created_at)
    return new, True


def build_submitted(
    form: AnyCachedForm,
    submission: AnySubmission,
    metadata: SubmissionMetadata,
    origin: Origin,
    tracker: Tracker | None = None,
    taps: Questionnaire | None = None,
) -> Feedback:
    """Validate the submission and build its feedback record.

    Args:
        tracker: the tracker of the submission, which determines the store and the brand.
        taps: validates tapped answers that were not sent. By default, the form's questionnaire.

    Raises:
        InvalidInput: an answer, a label, the store or the brand is invalid.
        Conflict: the form is disabled, closed or not open yet.
    """
    saved, directory, given = form.saved, form.directory, submission.labels or {}
    require_open(saved)
    places = {"store_id": submission.store, "brand_id": submission.brand}
    errors = [*place_errors(saved, directory, **places), *label_errors(saved.labels, given)]
    language = form.language_for(metadata.respondent)
    questionnaire = taps or form.questionnaire
    submitted = questionnaire.with_decimal_points(submission.fields, language)
    answers = questionnaire.validate(submitted, errors)
    if isinstance(saved, SavedSurvey):
        kind = FormKind.SURVEY
        context = (
            SurveyContext.of_tracker(directory, tracker)
            if tracker
            else SurveyContext.of_request(saved, directory, **places)
        )
        brand_id = context.brand.id if context.brand else None
        redirect = "" if taps else redirect_to(saved, context, answers.rating)
    else:
        context = SurveyContext.at(directory, store_id=submission.store)
        kind, brand_id, redirect = FormKind.CONTACT_FORM, saved.brand_id, ""
    return Feedback(
        id=origin.record_id,
        account_id=form.account_id,
        kind=kind,
        form_id=saved.id,
        brand_id=brand_id,
        store_id=context.store_id,
        tracker_id=tracker.id if tracker else None,
        purchase_id=tracker.purchase_id if tracker else None,
        customer_id=tracker.customer_id if tracker else None,
        language=language,
        source=SOURCES[kind],
        context_id=(tracker.id if tracker else None) or context.store_id or brand_id or saved.id,
        answers=tuple(answers.answers),
        rating=answers.rating,
        form_version=form.version,
        displayed_version=submission.version if submission.version != form.version else None,
        labels={**given, **((tracker and tracker.labels) or {})},
        redirect_to=redirect,
        is_partial=taps is not None,
        created_at=clock.now(),
    )


def _submit(
    form: AnyCachedForm,
    submission: AnySubmission,
    metadata: SubmissionMetadata,
    origin: Origin,
) -> Feedback:
    """Store a submission without a tracker, unless an earlier request has stored it."""
    earlier = feedback.find(origin.record_id) if metadata.idempotency_key else None
    if earlier is None:
        new = build_submitted(form, submission, metadata, origin)
        counted_at = limit_submissions(new.form_id, metadata.respondent.address)
        if metadata.is_honeypot_filled:
            return new
        new = _at(counted_at or feedback.time_before_create(new.id), new)
        if feedback.create(new, origin.input_hash):
            send(FEEDBACK, [FeedbackPointer(new.account_id, new.id)])
            return new
        # A concurrent duplicate of this request was stored first, or botocore lost the response to
        # its first write and retried the write.
        earlier = feedback.find(origin.record_id)
        if earlier is None:
            raise Unavailable("The feedback was not stored.")
    origin.check_same_input(earlier.input_hash)
    return earlier.feedback


def _at(second: datetime, new: Feedback) -> Feedback:
    """Return the feedback with a creation time in this second of DynamoDB's time.

    An erasure decides by this time whether the feedback is older. Therefore it must not depend on
    the clock of one process.
    """
    return new.model_copy(update={"created_at": clock.within(second)})


def origin_of_submission(submission: AnySubmission, metadata: SubmissionMetadata) -> Origin:
    """Return the id and the hashes of the submission's feedback record."""
    operation, tracker_id = "submit_contact_form", None
    if isinstance(submission, SurveySubmission):
        operation, tracker_id = "submit_survey", submission.tracker
    key = metadata.idempotency_key
    # A page that is loaded again after a lost response can name another version.
    parsed_input = (
        submission.model_dump(mode="json", exclude_none=True, exclude={"version"}) if key else None
    )
    origin = origin_of(submission.id, operation, key, parsed_input)
    return replace(origin, record_id=feedback_id_of(tracker_id)) if tracker_id else origin
