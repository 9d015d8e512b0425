"""Settings that Chalice does not support: throttling, the web ACL, and turning tracing off."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import boto3

from infrastructure.deployment.retries import retry_while
from infrastructure.functions import PUBLIC_SUBMITS, Throttling

if TYPE_CHECKING:
    from mypy_boto3_apigateway.type_defs import PatchOperationTypeDef
    from mypy_boto3_lambda.literals import TracingModeType

_EVERY_METHOD = "*/*"


def throttle(rest_api_id: str, api_stage: str, throttling: Throttling) -> None:
    """Set the rate limits of the stage for all methods and for public submits. One AWS request."""
    operations = _limits(_EVERY_METHOD, throttling.rate, throttling.burst)
    for path in PUBLIC_SUBMITS:
        method = f"{path.replace('/', '~1')}/POST"
        operations += _limits(method, throttling.submit_rate, throttling.submit_burst)
    boto3.client("apigateway").update_stage(
        restApiId=rest_api_id, stageName=api_stage, patchOperations=operations
    )


def associate_web_acl(web_acl_arn: str, rest_api_id: str, api_stage: str) -> None:
    """Associate a web ACL with the stage. Wait until AWS WAF knows both resources."""
    firewall = boto3.client("wafv2")
    region = firewall.meta.region_name
    stage_arn = f"arn:aws:apigateway:{region}::/restapis/{rest_api_id}/stages/{api_stage}"
    retry_while(
        firewall.exceptions.WAFUnavailableEntityException,
        lambda: firewall.associate_web_acl(WebACLArn=web_acl_arn, ResourceArn=stage_arn),
    )


def disassociate_web_acl(web_acl_arn: str) -> None:
    """Disassociate a web ACL from all stages. CloudFormation cannot delete an associated ACL."""
    firewall = boto3.client("wafv2")
    stages = firewall.list_resources_for_web_acl(WebACLArn=web_acl_arn, ResourceType="API_GATEWAY")[
        "ResourceArns"
    ]
    for stage_arn in stages:
        firewall.disassociate_web_acl(ResourceArn=stage_arn)


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


def _limits(method: str, rate: int, burst: int) -> list["PatchOperationTypeDef"]:
    limits = {"rateLimit": rate, "burstLimit": burst}
    return [
        {"op": "replace", "path": f"/{method}/throttling/{name}", "value": str(value)}
        for name, value in limits.items()
    ]
