"""Test that a client generated from the OpenAPI document calls every operation."""

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from string import Template
from types import ModuleType
from typing import Any, get_type_hints
from urllib.parse import parse_qsl
from uuid import UUID

import httpx
import pytest
from chalice.test import Client
from openapi_python_client.strings import PythonIdentifier

from chalicelib.domain.idempotency import HEADER as IDEMPOTENCY_HEADER
from chalicelib.domain.ids import new_id
from chalicelib.web.openapi.routes import DOCUMENT
from chalicelib.web.partner.endpoint import KEY_HEADER, SECRET_HEADER
from infrastructure.openapi.docs_examples import Request, request_of
from tests.web.openapi.commands import OPERATIONS, SPECIFICATION, Json, find_variables

PACKAGE = "generated_feedback_client"
TIME = re.compile(r"(T[0-9:]{8})\.([0-9]{3})000\+00:00")


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


def over_http(demo_client: Client) -> httpx.MockTransport:
    """Return a transport that invokes the app in this process."""

    def respond(request: httpx.Request) -> httpx.Response:
        response = demo_client.http.request(
            request.method,
            request.url.raw_path.decode(),
            headers=dict(request.headers),
            body=request.read(),
        )
        return httpx.Response(response.status_code, headers=response.headers, content=response.body)

    return httpx.MockTransport(respond)


def arguments(
    function: Any, operation: Json, request: Request, variables: dict[str, str]
) -> dict[str, Any]:
    """Build the arguments of a generated function that send the example request."""
    hints = get_type_hints(function)
    values: dict[str, Any] = {}
    _, _, query = Template(request.path).substitute(variables).partition("?")
    sent = dict(parse_qsl(query)) | {IDEMPOTENCY_HEADER: new_id()}
    for parameter in operation["parameters"]:
        name, schema = parameter["name"], parameter["schema"]
        if parameter["in"] == "path" or name in request.headers or name in sent:
            value = sent.get(name, parameter["example"])
            values[str(PythonIdentifier(name, ""))] = (
                UUID(value) if schema.get("format") == "uuid" else value
            )
    for content in operation.get("requestBody", {}).get("content", {}).values():
        body = next(iter(content["examples"].values()))["value"]
        if request.json_body is not None:
            body = json.loads(Template(json.dumps(request.json_body)).substitute(variables))
        values["body"] = next(bodies(getattr(hints["body"], "__args__", [hints["body"]]), body))
    return values


def bodies(kinds: Iterable[Any], body: Any) -> Iterator[Any]:
    """Yield the body as an instance of each generated model whose required fields it has."""
    for kind in kinds:
        if hasattr(kind, "from_dict"):
            with suppress(KeyError):
                yield kind.from_dict(body)


def test_generated_client_calls_every_operation_and_reads_its_response(
    generated: ModuleType, demo_client: Client
) -> None:
    variables = find_variables(demo_client)
    client = generated.Client(
        base_url="http://service",
        headers={KEY_HEADER: variables["API_KEY"], SECRET_HEADER: variables["API_SECRET"]},
        httpx_args={"transport": over_http(demo_client)},
    )
    for path, method, operation in OPERATIONS:
        tag = PythonIdentifier(operation["tags"][0], "")
        name = PythonIdentifier(operation["operationId"], "")
        function = importlib.import_module(f"{PACKAGE}.api.{tag}.{name}").sync_detailed
        request = request_of(SPECIFICATION, path, method, operation)
        response = function(client=client, **arguments(function, operation, request, variables))
        described = operation["responses"].get(str(int(response.status_code)))
        assert described, (name, response.status_code, response.content)
        assert response.status_code < 400, (name, response.content)
        if "application/json" in described.get("content", {}) and response.parsed:
            restored = TIME.sub(r"\1.\2Z", json.dumps(response.parsed.to_dict()))
            restored = restored.replace('+00:00"', '.000Z"')
            assert json.loads(restored) == json.loads(response.content), name
