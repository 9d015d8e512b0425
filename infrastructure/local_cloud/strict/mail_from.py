"""Add missing operations to the emulator's SES: MAIL FROM domains, headers in notifications.

The emulator verifies every domain immediately, so it also verifies a MAIL FROM domain immediately.
Its notifications never contain the headers of the e-mail.
"""

from typing import Any
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

from infrastructure.local_cloud.strict.limits import Handler, Response

_NAMESPACE = "http://ses.amazonaws.com/doc/2010-12-01/"


def with_mail_from(handle: Handler, domains: dict[str, str]) -> Handler:
    """Return a handler that also supports the missing operations.

    Args:
        handle: the emulator's handler of requests to SES.
        domains: the MAIL FROM domain by identity.
    """

    async def handle_request(method: str, path: str, headers: Any, body: bytes, query: Any) -> Any:
        form = parse_qs((body or b"").decode("utf-8", errors="replace"))
        match form.get("Action"):
            case ["SetIdentityMailFromDomain"]:
                domains[form["Identity"][0]] = form.get("MailFromDomain", [""])[0]
                return _response("SetIdentityMailFromDomain", "")
            case ["GetIdentityMailFromDomainAttributes"]:
                names = [value[0] for key, value in form.items() if key.startswith("Identities.")]
                return _response("GetIdentityMailFromDomainAttributes", _entries(names, domains))
            case ["SetIdentityHeadersInNotificationsEnabled"]:
                return _response("SetIdentityHeadersInNotificationsEnabled", "")
        return await handle(method, path, headers, body, query)

    return handle_request


def _entries(names: list[str], domains: dict[str, str]) -> str:
    entries = "".join(
        f"<entry><key>{escape(name)}</key><value><MailFromDomain>{escape(domains[name])}"
        "</MailFromDomain><MailFromDomainStatus>Success</MailFromDomainStatus>"
        "<BehaviorOnMXFailure>UseDefaultValue</BehaviorOnMXFailure></value></entry>"
        for name in names
        if domains.get(name)
    )
    return f"<MailFromDomainAttributes>{entries}</MailFromDomainAttributes>"


def _response(operation: str, result: str) -> Response:
    xml = (
        f'<{operation}Response xmlns="{_NAMESPACE}"><{operation}Result>{result}'
        f"</{operation}Result></{operation}Response>"
    )
    return 200, {"Content-Type": "text/xml"}, xml.encode()
