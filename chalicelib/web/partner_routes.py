"""The partner interface: routes only, each a few lines over a service."""

from chalice import Blueprint, Response

routes = Blueprint(__name__)


@routes.route("/partners/customer", methods=["GET"])
def get_customer() -> Response:
    """Placeholder until the service behind it lands."""
    return Response("{}", status_code=503)
