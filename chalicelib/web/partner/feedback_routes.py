"""The partner routes that read feedback."""

from chalice import Blueprint, Response

from chalicelib.web.openapi.operation import operation
from chalicelib.web.partner.endpoint import PartnerRequest, json_response, partner_route

routes = Blueprint(__name__)


@partner_route(routes, "GET", "/partners/feedback")
@operation(
    id="getFeedback",
    tag="Feedback",
    summary="Get feedback",
    description="Returns one feedback with its answers, in the wording that the respondent saw. A"
    " webhook names the feedback; when it arrives, the customer of the feedback is known.",
    parameters={"id": "Identifier of the feedback."},
    response="feedback.partner_view.PartnerFeedback",
    returns="The feedback.",
    errors=(404,),
)
def get_feedback(request: PartnerRequest) -> Response:
    """Return a feedback record."""
    from chalicelib.services.feedback.partner import read_partner_feedback

    return json_response(read_partner_feedback(request.account_id, request.identifier()))


@partner_route(routes, "POST", "/partners/feedback/list")
@operation(
    id="listFeedback",
    tag="Feedback",
    summary="Read the changes to feedback",
    description="Returns the next page of the feed of changes: new, changed, anonymized and removed"
    " feedback. Send the `cursor` of each page with the next request, with the same filters, and"
    " ask again later when `hasMore` is false. Each change appears within a minute and at least"
    " once; the last occurrence of a feedback is its state. A page can be empty although `hasMore`"
    " is true, if the filters select little. After the code `invalid_cursor`, start again without a"
    " cursor, and remove what does not return.",
    body="feedback.feed.FeedRequest",
    body_description="The position and the filters. An empty body starts at the beginning and needs"
    " no content type.",
    body_optional=True,
    response="feedback.feed.FeedPage",
    returns="The page of changes.",
)
def post_feedback_list(request: PartnerRequest) -> Response:
    """Return a page of the feed."""
    from chalicelib.domain.feedback.feed import FeedRequest
    from chalicelib.services.feedback.feed import read_feed

    page = request.optional_body(FeedRequest)
    return json_response(read_feed(request.account_id, page), status=201)


@partner_route(routes, "POST", "/partners/statistics")
@operation(
    id="getStatistics",
    tag="Feedback",
    summary="Get statistics",
    description="Returns exact numbers of feedback, ratings, answers to the first question of type"
    " `NPS`, and surveys, by period and by up to two properties. Feedback counts on the day of its"
    " creation, without tests and deleted feedback; anonymizing changes nothing. A survey counts on"
    " the day on which it was sent, and its answer counts on this day too, so the response rate is"
    " never above 1. The account's time zone determines the days; a new time zone applies to"
    " feedback and surveys from then on. If there is too much to read, the code is `too_much`:"
    " request a shorter period or fewer groups.",
    body="feedback.statistics.StatisticsRequest",
    body_description="The period, the groups and the filters.",
    response="feedback.statistics.Statistics",
    returns="The statistics.",
)
def post_statistics(request: PartnerRequest) -> Response:
    """Return statistics."""
    from chalicelib.domain.feedback.statistics import StatisticsRequest
    from chalicelib.services.feedback.statistics import read_statistics

    body = request.body(StatisticsRequest)
    return json_response(read_statistics(request.account_id, body), status=201)
