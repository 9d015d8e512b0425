"""Turn AWS X-Ray on or off for the functions and the gateway of a stage.

Chalice can turn tracing on, but never turns it off.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import boto3

if TYPE_CHECKING:
    from mypy_boto3_lambda.literals import TracingModeType


def set_tracing(functions: Iterable[str], rest_api_id: str, api_stage: str, is_on: bool) -> None:
    """Set the tracing of the functions and of the gateway's stage, where it differs.

    Args:
        functions: the ARNs of the functions.
    """
    mode: TracingModeType = "Active" if is_on else "PassThrough"
    client = boto3.client("lambda")
    for function in functions:
        current = client.get_function_configuration(FunctionName=function)
        if current.get("TracingConfig", {}).get("Mode", "PassThrough") != mode:
            # Lambda rejects a change of the configuration during the update of the code.
            client.get_waiter("function_updated_v2").wait(FunctionName=function)
            client.update_function_configuration(
                FunctionName=function, TracingConfig={"Mode": mode}
            )
    gateway = boto3.client("apigateway")
    stage = gateway.get_stage(restApiId=rest_api_id, stageName=api_stage)
    if stage.get("tracingEnabled", False) != is_on:
        gateway.update_stage(
            restApiId=rest_api_id,
            stageName=api_stage,
            patchOperations=[
                {"op": "replace", "path": "/tracingEnabled", "value": str(is_on).lower()}
            ],
        )
