"""Test the tracing of functions. Moto ignores changes of this setting."""

from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from infrastructure import generate
from infrastructure.deployment import gateway_stage
from infrastructure.functions import FUNCTIONS, Stage

GATEWAY_STAGE = {"restApiId": "api", "stageName": "dev"}


@pytest.mark.parametrize(
    ("deployed", "is_on", "changed_to"),
    [
        ("PassThrough", True, "Active"),
        ("Active", False, "PassThrough"),
        ("Active", True, None),
        ("PassThrough", False, None),
    ],
)
def test_tracing_of_functions_and_gateway_changes_only_where_it_differs(
    monkeypatch: pytest.MonkeyPatch, deployed: str, is_on: bool, changed_to: str | None
) -> None:
    create: Any = boto3.client
    clients = {name: create(name, region_name="eu-west-1") for name in ("lambda", "apigateway")}
    stubs = {name: Stubber(client) for name, client in clients.items()}
    function = {"FunctionName": "arn"}
    configuration = {"TracingConfig": {"Mode": deployed}, "LastUpdateStatus": "Successful"}
    stubs["lambda"].add_response("get_function_configuration", configuration, function)
    was_on = deployed == "Active"
    stubs["apigateway"].add_response("get_stage", {"tracingEnabled": was_on}, GATEWAY_STAGE)
    if changed_to:
        waited = {"Configuration": {"LastUpdateStatus": "Successful"}}
        stubs["lambda"].add_response("get_function", waited, function)
        change = {**function, "TracingConfig": {"Mode": changed_to}}
        stubs["lambda"].add_response("update_function_configuration", {}, change)
        patch = [{"op": "replace", "path": "/tracingEnabled", "value": str(is_on).lower()}]
        change = {**GATEWAY_STAGE, "patchOperations": patch}
        stubs["apigateway"].add_response("update_stage", {}, change)
    monkeypatch.setattr(boto3, "client", lambda name: clients[name])
    with stubs["lambda"], stubs["apigateway"]:
        gateway_stage.set_tracing(["arn"], "api", "dev", is_on)
        for stub in stubs.values():
            stub.assert_no_pending_responses()


@pytest.mark.parametrize("is_on", [True, False])
def test_functions_may_write_traces_only_if_stage_is_traced(is_on: bool) -> None:
    statements = generate.policy(FUNCTIONS[0], Stage("dev", tracing=is_on))["Statement"]
    actions = {action for statement in statements for action in statement["Action"]}
    assert ("xray:PutTraceSegments" in actions) == is_on
