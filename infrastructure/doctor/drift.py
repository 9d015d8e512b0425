"""Let CloudFormation compare the resources of a stage with the deployed templates."""

import time
from collections.abc import Iterator
from typing import Any, Final

from botocore.exceptions import ClientError

from infrastructure.deployment import code_stack, data_stack, domain_stack
from infrastructure.doctor.deployed import DeployedStage
from infrastructure.doctor.findings import Problem

_PAUSE_S: Final = 2
_CHANGED: Final = (
    "Change the property back. A deployment of the same template does not change it back."
)
_DELETED: Final = (
    "Create the resource as in the template, or delete it from the template, deploy, and add it"
    " again."
)


def check_drift(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that the stacks exist, and that their resources have the properties of the templates.

    The check covers the resource types whose drift CloudFormation detects.
    """
    stage = deployed.stage.name
    for name in map(_stack_name, (data_stack, code_stack, domain_stack), [stage] * 3):
        status = _status(deployed, name)
        if status is None:
            # A stage without a domain has no stack of the domain.
            if name != domain_stack.stack_name(stage):
                yield Problem(name, "The stack does not exist.", deployed.deploy_fix)
        elif not status.endswith("_COMPLETE"):
            yield Problem(name, f"The state of the stack is {status}.", deployed.deploy_fix)
        else:
            for resource in _drifted(deployed, name):
                yield from _problems(resource)


def _stack_name(module: Any, stage: str) -> str:
    return str(module.stack_name(stage))


def _status(deployed: DeployedStage, name: str) -> str | None:
    try:
        (stack,) = deployed.client("cloudformation").describe_stacks(StackName=name)["Stacks"]
    except ClientError as error:
        if error.response["Error"]["Code"] == "ValidationError":
            return None
        raise
    return str(stack["StackStatus"])


def _drifted(deployed: DeployedStage, name: str) -> Iterator[dict[str, Any]]:
    cloudformation = deployed.client("cloudformation")
    detection = cloudformation.detect_stack_drift(StackName=name)["StackDriftDetectionId"]
    while (
        cloudformation.describe_stack_drift_detection_status(StackDriftDetectionId=detection)[
            "DetectionStatus"
        ]
        == "DETECTION_IN_PROGRESS"
    ):
        time.sleep(_PAUSE_S)
    request = {"StackName": name, "StackResourceDriftStatusFilters": ["MODIFIED", "DELETED"]}
    while True:
        page = cloudformation.describe_stack_resource_drifts(**request)
        yield from page["StackResourceDrifts"]
        if "NextToken" not in page:
            return
        request["NextToken"] = page["NextToken"]


def _problems(resource: dict[str, Any]) -> Iterator[Problem]:
    name = resource.get("PhysicalResourceId") or resource["LogicalResourceId"]
    if "://" in name:  # the URL of a queue
        name = name.rpartition("/")[2]
    if resource["StackResourceDriftStatus"] == "DELETED":
        yield Problem(name, "The resource was deleted.", _DELETED)
    for change in resource.get("PropertyDifferences", []):
        path, actual, expected = (
            change[key] for key in ("PropertyPath", "ActualValue", "ExpectedValue")
        )
        yield Problem(name, f"{path.strip('/')} is {actual}, expected {expected}.", _CHANGED)
