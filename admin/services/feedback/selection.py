"""Select feedback for operators: check filters, list that of a customer, find answers."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator

from admin.domain.feedback_filter import FeedbackFilter
from admin.services.feedback.find import find_feedback
from admin.services.forms.manage import AccountForm, require_form
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.errors import NotFound
from chalicelib.domain.feedback.feedback import Feedback, FormKind
from chalicelib.services.accounts.directory import current_directory
from chalicelib.storage import feedback


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
    found = feedback.of_person(account_id, customer_id, None)
    ended = (stored.feedback for stored in found if not stored.is_open)
    return sorted(ended, key=lambda record: record.created_at, reverse=True)


def find_answered(
    form: AccountForm,
    field_ids: Collection[str],
    on_read: Callable[[int], None] = lambda _: None,
) -> set[str]:
    """Return the ids of the fields that responses answer.

    Reads the account's responses, newest first, until each field has an answer: one AWS request per
    100. No request if the form has no responses.

    Args:
        on_read: called after each group of responses that was read, with their number.
    """
    answered: set[str] = set()
    for field_id in _answered_fields(form, field_ids, on_read):
        answered.add(field_id)
        if len(answered) == len(field_ids):
            break
    return answered


def count_answers(
    form: AccountForm,
    field_ids: Collection[str],
    on_read: Callable[[int], None] = lambda _: None,
) -> Counter[str]:
    """Return the number of responses that answer each field.

    Reads all responses of the account: one AWS request per 100. No request if the form has no
    responses.

    Args:
        on_read: called after each group of responses that was read, with their number.
    """
    return Counter(_answered_fields(form, field_ids, on_read))


def _answered_fields(
    form: AccountForm, field_ids: Collection[str], on_read: Callable[[int], None]
) -> Iterator[str]:
    """Yield the id of each answered field, of each response to the form, newest first."""
    if not form.submission_count:
        return
    form_id = form.saved.id
    is_survey = form.kind is FormKind.SURVEY
    wanted = FeedbackFilter(survey_id=form_id) if is_survey else FeedbackFilter(form_id=form_id)
    for found in find_feedback(form.account_id, wanted, newest_first=True, on_read=on_read):
        for answer in found.feedback.answers:
            if answer.field_id in field_ids:
                yield answer.field_id
