"""Deploy CloudFormation stacks, and detect whether the content to deploy changed."""

import hashlib
import json
import time
import uuid
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import boto3
from botocore.exceptions import ClientError, WaiterError

from infrastructure.deployment.progress import DeploymentError, console

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_cloudformation.literals import CapabilityType
    from mypy_boto3_cloudformation.type_defs import (
        ResourceChangeTypeDef,
        RollbackConfigurationTypeDef,
        RollbackTriggerTypeDef,
        StackTypeDef,
    )

TIMEOUT_S = 1800
WATCH_MINUTES = 5
"""How long CloudFormation watches the alarms of an update after its last change."""
# The name of the tag of a stack that contains the content hash. CloudFormation deletes the tag
# together with the stack.
_CONTENT_TAG = "feedback-content"
_NO_UPDATES = "No updates are to be performed"
_NO_CHANGES = (_NO_UPDATES, "didn't contain changes")
_FAILED_CREATION = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED")
"""CloudFormation cannot update a stack in one of these states."""
_CAPABILITIES: "list[CapabilityType]" = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
MAX_INLINE_BYTES = 51_200
"""CloudFormation reads larger templates only from S3."""


def content_hash(parts: Iterable[str | bytes | Path]) -> str:
    """Return a hash of the parts. If a part is a path, the content of the file is hashed."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.read_bytes() if isinstance(part, Path) else part
        content = content.encode() if isinstance(content, str) else content
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()


def is_current(name: str, content: str) -> bool:
    """Return whether the last deployment of the stack succeeded with this content hash.

    If a deployment was interrupted, wait until CloudFormation has ended it.
    """
    stack = _settled(boto3.client("cloudformation"), name)
    if stack is None or stack["StackStatus"] not in ("CREATE_COMPLETE", "UPDATE_COMPLETE"):
        return False
    return {"Key": _CONTENT_TAG, "Value": content} in stack.get("Tags", [])


def deploy(
    name: str,
    content: str,
    *,
    template: str,
    parameters: Mapping[str, str | None] | None = None,
    role: str | None = None,
    alarms: Iterable[str] = (),
) -> Literal["created", "updated", "unchanged"]:
    """Create or update a stack and wait until it is complete.

    First wait until CloudFormation has ended an interrupted deployment, and continue its rollback
    if that failed. Return ``"unchanged"`` if CloudFormation has nothing to update.

    Args:
        content: the content hash of the stack.
        parameters: the values of the stack's parameters by name. If a value is None, the parameter
            keeps its current value or, in a new stack, gets the template's default.
        role: the ARN of the role that CloudFormation assumes. By default, it uses the role of the
            stack's previous deployment or, without one, the credentials of the caller.
        alarms: the ARNs of composite alarms. If one of them fires during an update or within five
            minutes afterwards, CloudFormation rolls the update back.

    Raises:
        DeploymentError: the deployment failed. The message names the first resource that failed.
    """
    client = boto3.client("cloudformation")
    stack = _settled(client, name)
    if stack is not None and stack["StackStatus"] in _FAILED_CREATION:
        delete(name)
        stack = None
    request = _request(name, stack, template, parameters or {}, role)
    request["Tags"] = [{"Key": _CONTENT_TAG, "Value": content}]
    try:
        if stack is None:
            client.create_stack(**request)
        else:
            client.update_stack(**request, RollbackConfiguration=_watching(alarms))
    except ClientError as error:
        if _NO_UPDATES in str(error):
            return "unchanged"
        raise DeploymentError(f"CloudFormation rejected the stack {name}: {error}") from error
    status = _wait(client, name)
    if status not in ("CREATE_COMPLETE", "UPDATE_COMPLETE"):
        message = f"The stack {name} failed: {_first_failure(client, name)}"
        if status == "UPDATE_ROLLBACK_COMPLETE":
            message += " CloudFormation has restored the previous state of the stack."
        raise DeploymentError(message)
    return "created" if stack is None else "updated"


def changes(
    name: str,
    template: str,
    parameters: Mapping[str, str | None] | None = None,
    role: str | None = None,
) -> list[str]:
    """Return the changes of a deployment of the stack, one line each. Change nothing.

    CloudFormation computes them as a change set, which is deleted.

    Raises:
        DeploymentError: CloudFormation rejected the template.
    """
    client = boto3.client("cloudformation")
    parameters = parameters or {}
    stack = _settled(client, name)
    if stack is None or stack["StackStatus"] in _FAILED_CREATION:
        return [f"Create the stack {name}"]
    current = {p["ParameterKey"]: p.get("ParameterValue") for p in stack.get("Parameters", [])}
    settings = [
        f"{key}: {value or 'none'} (now: {current.get(key) or 'none'})"
        for key, value in parameters.items()
        if value is not None and value != current.get(key, "")
    ]
    change_set = client.create_change_set(
        ChangeSetName=f"preview-{uuid.uuid4().hex}",
        ChangeSetType="UPDATE",
        # A change of the tag with the content hash would count as a change of every resource.
        Tags=stack.get("Tags", []),
        **_request(name, stack, template, parameters, role),
    )["Id"]
    try:
        client.get_waiter("change_set_create_complete").wait(
            ChangeSetName=change_set, WaiterConfig={"Delay": 2, "MaxAttempts": TIMEOUT_S // 2}
        )
        pages = client.get_paginator("describe_change_set").paginate(ChangeSetName=change_set)
        return settings + [_line(c["ResourceChange"]) for page in pages for c in page["Changes"]]
    except WaiterError as error:
        reason = str(error.last_response.get("StatusReason", error))
        if any(text in reason for text in _NO_CHANGES):
            return settings
        raise DeploymentError(f"CloudFormation rejected the stack {name}: {reason}") from error
    finally:
        client.delete_change_set(ChangeSetName=change_set)


def delete(name: str) -> None:
    """Delete a stack and wait until it is deleted. Do nothing if the stack does not exist.

    Raises:
        DeploymentError: the stack could not be deleted.
    """
    client = boto3.client("cloudformation")
    if _settled(client, name) is None:
        return
    client.delete_stack(StackName=name)
    if _wait(client, name) != "DELETE_COMPLETE":
        raise DeploymentError(f"The stack {name} failed: {_first_failure(client, name)}")


def exists(name: str) -> bool:
    """Return whether a stack exists, in any state."""
    return _describe(boto3.client("cloudformation"), name) is not None


def outputs(name: str) -> dict[str, str]:
    """Return the values of a stack's outputs by key; empty if the stack does not exist."""
    stack = _describe(boto3.client("cloudformation"), name)
    stack_outputs = stack.get("Outputs", []) if stack is not None else []
    return {output["OutputKey"]: output["OutputValue"] for output in stack_outputs}


