"""Select feedback for operators: check filters, list that of a customer, and count answers."""

from typing import Final

from admin.services.forms.manage import AccountForm, require_form
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.errors import NotFound
from chalicelib.domain.feedback.feedback import Feedback, FormKind
from chalicelib.domain.feedback.filter import FeedbackFilter
from chalicelib.services.accounts.directory import current_directory
from chalicelib.services.feedback.find import find_feedback
from chalicelib.storage import feedback

MAX_READ: Final = 10_000


def require_selection(
    account_id: str, wanted: FeedbackFilter
) -> tuple[AccountForm | None, Directory]:
    """Return the form that the filter selects, if any, and the account's directory.

    At most two AWS requests.

    Raises:
        NotFound: the account does not have the form, the store or the brand.
    """
    form = None
    if wanted.form_id:
        form = require_form(FormKind.CONTACT_FORM, wanted.form_id, account_id=account_id)
    elif wanted.survey_id:
        form = require_form(FormKind.SURVEY, wanted.survey_id, account_id=account_id)
    directory = current_directory(account_id)
    if wanted.store_id and not directory.store(wanted.store_id):
        raise NotFound("store")
    if wanted.brand_id and not directory.brand(wanted.brand_id):
        raise NotFound("brand")
    return form, directory


def list_feedback(account_id: str, customer_id: str) -> list[Feedback]:
    """Return the linked feedback, newest first. One AWS request, and one per 100."""
    found = (stored.feedback for stored in feedback.of_person(account_id, customer_id, ()))
    return sorted(found, key=lambda record: record.created_at, reverse=True)


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
