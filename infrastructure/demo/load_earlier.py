"""Load submissions that respondents made earlier, such as those of the demo data."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain import clock
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.feedback.submission import ContactFormSubmission, SurveySubmission
from chalicelib.domain.forms.access import require_public, require_unused
from chalicelib.domain.idempotency import Origin
from chalicelib.services.feedback.process import process_feedback
from chalicelib.services.feedback.submit import (
    SubmissionMetadata,
    build_submitted,
    origin_of_submission,
)
from chalicelib.services.forms.cached_forms import get_contact_form, get_survey
from chalicelib.storage import feedback, trackers
from chalicelib.storage.dynamodb.unit_of_work import transaction


@dataclass(frozen=True)
class EarlierSubmission:
    """A submission that a respondent made earlier.

    Attributes:
        metadata: contains the idempotency key. The key identifies the submission.
    """

    submission: ContactFormSubmission | SurveySubmission
    metadata: SubmissionMetadata
    submitted_at: datetime


def load_earlier_submissions(submissions: Sequence[EarlierSubmission]) -> int:
    """Validate, store and process submissions. Return the number of new records.

    The rules are those of the submit endpoints. A submission that is already stored is not stored
    again. No message is queued, because this function also processes the records: it updates counts
    and customers, and creates the executions of workflows.

    Args:
        submissions: up to `MAX_BATCH_SIZE` submissions.

    AWS requests: two, one more for each tracker, and the requests of `process_feedback`.

    Raises:
        InvalidInput, NotAllowed, NotFound, Conflict: a submission is invalid. None is stored.
        Contention: a tracker was used at the same time. None is stored.
    """
    origins = [origin_of_submission(s.submission, s.metadata) for s in submissions]
    stored = feedback.find_many([origin.record_id for origin in origins])
    new = [
        (_build(submission, origin), origin)
        for submission, origin in zip(submissions, origins, strict=True)
        if (earlier := stored.get(origin.record_id)) is None or earlier.key_hash != origin.key_hash
    ]
    if new:
        with transaction() as write:
            for record, origin in new:
                feedback.add(write, record, origin)
                if record.tracker_id:
                    trackers.consume(write, record.tracker_id, record.id, record.created_at)
    process_feedback([origin.record_id for origin in origins])
    return len(new)


def _build(earlier: EarlierSubmission, origin: Origin) -> Feedback:
    submission, metadata = earlier.submission, earlier.metadata
    with clock.fixed_at(earlier.submitted_at):
        if isinstance(submission, ContactFormSubmission):
            form = get_contact_form(submission.id)
            return build_submitted(form, submission, metadata, origin)
        survey, tracker = get_survey(submission.id), None
        if submission.tracker:
            tracker = require_unused(trackers.find(submission.tracker), survey.saved)
        else:
            require_public(survey.saved)
        return build_submitted(survey, submission, metadata, origin, tracker)
