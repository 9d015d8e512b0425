"""Deploy a stage to AWS with the caller's credentials.

A deployment consists of the data stack, functions, routes, event sources and gateway responses. If
``AWS_ENDPOINT_URL`` is set, the stage is deployed to that endpoint instead of AWS.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError, WaiterError

from infrastructure.deployment import code_package, data_stack, gateway_responses
from infrastructure.deployment.progress import DeploymentError, console, fail, step
from infrastructure.functions import STAGES

# Chalice's records of the deployed resources. Without them, Chalice creates all resources again.
RECORDS = code_package.PROJECT / ".chalice" / "deployed"
_MAPPING_BUSY_TIMEOUT_S = 120


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
        help="the address that receives alarms; default: that of the previous deployment",
    )
    parser.add_argument(
        "--records",
        type=Path,
        default=RECORDS,
        help="the folder with Chalice's records of deployed resources",
    )
    options = parser.parse_args(arguments)
    if options.stage is None:
        return fail("Set the stage: make deploy STAGE=dev (make up deploys the local stage).")
    try:
        url = deploy(options.stage, records=options.records, alarm_email=options.alarm_email)
    except DeploymentError as error:
        return fail(str(error))
    except (BotoCoreError, ClientError, WaiterError) as error:
        return fail(f"AWS returned an error: {error}")
    except KeyboardInterrupt:
        return fail(
            "Interrupted. Operations that AWS has started continue. Run the command again to"
            " finish the deployment."
        )
    console.print(f"Stage {options.stage}: {url}")
    return 0


def deploy(stage: str, *, records: Path = RECORDS, alarm_email: str | None = None) -> str:
    """Deploy one stage and return the URL of its gateway. A failed deployment can be repeated.

    Raises:
        DeploymentError: a step failed.
    """
    with step("Data stack") as shown:
        shown.outcome = data_stack.deploy(stage, alarm_email=alarm_email)
    with step("Functions and routes"):
        resources = _chalice_deploy(stage, records)
    with step("Event sources") as shown:
        mappings = [r["event_uuid"] for r in resources if r["resource_type"] == "sqs_event"]
        for mapping in mappings:
            enable_partial_batch_responses(mapping)
        shown.outcome = f"{len(mappings)} with partial batch responses"
    rest_api = next(r for r in resources if r["resource_type"] == "rest_api")
    with step("Gateway responses"):
        gateway_responses.put(rest_api["rest_api_id"], api_stage=stage)
    return str(rest_api["rest_api_url"])


def enable_partial_batch_responses(mapping: str) -> None:
    """Enable partial batch responses for an event source.

    The queue then redelivers only the failed messages of a batch.

    Args:
        mapping: the id of the event source mapping.
    """
    functions = boto3.client("lambda")
    deadline = time.monotonic() + _MAPPING_BUSY_TIMEOUT_S
    while True:
        try:
            functions.update_event_source_mapping(
                UUID=mapping, FunctionResponseTypes=code_package.PARTIAL_BATCH_RESPONSES
            )
        except functions.exceptions.ResourceInUseException:
            # The event source mapping is still being created or updated, so try again.
            if time.monotonic() > deadline:
                raise
            time.sleep(2)
        else:
            return


def _chalice_deploy(stage: str, records: Path) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="feedback-deploy-") as name:
        folder = Path(name)
        code_package.copy_source(folder)
        written = folder / ".chalice" / "deployed"
        if records.is_dir():
            shutil.copytree(records, written)
        try:
            code_package.run_chalice("deploy", "--stage", stage, folder=folder)
        finally:
            # Save the records even if the deployment failed: the next deployment continues from
            # them.
            if written.is_dir():
                shutil.copytree(written, records, dirs_exist_ok=True)
        deployed: dict[str, Any] = json.loads((written / f"{stage}.json").read_text())
    resources: list[dict[str, Any]] = deployed["resources"]
    return resources


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
