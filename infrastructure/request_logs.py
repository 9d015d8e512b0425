"""Print the log lines of one request: ``make logs REQUEST_ID=… [STAGE=…]``."""

import argparse
import sys
import time
from collections.abc import Iterator

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from infrastructure.deployment.progress import DeploymentError, fail
from infrastructure.functions import STAGES
from infrastructure.local_cloud import identity as local_identity
from infrastructure.local_cloud.emulator import running_emulator

LOCAL = "local"
DAYS = 30
"""The log groups keep lines for this time."""


def main(arguments: list[str]) -> int:
    """Print the log lines with the request id, oldest first, and return the exit status."""
    parser = argparse.ArgumentParser(prog="make logs", description=__doc__)
    parser.add_argument("request_id", help="requestId of a problem response")
    parser.add_argument("--stage", choices=[stage.name for stage in STAGES], default=LOCAL)
    options = parser.parse_args(arguments)
    if not options.request_id.strip():  # An empty text matches every log line.
        return fail("Set the request id: make logs REQUEST_ID=…")
    try:
        if options.stage == LOCAL:
            emulator = running_emulator()
            local_identity.adopt(emulator.endpoint, LOCAL)
        lines = sorted(request_lines(options.stage, options.request_id))
    except DeploymentError as error:
        return fail(str(error))
    except (BotoCoreError, ClientError) as error:
        return fail(f"Reading the logs failed: {error}")
    for _, line in lines:
        print(line)
    if not lines:
        return fail(f"No log line of the last {DAYS} days contains this request id.")
    return 0


def request_lines(stage: str, request_id: str) -> Iterator[tuple[int, str]]:
    """Yield the timestamp and text of each log line of the stage that contains the request id."""
    client = boto3.client("logs")
    start = int((time.time() - DAYS * 86_400) * 1000)
    prefix = f"/aws/lambda/feedback-{stage}"
    groups = client.get_paginator("describe_log_groups").paginate(logGroupNamePrefix=prefix)
    for name in [group["logGroupName"] for page in groups for group in page["logGroups"]]:
        if name != prefix and not name.startswith(f"{prefix}-"):
            continue
        for page in client.get_paginator("filter_log_events").paginate(
            logGroupName=name, filterPattern=f'"{request_id}"', startTime=start
        ):
            for event in page["events"]:
                yield event["timestamp"], event["message"].rstrip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
