"""Deploy the data stack: tables, queues, logs and alarms."""

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final, TypedDict, Unpack

import yaml

from infrastructure.deployment import stacks

TEMPLATE = Path(__file__).resolve().parent.parent / "data.yaml"
NO: Final = "no"
"""The value that removes a setting."""


class Settings(TypedDict, total=False):
    """The settings of a stage. A setting that is absent or None keeps its current value.

    Attributes:
        alarm_email: the address that receives alarms.
        firewall: ``"yes"`` or ``"no"``: whether a web ACL protects the gateway.
        domain: the domain of the stage, or `NO`.
        boundary: the ARN of the permissions boundary of the functions' roles, or `NO`.
        role: the ARN of the role that CloudFormation assumes.
    """

    alarm_email: str | None
    firewall: str | None
    domain: str | None
    boundary: str | None
    role: str | None


@dataclass(frozen=True)
class Outputs:
    """The outputs of a data stack.

    Attributes:
        deployment_bucket: the name of the bucket with the archives of the code.
        has_firewall: whether a web ACL protects the gateway.
        domain: the domain of the stage; ``""`` if the stage has only the domain of the gateway.
        boundary: the ARN of the permissions boundary of the functions' roles; ``""`` for none.
        deployment_alarm: the ARN of the alarm that deployments watch; ``""`` for none.
        role: the ARN of the role that CloudFormation assumes; None for the caller's identity.
    """

    deployment_bucket: str = ""
    has_firewall: bool = False
    domain: str = ""
    boundary: str = ""
    deployment_alarm: str = ""
    role: str | None = None


def stack_name(stage: str) -> str:
    """Return the name of the data stack of a stage."""
    return f"feedback-{stage}-data"


def deploy(stage: str, **settings: Unpack[Settings]) -> str:
    """Deploy the data stack if its template or its settings changed.

    Return ``"created"``, ``"updated"`` or ``"unchanged"``.

    Raises:
        DeploymentError: the deployment failed.
    """
    has_settings = any(value is not None for value in settings.values())
    if not has_settings and is_current(stage):
        return "unchanged"
    return stacks.deploy(
        stack_name(stage),
        stacks.content_hash([TEMPLATE]),
        template=template_body(),
        parameters=_parameters(stage, settings),
        role=settings.get("role"),
    )


def changes(stage: str, **settings: Unpack[Settings]) -> list[str]:
    """Return what ``deploy`` with the same arguments would change, one line each."""
    return stacks.changes(
        stack_name(stage), template_body(), _parameters(stage, settings), settings.get("role")
    )


def _parameters(stage: str, settings: Settings) -> dict[str, str | None]:
    domain, boundary = settings.get("domain"), settings.get("boundary")
    return {
        "Stage": stage,
        "AlarmEmail": settings.get("alarm_email"),
        "Firewall": settings.get("firewall"),
        "Domain": "" if domain == NO else domain,
        "Boundary": "" if boundary == NO else boundary,
    }


def is_current(stage: str) -> bool:
    """Return whether the last deployment of the data stack succeeded with this template."""
    return stacks.is_current(stack_name(stage), stacks.content_hash([TEMPLATE]))


def outputs(stage: str) -> Outputs:
    """Return the outputs of the data stack of a stage, empty if the stack does not exist."""
    values = stacks.outputs(stack_name(stage))
    return Outputs(
        deployment_bucket=values.get("DeploymentBucketName", ""),
        has_firewall=values.get("Firewall") == "yes",
        domain=values.get("Domain", ""),
        boundary=values.get("Boundary", ""),
        deployment_alarm=values.get("DeploymentAlarmArn", ""),
        role=stacks.role_of(stack_name(stage)),
    )


def planned_outputs(stage: str, **settings: Unpack[Settings]) -> Outputs:
    """Return the outputs that the data stack will have after ``deploy`` with these settings."""
    current, parameters = outputs(stage), _parameters(stage, settings)
    firewall, boundary = parameters["Firewall"], parameters["Boundary"]
    return replace(
        current,
        # The name of the bucket of a new stage is unknown.
        deployment_bucket=current.deployment_bucket or stack_name(stage),
        has_firewall=current.has_firewall if firewall is None else firewall == "yes",
        boundary=current.boundary if boundary is None else boundary,
        role=settings.get("role") or current.role,
    )


def template_body() -> str:
    """Return the template as compact JSON."""
    return _as_json(TEMPLATE.read_text())


@cache
def _as_json(template: str) -> str:
    return json.dumps(yaml.load(template, yaml.CSafeLoader), separators=(",", ":"))
