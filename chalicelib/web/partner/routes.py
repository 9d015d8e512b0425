"""The partner interface: routes only, each a few lines over a service (interface, section 4).

A view imports its service when it is first asked for: a function that starts to read one customer
should not load forms and imports first.
"""

from chalice import Blueprint, Response

from chalicelib.domain.paging import PageRequest
from chalicelib.web.error_collector import ErrorCollector
from chalicelib.web.partner.endpoint import PartnerRequest, answer, partner_endpoint

routes = Blueprint(__name__)


@routes.route("/partners/purchase", methods=["GET"], content_types=[])
@partner_endpoint(routes)
def get_purchase(request: PartnerRequest) -> Response:
    """Endpoint 1: one purchase."""
    from chalicelib.services.purchases.read import read_purchase

    return answer(read_purchase(request.account_id, request.identifier()))


@routes.route("/partners/contact-form", methods=["GET"], content_types=[])
@partner_endpoint(routes)
def get_contact_form(request: PartnerRequest) -> Response:
    """Endpoint 2: one contact form."""
    from chalicelib.services.forms.read import read_contact_form

    return answer(read_contact_form(request.account_id, request.identifier()))


@routes.route("/partners/contact-form/list", methods=["POST"], content_types=[])
@partner_endpoint(routes)
def post_contact_form_list(request: PartnerRequest) -> Response:
    """Endpoint 3: a page of contact forms."""
    from chalicelib.services.forms.read import list_contact_forms

    page = request.optional_body(PageRequest)
    return answer(list_contact_forms(request.account_id, page), status=201)


@routes.route("/partners/survey", methods=["GET"], content_types=[])
@partner_endpoint(routes)
def get_survey(request: PartnerRequest) -> Response:
    """Endpoint 4: one survey."""
    from chalicelib.services.forms.read import read_survey

    return answer(read_survey(request.account_id, request.identifier()))


@routes.route("/partners/survey/list", methods=["POST"], content_types=[])
@partner_endpoint(routes)
def post_survey_list(request: PartnerRequest) -> Response:
    """Endpoint 5: a page of surveys."""
    from chalicelib.services.forms.read import list_surveys

    page = request.optional_body(PageRequest)
    return answer(list_surveys(request.account_id, page), status=201)


@routes.route("/partners/customer", methods=["GET"], content_types=[])
@partner_endpoint(routes)
def get_customer(request: PartnerRequest) -> Response:
    """Endpoint 6: one customer."""
    from chalicelib.services.customers.read import read_customer

    return answer(read_customer(request.account_id, request.identifier()))


@routes.route("/partners/customer", methods=["POST"], content_types=[])
@partner_endpoint(routes)
def post_customer(request: PartnerRequest) -> Response:
    """Endpoint 7: a new customer."""
    from chalicelib.domain.customers.customer import CustomerBody
    from chalicelib.services.customers.create import create_customer

    with ErrorCollector() as errors:
        key = errors.of(request.idempotency_key, otherwise=None)
        body = request.body(CustomerBody)
    return answer(create_customer(request.account_id, body, key), status=201)


@routes.route("/partners/customer/list", methods=["POST"], content_types=[])
@partner_endpoint(routes)
def post_customer_list(request: PartnerRequest) -> Response:
    """Endpoint 8: a page of customers."""
    from chalicelib.services.customers.read import list_customers

    page = request.optional_body(PageRequest)
    return answer(list_customers(request.account_id, page), status=201)


@routes.route("/partners/customer/batch", methods=["POST"], content_types=[])
@partner_endpoint(routes)
def post_customer_batch(request: PartnerRequest) -> Response:
    """Endpoint 9: a batch of customers, kept and queued."""
    from chalicelib.services.customers.accept_batch import accept_batch
    from chalicelib.web.partner.batch_body import validate_batch

    with ErrorCollector() as errors:
        partial = errors.of(lambda: request.flag("partial"), otherwise=False)
        key = errors.of(request.idempotency_key, otherwise=None)
        batch = validate_batch(request.json(), partial=partial)
    return answer(accept_batch(request.account_id, batch, key), status=201)


@routes.route("/partners/customer/batch", methods=["GET"], content_types=[])
@partner_endpoint(routes)
def get_customer_batch(request: PartnerRequest) -> Response:
    """How far a batch has come."""
    from chalicelib.services.customers.accept_batch import read_import

    return answer(read_import(request.account_id, request.identifier()))
