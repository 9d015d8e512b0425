"""Build events of API Gateway (REST API, Lambda proxy integration), and the context of Lambda.

The module imports nothing of the app.
"""

import base64
import json
from typing import Any, Final

_HEADERS: Final = {
    "Accept": "application/json",
    "Accept-Encoding": "gzip, deflate, br",
    "CloudFront-Forwarded-Proto": "https",
    "CloudFront-Is-Desktop-Viewer": "true",
    "CloudFront-Is-Mobile-Viewer": "false",
    "CloudFront-Viewer-Country": "FR",
    "Host": "api.example.com",
    "User-Agent": "partner-integration/2.4",
    "Via": "1.1 3a1f5c2b.cloudfront.net (CloudFront)",
    "X-Amz-Cf-Id": "Zr4yQ0Jp7c3d8o2u6tq1m5bK9xW0hV",
    "X-Amzn-Trace-Id": "Root=1-67bd7f2e-5f1c4a0e3b2d9c8a7f6e5d4c",
    "X-Forwarded-For": "203.0.113.7, 130.176.1.95",
    "X-Forwarded-Port": "443",
    "X-Forwarded-Proto": "https",
}
ACCOUNT_ID: Final = "a0000000-0000-4000-8000-000000000001"
"""The account that the benchmarks read."""
SUBMIT: Final = "/public/contact-form/submit"
BOUNDARY: Final = "----WebKitFormBoundary7MA4YWxkTrZu0gW"

Event = dict[str, Any]


class LambdaContext:
    """The attributes of the Lambda context that the app reads."""

    function_name: Final = "feedback-bench"
    memory_limit_in_mb: Final = 1024
    invoked_function_arn: Final = "arn:aws:lambda:eu-west-1:123456789012:function:feedback-bench"
    aws_request_id: Final = "b2d9c8a7-5f1c-4a0e-8b2d-9c8a7f6e5d4c"


def gateway_event(
    method: str,
    path: str,
    *,
    headers: dict[str, str] | None = None,
    query: dict[str, str] | None = None,
    body: dict[str, Any] | None = None,
) -> Event:
    """Build the event of one request. If the request has a body, set its content type to JSON."""
    all_headers = _HEADERS | (headers or {})
    if body is not None:
        all_headers["Content-Type"] = "application/json"
    return {
        "resource": path,
        "path": path,
        "httpMethod": method,
        "headers": all_headers,
        "multiValueHeaders": {name: [value] for name, value in all_headers.items()},
        "queryStringParameters": query,
        "multiValueQueryStringParameters": query and {name: [v] for name, v in query.items()},
        "pathParameters": None,
        "stageVariables": None,
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "a1b2c3d4e5",
            "domainName": "api.example.com",
            "httpMethod": method,
            "identity": {"sourceIp": "203.0.113.7", "userAgent": "partner-integration/2.4"},
            "path": f"/prod{path}",
            "protocol": "HTTP/1.1",
            "requestId": "0f6f3e8e-2f0b-4f57-8a5e-1f3b6f5f9a10",
            "resourcePath": path,
            "stage": "prod",
        },
        "body": None if body is None else json.dumps(body),
        "isBase64Encoded": False,
    }


def submission(path: str, *parts: tuple[str, str]) -> Event:
    """Build the event of a submission. The parts of its body have a name and a text each."""
    content_type = f"multipart/form-data; boundary={BOUNDARY}"
    event = gateway_event("POST", path, headers={"content-type": content_type})
    body = "".join(
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n'
        for name, text in parts
    )
    encoded = base64.b64encode(f"{body}--{BOUNDARY}--\r\n".encode()).decode()
    return event | {"body": encoded, "isBase64Encoded": True}
