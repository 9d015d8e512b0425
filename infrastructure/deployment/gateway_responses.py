"""What the gateway answers by itself, in place of the function: problem details, like the rest.

A method or path that is not there is 404 here; the gateway's own habit is 403.
"""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import boto3

if TYPE_CHECKING:
    from mypy_boto3_apigateway.literals import GatewayResponseTypeType


@dataclass(frozen=True)
class GatewayResponse:
    """One answer of the gateway's own.

    Attributes:
        kind: the gateway's name for what happened.
    """

    kind: "GatewayResponseTypeType"
    status: int
    title: str
    detail: str

    @property
    def body(self) -> str:
        """The template of the answer's body; the gateway fills in the request's id."""
        problem = {
            "type": "about:blank",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "requestId": "$context.requestId",
        }
        return json.dumps(problem)


# A template cannot ask for the status that is sent. So each kind that the gateway knows has its own
# here, and the two defaults, which also have one, are left for kinds that it may yet learn.
RESPONSES = (
    GatewayResponse("DEFAULT_4XX", 400, "Bad Request", "The request could not be taken."),
    GatewayResponse("DEFAULT_5XX", 500, "Internal Server Error", "Something went wrong here."),
    GatewayResponse("ACCESS_DENIED", 403, "Forbidden", "This may not be used from here."),
    GatewayResponse(
        "API_CONFIGURATION_ERROR", 500, "Internal Server Error", "Something went wrong here."
    ),
    GatewayResponse(
        "AUTHORIZER_CONFIGURATION_ERROR", 500, "Internal Server Error", "Something went wrong here."
    ),
    GatewayResponse(
        "AUTHORIZER_FAILURE", 500, "Internal Server Error", "Something went wrong here."
    ),
    GatewayResponse("BAD_REQUEST_BODY", 400, "Bad Request", "The body could not be read."),
    GatewayResponse("BAD_REQUEST_PARAMETERS", 400, "Bad Request", "A parameter is not right."),
    GatewayResponse("EXPIRED_TOKEN", 403, "Forbidden", "The request's signature has expired."),
    GatewayResponse("INTEGRATION_FAILURE", 503, "Service Unavailable", "Try again in a moment."),
    GatewayResponse("INTEGRATION_TIMEOUT", 504, "Gateway Timeout", "The answer took too long."),
    GatewayResponse("INVALID_API_KEY", 403, "Forbidden", "This may not be used from here."),
    GatewayResponse("INVALID_SIGNATURE", 403, "Forbidden", "The request's signature is wrong."),
    GatewayResponse(
        "MISSING_AUTHENTICATION_TOKEN", 404, "Not Found", "There is no such path or method."
    ),
    GatewayResponse("QUOTA_EXCEEDED", 429, "Too Many Requests", "The quota is used up."),
    GatewayResponse("REQUEST_TOO_LARGE", 413, "Content Too Large", "The body is over 10 MB."),
    GatewayResponse("RESOURCE_NOT_FOUND", 404, "Not Found", "There is no such path."),
    GatewayResponse("THROTTLED", 429, "Too Many Requests", "Slow down and try again."),
    GatewayResponse("UNAUTHORIZED", 401, "Unauthorized", "This may not be used from here."),
    GatewayResponse(
        "UNSUPPORTED_MEDIA_TYPE", 415, "Unsupported Media Type", "This media type is not taken."
    ),
    GatewayResponse("WAF_FILTERED", 403, "Forbidden", "This may not be used from here."),
)

_MEDIA_TYPE = "application/problem+json"


def resources(rest_api: str) -> dict[str, object]:
    """The answers as CloudFormation resources, for the REST API of this logical name."""
    return {
        f"GatewayResponse{response.kind.title().replace('_', '')}": {
            "Type": "AWS::ApiGateway::GatewayResponse",
            "Properties": {
                "RestApiId": {"Ref": rest_api},
                "ResponseType": response.kind,
                "ResponseParameters": _headers(response),
                "ResponseTemplates": {"application/json": response.body},
                "StatusCode": str(response.status),
            },
        }
        for response in RESPONSES
    }


def put(rest_api_id: str, api_stage: str) -> None:
    """Give a REST API its answers, and deploy it again so that they are used."""
    gateway = boto3.client("apigateway")
    for response in RESPONSES:
        gateway.put_gateway_response(
            restApiId=rest_api_id,
            responseType=response.kind,
            responseParameters=_headers(response),
            responseTemplates={"application/json": response.body},
            statusCode=str(response.status),
        )
    gateway.create_deployment(restApiId=rest_api_id, stageName=api_stage)


def _headers(response: GatewayResponse) -> dict[str, str]:
    headers = {
        "gatewayresponse.header.Content-Type": f"'{_MEDIA_TYPE}'",
        # Pages of other origins are to read these too. They hold nobody's data, so they may be read
        # on every path: the gateway cannot tell the public ones from others here.
        "gatewayresponse.header.Access-Control-Allow-Origin": "'*'",
        "gatewayresponse.header.Access-Control-Expose-Headers": "'Retry-After'",
    }
    if response.status in (429, 503):
        headers["gatewayresponse.header.Retry-After"] = "'1'"
    return headers
