"""Check before a deployment that the quotas of the AWS account allow the stage."""

from contextlib import suppress
from typing import Final

import boto3

from infrastructure.deployment.progress import DeploymentError
from infrastructure.functions import FUNCTIONS, Stage

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
    reserved_now = 0
    for function in FUNCTIONS:
        if function.name in stage.reserved_concurrency:
            name = function.deployed_name(stage.name)
            with suppress(functions.exceptions.ResourceNotFoundException):
                deployed = functions.get_function_concurrency(FunctionName=name)
                reserved_now += deployed.get("ReservedConcurrentExecutions", 0)
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