def role_of(name: str) -> str | None:
    """Return the ARN of the role that CloudFormation assumes for a stack. None if it has none."""
    stack = _describe(boto3.client("cloudformation"), name)
    return stack.get("RoleARN") if stack is not None else None


def template_of(name: str) -> dict[str, Any]:
    """Return the template with which a stack was deployed; empty if the stack does not exist."""
    client: Any = boto3.client("cloudformation")
    if _describe(client, name) is None:
        return {}
    template = client.get_template(StackName=name, TemplateStage="Original")["TemplateBody"]
    return dict(template) if isinstance(template, Mapping) else dict(json.loads(template))


def _upload(prefix: str, key: str, content: bytes) -> str:
    """Upload a file to the templates bucket of a stage. Return the name of the bucket."""
    s3 = boto3.client("s3")
    region = s3.meta.region_name
    bucket = f"{prefix}-templates-{boto3.client('sts').get_caller_identity()['Account']}-{region}"
    location: Any = {"LocationConstraint": region}
    # us-east-1 is the default location and must be omitted.
    configuration = {} if region == "us-east-1" else {"CreateBucketConfiguration": location}
    with suppress(s3.exceptions.BucketAlreadyOwnedByYou):
        s3.create_bucket(Bucket=bucket, **configuration)
    s3.put_object(Bucket=bucket, Key=key, Body=content)
    return bucket


