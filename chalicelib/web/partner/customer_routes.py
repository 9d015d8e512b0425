"""The partner routes of customers: records, imports, opt-outs and erasures."""

from chalice import Blueprint

from chalicelib.domain.paging import PageRequest
from chalicelib.domain.schema import Resource
from chalicelib.web.error_collector import ErrorCollector
from chalicelib.web.openapi.operation import IDEMPOTENCY_KEY, list_operation, operation
from chalicelib.web.partner.endpoint import PartnerRequest, partner_route

routes = Blueprint(__name__)


@partner_route(routes, "GET", "/partners/customer")
@operation(
    tag="Customers",
    description="Returns one customer with external identifiers and metadata by source.",
    parameters={"id": "Identifier of the customer."},
    response="customers.customer.Customer",
    returns="The customer.",
    missing="customer",
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
    examples={
        "Only a name": {"firstName": "Tom"},
        "A customer": {
            "firstName": "Anaïs",
            "lastName": "Benjelloun",
            "language": "fr",
            "email": "anais.benjelloun@example.com",
            "phoneNumber": "+33 6 98 76 54 32",
        },
    },
    invalid={"emial": "tom@example.com", "language": "french"},
    response="customers.customer.Customer",
    returns="The new customer.",
    missing="customer",
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


@partner_route(routes, "PATCH", "/partners/customer")
@operation(
    tag="Customers",
    description="Changes the fields in the body. Absent fields stay, `null` clears a field."
    " `metadata` is one field. A display name that was made of the first and last name follows"
    " them.\n\nAn opt-in with the value `false` suppresses the address in this channel, also if it"
    " was `false` before: no customer with this address receives messages. Send `false` only for a"
    " refusal, and omit the field if nobody was asked. `true` lifts a suppression that you caused."
    " It stays `false` if the person unsubscribed or complained, or if messages bounced. If the"
    " address changes to a suppressed one, the opt-in becomes `false`. Repeating the request has no"
    " further effect.",
    parameters={"id": "Identifier of the customer."},
    body="customers.patch.CustomerPatch",
    body_description="The fields to change, at least one.",
    examples={
        "A new phone number": {"phoneNumber": "+33 6 98 76 54 32", "description": None},
    },
    invalid={"emailOptin": None},
    response="customers.customer.Customer",
    returns="The changed customer.",
    missing="customer",
    permission=("read", "write"),
)
def change_customer(request: PartnerRequest) -> Resource:
    """Change a customer."""
    from chalicelib.domain.customers.patch import CustomerPatch
    from chalicelib.services.customers import change

    with ErrorCollector() as errors:
        customer_id = errors.of(request.identifier, otherwise="")
        patch = request.body(CustomerPatch)
    return change.change_customer(request.account_id, customer_id, patch)


@partner_route(routes, "POST", "/partners/customer/list")
@operation(**list_operation("Customers", "customers.customer.CustomerPage"))
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
    examples={
        "Two rows": {
            "batch": [
                {"firstName": "지우", "lastName": "이", "email": "jiwoo.lee@example.com"},
                {"firstName": "Tom", "phoneNumber": "+33 6 39 98 46 46"},
            ]
        },
        "Three rows, one of them invalid": {
            "batch": [{"firstName": "Lou"}, {"firstName": " "}, {"firstName": "Tom"}]
        },
    },
    invalid={"rows": []},
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
    missing="batch",
)
def get_customer_batch(request: PartnerRequest) -> Resource:
    """Get the progress of a batch."""
    from chalicelib.services.customers.accept_batch import read_import

    return read_import(request.account_id, request.identifier())


@partner_route(routes, "POST", "/partners/customer/find")
@operation(
    tag="Customers",
    description="Returns the customers with an e-mail address, with a phone number, or with both,"
    " oldest first. A new or changed customer is found within seconds. Of an address that more than"
    " 1,000 customers have, only 1,000 customers are searched.",
    body="customers.find.CustomerAddress",
    body_description="The address. If both are given, both must match.",
    examples={"By e-mail address": {"email": "anais.benjelloun@example.com"}},
    invalid={"email": "nobody"},
    response="customers.find.FoundCustomers",
    returns="The customers.",
)
def find_customers(request: PartnerRequest) -> Resource:
    """Find customers."""
    from chalicelib.domain.customers.find import CustomerAddress
    from chalicelib.services.customers.find import find_by_address

    return find_by_address(request.account_id, request.body(CustomerAddress))


@partner_route(routes, "POST", "/partners/customer/opt-out")
@operation(
    tag="Customers",
    description="Suppresses an e-mail address or a phone number: no customer with this address"
    " receives messages, now or later, also if no customer has the address yet. Turns the opt-in of"
    " these customers off. Repeating the request has no further effect.",
    body="solicitation.opt_out.OptOut",
    body_description="Either an e-mail address or a phone number.",
    examples={"No e-mails": {"email": "tom@example.com", "channels": ["EMAIL"]}},
    invalid={"email": "tom@example.com", "channels": ["SMS"]},
    response="solicitation.opt_out.OptedOut",
    returns="The address is suppressed.",
    permission="write",
)
def opt_out(request: PartnerRequest) -> Resource:
    """Respect an opt-out."""
    from chalicelib.domain.solicitation.opt_out import OptOut
    from chalicelib.services.solicitation import suppressions

    return suppressions.opt_out(request.account_id, request.body(OptOut))


@partner_route(routes, "POST", "/partners/customer/erase")
@operation(
    tag="Customers",
    description="Removes the person from all records: the customer, the personal part of purchases,"
    " the answers of feedback, and pending surveys. Ratings and counts stay. The addresses are"
    " suppressed at once and forever; the rest is erased in the background, usually within half an"
    " hour. This cannot be undone. Repeating the request has no further effect.",
    body="erasure.partner_view.ErasureRequest",
    body_description="The customer.",
    examples={"A customer": {"id": "01304e5b-7255-589a-9ef7-9d874b8189e0"}},
    invalid={"id": "zoe@example.com"},
    response="erasure.partner_view.PartnerErasure",
    returns="The erasure has started.",
    missing="customer",
    permission="erase",
)
def erase_customer(request: PartnerRequest) -> Resource:
    """Erase a customer."""
    from chalicelib.domain.erasure.partner_view import ErasureRequest
    from chalicelib.services.erasure.request import request_erasure

    return request_erasure(request.credential, request.body(ErasureRequest).id)


@partner_route(routes, "GET", "/partners/customer/erasure")
@operation(
    tag="Customers",
    description="Returns the state of an erasure and its receipt.",
    parameters={"id": "Identifier of the erased customer."},
    response="erasure.partner_view.PartnerErasure",
    returns="The erasure.",
    missing="erasure",
    permission="erase",
)
def get_erasure(request: PartnerRequest) -> Resource:
    """Get the erasure of a customer."""
    from chalicelib.services.erasure.request import read_erasure

    return read_erasure(request.account_id, request.identifier())
