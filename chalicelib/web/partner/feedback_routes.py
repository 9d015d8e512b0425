"""The partner routes that read feedback."""

from chalice import Blueprint

from chalicelib.domain.schema import Resource
from chalicelib.web.openapi.operation import operation
from chalicelib.web.partner.endpoint import PartnerRequest, partner_route

routes = Blueprint(__name__)


@partner_route(routes, "GET", "/partners/feedback")
@operation(
    tag="Feedback",
    description="Returns one feedback with its answers, in the wording that the respondent saw. A"
    " webhook names the feedback; when it arrives, the customer of the feedback is known.",
    parameters={"id": "Identifier of the feedback."},
    response="feedback.partner_view.PartnerFeedback",
    returns="The feedback.",
    missing="feedback",
)
def get_feedback(request: PartnerRequest) -> Resource:
    """Get feedback."""
    from chalicelib.services.feedback.feed import read_partner_feedback

    return read_partner_feedback(request.account_id, request.identifier())


@partner_route(routes, "POST", "/partners/feedback/list")
@operation(
    tag="Feedback",
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
    examples={
        "The start of the feed": {},
        "High ratings of surveys": {"kind": "SURVEY", "minRating": 8},
    },
    errors=("invalid_cursor",),
    response="feedback.feed.FeedPage",
    returns="The page of changes.",
)
def list_feedback(request: PartnerRequest) -> Resource:
    """Read the changes to feedback."""
    from chalicelib.domain.feedback.feed import FeedRequest
    from chalicelib.services.feedback.feed import read_feed

    return read_feed(request.account_id, request.optional_body(FeedRequest))


@partner_route(routes, "POST", "/partners/statistics")
@operation(
    tag="Feedback",
    description="Returns exact numbers of feedback, ratings, answers to the first question of type"
    " `NPS`, and surveys, by period and by up to two properties. Feedback counts on the day of its"
    " creation, without tests and deleted feedback; anonymizing changes nothing. A survey counts on"
    " the day on which it was sent, and its answer counts on this day too, so the response rate is"
    " never above 1. The account's time zone determines the days; a new time zone applies to"
    " feedback and surveys from then on. If there is too much to read, the code is `too_much`:"
    " request a shorter period or fewer groups.",
    body="feedback.statistics.StatisticsRequest",
    body_description="The period, the groups and the filters.",
    examples={
        "A year by month": {"since": "2026-01-01", "until": "2026-12-31", "interval": "MONTH"},
        "Stores of a quarter": {
            "since": "2026-10-01",
            "until": "2026-12-31",
            "groupBy": ["STORE"],
            "kind": "SURVEY",
        },
    },
    invalid={"since": "2026-11-30", "until": "30 November"},
    response="feedback.statistics.Statistics",
    returns="The statistics.",
)
def get_statistics(request: PartnerRequest) -> Resource:
    """Get statistics."""
    from chalicelib.domain.feedback.statistics import StatisticsRequest
    from chalicelib.services.feedback.statistics import read_statistics

    return read_statistics(request.account_id, request.body(StatisticsRequest))
