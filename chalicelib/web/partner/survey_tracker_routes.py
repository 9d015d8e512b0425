"""The partner routes of the surveys about purchases."""

from chalice import Blueprint

from chalicelib.domain.accounts.account import Permission
from chalicelib.domain.schema import Resource
from chalicelib.web.openapi.operation import operation
from chalicelib.web.partner.endpoint import PartnerRequest, partner_route

routes = Blueprint(__name__)


@partner_route(routes, "GET", "/partners/survey-tracker")
@operation(
    tag="Surveys",
    description="Returns the state of the survey about a purchase: until when it waits, when and"
    " how it was sent, why it was skipped, or which feedback answers it.",
    parameters={"purchase": "Identifier of the purchase."},
    response="solicitation.partner_view.SurveyTracker",
    returns="The survey about the purchase.",
    missing="purchase",
)
def get_survey_tracker(request: PartnerRequest) -> Resource:
    """Get the survey about a purchase."""
    from chalicelib.services.solicitation.survey_trackers import read_survey_tracker

    return read_survey_tracker(
        request.account_id,
        request.identifier("purchase"),
        with_link=request.has(Permission.WRITE),
    )


@partner_route(routes, "POST", "/partners/survey-tracker")
@operation(
    tag="Surveys",
    description="Returns a link for your own channel, such as a receipt, an app or a messenger. The"
    " link replaces the message of the service, and repeating the request returns the same link."
    "\n\nThe survey is chosen like that of a message. Consent, channels and unsubscriptions do not"
    " apply, and the purchase needs no customer; the other rules apply: the age of the purchase,"
    " the delay between two surveys, `sendAt`, and sending hours. A link is possible while the"
    " survey is pending, or if it was skipped with the reason `NOT_REQUESTED`, `NO_CHANNEL`,"
    " `NO_CONSENT`, `SUPPRESSED`, `BOUNCED` or `NO_CUSTOMER`. Otherwise, the response is 409 with"
    " the code `no_link` and a `reason`.",
    body="solicitation.partner_view.SurveyLinkRequest",
    body_description="The purchase.",
    examples={
        "A link to print on a receipt": {"purchaseId": "e24b6d0a-8e06-5ab8-a5bb-17f48d49595e"},
    },
    invalid={"purchase": "e24b6d0a-8e06-5ab8-a5bb-17f48d49595e"},
    response="solicitation.partner_view.SurveyTracker",
    returns="The survey about the purchase, with its link.",
    missing="purchase",
    errors=("no_link",),
    permission="write",
)
def create_survey_link(request: PartnerRequest) -> Resource:
    """Get a link to the survey about a purchase."""
    from chalicelib.domain.solicitation.partner_view import SurveyLinkRequest
    from chalicelib.services.solicitation.link_survey import link_survey

    body = request.body(SurveyLinkRequest)
    return link_survey(request.account_id, body.purchase_id, body.labels)


@partner_route(routes, "POST", "/partners/survey-tracker/list")
@operation(
    tag="Surveys",
    description="Returns the states of the surveys about purchases, in the order of the creation"
    " of the purchases. Send the `cursor` of a page, with the same filters, for the next one. A new"
    " purchase appears within seconds. A page can have fewer surveys than `limit`, or none, while"
    " the list continues: see `hasMore`.",
    body="solicitation.partner_view.SurveyTrackerListRequest",
    body_description="The requested page. An empty body requests the first 10 surveys and needs no"
    " content type.",
    body_optional=True,
    examples={
        "The first page": {},
        "Surveys that were not sent": {"limit": 2, "state": "SKIPPED"},
    },
    invalid={"state": "OPEN"},
    response="solicitation.partner_view.SurveyTrackerList",
    returns="The page of surveys about purchases.",
)
def list_survey_trackers(request: PartnerRequest) -> Resource:
    """List surveys about purchases."""
    from chalicelib.domain.solicitation.partner_view import SurveyTrackerListRequest
    from chalicelib.services.solicitation import survey_trackers

    return survey_trackers.list_survey_trackers(
        request.account_id,
        request.optional_body(SurveyTrackerListRequest),
        with_links=request.has(Permission.WRITE),
    )
