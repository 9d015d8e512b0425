"""Save ratings and choices before the respondent sends them: ``POST /public/survey/submit``."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final

from chalicelib.domain import clock
from chalicelib.domain.errors import InvalidInput, NotFound
from chalicelib.domain.feedback.feedback import Feedback, feedback_id_of
from chalicelib.domain.feedback.submission import SurveySubmission
from chalicelib.domain.feedback.taps import (
    SAVED_FOR,
    is_accepted,
    is_scanned,
)
from chalicelib.domain.forms.access import require_public
from chalicelib.domain.forms.survey import SavedSurvey
from chalicelib.domain.forms.tracker import Save, Tracker
from chalicelib.domain.idempotency import Origin, hash_of_input
from chalicelib.domain.input_errors import InputError
from chalicelib.log import logger
from chalicelib.metrics import metric_fields
from chalicelib.services.feedback.submit import SubmissionMetadata, build_submitted
from chalicelib.services.forms.cached_forms import CachedForm, get_survey
from chalicelib.storage import feedback, trackers
from chalicelib.storage.dynamodb.table import Key
from chalicelib.storage.dynamodb.unit_of_work import Rows, commit
from chalicelib.storage.feedback import FeedbackRow
from chalicelib.storage.trackers import TrackerRow

_HASH_LENGTH: Final = 16


def save_taps(submission: SurveySubmission, metadata: SubmissionMetadata) -> None:
    """Save tapped answers, or record that the respondent follows the offer of a review.

    The answers replace those of earlier saves. Without an answer, or if a required box is not
    ticked, nothing stays saved. A save has no effect if the tracker is used, the survey saves no
    taps, the time of the saved taps has ended, or the save is not accepted (see `is_accepted`). Two
    AWS requests.

    Raises:
        InvalidInput: there is no tracker, a text is answered, or an answer is invalid.
        TrackerRequired, NotFound, Conflict: as for a submission, except for a used tracker.
        Unavailable: nothing was saved.
    """
    survey = get_survey(submission.id)
    if not submission.tracker:
        require_public(survey.saved)
        detail = "Only answers with a tracker can be saved."
        raise InvalidInput([InputError.at(("tracker",), "required", detail)])
    if commit(partial(_save, survey, submission.tracker, submission, metadata)):
        logger.warning("taps discarded", **metric_fields("work", "feedback", discarded=1))


def find_saved_answers(tracker: Tracker) -> Mapping[str, Sequence[str]]:
    """Return the values of the saved answers, by key of the field.

    One AWS request; none if nothing is saved.
    """
    if not (tracker.tapped_at and tracker.saves):
        return {}
    feedback_id = feedback_id_of(tracker.id)
    stored = feedback.find_many([feedback_id], with_taps=True).get(feedback_id)
    return {each.key: each.values for each in stored.feedback.answers} if stored else {}


def _save(
    survey: CachedForm[SavedSurvey],
    tracker_id: str,
    submission: SurveySubmission,
    metadata: SubmissionMetadata,
    rows: Rows,
) -> bool:
    """Save tapped answers. Return whether all of them are discarded, because a program tapped."""
    origin = Origin(feedback_id_of(tracker_id), None)
    key, tracker_key = Key(FeedbackRow, origin.record_id), Key(TrackerRow, tracker_id)
    rows.prefetch(key, tracker_key)
    earlier = rows.peek(key, because="each change of the answers changes the tracker")
    tracker_row = rows.get(tracker_key, TrackerRow.used_at)
    if tracker_row is None or tracker_row.survey_id != survey.saved.id:
        raise NotFound("tracker")
    tracker, taps = trackers.build_tracker(tracker_row), survey.questionnaire.of_taps
    tapped = build_submitted(survey, submission, metadata, origin, tracker, taps)
    if tracker.used_at or (earlier and _has_ended(earlier, rows.read_at)):
        return False
    if submission.step == "follow":
        tracker_row.tapped_at = rows.read_at
        return False
    view = hash_of_input(metadata.idempotency_key)[:_HASH_LENGTH]
    save = Save(view, int(submission.sequence or 0), tapped.rating)
    if not survey.saved.save_taps or not is_accepted(tracker.saves, save):
        return False
    saves = (*tracker.saves, save)
    is_kept = not is_scanned(saves) and _can_be_kept(survey, tapped)
    if not (is_kept or earlier):
        return False
    rows.value(tracker_key, TrackerRow.saves)
    tracker_row.saves, tracker_row.tapped_at = saves, rows.read_at if is_kept else None
    if is_kept:
        first_at = earlier.created_at if earlier else clock.within(rows.read_at)
        row = feedback.put(rows, tapped.model_copy(update={"created_at": first_at}))
        row.due_at = row.ready_at = int((first_at + SAVED_FOR).timestamp())
        row.answered_as, row.saves = tracker.counted_as, len(saves)
    else:
        rows.remove(key)
    return is_scanned(saves)


def _has_ended(earlier: FeedbackRow, now: datetime) -> bool:
    return not earlier.is_open or now >= earlier.created_at + SAVED_FOR


def _can_be_kept(survey: CachedForm[SavedSurvey], tapped: Feedback) -> bool:
    """Return whether there is an answer, and no visible required box is without a tick."""
    answers = {answer.field_id: answer.values for answer in tapped.answers}
    fields, visible = survey.questionnaire.fields, survey.questionnaire.visible_fields(answers)
    return bool(answers) and not any(
        fields[each].is_consent and not answers.get(each) for each in visible
    )
