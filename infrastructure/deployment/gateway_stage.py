"""Settings of the gateway's stage that Chalice does not support: throttling and the web ACL."""

from typing import TYPE_CHECKING

import boto3

from infrastructure.deployment.retries import retry_while
from infrastructure.functions import PUBLIC_SUBMITS, Throttling

if TYPE_CHECKING:
    from mypy_boto3_apigateway.type_defs import PatchOperationTypeDef

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


def _limits(method: str, rate: int, burst: int) -> list["PatchOperationTypeDef"]:
    limits = {"rateLimit": rate, "burstLimit": burst}
    return [
        {"op": "replace", "path": f"/{method}/throttling/{name}", "value": str(value)}
        for name, value in limits.items()
    ]
