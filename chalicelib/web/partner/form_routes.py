"""The partner routes of contact forms and surveys."""

from chalice import Blueprint

from chalicelib.domain.paging import PageRequest
from chalicelib.domain.schema import Resource
from chalicelib.web.openapi.operation import list_operation, operation
from chalicelib.web.partner.endpoint import PartnerRequest, partner_route

routes = Blueprint(__name__)


@partner_route(routes, "GET", "/partners/contact-form")
@operation(
    tag="Contact forms",
    description="Returns one contact form with its style, fields, and conditions.",
    parameters={"id": "Identifier of the contact form."},
    response="forms.contact_form.PartnerContactForm",
    returns="The contact form.",
    missing="contact form",
)
def get_contact_form(request: PartnerRequest) -> Resource:
    """Get a contact form."""
    from chalicelib.services.forms.read import read_contact_form

    return read_contact_form(request.account_id, request.identifier())


@partner_route(routes, "POST", "/partners/contact-form/list")
@operation(**list_operation("Contact forms", "forms.contact_form.ContactFormPage"))
def list_contact_forms(request: PartnerRequest) -> Resource:
    """List contact forms."""
    from chalicelib.services.forms import read

    return read.list_contact_forms(request.account_id, request.optional_body(PageRequest))


@partner_route(routes, "GET", "/partners/survey")
@operation(
    tag="Surveys",
    description="Returns one survey with its sending rules, style, fields, and conditions.",
    parameters={"id": "Identifier of the survey."},
    response="forms.survey.PartnerSurvey",
    returns="The survey.",
    missing="survey",
)
def get_survey(request: PartnerRequest) -> Resource:
    """Get a survey."""
    from chalicelib.services.forms.read import read_survey

    return read_survey(request.account_id, request.identifier())


@partner_route(routes, "POST", "/partners/survey/list")
@operation(**list_operation("Surveys", "forms.survey.SurveyPage"))
def list_surveys(request: PartnerRequest) -> Resource:
    """List surveys."""
    from chalicelib.services.forms import read

    return read.list_surveys(request.account_id, request.optional_body(PageRequest))
