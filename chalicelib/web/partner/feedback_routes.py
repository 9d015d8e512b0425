"""The partner routes that read feedback."""

from chalice import Blueprint, Response

from chalicelib.web.openapi.operation import operation
from chalicelib.web.partner.endpoint import PartnerRequest, json_response, partner_endpoint

routes = Blueprint(__name__)


@routes.route("/partners/feedback", methods=["GET"], content_types=[])
@partner_endpoint(routes)
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