def _located(name: str, template: str) -> dict[str, str]:
    """Return the request field with the template. Upload the template if it is too large."""
    if len(template.encode()) > MAX_INLINE_BYTES:
        key = f"{name}.template"
        bucket = _upload(name.rpartition("-")[0], key, template.encode())
        region = boto3.client("s3").meta.region_name
        return {"TemplateURL": f"https://s3.{region}.amazonaws.com/{bucket}/{key}"}
    return {"TemplateBody": template}


def _line(change: "ResourceChangeTypeDef") -> str:
    replacement = {"True": "replacement", "Conditional": "replacement possible"}
    details = [
        change.get("ResourceType"),
        replacement.get(change.get("Replacement", "")),
        change.get("PolicyAction"),
    ]
    return f"{change['Action']} {change['LogicalResourceId']} ({', '.join(filter(None, details))})"


def _describe(client: "CloudFormationClient", name: str) -> "StackTypeDef | None":
    try:
        stack = client.describe_stacks(StackName=name)["Stacks"][0]
    except ClientError as error:
        if error.response["Error"]["Code"] == "ValidationError":
            return None
        raise
    return None if stack["StackStatus"] == "DELETE_COMPLETE" else stack


def _settled(client: "CloudFormationClient", name: str) -> "StackTypeDef | None":
    """Return the stack as soon as CloudFormation changes it no more. None if it does not exist.

    Continue a rollback that failed.

    Raises:
        DeploymentError: the rollback failed again.
    """
    stack = _describe(client, name)
    if stack is not None and stack["StackStatus"].endswith("_IN_PROGRESS"):
        console.print(f"  Waiting for the stack {name} ({stack['StackStatus']}) …")
        _wait(client, name)
        stack = _describe(client, name)
    if stack is not None and stack["StackStatus"] == "UPDATE_ROLLBACK_FAILED":
        console.print(f"  Continuing the rollback of the stack {name} …")
        client.continue_update_rollback(StackName=name)
        if _wait(client, name) != "UPDATE_ROLLBACK_COMPLETE":
            raise DeploymentError(
                f"The rollback of the stack {name} failed again:"
                f" {_first_failure(client, name)} Correct the cause and run the command again."
            )
        stack = _describe(client, name)
    return stack


def _watching(alarms: Iterable[str]) -> "RollbackConfigurationTypeDef":
    # Without triggers, CloudFormation would keep those of the previous update.
    triggers: list[RollbackTriggerTypeDef] = [
        {"Arn": arn, "Type": "AWS::CloudWatch::CompositeAlarm"} for arn in alarms
    ]
    minutes = WATCH_MINUTES if triggers else 0
    return {"RollbackTriggers": triggers, "MonitoringTimeInMinutes": minutes}


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


def _request(
    name: str,
    stack: "StackTypeDef | None",
    template: str,
    parameters: Mapping[str, str | None],
    role: str | None,
) -> dict[str, Any]:
    """Return the fields that the requests of deployments and of previews share."""
    known = {p["ParameterKey"] for p in stack.get("Parameters", [])} if stack is not None else set()
    values: list[dict[str, object]] = [
        {"ParameterKey": key, "UsePreviousValue": True}
        if value is None
        else {"ParameterKey": key, "ParameterValue": value}
        for key, value in parameters.items()
        if value is not None or key in known
    ]
    return {
        "StackName": name,
        "Parameters": values,
        "Capabilities": _CAPABILITIES,
        **_located(name, template),
        **({"RoleARN": role} if role else {}),
    }


def _first_failure(client: "CloudFormationClient", name: str) -> str:
    pages = client.get_paginator("describe_stack_events").paginate(StackName=name)
    failure = rollback = ""
    # CloudFormation lists the newest events first. The earliest failure caused the later failures.
    for event in (event for page in pages for event in page["StackEvents"]):
        status = event["ResourceStatus"]
        is_stack = event["LogicalResourceId"] == name
        if is_stack and status in ("CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS"):
            break
        reason = event.get("ResourceStatusReason") or "no reason"
        if status.endswith("_FAILED") and "cancelled" not in reason:
            failure = f"{event['LogicalResourceId']}: {reason}"
        elif is_stack and status == "UPDATE_ROLLBACK_IN_PROGRESS":
            rollback = reason  # the only reason if an alarm fired
    return f"{(failure or rollback or 'see its events').rstrip('. ')}."
