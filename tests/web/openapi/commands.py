"""Run the commands of the documentation in this process, with the ids of the demo data."""

import json
import shlex
from collections.abc import Callable
from string import Template
from typing import Any, Final
from uuid import uuid4

import httpx
from chalice.test import Client

from admin.services.accounts.manage import issue_key
from chalicelib.domain import clock
from chalicelib.domain.accounts.account import Permission
from chalicelib.domain.schema import format_timestamp
from chalicelib.web.openapi.routes import DOCUMENT
from infrastructure.demo.ids import MAIN_ACCOUNT
from infrastructure.openapi.docs_examples import NOW, SOURCES, curl, request_of
from tests.web.partner_client import Response

Json = dict[str, Any]

SPECIFICATION: Final[Json] = json.loads(DOCUMENT.read_text(encoding="utf-8"))
OPERATIONS: Final[list[tuple[str, str, Json]]] = [
    (path, method, operation)
    for path, methods in SPECIFICATION["paths"].items()
    for method, operation in methods.items()
    # Links in messages contain a tracker or a signed token, which no example can contain.
    if operation["tags"] != ["Messages"]
]
COMMANDS: Final = {
    operation["operationId"]: curl(request_of(SPECIFICATION, path, method, operation))
    for path, method, operation in OPERATIONS
}
_IDS: dict[str, Callable[[Any], str]] = {
    "STORE_ID": lambda body: next(i["id"] for i in body["items"] if i["kind"] == "STORE"),
    "FORMER_CUSTOMER_ID": lambda body: body["id"],
    "IMPORT_ID": lambda body: body["id"],
    "ACTION_ID": lambda body: body["items"][0]["actions"][0]["id"],
    "DELIVERY_ID": lambda body: body["id"],
} | {
    f"{kind}_ID": lambda body: body["items"][0]["id"]
    for kind in ("FORM", "SURVEY", "PURCHASE", "CUSTOMER", "FEEDBACK", "WORKFLOW")
}
"""How to find the id of each variable in the response to its operation."""


def run(client: Client, command: str, variables: dict[str, str]) -> Response:
    """Send the request that a `curl` command describes and return the response."""
    command = command.replace("\\\n", "").replace("$(uuidgen)", str(uuid4()))
    words = iter(shlex.split(Template(command).substitute(variables)))
    assert (next(words), next(words)) == ("curl", "-sS")
    url, method, body, headers, parts = "", "", "", {}, {}
    for word in words:
        match word:
            case "-X":
                method = next(words)
            case "-H":
                name, _, value = next(words).partition(": ")
                headers[name] = value
            case "-d":
                body = next(words)
            case "-F":
                name, _, value = next(words).partition("=")
                # curl gives these characters a meaning.
                assert not value.startswith(("@", "<"))
                assert ";" not in value
                parts[name] = (None, value)
            case _:
                url = word
    method = method or ("POST" if body or parts else "GET")
    content = {"files": parts} if parts else {"content": body}
    request = httpx.Request(method, url, headers=headers, **content)  # type: ignore[arg-type]
    response = client.http.request(
        method, request.url.raw_path.decode(), headers=dict(request.headers), body=request.read()
    )
    return Response(response.status_code, response.headers, response.body.decode())


def find_variables(client: Client) -> dict[str, str]:
    """Return the variables of the commands, with new credentials for the demo data.

    The ids come from the responses to which the documentation refers for them.
    """
    credential, secret = issue_key(MAIN_ACCOUNT, "operator", permissions=frozenset(Permission))
    variables = {
        "BASE_URL": "http://service",
        "API_KEY": credential.api_key,
        "API_SECRET": secret,
        NOW: format_timestamp(clock.now()),
    }
    for variable, (_, source) in SOURCES.items():
        response = run(client, COMMANDS[source], variables)
        variables[variable] = _IDS[variable](json.loads(response.body))
    return variables
