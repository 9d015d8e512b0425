"""Return the partner views of contact forms and surveys."""

from functools import partial
from typing import TypeVar

from chalicelib.domain.errors import NotFound
from chalicelib.domain.forms.contact_form import ContactFormPage, PartnerContactForm
from chalicelib.domain.forms.survey import PartnerSurvey, SurveyPage
from chalicelib.domain.paging import PageRequest, page_meta
from chalicelib.services.accounts.directory import account_directory
from chalicelib.services.forms.saved import readable, reading
from chalicelib.storage.forms import FormTable, StoredForm, contact_forms, surveys

PartnerView = TypeVar("PartnerView", PartnerContactForm, PartnerSurvey)


def read_contact_form(account_id: str, form_id: str) -> PartnerContactForm:
    """Return the account's contact form. One AWS request.

    Raises:
        NotFound: the account has no contact form with this id.
        UnreadableForm: this version of the service cannot read the contact form.
    """
    return _view(PartnerContactForm, _find(contact_forms, account_id, form_id, "contact form"))


def read_survey(account_id: str, survey_id: str) -> PartnerSurvey:
    """Return the account's survey. One AWS request.

    Raises:
        NotFound: the account has no survey with this id.
        UnreadableForm: this version of the service cannot read the survey.
    """
    return _view(PartnerSurvey, _find(surveys, account_id, survey_id, "survey"))


def list_contact_forms(account_id: str, request: PageRequest) -> ContactFormPage:
    """Return a page of the account's readable contact forms, oldest first. Three AWS requests."""
    stored, total = contact_forms.page(account_id, request)
    items = tuple(readable(partial(_view, PartnerContactForm), stored))
    return ContactFormPage(items=items, meta=page_meta(request, len(items), total))


def list_surveys(account_id: str, request: PageRequest) -> SurveyPage:
    """Return a page of the account's readable surveys, oldest first. Three AWS requests."""
    stored, total = surveys.page(account_id, request)
    items = tuple(readable(partial(_view, PartnerSurvey), stored))
    return SurveyPage(items=items, meta=page_meta(request, len(items), total))


def _find(table: FormTable, account_id: str, form_id: str, resource: str) -> StoredForm:
    stored = table.find(form_id)
    if stored is None or stored.account_id != account_id:
        raise NotFound(resource)
    return stored


def _view(model: type[PartnerView], stored: StoredForm) -> PartnerView:
    with reading(stored):
        return model.read(
            stored.document, account_directory(stored.account_id), stored.submission_count
        )
