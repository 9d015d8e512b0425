"""Serve the read endpoints with the REST resolver of Powertools for AWS Lambda."""

from collections.abc import Callable
from typing import Any, Final

from aws_lambda_powertools.event_handler import APIGatewayRestResolver

from benchmarks.contenders.plain_reads import LISTS, READS

_app: Final = APIGatewayRestResolver()


def _get(read: Callable[[str], Any]) -> Callable[[], Any]:
    return lambda: read(_app.current_event.query_string_parameters["id"])


def _post(read: Callable[[int, int], Any]) -> Callable[[], Any]:
    def post() -> Any:
        body = _app.current_event.json_body
        return read(body.get("limit", 10), body.get("page", 1)), 201

    return post


for path, read in READS.items():
    _app.get(path)(_get(read))
for path, read_page in LISTS.items():
    _app.post(path)(_post(read_page))


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Handle one API Gateway event and return the response."""
    return _app.resolve(event, context)
