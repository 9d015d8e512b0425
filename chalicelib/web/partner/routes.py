"""The partner routes and their operations.

Each view function imports its service and models on its first request. This keeps the start-up time
short.
"""

from chalice import Blueprint

from chalicelib.domain.paging import PageRequest
from chalicelib.domain.schema import Resource
from chalicelib.web.error_collector import ErrorCollector
from chalicelib.web.openapi.operation import IDEMPOTENCY_KEY, Operation, operation
from chalicelib.web.partner.endpoint import PartnerRequest, partner_route

routes = Blueprint(__name__)


def _list(tag: str, response: str, records: str = "", description: str = "") -> Operation:
    records = records or tag.lower()
    return Operation(
        tag=tag,
        description=description
        or f"Returns one page of the account's {records}, oldest first. A page after the last page"
        " has no items, but the same totals.",
        body="paging.PageRequest",
        body_description="The requested page. An empty body requests the first 10 records and needs"
        " no content type.",
        body_optional=True,
        response=response,
        returns=f"The page of {records}.",
    )


@partner_route(routes, "GET", "/partners/purchase")
@operation(
    tag="Purchases",
    description="Returns one purchase with the current data of the customer and the current name"
    " of the store.",
    parameters={"id": "Identifier of the purchase."},
    response="purchases.purchase.Purchase",
    returns="The purchase.",
)
def get_purchase(request: PartnerRequest) -> Resource:
    """Get a purchase."""
    from chalicelib.services.purchases.read import read_purchase

    return read_purchase(request.account_id, request.identifier())


@partner_route(routes, "GET", "/partners/contact-form")
@operation(
    tag="Contact forms",
    description="Returns one contact form with its style, fields, and conditions.",
    parameters={"id": "Identifier of the contact form."},
    response="forms.contact_form.PartnerContactForm",
    returns="The contact form.",
)
def get_contact_form(request: PartnerRequest) -> Resource:
    """Get a contact form."""
    from chalicelib.services.forms.read import read_contact_form

    return read_contact_form(request.account_id, request.identifier())


@partner_route(routes, "POST", "/partners/contact-form/list")
@operation(**_list("Contact forms", "forms.list_pages.ContactFormPage"))
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
)
def get_survey(request: PartnerRequest) -> Resource:
    """Get a survey."""
    from chalicelib.services.forms.read import read_survey

    return read_survey(request.account_id, request.identifier())


@partner_route(routes, "POST", "/partners/survey/list")
@operation(**_list("Surveys", "forms.list_pages.SurveyPage"))
def list_surveys(request: PartnerRequest) -> Resource:
    """List surveys."""
    from chalicelib.services.forms import read

    return read.list_surveys(request.account_id, request.optional_body(PageRequest))


@partner_route(routes, "GET", "/partners/customer")
@operation(
    tag="Customers",
    description="Returns one customer with external identifiers and metadata by source.",
    parameters={"id": "Identifier of the customer."},
    response="customers.customer.Customer",
    returns="The customer.",
)
def get_customer(request: PartnerRequest) -> Resource:
    """Get a customer."""
    from chalicelib.services.customers.read import read_customer

    return read_customer(request.account_id, request.identifier())


@partner_route(routes, "POST", "/partners/customer")
@operation(
    tag="Customers",
    description="Always creates a customer, even if another customer has the same e-mail and phone"
    " number. No field is required, but at least one must have a value; `null` and an empty string"
    " are not values. An opt-in whose address is suppressed is stored and returned as `false`. The"
    " JSON of a customer is limited to 32 KB, and to 61,000 bytes with escaped characters.\n\nA"
    " repeated request with the same idempotency key returns the customer as it was created,"
    " without later changes. If the customer was erased in the meantime, the response is 404.",
    parameters=IDEMPOTENCY_KEY,
    body="customers.body.CustomerBody",
    body_description="The customer. Leading and trailing white space is removed.",
    response="customers.customer.Customer",
    returns="The new customer.",
    errors=(404,),
    permission="write",
)
def create_customer(request: PartnerRequest) -> Resource:
    """Create a customer."""
    from chalicelib.domain.customers.body import CustomerBody
    from chalicelib.services.customers import create

    with ErrorCollector() as errors:
        key = errors.of(request.idempotency_key, otherwise=None)
        body = request.body(CustomerBody)
    return create.create_customer(request.account_id, body, key)


@partner_route(routes, "POST", "/partners/customer/list")
@operation(**_list("Customers", "customers.customer.CustomerPage"))
def list_customers(request: PartnerRequest) -> Resource:
    """List customers."""
    from chalicelib.services.customers import read

    return read.list_customers(request.account_id, request.optional_body(PageRequest))


@partner_route(routes, "POST", "/partners/customer/batch")
@operation(
    tag="Customers",
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
def import_customers(request: PartnerRequest) -> Resource:
    """Import a batch of customers."""
    from chalicelib.services.customers.accept_batch import accept_batch
    from chalicelib.web.partner.batch_body import validate_batch

    with ErrorCollector() as errors:
        partial = errors.of(lambda: request.flag("partial"), otherwise=False)
        key = errors.of(request.idempotency_key, otherwise=None)
        batch = validate_batch(request.json(), partial=partial)
    return accept_batch(request.account_id, batch, key)


@partner_route(routes, "GET", "/partners/customer/batch")
@operation(
    tag="Customers",
    description="Returns the progress of an import. `created`, `filled`, `unchanged`, and `failed`"
    " count its rows. When the status is `COMPLETED` or `FAILED`, they add up to `rowCount`. The"
    " progress is available for 90 days.",
    parameters={"id": "Identifier of the batch."},
    response="customers.import_batch.ImportProgress",
    returns="The progress.",
)
def get_customer_batch(request: PartnerRequest) -> Resource:
    """Get the progress of a batch."""
    from chalicelib.services.customers.accept_batch import read_import

    return read_import(request.account_id, request.identifier())


@partner_route(routes, "GET", "/partners/account")
@operation(
    tag="Account",
    description="Returns the account of the API key, the permissions of the key, and the limits of"
    " requests.",
    response="partner_account.PartnerAccount",
    returns="The account.",
)
def get_account(request: PartnerRequest) -> Resource:
    """Get the account."""
    from chalicelib.services.accounts.read import read_account

    return read_account(request.credential)


@partner_route(routes, "POST", "/partners/place/list")
@operation(
    **_list(
        "Account",
        "accounts.partner_view.PlacePage",
        "brands and stores",
        "Returns one page of the account's brands and stores, ordered by name.",
    )
)
def list_places(request: PartnerRequest) -> Resource:
    """List brands and stores."""
    from chalicelib.services.accounts import read

    return read.list_places(request.account_id, request.optional_body(PageRequest))


@partner_route(routes, "POST", "/partners/workflow/list")
@operation(
    **_list(
        "Webhooks",
        "workflows.partner_view.WorkflowPage",
        "workflows",
        "Returns one page of the account's workflows with their webhooks, oldest first. The"
        " response contains no custom headers, and of each URL only the host.",
    )
)
def list_workflows(request: PartnerRequest) -> Resource:
    """List workflows."""
    from chalicelib.services import workflows

    return workflows.list_workflows(request.account_id, request.optional_body(PageRequest))
