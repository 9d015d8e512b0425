"""Response models: one page of a list of contact forms or surveys."""

from chalicelib.domain.forms.contact_form import PartnerContactForm
from chalicelib.domain.forms.survey import PartnerSurvey
from chalicelib.domain.paging import PageMeta
from chalicelib.domain.schema import Resource


class ContactFormPage(Resource):
    """One page of an account's contact forms."""

    items: tuple[PartnerContactForm, ...]
    meta: PageMeta


class SurveyPage(Resource):
    """One page of an account's surveys."""

    items: tuple[PartnerSurvey, ...]
    meta: PageMeta
