"""Test the check of Lambda's quotas. Moto does not simulate the settings of an AWS account."""

from dataclasses import replace
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from infrastructure.deployment import quotas
from infrastructure.deployment.progress import DeploymentError
from infrastructure.functions import stage_named

PROD = stage_named("prod")
RESERVED = PROD.reserved_concurrency["api_handler"]
NEEDED = RESERVED + quotas.UNRESERVABLE


@pytest.mark.parametrize(
    ("quota", "reserved_by_all", "deployed", "error"),
    [
        (NEEDED, 0, None, ""),
        (NEEDED, 0, 0, ""),
        (NEEDED, RESERVED, RESERVED, ""),  # the stage's own reservation is not counted twice
        (NEEDED - 1, 0, None, rf"allows {NEEDED - 1} .* at least {NEEDED} "),
        (NEEDED, 1, 0, "other functions reserve 1 "),
    ],
)
def test_quota_must_allow_reserved_concurrency(
    monkeypatch: pytest.MonkeyPatch,
    quota: int,
    reserved_by_all: int,
    deployed: int | None,
    error: str,
) -> None:
    client = boto3.client("lambda", region_name="eu-west-1")
    stubber = Stubber(client)
    limits = {
        "ConcurrentExecutions": quota,
        "UnreservedConcurrentExecutions": quota - reserved_by_all,
    }
    stubber.add_response("get_account_settings", {"AccountLimit": limits})
    name = {"FunctionName": "feedback-prod"}
    if deployed is None:
        missing = "ResourceNotFoundException"
        stubber.add_client_error("get_function_concurrency", missing, expected_params=name)
    else:
        response: dict[str, Any] = {"ReservedConcurrentExecutions": deployed} if deployed else {}
        stubber.add_response("get_function_concurrency", response, name)
    monkeypatch.setattr(boto3, "client", lambda _: client)
    with stubber:
        if error:
            with pytest.raises(DeploymentError, match=error):
                quotas.require_concurrency(PROD)
        else:
            quotas.require_concurrency(PROD)
        stubber.assert_no_pending_responses()


def test_stage_without_reserved_concurrency_sends_no_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(boto3, "client", None)
    quotas.require_concurrency(replace(PROD, reserved_concurrency={}))
