"""Read stored feedback from the table."""

from chalicelib.domain.feedback.feedback import Feedback
from chalicelib.storage import feedback
from chalicelib.storage.feedback import FeedbackRow


def stored_feedback(form_id: str) -> list[Feedback]:
    """Return all stored feedback for a form."""
    ids = [row.feedback_id for row in FeedbackRow.scan(FeedbackRow.form_id == form_id)]
    return [stored.feedback for stored in feedback.find_many(ids).values()]
