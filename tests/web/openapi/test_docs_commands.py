"""Test that the commands on the documentation page succeed unchanged with the demo data."""

import json
import shlex
from collections.abc import Callable, Iterator
from string import Template
from typing import Any
from uuid import uuid4

import httpx
import pytest
from chalice.test import Client

from admin.services.accounts.manage import issue_key
from chalicelib.domain import clock
from chalicelib.domain.accounts.account import Permission
from chalicelib.domain.schema import format_timestamp
from chalicelib.outbound.queues import forget_urls
from chalicelib.services.caching import clear_caches
from chalicelib.storage.dynamodb.table import forget_connection
from chalicelib.web.openapi.routes import DOCUMENT
from infrastructure.demo.ids import MAIN_ACCOUNT
from infrastructure.openapi.docs_examples import NOW, SOURCES, curl, request_of
from infrastructure.openapi.document import THANKS
from infrastructure.openapi.examples import recorder
from tests.web.partner_client import ROOT, Response

BASE_URL = "http://service"


IDS: dict[str, Callable[[Any], str]] = {
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


@pytest.fixture
def demo_client(tables: None, docs: dict[str, str]) -> Iterator[Client]:
    """Return a client of an app with demo data."""
    from app import app

    def forget() -> None:
        clear_caches()
        forget_connection()
        forget_urls()

    forget()
    with recorder(), Client(app, stage_name="test", project_dir=str(ROOT)) as client:
        yield client
    forget()


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


def test_every_command_succeeds_on_first_and_second_run(demo_client: Client) -> None:
    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    credential, secret = issue_key(MAIN_ACCOUNT, "operator", permissions=frozenset(Permission))
    variables = {"BASE_URL": BASE_URL, "API_KEY": credential.api_key, "API_SECRET": secret}
    variables[NOW] = format_timestamp(clock.now())
    commands = {
        operation["operationId"]: (operation, curl(request_of(document, path, method, operation)))
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        # Links in messages contain a tracker or a signed token, which no example can contain.
        if operation["tags"] != ["Messages"]
    }
    for _ in range(2):
        for variable, (_, source) in SOURCES.items():
            response = run(demo_client, commands[source][1], variables)
            variables[variable] = IDS[variable](json.loads(response.body))
        for operation, command in commands.values():
            response = run(demo_client, command, variables)
            expected = {
                status
                for status, described in operation["responses"].items()
                if status < "300" and described.get("description") != THANKS["description"]
            }
            assert {str(response.status)} == expected, (command, response.body)
