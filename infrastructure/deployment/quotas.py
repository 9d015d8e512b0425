"""Check before a deployment that the quotas of the AWS account allow the stage."""

from typing import TYPE_CHECKING, Final

import boto3

from infrastructure.deployment.progress import DeploymentError
from infrastructure.functions import Stage

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

UNRESERVABLE: Final = 100
"""The concurrent executions that Lambda keeps for functions without reserved concurrency."""


def require_concurrency(stage: Stage) -> None:
    """Check that the AWS account allows the reserved concurrency of the stage.

    One AWS request, and one for each function with reserved concurrency. None if the stage reserves
    no concurrency.

    Raises:
        DeploymentError: the quota is too small. The message contains the quota to request.
    """
    if not stage.reserved_concurrency:
        return
    functions = boto3.client("lambda")
    limits = functions.get_account_settings()["AccountLimit"]
    quota = limits["ConcurrentExecutions"]
    needed = sum(stage.reserved_concurrency.values())
    reserved_now = sum(_reserved(functions, stage, name) for name in stage.reserved_concurrency)
    reserved_by_others = quota - limits["UnreservedConcurrentExecutions"] - reserved_now
    required = reserved_by_others + needed + UNRESERVABLE
    if quota < required:
        raise DeploymentError(
            f"The stage {stage.name} reserves {needed} concurrent executions of Lambda, but this"
            f" AWS account allows {quota} in {functions.meta.region_name}, of which other functions"
            f" reserve {reserved_by_others} and Lambda keeps {UNRESERVABLE} unreserved. Request a"
            f' quota of at least {required} ("Concurrent executions" in Service Quotas), or remove'
            " reserved_concurrency of the stage from infrastructure/functions.py and run make"
            " generate."
        )


def _reserved(functions: "LambdaClient", stage: Stage, name: str) -> int:
    """Return the reserved concurrency of a deployed function, 0 if there is none."""
    # Chalice names the API function feedback-STAGE and other functions feedback-STAGE-NAME.
    suffix = "" if name == "api_handler" else f"-{name}"
    try:
        concurrency = functions.get_function_concurrency(
            FunctionName=f"feedback-{stage.name}{suffix}"
        )
    except functions.exceptions.ResourceNotFoundException:
        return 0
    return concurrency.get("ReservedConcurrentExecutions", 0)
