"""The partner routes and their operations.

Each view function imports its service and models on its first request. This keeps the start-up time
short.
"""

from chalice import Blueprint, Response

from chalicelib.domain.paging import PageRequest
from chalicelib.web.error_collector import ErrorCollector
from chalicelib.web.openapi.operation import IDEMPOTENCY_KEY, Operation, operation
from chalicelib.web.partner.endpoint import PartnerRequest, json_response, partner_route

routes = Blueprint(__name__)


def _list(operation_id: str, tag: str, response: str) -> Operation:
    records = tag.lower()
    return Operation(
        id=operation_id,
        tag=tag,
        summary=f"List {records}",
        description=f"Returns one page of the account's {records}, oldest first. A page after the"
        " last page has no items, but the same totals.",
        body="paging.PageRequest",
        body_description="The requested page. An empty body requests the first 10 records and needs"
        " no content type.",
        body_optional=True,
        response=response,
        returns=f"The page of {records}.",
    )


@partner_route(routes, "GET", "/partners/purchase")
@operation(
    id="getPurchase",
    tag="Purchases",
    summary="Get a purchase",
    description="Returns one purchase with the current data of the customer and the current name"
    " of the store.",
    parameters={"id": "Identifier of the purchase."},
    response="purchases.purchase.Purchase",
    returns="The purchase.",
    errors=(404,),
)
def get_purchase(request: PartnerRequest) -> Response:
    """Return a purchase."""
    from chalicelib.services.purchases.read import read_purchase

    return json_response(read_purchase(request.account_id, request.identifier()))


@partner_route(routes, "GET", "/partners/contact-form")
@operation(
    id="getContactForm",
    tag="Contact forms",
    summary="Get a contact form",
    description="Returns one contact form with its style, fields, and conditions.",
    parameters={"id": "Identifier of the contact form."},
    response="forms.contact_form.PartnerContactForm",
    returns="The contact form.",
    errors=(404,),
)
def get_contact_form(request: PartnerRequest) -> Response:
    """Return a contact form."""
    from chalicelib.services.forms.read import read_contact_form

    return json_response(read_contact_form(request.account_id, request.identifier()))


@partner_route(routes, "POST", "/partners/contact-form/list")
@operation(**_list("listContactForms", "Contact forms", "forms.list_pages.ContactFormPage"))
def post_contact_form_list(request: PartnerRequest) -> Response:
    """Return a page of contact forms."""
    from chalicelib.services.forms.read import list_contact_forms

    page = request.optional_body(PageRequest)
    return json_response(list_contact_forms(request.account_id, page), status=201)


@partner_route(routes, "GET", "/partners/survey")
@operation(
    id="getSurvey",
    tag="Surveys",
    summary="Get a survey",
    description="Returns one survey with its sending rules, style, fields, and conditions.",
    parameters={"id": "Identifier of the survey."},
    response="forms.survey.PartnerSurvey",
    returns="The survey.",
    errors=(404,),
)
def get_survey(request: PartnerRequest) -> Response:
    """Return a survey."""
    from chalicelib.services.forms.read import read_survey

    return json_response(read_survey(request.account_id, request.identifier()))


@partner_route(routes, "POST", "/partners/survey/list")
@operation(**_list("listSurveys", "Surveys", "forms.list_pages.SurveyPage"))
def post_survey_list(request: PartnerRequest) -> Response:
    """Return a page of surveys."""
    from chalicelib.services.forms.read import list_surveys

    page = request.optional_body(PageRequest)
    return json_response(list_surveys(request.account_id, page), status=201)


@partner_route(routes, "GET", "/partners/customer")
@operation(
    id="getCustomer",
    tag="Customers",
    summary="Get a customer",
    description="Returns one customer with external identifiers and metadata by source.",
    parameters={"id": "Identifier of the customer."},
    response="customers.customer.Customer",
    returns="The customer.",
    errors=(404,),
)
def get_customer(request: PartnerRequest) -> Response:
    """Return a customer."""
    from chalicelib.services.customers.read import read_customer

    return json_response(read_customer(request.account_id, request.identifier()))


