"""Configure the error responses that the gateway generates without invoking the function.

The bodies of these responses are problem details, as in the function's error responses. For an
unknown path, the status is 404 instead of the gateway's default 403.
"""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chalicelib.web.problems import MEDIA_TYPE, code_of, title_of

if TYPE_CHECKING:
    from mypy_boto3_apigateway.literals import GatewayResponseTypeType


@dataclass(frozen=True)
class GatewayResponse:
    """One error response of the gateway.

    Attributes:
        kind: the gateway's response type.
        status: the status of the response.
        detail: the detail of the problem details.
    """

    kind: "GatewayResponseTypeType"
    status: int
    detail: str

    @property
    def body(self) -> str:
        """The template of the response body. The gateway inserts the request id."""
        problem = {
            "type": "about:blank",
            "title": title_of(self.status),
            "status": self.status,
            "code": code_of(self.status),
            "detail": self.detail,
            "requestId": "$context.requestId",
        }
        return json.dumps(problem)


# A body template cannot insert the status of the response, so every response type of the gateway
# has a separate entry. The two defaults apply to response types that are not in this list, for
# example because AWS adds them later.
RESPONSES = (
    GatewayResponse("DEFAULT_4XX", 400, "The request is invalid."),
    GatewayResponse("DEFAULT_5XX", 500, "Internal error."),
    GatewayResponse("ACCESS_DENIED", 403, "Access denied."),
    GatewayResponse("API_CONFIGURATION_ERROR", 500, "Internal error."),
    GatewayResponse("AUTHORIZER_CONFIGURATION_ERROR", 500, "Internal error."),
    GatewayResponse("AUTHORIZER_FAILURE", 500, "Internal error."),
    GatewayResponse("BAD_REQUEST_BODY", 400, "Invalid body."),
    GatewayResponse("BAD_REQUEST_PARAMETERS", 400, "Invalid parameter."),
    GatewayResponse("EXPIRED_TOKEN", 403, "The request's signature has expired."),
    GatewayResponse("INTEGRATION_FAILURE", 503, "The service is unavailable. Retry shortly."),
    GatewayResponse("INTEGRATION_TIMEOUT", 504, "The service did not respond in time."),
    GatewayResponse("INVALID_API_KEY", 403, "Access denied."),
    GatewayResponse("INVALID_SIGNATURE", 403, "The request's signature is invalid."),
    GatewayResponse("MISSING_AUTHENTICATION_TOKEN", 404, "There is no such path."),
    GatewayResponse("QUOTA_EXCEEDED", 429, "The quota is exhausted."),
    GatewayResponse("REQUEST_TOO_LARGE", 413, "The body is larger than 10 MB."),
    GatewayResponse("RESOURCE_NOT_FOUND", 404, "Unknown path."),
    GatewayResponse("THROTTLED", 429, "Too many requests. Retry later."),
    GatewayResponse("UNAUTHORIZED", 401, "Missing or invalid credentials."),
    GatewayResponse("UNSUPPORTED_MEDIA_TYPE", 415, "Unsupported media type."),
    GatewayResponse("WAF_FILTERED", 403, "Access denied."),
)


def definition() -> dict[str, object]:
    """Return the responses in the form that the definition of a REST API contains."""
    return {
        "x-amazon-apigateway-gateway-responses": {
            response.kind: {
                "statusCode": str(response.status),
                "responseParameters": _headers(response),
                "responseTemplates": {"application/json": response.body},
            }
            for response in RESPONSES
        }
    }


def _headers(response: GatewayResponse) -> dict[str, str]:
    headers = {
        "gatewayresponse.header.Content-Type": f"'{MEDIA_TYPE}'",
        "gatewayresponse.header.X-Content-Type-Options": "'nosniff'",
        # Web pages of other origins must be able to read responses of public paths. The gateway
        # cannot set headers by path. The responses contain no account data, so this is safe for all
        # paths.
        "gatewayresponse.header.Access-Control-Allow-Origin": "'*'",
        "gatewayresponse.header.Access-Control-Expose-Headers": "'Retry-After'",
    }
    if response.status in (429, 503):
        headers["gatewayresponse.header.Retry-After"] = "'1'"
    return headers
