"""Deployment to AWS, under the caller's own identity: data stack, functions and routes, the rest.

Where ``AWS_ENDPOINT_URL`` points to an emulator, everything goes there instead.
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
from infrastructure.permissions import STAGES

# Chalice's notes on what it deployed: without them, it would deploy everything a second time.
RECORDS = code_package.PROJECT / ".chalice" / "deployed"
_MAPPING_BUSY_TIMEOUT_S = 120


def main(arguments: list[str]) -> int:
    """Deploy one stage; answer the process's exit status."""
    parser = argparse.ArgumentParser(prog="make deploy", description=__doc__)
    parser.add_argument("--stage", choices=[stage for stage in STAGES if stage != "local"])
    parser.add_argument("--alarm-email", help="who is told of alarms; unset keeps what is set")
    parser.add_argument("--records", type=Path, default=RECORDS, help="where Chalice's notes are")
    options = parser.parse_args(arguments)
    if options.stage is None:
        return fail("Say which stage: make deploy STAGE=dev (make up is for the local one).")
    try:
        url = deploy(options.stage, records=options.records, alarm_email=options.alarm_email)
    except DeploymentError as error:
        return fail(str(error))
    except (BotoCoreError, ClientError, WaiterError) as error:
        return fail(f"AWS refuses: {error}")
    except KeyboardInterrupt:
        return fail("Interrupted: what was under way on AWS goes on; run it again to finish.")
    console.print(f"Stage {options.stage} is at {url}")
    return 0


def deploy(stage: str, *, records: Path = RECORDS, alarm_email: str | None = None) -> str:
    """Deploy one stage; answer the address of its gateway.

    Raises:
        DeploymentError: a step failed; the message says which and why. Running it again is safe.
    """
    with step("Data stack") as shown:
        shown.outcome = data_stack.deploy(stage, alarm_email=alarm_email)
    with step("Functions and routes"):
        resources = _chalice_deploy(stage, records)
    with step("Event sources") as shown:
        mappings = [r["event_uuid"] for r in resources if r["resource_type"] == "sqs_event"]
        for mapping in mappings:
            report_failed_messages(mapping)
        shown.outcome = f"{len(mappings)} queues report failed messages one by one"
    rest_api = next(r for r in resources if r["resource_type"] == "rest_api")
    with step("Gateway's own answers"):
        gateway_responses.put(rest_api["rest_api_id"], api_stage=stage)
    return str(rest_api["rest_api_url"])


def report_failed_messages(mapping: str) -> None:
    """Let a queue's function say which messages of a batch failed, so that only those come again.

    Args:
        mapping: the event source mapping's id.
    """
    functions = boto3.client("lambda")
    deadline = time.monotonic() + _MAPPING_BUSY_TIMEOUT_S
    while True:
        try:
            functions.update_event_source_mapping(
                UUID=mapping, FunctionResponseTypes=["ReportBatchItemFailures"]
            )
        except functions.exceptions.ResourceInUseException:
            # It is still being made or changed.
            if time.monotonic() > deadline:
                raise
            time.sleep(2)
        else:
            return


def _chalice_deploy(stage: str, records: Path) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="feedback-deploy-") as name:
        folder = Path(name)
        code_package.copy_source(folder)
        noted = folder / ".chalice" / "deployed"
        if records.is_dir():
            shutil.copytree(records, noted)
        try:
            code_package.run_chalice("deploy", "--stage", stage, folder=folder)
        finally:
            # Half a deployment is noted too: the next one goes on from there.
            if noted.is_dir():
                shutil.copytree(noted, records, dirs_exist_ok=True)
        written: dict[str, Any] = json.loads((noted / f"{stage}.json").read_text())
    resources: list[dict[str, Any]] = written["resources"]
    return resources


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
