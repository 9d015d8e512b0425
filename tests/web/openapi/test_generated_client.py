"""Test that a client generated from the OpenAPI document calls every operation."""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from types import ModuleType
from typing import Any, get_type_hints
from uuid import UUID

import httpx
import pytest
from chalice.test import Client
from openapi_python_client.strings import PythonIdentifier

from admin.services.accounts.manage import issue_key
from chalicelib.domain.accounts.account import Permission
from chalicelib.domain.idempotency import HEADER as IDEMPOTENCY_HEADER
from chalicelib.outbound.queues import forget_urls
from chalicelib.services.caching import clear_caches
from chalicelib.storage.dynamodb.table import forget_connection
from chalicelib.web.openapi.routes import DOCUMENT
from chalicelib.web.partner.endpoint import KEY_HEADER, SECRET_HEADER
from infrastructure.demo.ids import MAIN_ACCOUNT
from infrastructure.openapi.examples import recorder
from tests.web.partner_client import ROOT

PACKAGE = "generated_feedback_client"
TOKENS = "Messages"
"""The tag of links in messages. Their tokens are secret, so no example can contain them."""

SPECIFICATION = json.loads(DOCUMENT.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("client")
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"]
    files = ["--path", str(DOCUMENT), "--output-path", str(folder / PACKAGE)]
    configuration = folder / "configuration.yaml"
    configuration.write_text("post_hooks: []\n")
    result = subprocess.run(
        [*command, *files, "--config", str(configuration), "--fail-on-warning"],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module(f"{PACKAGE}.client")
    finally:
        sys.path.remove(str(folder))


@pytest.fixture
def service(tables: None, docs: dict[str, str]) -> Iterator[Client]:
    """Return a client of the app with demo data."""
    from app import app

    def forget() -> None:
        clear_caches()
        forget_connection()
        forget_urls()

    forget()
    with recorder(), Client(app, stage_name="test", project_dir=str(ROOT)) as client:
        yield client
    forget()


def over_http(service: Client) -> httpx.MockTransport:
    """Return a transport that invokes the app in this process."""

    def respond(request: httpx.Request) -> httpx.Response:
        response = service.http.request(
            request.method,
            request.url.raw_path.decode(),
            headers=dict(request.headers),
            body=request.read(),
        )
        return httpx.Response(response.status_code, headers=response.headers, content=response.body)

    return httpx.MockTransport(respond)


def arguments(function: Any, operation: dict[str, Any]) -> dict[str, Any]:
    """Build the arguments of a generated function from the first examples of the operation."""
    hints = get_type_hints(function)
    values: dict[str, Any] = {}
    for parameter in operation["parameters"]:
        if not (parameter["required"] or parameter["name"] == IDEMPOTENCY_HEADER):
            continue
        name = str(PythonIdentifier(parameter["name"], ""))
        schema, example = parameter["schema"], parameter["example"]
        values[name] = UUID(example) if schema.get("format") == "uuid" else example
    for content in operation.get("requestBody", {}).get("content", {}).values():
        body = next(iter(content["examples"].values()))["value"]
        values["body"] = next(bodies(getattr(hints["body"], "__args__", [hints["body"]]), body))
    return values


def bodies(kinds: Iterable[Any], body: Any) -> Iterator[Any]:
    """Yield the body as an instance of each generated model whose required fields it has."""
    for kind in kinds:
        if hasattr(kind, "from_dict"):
            with suppress(KeyError):
                yield kind.from_dict(body)


def test_generated_client_calls_every_operation_and_reads_its_response(
    generated: ModuleType, service: Client
) -> None:
    credential, secret = issue_key(MAIN_ACCOUNT, "operator", permissions=frozenset(Permission))
    client = generated.Client(
        base_url="http://service",
        headers={KEY_HEADER: credential.api_key, SECRET_HEADER: secret},
        httpx_args={"transport": over_http(service)},
    )
    called = 0
    for methods in SPECIFICATION["paths"].values():
        for operation in methods.values():
            if TOKENS in operation["tags"]:
                continue
            tag = PythonIdentifier(operation["tags"][0], "")
            name = PythonIdentifier(operation["operationId"], "")
            function = importlib.import_module(f"{PACKAGE}.api.{tag}.{name}").sync_detailed
            response = function(client=client, **arguments(function, operation))
            described = operation["responses"].get(str(int(response.status_code)))
            assert described, (name, response.status_code, response.content)
            assert response.status_code < 400, (name, response.content)
            if "application/json" in described.get("content", {}) and response.parsed:
                restored = json.dumps(response.parsed.to_dict()).replace('+00:00"', '.000Z"')
                assert json.loads(restored) == json.loads(response.content), name
            called += 1
    assert called > 15