@partner_route(routes, "POST", "/partners/customer")
@operation(
    id="createCustomer",
    tag="Customers",
    summary="Create a customer",
    description="Always creates a customer, even if another customer has the same e-mail and phone"
    " number. No field is required, but at least one must have a value; `null` and an empty string"
    " are not values. The JSON of a customer is limited to 32 KB,"
    " and to 61,000 bytes with escaped characters.",
    parameters=IDEMPOTENCY_KEY,
    body="customers.body.CustomerBody",
    body_description="The customer. Leading and trailing white space is removed.",
    response="customers.customer.Customer",
    returns="The new customer.",
    permission="write",
)
def post_customer(request: PartnerRequest) -> Response:
    """Create a customer."""
    from chalicelib.domain.customers.body import CustomerBody
    from chalicelib.services.customers.create import create_customer

    with ErrorCollector() as errors:
        key = errors.of(request.idempotency_key, otherwise=None)
        body = request.body(CustomerBody)
    return json_response(create_customer(request.account_id, body, key), status=201)


@partner_route(routes, "POST", "/partners/customer/list")
@operation(**_list("listCustomers", "Customers", "customers.customer.CustomerPage"))
def post_customer_list(request: PartnerRequest) -> Response:
    """Return a page of customers."""
    from chalicelib.services.customers.read import list_customers

    page = request.optional_body(PageRequest)
    return json_response(list_customers(request.account_id, page), status=201)


@partner_route(routes, "POST", "/partners/customer/batch")
@operation(
    id="importCustomers",
    tag="Customers",
    summary="Import a batch of customers",
    description="Stores the rows and imports them in the background. Use the returned `id` to get"
    " the progress. If a customer with the same e-mail and phone number exists, the row fills the"
    " customer's null fields and changes nothing else; otherwise the row creates a customer. Rows"
    " with the same e-mail and phone number are merged in their order.\n\nEach row is validated"
    " like a new customer. One invalid row rejects the entire batch, unless `partial` is true.",
    parameters={
        **IDEMPOTENCY_KEY,
        "partial": "Import the valid rows of a batch that also has invalid rows. The response lists"
        " the invalid rows in `rejected`.",
    },
    body="customers.import_batch.BatchBody",
    body_description="1 to 10,000 rows, at most 4 MB.",
    response="customers.import_batch.AcceptedBatch",
    returns="The batch is stored and will be imported.",
    permission="write",
)
def post_customer_batch(request: PartnerRequest) -> Response:
    """Accept a batch of customers."""
    from chalicelib.services.customers.accept_batch import accept_batch
    from chalicelib.web.partner.batch_body import validate_batch

    with ErrorCollector() as errors:
        partial = errors.of(lambda: request.flag("partial"), otherwise=False)
        key = errors.of(request.idempotency_key, otherwise=None)
        batch = validate_batch(request.json(), partial=partial)
    return json_response(accept_batch(request.account_id, batch, key), status=201)


@partner_route(routes, "GET", "/partners/customer/batch")
@operation(
    id="getCustomerBatch",
    tag="Customers",
    summary="Get the progress of a batch",
    description="Returns the progress of an import. `created`, `filled`, `unchanged`, and `failed`"
    " count its rows. When the status is `COMPLETED` or `FAILED`, they add up to `rowCount`. The"
    " progress is available for 90 days.",
    parameters={"id": "Identifier of the batch."},
    response="customers.import_batch.ImportProgress",
    returns="The progress.",
    errors=(404,),
)
def get_customer_batch(request: PartnerRequest) -> Response:
    """Return the progress of an import."""
    from chalicelib.services.customers.accept_batch import read_import

    return json_response(read_import(request.account_id, request.identifier()))
