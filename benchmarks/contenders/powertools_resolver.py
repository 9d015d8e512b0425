"""Serve the read endpoints with the REST resolver of Powertools for AWS Lambda."""

from typing import Any, Final

from aws_lambda_powertools.event_handler import APIGatewayRestResolver

from benchmarks.contenders import plain_reads

_app: Final = APIGatewayRestResolver()


def _id() -> str:
    return _app.current_event.query_string_parameters["id"]


def _page() -> tuple[int, int]:
    body = _app.current_event.json_body
    return body.get("limit", 10), body.get("page", 1)


@_app.get("/partners/purchase")
def get_purchase() -> Any:
    return plain_reads.read_purchase(_id())


@_app.get("/partners/contact-form")
def get_contact_form() -> Any:
    return plain_reads.read_contact_form(_id())


@_app.post("/partners/contact-form/list")
def post_contact_form_list() -> Any:
    return plain_reads.list_contact_forms(*_page()), 201


@_app.get("/partners/survey")
def get_survey() -> Any:
    return plain_reads.read_survey(_id())


@_app.post("/partners/survey/list")
def post_survey_list() -> Any:
    return plain_reads.list_surveys(*_page()), 201


@_app.get("/partners/customer")
def get_customer() -> Any:
    return plain_reads.read_customer(_id())


@_app.post("/partners/customer/list")
def post_customer_list() -> Any:
    return plain_reads.list_customers(*_page()), 201


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Handle one API Gateway event and return the response."""
    return _app.resolve(event, context)
