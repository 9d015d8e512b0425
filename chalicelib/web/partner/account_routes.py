"""The partner routes of the account and its places."""

from chalice import Blueprint

from chalicelib.domain.paging import PageRequest
from chalicelib.domain.schema import Resource
from chalicelib.web.openapi.operation import list_operation, operation
from chalicelib.web.partner.endpoint import PartnerRequest, partner_route

routes = Blueprint(__name__)


@partner_route(routes, "GET", "/partners/account")
@operation(
    tag="Account",
    description="Returns the account of the API key, the permissions of the key, and the limits of"
    " requests.",
    response="accounts.partner_view.PartnerAccount",
    returns="The account.",
)
def get_account(request: PartnerRequest) -> Resource:
    """Get the account."""
    from chalicelib.services.accounts.read import read_account

    return read_account(request.credential)


@partner_route(routes, "POST", "/partners/place/list")
@operation(
    **list_operation(
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
