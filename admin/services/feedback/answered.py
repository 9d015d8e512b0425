"""Count the responses that answer a field of a form."""

from typing import Final

from admin.services.forms.manage import AccountForm
from chalicelib.domain.feedback.filter import FeedbackFilter
from chalicelib.services.feedback.find import find_feedback

MAX_READ: Final = 10_000


def count_answers(form: AccountForm, field_id: str) -> tuple[int, bool]:
    """Return the number of responses that answer the field, and whether the number is exact.

    Reads at most `MAX_READ` responses of the account, newest first: one AWS request per 100. No
    request if the form has no responses.
    """
    if not form.submission_count:
        return 0, True
    newest = list(
        find_feedback(form.account_id, FeedbackFilter(), newest_first=True, at_most=MAX_READ)
    )
    answers = sum(
        any(answer.field_id == field_id for answer in found.feedback.answers)
        for found in newest
        if found.feedback.form_id == form.saved.id
    )
    return answers, len(newest) < MAX_READ
