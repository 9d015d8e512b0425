"""Tests of the operations on MAIL FROM domains that the strict layer adds to SES."""

import asyncio
from typing import Any
from urllib.parse import urlencode

from botocore.parsers import QueryParser
from botocore.session import get_session

from infrastructure.local_cloud.strict.mail_from import with_mail_from

SERVICE = get_session().get_service_model("ses")


async def emulator(*_: Any) -> Any:
    return 200, {}, b"emulator"


def call(handle: Any, operation: str, **parameters: str) -> Any:
    body = urlencode({"Action": operation, **parameters}).encode()
    status, headers, response = asyncio.run(handle("POST", "/", {}, body, {}))
    shape = SERVICE.operation_model(operation).output_shape
    parsed = QueryParser().parse(
        {"status_code": status, "headers": headers, "body": response}, shape
    )
    parsed.pop("ResponseMetadata")
    return parsed


def test_mail_from_domain_is_verified_immediately() -> None:
    handle = with_mail_from(emulator, {})
    read = {"Identities.member.1": "a.example", "Identities.member.2": "b.example"}
    operation = "GetIdentityMailFromDomainAttributes"
    assert call(handle, operation, **read) == {"MailFromDomainAttributes": {}}
    call(
        handle,
        "SetIdentityMailFromDomain",
        Identity="a.example",
        MailFromDomain="bounce.a.example",
    )
    assert call(handle, operation, **read) == {
        "MailFromDomainAttributes": {
            "a.example": {
                "MailFromDomain": "bounce.a.example",
                "MailFromDomainStatus": "Success",
                "BehaviorOnMXFailure": "UseDefaultValue",
            }
        }
    }


def test_other_ses_operations_are_passed_to_emulator() -> None:
    handle = with_mail_from(emulator, {})
    for body in (b"Action=SendRawEmail", b"", None, b"\xff"):
        assert asyncio.run(handle("POST", "/", {}, body, {})) == (200, {}, b"emulator")


def test_setting_for_headers_in_notifications_is_accepted() -> None:
    operation = "SetIdentityHeadersInNotificationsEnabled"
    parameters = {"Identity": "a.example", "NotificationType": "Bounce", "Enabled": "true"}
    assert call(with_mail_from(emulator, {}), operation, **parameters) == {}
