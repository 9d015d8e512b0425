"""Check that the resources that a feedback filter names belong to the account."""

from admin.services.forms.manage import AccountForm, require_form
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.errors import NotFound
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.feedback.filter import FeedbackFilter
from chalicelib.services.accounts.directory import current_directory


def selected_form(account_id: str, wanted: FeedbackFilter) -> AccountForm | None:
    """Return the form that the filter selects, or None for all forms. At most one AWS request.

    Raises:
        NotFound: the account does not have the form.
    """
    if wanted.form_id:
        return require_form(FormKind.CONTACT_FORM, wanted.form_id, account_id)
    if wanted.survey_id:
        return require_form(FormKind.SURVEY, wanted.survey_id, account_id)
    return None


def directory_with_selection(account_id: str, wanted: FeedbackFilter) -> Directory:
    """Return the account's directory. One AWS request.

    Raises:
        NotFound: the account does not have the store or the brand that the filter selects.
    """
    directory = current_directory(account_id)
    if wanted.store_id and not directory.store(wanted.store_id):
        raise NotFound("store")
    if wanted.brand_id and not directory.brand(wanted.brand_id):
        raise NotFound("brand")
    return directory
