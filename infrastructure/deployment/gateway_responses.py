"""The error responses that the gateway generates without invoking the function.

The bodies of these responses are problem details, as in the function's error responses. For an
unknown path, the status is 404 instead of the gateway's default 403.
"""

import json
from typing import Any, Final

from chalicelib.web.problems import MEDIA_TYPE, code_of, title_of

# A body template cannot insert the status of the response, so every response type of the gateway
# has a separate entry. The two defaults apply to response types that are not in this list, for
# example because AWS adds them later.
RESPONSES: Final = {
    "DEFAULT_4XX": (400, "The request is invalid."),
    "DEFAULT_5XX": (500, "Internal error."),
    "ACCESS_DENIED": (403, "Access denied."),
    "API_CONFIGURATION_ERROR": (500, "Internal error."),
    "AUTHORIZER_CONFIGURATION_ERROR": (500, "Internal error."),
    "AUTHORIZER_FAILURE": (500, "Internal error."),
    "BAD_REQUEST_BODY": (400, "Invalid body."),
    "BAD_REQUEST_PARAMETERS": (400, "Invalid parameter."),
    "EXPIRED_TOKEN": (403, "The request's signature has expired."),
    "INTEGRATION_FAILURE": (503, "The service is unavailable. Retry shortly."),
    "INTEGRATION_TIMEOUT": (504, "The service did not respond in time."),
    "INVALID_API_KEY": (403, "Access denied."),
    "INVALID_SIGNATURE": (403, "The request's signature is invalid."),
    "MISSING_AUTHENTICATION_TOKEN": (404, "There is no such path."),
    "QUOTA_EXCEEDED": (429, "The quota is exhausted."),
    "REQUEST_TOO_LARGE": (413, "The body is larger than 10 MB."),
    "RESOURCE_NOT_FOUND": (404, "Unknown path."),
    "THROTTLED": (429, "Too many requests. Retry later."),
    "UNAUTHORIZED": (401, "Missing or invalid credentials."),
    "UNSUPPORTED_MEDIA_TYPE": (415, "Unsupported media type."),
    "WAF_FILTERED": (403, "Access denied."),
}
"""The status and the detail of each response type."""


def definition() -> dict[str, Any]:
    """Return the responses in the form that the definition of a REST API contains."""
    responses = {kind: _response(*response) for kind, response in RESPONSES.items()}
    return {"x-amazon-apigateway-gateway-responses": responses}


def _response(status: int, detail: str) -> dict[str, Any]:
    problem = {
        "type": "about:blank",
        "title": title_of(status),
        "status": status,
        "code": code_of(status),
        "detail": detail,
        "requestId": "$context.requestId",  # the gateway inserts it
    }
    headers = {
        "Content-Type": MEDIA_TYPE,
        "X-Content-Type-Options": "nosniff",
        # Web pages of other origins must be able to read responses of public paths. The gateway
        # cannot set headers by path. The responses contain no account data, so this is safe for all
        # paths.
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Expose-Headers": "Retry-After",
        **({"Retry-After": "1"} if status in (429, 503) else {}),
    }
    return {
        "statusCode": str(status),
        "responseParameters": {
            f"gatewayresponse.header.{name}": f"'{value}'" for name, value in headers.items()
        },
        "responseTemplates": {"application/json": json.dumps(problem)},
    }
