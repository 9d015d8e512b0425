"""Deploy a stage to AWS with the caller's credentials.

A deployment consists of the data stack, functions, routes, event sources, gateway responses,
throttling and optionally a web ACL. If ``AWS_ENDPOINT_URL`` is set, the stage is deployed to that
endpoint instead of AWS.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal, Unpack

import boto3
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    NoRegionError,
    ProfileNotFound,
)

from infrastructure.deployment import (
    code_package,
    data_stack,
    domain_stack,
    gateway_responses,
    gateway_stage,
    public_base_url,
    quotas,
)
from infrastructure.deployment.dependencies import runtime_of
from infrastructure.deployment.lock import deployment_lock
from infrastructure.deployment.progress import DeploymentError, console, fail, step
from infrastructure.deployment.retries import retry_while
from infrastructure.functions import STAGES, Stage, stage_named
from infrastructure.local_cloud.identity import is_loopback

_SERVICES: Final[tuple[Literal["cloudformation", "lambda", "apigateway", "ssm"], ...]] = (
    "cloudformation",
    "lambda",
    "apigateway",
    "ssm",
)


def main(arguments: list[str]) -> int:
    """Deploy one stage. Return the exit status of the process."""
    parser = argparse.ArgumentParser(prog="make deploy", description=__doc__)
    parser.add_argument(
        "--stage",
        choices=[stage.name for stage in STAGES if stage.name != "local"],
        help="the stage to deploy",
    )
    parser.add_argument(
        "--alarm-email",
        help="the address that receives alarms; default: the address of the previous deployment",
    )
    parser.add_argument(
        "--firewall",
        choices=["yes", "no"],
        help="whether a web ACL protects the gateway; default: as in the previous deployment",
    )
    parser.add_argument(
        "--domain",
        type=domain_stack.parse_domain,
        help='the domain of the stage, or "no"; default: as in the previous deployment',
    )
    parser.add_argument(
        "--preview",
        choices=["yes", "no"],
        default="no",
        help="whether to print what the deployment would change instead of deploying",
    )
    options = parser.parse_args(arguments)
    if options.stage is None:
        return fail("Set the stage: make deploy STAGE=dev (make up deploys the local stage).")
    action = preview if options.preview == "yes" else deploy
    settings = data_stack.Settings(
        alarm_email=options.alarm_email, firewall=options.firewall, domain=options.domain
    )
    return run(lambda: action(options.stage, **settings))


def run(action: Callable[[], str]) -> int:
    """Run an action that returns a closing message. Print it, or the error as one line.

    Return the exit status of the process.
    """
    try:
        console.print(action())
    except DeploymentError as error:
        return fail(str(error))
    except (NoCredentialsError, NoRegionError, ProfileNotFound) as error:
        return fail(f"Set AWS credentials and a region (AWS_PROFILE, AWS_DEFAULT_REGION): {error}")
    except (BotoCoreError, ClientError) as error:
        return fail(f"AWS returned an error: {error}")
    except KeyboardInterrupt:
        return fail(
            "Interrupted. Operations that AWS has started continue. Run the command again to"
            " finish the deployment."
        )
    return 0


def deploy(stage_name: str, **settings: Unpack[data_stack.Settings]) -> str:
    """Deploy one stage. Return its name and its base URL. After a failure, call it again.

    Raises:
        DeploymentError: a step failed.
    """
    stage = stage_named(stage_name)
    require_loopback(stage)
    with deployment_lock(stage.name):
        quotas.require_concurrency(stage)
        with step("Data stack") as shown:
            if settings.get("firewall") == "no":
                web_acl_arn = data_stack.outputs(stage_name).web_acl_arn
                if web_acl_arn:
                    gateway_stage.disassociate_web_acl(web_acl_arn)
            shown.outcome = data_stack.deploy(stage_name, **settings)
        closing = _deploy_code(stage)
        if settings.get("domain") == data_stack.NO_DOMAIN:
            # Links no longer use the domain.
            with step("Domain"):
                domain_stack.delete(stage_name)
        return closing


def preview(stage_name: str, **settings: Unpack[data_stack.Settings]) -> str:
    """Print what ``deploy`` with the same arguments would change. Return a closing message.

    Raises:
        DeploymentError: the deployment would fail at its start.
    """
    # The checks import the tables. Chalice's commands import this module, but not the tables.
    from infrastructure.deployment import code_preview

    stage = stage_named(stage_name)
    require_loopback(stage)
    quotas.require_concurrency(stage)
    _show("Data stack", lambda: data_stack.changes(stage_name, **settings))
    _show("Functions and routes", lambda: code_preview.changes(stage))
    return f"Nothing was changed. To deploy, run make deploy STAGE={stage_name} without PREVIEW."


def deploy_code(stage: Stage) -> str:
    """Deploy the code of a stage whose data stack is up to date.

    Return the stage's name and the URL of its gateway. After a failure, call it again.

    Raises:
        DeploymentError: the data stack does not exist or differs from the template of this commit
            (then nothing has changed), or a step failed.
    """
    require_loopback(stage)
    with deployment_lock(stage.name):
        if not data_stack.outputs(stage.name).deployment_bucket:
            raise DeploymentError(
                f"The stage {stage.name} has no data stack. Run make deploy STAGE={stage.name}."
            )
        if not data_stack.is_current(stage.name):
            raise DeploymentError(
                f"The data stack of the stage {stage.name} differs from the template of this"
                f" commit. Run make deploy STAGE={stage.name}."
            )
        quotas.require_concurrency(stage)
        return _deploy_code(stage)


def delete_code(stage: Stage) -> str:
    """Delete the functions, routes and event sources of a stage. Return a closing message.

    Raises:
        DeploymentError: nothing is deployed, or Chalice failed.
    """
    require_loopback(stage)
    with deployment_lock(stage.name):
        bucket = data_stack.outputs(stage.name).deployment_bucket
        if not bucket:
            raise DeploymentError(
                f"The stage {stage.name} has no data stack, so no code is deployed."
            )
        # AWS does not delete an API that a domain is mapped to.
        with step("Domain"):
            domain_stack.delete(stage.name)
        with step("Functions and routes"):
            resources = _chalice("delete", stage, bucket)
        if resources:
            raise DeploymentError("Chalice did not delete all resources. Run the command again.")
        return f"The code of the stage {stage.name} is deleted. Its data stack is unchanged."


def _deploy_code(stage: Stage) -> str:
    stage_name = stage.name
    outputs = data_stack.outputs(stage_name)
    with step("Functions and routes"):
        resources = _chalice("deploy", stage, outputs.deployment_bucket)
    with step("Event sources") as shown:
        mappings = [r["event_uuid"] for r in resources if r["resource_type"] == "sqs_event"]
        for mapping in mappings:
            enable_event_source(mapping)
        shown.outcome = f"{len(mappings)} with partial batch responses"
    rest_api = next(r for r in resources if r["resource_type"] == "rest_api")
    rest_api_id = str(rest_api["rest_api_id"])
    with step("Gateway responses"):
        gateway_responses.put(rest_api_id, api_stage=stage_name)
    if stage.throttling:
        with step("Throttling") as shown:
            gateway_stage.throttle(rest_api_id, stage_name, stage.throttling)
            shown.outcome = f"{stage.throttling.rate} requests per second for each method"
    with step("Tracing") as shown:
        functions = [r["lambda_arn"] for r in resources if r["resource_type"] == "lambda_function"]
        gateway_stage.set_tracing(functions, rest_api_id, stage_name, stage.tracing)
        shown.outcome = "on" if stage.tracing else "off"
    if outputs.web_acl_arn:
        with step("Firewall"):
            gateway_stage.associate_web_acl(outputs.web_acl_arn, rest_api_id, stage_name)
    url = str(rest_api["rest_api_url"])
    if outputs.domain and _is_served(stage_name, outputs.domain, rest_api_id):
        url = f"https://{outputs.domain}"
    with step("Public address") as shown:
        shown.outcome = public_base_url.store(stage_name, url)
    return f"Stage {stage_name}: {url}"


def _show(name: str, find_changes: Callable[[], list[str]]) -> None:
    with step(name) as shown:
        changes = find_changes()
        shown.outcome = "differs" if changes else "unchanged"
    for change in changes:
        console.print(f"  {change}", markup=False)


def _is_served(stage: str, domain: str, rest_api_id: str) -> bool:
    """Continue the set-up of the domain. Return whether links can use the domain."""
    is_in_use = public_base_url.load(stage) == f"https://{domain}"
    with step("Domain") as shown:
        progress = domain_stack.deploy(stage, domain, rest_api_id, is_in_use=is_in_use)
        shown.outcome = progress.state
    if not progress.is_served:
        for record in progress.missing:
            console.print(f"  Missing DNS record: {record}")
        console.print(
            f"  Links use the address of the gateway until {domain} responds. Then deploy again."
        )
    return progress.is_served


def require_loopback(stage: Stage) -> None:
    """Check that a stage for the emulator is deployed only to the loopback address.

    Raises:
        DeploymentError: the stage is for the emulator, and an endpoint has another address.
    """
    if not stage.is_emulated:
        return
    endpoints = [boto3.client(service).meta.endpoint_url for service in _SERVICES]
    if not all(is_loopback(endpoint) for endpoint in endpoints):
        raise DeploymentError(
            f"The stage {stage.name} allows private webhook addresses and has no rate limits."
            " Deploy it only to an endpoint on the loopback address (AWS_ENDPOINT_URL)."
        )


def enable_event_source(mapping: str) -> None:
    """Enable an event source, and enable partial batch responses for it.

    Chalice does not enable an event source that an operator disabled. With partial batch responses,
    the queue redelivers only the failed messages of a batch.

    Args:
        mapping: the id of the event source mapping.
    """
    functions = boto3.client("lambda")
    # An event source mapping cannot be changed while it is being created or updated.
    retry_while(
        functions.exceptions.ResourceInUseException,
        lambda: functions.update_event_source_mapping(
            UUID=mapping,
            Enabled=True,
            FunctionResponseTypes=code_package.PARTIAL_BATCH_RESPONSES,
        ),
    )


def _chalice(
    command: Literal["deploy", "delete"], stage: Stage, bucket: str
) -> list[dict[str, Any]]:
    """Run Chalice with the record of the bucket. Return the deployed resources."""
    with tempfile.TemporaryDirectory(prefix="feedback-deploy-") as name:
        folder = Path(name)
        record = folder / ".chalice" / "deployed" / f"{stage.name}.json"
        _load_record(bucket, record)
        try:
            if command == "deploy":
                code_package.deploy(stage.name, folder, runtime_of(stage))
            elif not record.exists():
                raise DeploymentError(f"No code of the stage {stage.name} is deployed.")
            else:
                code_package.copy_source(folder)
                code_package.run_chalice("delete", "--stage", stage.name, folder=folder)
        finally:
            # Save the record even after a failure: the next command continues from it.
            save_record(bucket, record, fallback=code_package.PROJECT / ".build")
        deployed: dict[str, Any] = json.loads(record.read_text())
    resources: list[dict[str, Any]] = deployed["resources"]
    return resources


def _load_record(bucket: str, file: Path) -> None:
    """Copy Chalice's record of deployed resources from the bucket to a file ``<stage>.json``.

    Without the record, the deployment would create all resources again. Create no file if the
    bucket contains no record.
    """
    s3 = boto3.client("s3")
    try:
        record = s3.get_object(Bucket=bucket, Key=file.name)["Body"].read()
    except s3.exceptions.NoSuchKey:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(record)


def save_record(bucket: str, file: Path, fallback: Path) -> None:
    """Copy the record from a file to the bucket. Do nothing if the file does not exist.

    Args:
        fallback: the folder in which the record is saved if the bucket cannot be written.

    Raises:
        DeploymentError: the bucket cannot be written.
    """
    if not file.exists():
        return
    record = file.read_bytes()
    try:
        boto3.client("s3").put_object(Bucket=bucket, Key=file.name, Body=record)
    except (BotoCoreError, ClientError) as error:
        fallback.mkdir(parents=True, exist_ok=True)
        copy = fallback / file.name
        copy.write_bytes(record)
        raise DeploymentError(
            f"Cannot write the record of the deployed resources: {error}. Copy {copy} to"
            f" s3://{bucket}/{file.name} before the next deployment."
        ) from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
