"""Test the check of Lambda's quotas. Moto does not simulate the settings of an AWS account."""

from dataclasses import replace
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from infrastructure.deployment import quotas
from infrastructure.deployment.progress import DeploymentError
from infrastructure.functions import STAGES

PROD = next(stage for stage in STAGES if stage.name == "prod")
RESERVED = PROD.reserved_concurrency["api_handler"]


def require(
    monkeypatch: pytest.MonkeyPatch, *, quota: int, unreserved: int, deployed: int | None
) -> None:
    """Check the quotas. ``deployed`` is the reserved concurrency of the deployed function."""
    client = boto3.client("lambda", region_name="eu-west-1")
    stubber = Stubber(client)
    limits = {"ConcurrentExecutions": quota, "UnreservedConcurrentExecutions": unreserved}
    stubber.add_response("get_account_settings", {"AccountLimit": limits})
    name = {"FunctionName": "feedback-prod"}
    if deployed is None:
        stubber.add_client_error(
            "get_function_concurrency", "ResourceNotFoundException", expected_params=name
        )
    else:
        response: dict[str, Any] = {"ReservedConcurrentExecutions": deployed} if deployed else {}
        stubber.add_response("get_function_concurrency", response, name)
    monkeypatch.setattr(boto3, "client", lambda _: client)
    with stubber:
        quotas.require_concurrency(PROD)
        stubber.assert_no_pending_responses()


@pytest.mark.parametrize("deployed", [None, 0])
def test_smallest_sufficient_quota_is_accepted(
    monkeypatch: pytest.MonkeyPatch, deployed: int | None
) -> None:
    quota = RESERVED + quotas.UNRESERVABLE
    require(monkeypatch, quota=quota, unreserved=quota, deployed=deployed)


def test_smaller_quota_is_rejected_with_required_quota(monkeypatch: pytest.MonkeyPatch) -> None:
    quota = RESERVED + quotas.UNRESERVABLE - 1
    with pytest.raises(DeploymentError, match=rf"allows {quota} .* at least {quota + 1} "):
        require(monkeypatch, quota=quota, unreserved=quota, deployed=None)


def test_reservation_of_same_stage_is_not_counted_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    quota = RESERVED + quotas.UNRESERVABLE
    require(monkeypatch, quota=quota, unreserved=quota - RESERVED, deployed=RESERVED)


def test_reservations_of_other_functions_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    quota = RESERVED + quotas.UNRESERVABLE
    with pytest.raises(DeploymentError, match="other functions reserve 1 "):
        require(monkeypatch, quota=quota, unreserved=quota - 1, deployed=0)


def test_stage_without_reserved_concurrency_sends_no_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(boto3, "client", None)
    quotas.require_concurrency(replace(PROD, reserved_concurrency={}))
