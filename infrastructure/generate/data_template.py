"""The generated end of `data.yaml`: tables, queues, log groups, alarms and the dashboard."""

from pathlib import Path
from typing import Any, Final

import yaml

from chalicelib.queues import MAX_RECEIVES, Queue
from infrastructure.functions import FUNCTIONS, Function
from infrastructure.generate.alarms import (
    Json,
    alarms_of_stage,
    for_stage,
    function_title,
    invocation_alarms,
    queue_alarms,
    title_of,
)
from infrastructure.generate.dashboard import dashboard
from infrastructure.tables import table_resources

TEMPLATE: Final = Path(__file__).resolve().parents[1] / "data.yaml"
_MARKER: Final = "Do not edit below this line.\n"
_RETENTION_S: Final = 14 * 24 * 3600
_LOG_RETENTION_DAYS: Final = 30


def files() -> dict[Path, str]:
    """Return the text of the template by path. The first part, up to the marker, is manual."""
    manual_part, marker, _ = TEMPLATE.read_text().partition(_MARKER)
    return {TEMPLATE: manual_part + marker + _yaml(function_resources())}


def function_resources() -> Json:
    """Return the tables, the queues, log groups and alarms of all functions, and the dashboard."""
    resources = {f"{title_of(name)}Table": table for name, table in table_resources().items()}
    for function in FUNCTIONS:
        if function.queue:
            resources |= _queues(function, function.queue)
            resources |= queue_alarms(function, function.queue)
        resources |= _log_group(function) | invocation_alarms(function)
    return resources | alarms_of_stage() | {"Dashboard": dashboard()}


def _queues(function: Function, queue: Queue) -> Json:
    name = queue.name.removesuffix(".fifo")
    title = title_of(name)
    fifo: Json = {"FifoQueue": True} if queue.is_fifo else {}
    # The message group is the account, so order and throughput limits apply per account.
    by_group: Json = {
        "ContentBasedDeduplication": False,
        "DeduplicationScope": "messageGroup",
        "FifoThroughputLimit": "perMessageGroupId",
    }
    return {
        f"{title}Queue": _queue(
            queue.name,
            **fifo,
            **(by_group if queue.is_fifo else {}),
            # AWS recommends a visibility timeout of six times the function's time-out.
            VisibilityTimeout=6 * function.timeout_s,
            RedrivePolicy={
                "deadLetterTargetArn": {"Fn::GetAtt": [f"{title}DeadQueue", "Arn"]},
                "maxReceiveCount": MAX_RECEIVES,
            },
        ),
        f"{title}DeadQueue": _queue(queue.dead_letter_name, **fifo),
    }


def _log_group(function: Function) -> Json:
    # Lambda creates a missing log group without an expiry.
    return {
        f"{function_title(function)}Logs": {
            "Type": "AWS::Logs::LogGroup",
            "Properties": {
                "LogGroupName": {"Fn::Sub": f"/aws/lambda/{function.deployed_name('${Stage}')}"},
                "RetentionInDays": _LOG_RETENTION_DAYS,
            },
        }
    }


def _queue(name: str, **properties: Any) -> Json:
    return {
        "Type": "AWS::SQS::Queue",
        "UpdateReplacePolicy": "Retain",
        "DeletionPolicy": "RetainExceptOnCreate",
        "Properties": {
            "QueueName": for_stage(name),
            "MessageRetentionPeriod": _RETENTION_S,
            "SqsManagedSseEnabled": True,
            **properties,
        },
    }


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        """Return True to write no YAML aliases, because CloudFormation rejects them."""
        return True


def _yaml(resources: Json) -> str:
    text: str = yaml.dump(
        resources, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=1000
    )
    return "".join(f"  {line}" for line in text.splitlines(keepends=True))
