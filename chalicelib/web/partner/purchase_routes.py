"""The partner routes that report, find, list and cancel purchases."""

from typing import Final

from chalice import Blueprint

from chalicelib.domain.accounts.account import Permission
from chalicelib.domain.schema import Resource
from chalicelib.web.openapi.operation import operation
from chalicelib.web.partner.endpoint import PartnerRequest, partner_route

routes = Blueprint(__name__)

_UNKNOWN: Final = "8ce49701-7370-5b25-a78d-f7bcee67396a"
_KEY: Final = {"source": "Site", "externalId": "ORDER-20418"}
_PURCHASE: Final = _KEY | {
    "storeId": "f648f0af-0303-5230-b619-1c59f038ec1e",
    "date": "2026-11-20T09:30:00Z",
    "customer": {"firstName": "Lou", "email": "lou.blanc@example.com", "emailOptin": True},
}


@partner_route(routes, "GET", "/partners/purchase")
@operation(
    tag="Purchases",
    description="Returns one purchase with the current data of the customer and the current name"
    " of the store.",
    parameters={"id": "Identifier of the purchase."},
    response="purchases.purchase.Purchase",
    returns="The purchase.",
    missing="purchase",
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
    examples={
        "A booking whose survey is sent after the stay": _PURCHASE
        | {
            "startDate": "2026-11-27T15:00:00Z",
            "endDate": "2026-11-29T11:00:00Z",
            "sendAt": "2026-11-30T09:00:00Z",
            "metadata": {"room": "12"},
        },
    },
    invalid={"source": "Site", "storeID": _PURCHASE["storeId"], "date": "yesterday"},
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


@partner_route(routes, "POST", "/partners/purchase/preview")
@operation(
    tag="Purchases",
    description="Returns which survey would be sent about a purchase, through which channel and"
    " when, or the reason why none would be sent. It is the decision that follows from the current"
    " rules, consent and earlier surveys, if you report the purchase now. Nothing is stored or"
    " sent.",
    body="purchases.partner_requests.PurchaseReport",
    body_description="The purchase.",
    examples={
        "A purchase whose survey is sent later": _PURCHASE | {"sendAt": "2026-11-30T09:00:00Z"}
    },
    invalid={"source": "Site", "storeID": _PURCHASE["storeId"], "date": "yesterday"},
    response="solicitation.preview.SurveyPreview",
    returns="The survey that would follow.",
)
def preview_purchase(request: PartnerRequest) -> Resource:
    """Preview the survey about a purchase."""
    from chalicelib.domain.purchases.partner_requests import PurchaseReport
    from chalicelib.services.purchases import preview

    return preview.preview_purchase(request.account_id, request.body(PurchaseReport))


@partner_route(routes, "POST", "/partners/purchase/batch")
@operation(
    tag="Purchases",
    description="Records up to 100 purchases at once. Each row is validated and recorded"
    " separately; the response contains one result for each row. `solicit` is required: set it to"
    " `false` for old purchases, about which no survey is sent. Repeating the request has no"
    " further effect.",
    body="purchases.partner_requests.PurchaseBatch",
    body_description="1 to 100 purchases, at most 4 MB.",
    examples={
        "Two old purchases, one of them invalid": {
            "batch": [
                _PURCHASE | {"externalId": "ORDER-20417"},
                _PURCHASE | {"externalId": "ORDER-20416", "customerId": _UNKNOWN},
            ],
            "solicit": False,
        },
    },
    invalid={"batch": []},
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
    examples={"By order number": _KEY},
    invalid={"source": "Shop"},
    response="purchases.purchase.Purchase",
    returns="The purchase.",
    missing="purchase",
)
def find_purchase(request: PartnerRequest) -> Resource:
    """Find a purchase."""
    from chalicelib.domain.purchases.definition import PurchaseKey
    from chalicelib.domain.purchases.purchase import purchase_id
    from chalicelib.services.purchases.read import read_purchase

    key, account_id = request.body(PurchaseKey), request.account_id
    return read_purchase(account_id, purchase_id(account_id, key.source, key.external_id))


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
    examples={
        "The first page": {},
        "Purchases in a store": {"limit": 2, "storeIds": [_PURCHASE["storeId"]]},
    },
    errors=("invalid_cursor",),
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
    examples={"By order number": _KEY},
    invalid={"externalId": "ORDER-20418"},
    response="solicitation.partner_view.SurveyTracker",
    returns="The state of the survey.",
    missing="purchase",
    permission="write",
)
def cancel_purchase(request: PartnerRequest) -> Resource:
    """Cancel the survey about a purchase."""
    from chalicelib.domain.purchases.partner_requests import PurchaseReference
    from chalicelib.services.solicitation.survey_trackers import cancel_survey

    purchase_id = request.body(PurchaseReference).purchase_id(request.account_id)
    return cancel_survey(request.account_id, purchase_id)
