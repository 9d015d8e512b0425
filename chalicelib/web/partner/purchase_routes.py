"""The partner routes that report, find, list and cancel purchases."""

from chalice import Blueprint

from chalicelib.domain.accounts.account import Permission
from chalicelib.domain.schema import Resource
from chalicelib.web.openapi.operation import operation
from chalicelib.web.partner.endpoint import PartnerRequest, partner_route

routes = Blueprint(__name__)


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


@partner_route(routes, "POST", "/partners/purchase")
@operation(
    tag="Purchases",
    description="Records a purchase or a booking. A purchase with the same `source` and"
    " `externalId` as an earlier one updates it, so repeating the request has no further effect."
    "\n\nThe survey about a new purchase follows by the rules of the account: consent, delays and"
    " sending hours. An update makes a new decision, as long as the survey is pending."
    " The JSON of a purchase is limited to 32 KB.\n\nWithout the permission `read`, `customer` is"
    " `null` in the response.",
    body="purchases.partner_requests.PurchaseReport",
    body_description="The purchase.",
    response="purchases.purchase.Purchase",
    returns="The purchase, new or updated.",
    permission="write",
)
def report_purchase(request: PartnerRequest) -> Resource:
    """Report a purchase."""
    from chalicelib.domain.purchases.partner_requests import PurchaseReport
    from chalicelib.services.purchases import report

    body = request.body(PurchaseReport)
    with_customer = request.has(Permission.READ)
    return report.report_purchase(request.account_id, body, with_customer=with_customer)


@partner_route(routes, "POST", "/partners/purchase/batch")
@operation(
    tag="Purchases",
    description="Records up to 100 purchases at once. Each row is validated and recorded"
    " separately; the response contains one result for each row. `solicit` is required: set it to"
    " `false` for old purchases, about which no survey is sent. Repeating the request has no"
    " further effect.",
    body="purchases.partner_requests.PurchaseBatch",
    body_description="1 to 100 purchases, at most 4 MB.",
    response="purchases.partner_requests.RecordedBatch",
    returns="The result of each row.",
    permission="write",
)
def report_purchases(request: PartnerRequest) -> Resource:
    """Report a batch of purchases."""
    from chalicelib.domain.parsing import parse
    from chalicelib.domain.purchases.partner_requests import PurchaseBatch
    from chalicelib.services.purchases import report

    body = parse(request.json(), PurchaseBatch)
    return report.report_purchases(request.account_id, body.batch, solicit=body.solicit)


@partner_route(routes, "POST", "/partners/purchase/find")
@operation(
    tag="Purchases",
    description="Returns the purchase with this source and external id.",
    body="purchases.definition.PurchaseKey",
    body_description="The key of the purchase.",
    response="purchases.purchase.Purchase",
    returns="The purchase.",
    errors=(404,),
)
def find_purchase(request: PartnerRequest) -> Resource:
    """Find a purchase."""
    from chalicelib.domain.purchases.definition import PurchaseKey
    from chalicelib.services.purchases.read import read_purchase

    record_id = request.body(PurchaseKey).purchase_id(request.account_id)
    return read_purchase(request.account_id, record_id)


@partner_route(routes, "POST", "/partners/purchase/list")
@operation(
    tag="Purchases",
    description="Returns purchases in the order of their creation. Send the `cursor` of a page,"
    " with the same filters, for the next one. A new purchase appears within seconds. A page can"
    " have fewer purchases than `limit`, or none, although the list continues: see `hasMore`.",
    body="purchases.partner_requests.PurchaseListRequest",
    body_description="The requested page. An empty body requests the first 10 purchases and needs"
    " no content type.",
    body_optional=True,
    response="purchases.partner_requests.PurchaseList",
    returns="The page of purchases.",
)
def list_purchases(request: PartnerRequest) -> Resource:
    """List purchases."""
    from chalicelib.domain.purchases.partner_requests import PurchaseListRequest
    from chalicelib.services.purchases import read

    return read.list_purchases(request.account_id, request.optional_body(PurchaseListRequest))


@partner_route(routes, "POST", "/partners/purchase/cancel")
@operation(
    tag="Purchases",
    description="Call it when a booking is cancelled: a pending survey is not sent any more and"
    " becomes `SKIPPED` with the reason `CANCELLED`. A survey that was sent does not change, and"
    " answers stay. Repeating the request has no further effect.",
    body="purchases.partner_requests.PurchaseReference",
    body_description="The purchase.",
    response="solicitation.partner_view.SurveyTracker",
    returns="The state of the survey.",
    errors=(404,),
    permission="write",
)
def cancel_purchase(request: PartnerRequest) -> Resource:
    """Cancel the survey about a purchase."""
    from chalicelib.domain.purchases.partner_requests import PurchaseReference
    from chalicelib.services.solicitation.survey_trackers import cancel_survey

    purchase_id = request.body(PurchaseReference).purchase_id(request.account_id)
    return cancel_survey(request.account_id, purchase_id)
