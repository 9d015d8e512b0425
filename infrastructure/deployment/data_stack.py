"""Deploy the data stack: tables, queues, logs and alarms."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from infrastructure.deployment import stacks

TEMPLATE = Path(__file__).resolve().parent.parent / "data.yaml"


@dataclass(frozen=True)
class Outputs:
    """The outputs of a data stack.

    Attributes:
        deployment_bucket: the name of the bucket with Chalice's record of deployed resources.
        web_acl_arn: the web ACL for the gateway's stage; None if the stage has no firewall.
        domain: the domain of the stage; None if the stage has only the domain of the gateway.
    """

    deployment_bucket: str
    web_acl_arn: str | None
    domain: str | None = None


def stack_name(stage: str) -> str:
    """Return the name of the data stack of a stage."""
    return f"feedback-{stage}-data"


def deploy(
    stage: str,
    *,
    alarm_email: str | None = None,
    firewall: str | None = None,
    domain: str | None = None,
) -> str:
    """Deploy the data stack if its template changed.

    Return ``"created"``, ``"updated"`` or ``"unchanged"``.

    Args:
        alarm_email: the address that receives alarms. Default: the address of the previous
            deployment.
        firewall: ``"yes"`` or ``"no"``: whether to create a web ACL. Default: as in the previous
            deployment.
        domain: the domain of the stage, ``""`` for none. Default: as in the previous deployment.

    Raises:
        DeploymentError: the deployment failed.
    """
    content = stacks.content_hash([TEMPLATE])
    settings = {"AlarmEmail": alarm_email, "Firewall": firewall, "Domain": domain}
    if set(settings.values()) == {None} and is_current(stage):
        return "unchanged"
    return stacks.deploy(
        stack_name(stage),
        content,
        template=template_body(),
        parameters={"Stage": stage, **settings},
    )


def changes(
    stage: str,
    *,
    alarm_email: str | None = None,
    firewall: str | None = None,
    domain: str | None = None,
) -> list[str]:
    """Return what ``deploy`` with the same arguments would change, one line each."""
    settings = {"AlarmEmail": alarm_email, "Firewall": firewall, "Domain": domain}
    return stacks.changes(stack_name(stage), template_body(), {"Stage": stage, **settings})


def is_current(stage: str) -> bool:
    """Return whether the last deployment of the data stack succeeded with this template."""
    return stacks.is_current(stack_name(stage), stacks.content_hash([TEMPLATE]))


def outputs(stage: str) -> Outputs:
    """Return the outputs of the data stack of a stage, empty if the stack does not exist."""
    values = stacks.outputs(stack_name(stage))
    return Outputs(
        values.get("DeploymentBucketName", ""), values.get("WebAclArn"), values.get("Domain")
    )


def template_body() -> str:
    """Return the template as compact JSON."""
    return _as_json(TEMPLATE.read_text())


@cache
def _as_json(template: str) -> str:
    return json.dumps(_Loader(template).get_single_data(), separators=(",", ":"))


class _Loader(yaml.CSafeLoader):
    """Reads CloudFormation's short function tags, such as ``!Sub``."""


def _function(loader: yaml.CSafeLoader, name: str, node: yaml.Node) -> dict[str, Any]:
    argument: Any
    match node:
        case yaml.ScalarNode():
            argument = loader.construct_scalar(node)
        case yaml.SequenceNode():
            argument = loader.construct_sequence(node, deep=True)
        case yaml.MappingNode():
            argument = loader.construct_mapping(node, deep=True)
    if name == "GetAtt":
        argument = argument.split(".")
    return {name if name in ("Ref", "Condition") else f"Fn::{name}": argument}


_Loader.add_multi_constructor("!", _function)
