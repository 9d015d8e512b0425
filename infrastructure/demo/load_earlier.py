"""Load submissions that respondents made earlier, such as those of the demo data."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from chalicelib.domain import clock
from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.domain.feedback.submission import (
    AnySubmission,
    ContactFormSubmission,
    SurveySubmission,
)
from chalicelib.domain.forms.access import require_public, require_unused
from chalicelib.domain.forms.tracker import Tracker
from chalicelib.domain.idempotency import Origin
from chalicelib.services.feedback.process import process_feedback
from chalicelib.services.feedback.submit import (
    SubmissionMetadata,
    build_submitted,
    origin_of_submission,
)
from chalicelib.services.forms.cached_forms import get_contact_form, get_survey
from chalicelib.storage import feedback, trackers
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.feedback import FeedbackRow
from chalicelib.storage.trackers import TrackerRow


@dataclass(frozen=True)
class EarlierSubmission:
    """A submission that a respondent made earlier.

    Attributes:
        metadata: contains the idempotency key. The key identifies the submission.
    """

    submission: AnySubmission
    metadata: SubmissionMetadata
    submitted_at: datetime


def load_earlier_submissions(submissions: Sequence[EarlierSubmission]) -> int:
    """Validate, store and process submissions. Return the number of new records.

    The rules are those of the submit endpoints. A submission that is already stored is not stored
    again. No message is queued, because this function also processes the records: it updates counts
    and customers, and creates the executions of workflows.

    Args:
        submissions: up to `MAX_BATCH_SIZE` submissions.

    AWS requests: two, and the requests of `process_feedback`.

    Raises:
        InvalidInput, NotAllowed, NotFound, Conflict: a submission is invalid. None is stored.
        Unavailable: another process stores the same submissions. None is stored.
    """
    origins = [origin_of_submission(s.submission, s.metadata) for s in submissions]
    added = commit(partial(_add, submissions, origins))
    process_feedback([origin.record_id for origin in origins])
    return added


def _add(submissions: Sequence[EarlierSubmission], origins: Sequence[Origin], rows: Rows) -> int:
    keys = [Key(FeedbackRow, origin.record_id) for origin in origins]
    rows.prefetch(*keys, *filter(None, map(_tracker_key, submissions)))
    added = 0
    for earlier, origin, key in zip(submissions, origins, keys, strict=True):
        stored, tracker_key = rows.known(key), _tracker_key(earlier)
        if stored is None or stored.key_hash != origin.key_hash:
            row = rows.known(tracker_key) if tracker_key else None
            record = _build(earlier, origin, trackers.build_tracker(row) if row else None)
            feedback.put(rows, record, origin)
            if tracker_key:
                trackers.consume(rows, tracker_key.hash_key, record.id, record.created_at)
            added += 1
    return added


def _tracker_key(earlier: EarlierSubmission) -> Key[TrackerRow] | None:
    submission = earlier.submission
    tracker_id = submission.tracker if isinstance(submission, SurveySubmission) else None
    return Key(TrackerRow, tracker_id) if tracker_id else None


def _build(earlier: EarlierSubmission, origin: Origin, tracker: Tracker | None) -> Feedback:
    submission, metadata = earlier.submission, earlier.metadata
    with clock.fixed_at(earlier.submitted_at):
        if isinstance(submission, ContactFormSubmission):
            form = get_contact_form(submission.id)
            return build_submitted(form, submission, metadata, origin)
        survey = get_survey(submission.id)
        if not submission.tracker:
            require_public(survey.saved)
            return build_submitted(survey, submission, metadata, origin)
        tracker = require_unused(tracker, survey.saved)
        return build_submitted(survey, submission, metadata, origin, tracker)
