"""Where the interface is reached."""

import pytest
from chalice.app import Request

from chalicelib.web.server_address import server_address


@pytest.mark.parametrize(
    ("context", "address"),
    [
        ({"path": "/openapi.json"}, "/"),
        (
            {
                "path": "/prod/openapi.json",
                "domainName": "a1b2.execute-api.eu-west-1.amazonaws.com",
            },
            "https://a1b2.execute-api.eu-west-1.amazonaws.com/prod",
        ),
        (
            {"path": "/openapi.json", "domainName": "feedback.example.com", "apiId": "a1b2"},
            "https://feedback.example.com",
        ),
        (
            {"path": "/local/openapi.json", "apiId": "a1b2"},
            "/restapis/a1b2/local/_user_request_",
        ),
    ],
)
def test_the_gateway_tells_where_it_is(context: dict[str, str], address: str) -> None:
    event = {
        "requestContext": {"resourcePath": "/openapi.json", "httpMethod": "GET", **context},
        "headers": {"Host": "elsewhere.example.com"},
        "multiValueQueryStringParameters": None,
        "pathParameters": None,
        "body": None,
        "stageVariables": None,
        "isBase64Encoded": False,
    }
    assert server_address(Request(event)) == address
