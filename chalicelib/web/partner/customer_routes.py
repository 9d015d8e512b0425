"""The partner routes that find and change customers, and respect their wishes."""

from chalice import Blueprint

from chalicelib.domain.schema import Resource
from chalicelib.web.error_collector import ErrorCollector
from chalicelib.web.openapi.operation import operation
from chalicelib.web.partner.endpoint import PartnerRequest, partner_route

routes = Blueprint(__name__)


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
    response="customers.customer.Customer",
    returns="The changed customer.",
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


@partner_route(routes, "POST", "/partners/customer/find")
@operation(
    tag="Customers",
    description="Returns the customers with an e-mail address, with a phone number, or with both,"
    " oldest first. A new or changed customer is found within seconds. Of an address that more than"
    " 1,000 customers have, only 1,000 customers are searched.",
    body="customers.find.CustomerAddress",
    body_description="The address. If both are given, both must match.",
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
    body="erasure_view.ErasureRequest",
    body_description="The customer.",
    response="erasure_view.PartnerErasure",
    returns="The erasure has started.",
    errors=(404,),
    permission="erase",
)
def erase_customer(request: PartnerRequest) -> Resource:
    """Erase a customer."""
    from chalicelib.domain.erasure_view import ErasureRequest
    from chalicelib.services.erasure.request import request_erasure

    return request_erasure(request.credential, request.body(ErasureRequest).id)


@partner_route(routes, "GET", "/partners/customer/erasure")
@operation(
    tag="Customers",
    description="Returns the state of an erasure and its receipt.",
    parameters={"id": "Identifier of the erased customer."},
    response="erasure_view.PartnerErasure",
    returns="The erasure.",
    permission="erase",
)
def get_erasure(request: PartnerRequest) -> Resource:
    """Get the erasure of a customer."""
    from chalicelib.services.erasure.request import read_erasure

    return read_erasure(request.account_id, request.identifier())
