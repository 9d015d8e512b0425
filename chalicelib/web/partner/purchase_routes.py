"""The partner routes that report, find, list and cancel purchases."""

from chalice import Blueprint, Response

from chalicelib.web.openapi.operation import operation
from chalicelib.web.partner.endpoint import PartnerRequest, json_response, partner_route

routes = Blueprint(__name__)


@partner_route(routes, "POST", "/partners/purchase")
@operation(
    id="reportPurchase",
    tag="Purchases",
    summary="Report a purchase",
    description="Records a purchase or a booking. A purchase with the same `source` and"
    " `externalId` as an earlier one updates it, so repeating the request has no further effect."
    "\n\nThe survey about a new purchase follows by the rules of the account: consent, delays and"
    " sending hours. An update makes a new decision, as long as the survey is pending."
    " The JSON of a purchase is limited to 32 KB.",
    body="purchases.partner_requests.PurchaseReport",
    body_description="The purchase.",
    response="purchases.purchase.Purchase",
    returns="The purchase, new or updated.",
    permission="write",
)
def post_purchase(request: PartnerRequest) -> Response:
    """Report a purchase."""
    from chalicelib.domain.purchases.partner_requests import PurchaseReport
    from chalicelib.services.purchases.report import report_purchase

    solicit = request.body(PurchaseReport).solicit
    definition = {name: v for name, v in request.json().items() if name != "solicit"}
    purchase = report_purchase(request.account_id, definition, solicit=solicit)
    return json_response(purchase, status=201)


@partner_route(routes, "POST", "/partners/purchase/batch")
@operation(
    id="reportPurchases",
    tag="Purchases",
    summary="Report a batch of purchases",
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
def post_purchase_batch(request: PartnerRequest) -> Response:
    """Report a batch of purchases."""
    from chalicelib.domain.parsing import parse
    from chalicelib.domain.purchases.partner_requests import PurchaseBatch
    from chalicelib.services.purchases.report import report_purchases

    body = parse(request.json(), PurchaseBatch)
    recorded = report_purchases(request.account_id, body.batch, solicit=body.solicit)
    return json_response(recorded, status=201)


@partner_route(routes, "POST", "/partners/purchase/find")
@operation(
    id="findPurchase",
    tag="Purchases",
    summary="Find a purchase",
    description="Returns the purchase with this source and external id.",
    body="purchases.partner_requests.PurchaseKey",
    body_description="The key of the purchase.",
    response="purchases.purchase.Purchase",
    returns="The purchase.",
    errors=(404,),
)
def post_purchase_find(request: PartnerRequest) -> Response:
    """Find a purchase by its source and external id."""
    from chalicelib.domain.purchases.partner_requests import PurchaseKey
    from chalicelib.services.purchases.read import read_purchase

    record_id = request.body(PurchaseKey).purchase_id(request.account_id)
    return json_response(read_purchase(request.account_id, record_id), status=201)


@partner_route(routes, "POST", "/partners/purchase/list")
@operation(
    id="listPurchases",
    tag="Purchases",
    summary="List purchases",
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
def post_purchase_list(request: PartnerRequest) -> Response:
    """Return a page of purchases."""
    from chalicelib.domain.purchases.partner_requests import PurchaseListRequest
    from chalicelib.services.purchases.read import list_purchases

    wanted = request.optional_body(PurchaseListRequest)
    return json_response(list_purchases(request.account_id, wanted), status=201)


@partner_route(routes, "POST", "/partners/purchase/cancel")
@operation(
    id="cancelPurchase",
    tag="Purchases",
    summary="Cancel the survey about a purchase",
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
def post_purchase_cancel(request: PartnerRequest) -> Response:
    """Cancel the survey about a purchase."""
    from chalicelib.domain.purchases.partner_requests import PurchaseReference
    from chalicelib.services.solicitation.survey_trackers import cancel_survey

    purchase_id = request.body(PurchaseReference).purchase_id(request.account_id)
    return json_response(cancel_survey(request.account_id, purchase_id), status=201)


@partner_route(routes, "GET", "/partners/survey-tracker")
@operation(
    id="getSurveyTracker",
    tag="Surveys",
    summary="Get the survey about a purchase",
    description="Returns the state of the survey about a purchase: until when it waits, when and"
    " how it was sent, why it was skipped, or which feedback answers it.",
    parameters={"purchase": "Identifier of the purchase."},
    response="solicitation.partner_view.SurveyTracker",
    returns="The survey about the purchase.",
    errors=(404,),
)
def get_survey_tracker(request: PartnerRequest) -> Response:
    """Return the survey about a purchase."""
    from chalicelib.services.solicitation.survey_trackers import read_survey_tracker

    purchase_id = request.identifier("purchase")
    return json_response(read_survey_tracker(request.account_id, purchase_id))


@partner_route(routes, "POST", "/partners/survey-tracker")
@operation(
    id="createSurveyLink",
    tag="Surveys",
    summary="Get a link to the survey about a purchase",
    description="Returns a link for your own channel, such as a receipt, an app or a messenger. The"
    " link replaces the message of the service, and repeating the request returns the same link."
    "\n\nThe survey is chosen like that of a message. Consent, channels and unsubscriptions do not"
    " apply, and the purchase needs no customer; the other rules apply: the age of the purchase,"
    " the delay between two surveys, `sendAt`, and sending hours. A link is possible while the"
    " survey is pending, or if it was skipped with the reason `NOT_REQUESTED`, `NO_CHANNEL`,"
    " `NO_CONSENT`, `SUPPRESSED`, `BOUNCED` or `NO_CUSTOMER`. Otherwise, the response is 409 with"
    " the code `no_link`.",
    body="solicitation.partner_view.SurveyLinkRequest",
    body_description="The purchase.",
    response="solicitation.partner_view.SurveyTracker",
    returns="The survey about the purchase, with its link.",
    errors=(404, 409),
    permission="write",
)
def post_survey_tracker(request: PartnerRequest) -> Response:
    """Return a link to the survey about a purchase."""
    from chalicelib.domain.solicitation.partner_view import SurveyLinkRequest
    from chalicelib.services.solicitation.link_survey import link_survey

    purchase_id = request.body(SurveyLinkRequest).purchase_id
    return json_response(link_survey(request.account_id, purchase_id), status=201)


@partner_route(routes, "POST", "/partners/survey-tracker/list")
@operation(
    id="listSurveyTrackers",
    tag="Surveys",
    summary="List surveys about purchases",
    description="Returns the states of the surveys about purchases, in the order of the creation"
    " of the purchases. Send the `cursor` of a page, with the same filters, for the next one. A new"
    " purchase appears within seconds. A page can have fewer surveys than `limit`, or none, while"
    " the list continues: see `hasMore`.",
    body="solicitation.partner_view.SurveyTrackerListRequest",
    body_description="The requested page. An empty body requests the first 10 surveys and needs no"
    " content type.",
    body_optional=True,
    response="solicitation.partner_view.SurveyTrackerList",
    returns="The page of surveys about purchases.",
)
def post_survey_tracker_list(request: PartnerRequest) -> Response:
    """Return a page of survey trackers."""
    from chalicelib.domain.solicitation.partner_view import SurveyTrackerListRequest
    from chalicelib.services.solicitation.survey_trackers import list_survey_trackers

    wanted = request.optional_body(SurveyTrackerListRequest)
    return json_response(list_survey_trackers(request.account_id, wanted), status=201)
