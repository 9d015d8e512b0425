"""Deploy CloudFormation stacks whose content changed."""

import hashlib
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import boto3
from botocore.exceptions import ClientError

from infrastructure.deployment.progress import DeploymentError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_cloudformation.type_defs import StackTypeDef

TIMEOUT_S = 1800
# A tag of the stack, not a file: it exists exactly as long as the stack.
_CONTENT_TAG = "feedback-content"


def content_hash(parts: Iterable[str | bytes | Path]) -> str:
    """Return a hash of texts, bytes and the contents of files (not their names)."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.read_bytes() if isinstance(part, Path) else part
        content = content.encode() if isinstance(content, str) else content
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()


def is_current(name: str, content: str) -> bool:
    """Return whether the stack is complete and has the content with this hash."""
    stack = _describe(boto3.client("cloudformation"), name)
    if stack is None or stack["StackStatus"] not in ("CREATE_COMPLETE", "UPDATE_COMPLETE"):
        return False
    return {"Key": _CONTENT_TAG, "Value": content} in stack.get("Tags", [])


def deploy(
    name: str,
    content: str,
    *,
    template: str | None = None,
    template_url: str | None = None,
    parameters: Mapping[str, str | None] | None = None,
) -> Literal["created", "updated"]:
    """Create or update a stack from a template's text or S3 URL, and wait until it is complete.

    A parameter that is None keeps its current value, or the default of the template.

    Raises:
        DeploymentError: the deployment failed. The message names the first resource that failed.
    """
    client = boto3.client("cloudformation")
    stack = _describe(client, name)
    if stack is not None and stack["StackStatus"] in ("ROLLBACK_COMPLETE", "CREATE_FAILED"):
        # A stack that was never complete can only be deleted.
        client.delete_stack(StackName=name)
        _wait(client, name)
        stack = None
    request: dict[str, Any] = {
        "StackName": name,
        "Tags": [{"Key": _CONTENT_TAG, "Value": content}],
        "Parameters": _parameters(parameters or {}, stack),
        "Capabilities": ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
    }
    request |= {"TemplateBody": template} if template is not None else {"TemplateURL": template_url}
    try:
        if stack is None:
            client.create_stack(**request)
        else:
            client.update_stack(**request)
    except ClientError as error:
        raise DeploymentError(f"CloudFormation rejected the stack {name}: {error}") from error
    status = _wait(client, name)
    if status not in ("CREATE_COMPLETE", "UPDATE_COMPLETE"):
        raise DeploymentError(f"The stack {name} failed: {_first_failure(client, name)}")
    return "created" if stack is None else "updated"


def outputs(name: str) -> dict[str, str]:
    """Return the outputs of a stack by name; empty if the stack does not exist."""
    stack = _describe(boto3.client("cloudformation"), name)
    found = stack.get("Outputs", []) if stack is not None else []
    return {output["OutputKey"]: output["OutputValue"] for output in found}


def _describe(client: "CloudFormationClient", name: str) -> "StackTypeDef | None":
    try:
        stack = client.describe_stacks(StackName=name)["Stacks"][0]
    except ClientError as error:
        if error.response["Error"]["Code"] == "ValidationError":
            return None
        raise
    return None if stack["StackStatus"] == "DELETE_COMPLETE" else stack


def _wait(client: "CloudFormationClient", name: str) -> str:
    deadline = time.monotonic() + TIMEOUT_S
    pause_s = 0.1
    while time.monotonic() < deadline:
        stack = _describe(client, name)
        if stack is None:
            return "DELETE_COMPLETE"
        if not stack["StackStatus"].endswith("_IN_PROGRESS"):
            return stack["StackStatus"]
        time.sleep(pause_s)
        pause_s = min(pause_s * 1.5, 5.0)
    raise DeploymentError(
        f"The stack {name} is not complete after {TIMEOUT_S // 60} minutes. See its events."
    )


def _parameters(
    values: Mapping[str, str | None], stack: "StackTypeDef | None"
) -> list[dict[str, object]]:
    known = {p["ParameterKey"] for p in stack.get("Parameters", [])} if stack is not None else set()
    given: list[dict[str, object]] = [
        {"ParameterKey": name, "ParameterValue": value}
        for name, value in values.items()
        if value is not None
    ]
    kept: list[dict[str, object]] = [
        {"ParameterKey": name, "UsePreviousValue": True}
        for name, value in values.items()
        if value is None and name in known
    ]
    return given + kept


def _first_failure(client: "CloudFormationClient", name: str) -> str:
    pages = client.get_paginator("describe_stack_events").paginate(StackName=name)
    cause = "see its events."
    # Newest first: the last failure before the start of the operation caused the others.
    for event in (event for page in pages for event in page["StackEvents"]):
        status = event["ResourceStatus"]
        if event["LogicalResourceId"] == name and status in (
            "CREATE_IN_PROGRESS",
            "UPDATE_IN_PROGRESS",
        ):
            break
        reason = event.get("ResourceStatusReason", "no reason")
        if status.endswith("_FAILED") and "cancelled" not in reason:
            cause = f"{event['LogicalResourceId']}: {reason}"
    return cause
