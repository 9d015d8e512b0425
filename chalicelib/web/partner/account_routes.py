"""The partner routes of the account: what the key may do, and ids that other requests need."""

from chalice import Blueprint, Response

from chalicelib.domain.paging import PageRequest
from chalicelib.web.openapi.operation import operation
from chalicelib.web.partner.endpoint import PartnerRequest, json_response, partner_route

routes = Blueprint(__name__)


@partner_route(routes, "GET", "/partners/account")
@operation(
    id="getAccount",
    tag="Account",
    summary="Get the account",
    description="Returns the account of the API key, the permissions of the key, and the limits of"
    " requests.",
    response="partner_account.PartnerAccount",
    returns="The account.",
)
def get_account(request: PartnerRequest) -> Response:
    """Return the account of the API key."""
    from chalicelib.services.accounts.read import read_account

    return json_response(read_account(request.credential))


@partner_route(routes, "POST", "/partners/place/list")
@operation(
    id="listPlaces",
    tag="Account",
    summary="List brands and stores",
    description="Returns one page of the account's brands and stores, ordered by name.",
    body="paging.PageRequest",
    body_description="The requested page. An empty body requests the first 10 records and needs"
    " no content type.",
    body_optional=True,
    response="accounts.partner_view.PlacePage",
    returns="The page of brands and stores.",
)
def post_place_list(request: PartnerRequest) -> Response:
    """Return a page of brands and stores."""
    from chalicelib.services.accounts.read import list_places

    page = request.optional_body(PageRequest)
    return json_response(list_places(request.account_id, page), status=201)


@partner_route(routes, "POST", "/partners/workflow/list")
@operation(
    id="listWorkflows",
    tag="Webhooks",
    summary="List workflows",
    description="Returns one page of the account's workflows with their webhooks, oldest first."
    " The response contains no custom headers, and of each URL only the host.",
    body="paging.PageRequest",
    body_description="The requested page. An empty body requests the first 10 records and needs"
    " no content type.",
    body_optional=True,
    response="workflows.partner_view.WorkflowPage",
    returns="The page of workflows.",
)
def post_workflow_list(request: PartnerRequest) -> Response:
    """Return a page of workflows."""
    from chalicelib.services.workflows.read import list_workflows

    page = request.optional_body(PageRequest)
    return json_response(list_workflows(request.account_id, page), status=201)
