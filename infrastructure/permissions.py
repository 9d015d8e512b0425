"""What each function may do, and nothing else: the one source of ``.chalice/policies``.

``python -m infrastructure.permissions`` writes a policy file for each function and stage. A
transaction needs the permissions of its items' own actions, so it has none of its own here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

EMULATED_STAGES = ("local", "test")
STAGES = (*EMULATED_STAGES, "dev", "prod")
POLICIES = Path(__file__).resolve().parent.parent / ".chalice" / "policies"


@dataclass(frozen=True)
class Permissions:
    """What one function may do.

    Attributes:
        tables: DynamoDB actions by table, or by ``table/index`` for an index.
        queues: SQS actions by queue.
    """

    tables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    queues: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


_BATCHED = ("SendMessage", "DeleteMessage", "ChangeMessageVisibility")

_CONSUMED = ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes")
_PRODUCED = ("GetQueueUrl", "SendMessage")

FUNCTIONS: Mapping[str, Permissions] = {
    "api_handler": Permissions(
        tables={
            "credentials": ("GetItem",),
            "places": ("Query",),
            "counters": ("GetItem", "BatchGetItem", "UpdateItem"),
            "customers": ("GetItem", "BatchGetItem", "PutItem"),
            "customers/by_position": ("Query",),
            "customer-pairs": ("BatchGetItem", "PutItem"),
            "purchases": ("GetItem",),
            "contact-forms": ("Query", "BatchGetItem"),
            "contact-forms/by_position": ("Query",),
            "surveys": ("Query", "BatchGetItem"),
            "surveys/by_position": ("Query",),
            "imports": ("BatchGetItem", "PutItem", "BatchWriteItem", "Query"),
            "trackers": ("GetItem", "BatchGetItem", "UpdateItem"),
            "feedback": ("BatchGetItem", "PutItem"),
            "rate-limits": ("UpdateItem",),
        },
        queues={"imports.fifo": _PRODUCED, "feedback": _PRODUCED},
    ),
    "import_customers": Permissions(
        tables={
            "counters": ("BatchGetItem", "UpdateItem"),
            "customers": ("BatchGetItem", "PutItem", "UpdateItem"),
            "customer-pairs": ("BatchGetItem", "PutItem"),
            "imports": ("BatchGetItem", "UpdateItem", "DeleteItem"),
        },
        queues={"imports.fifo": _CONSUMED},
    ),
    "process_feedback": Permissions(
        tables={
            "feedback": ("BatchGetItem", "UpdateItem"),
            "counters": ("BatchGetItem", "UpdateItem"),
            "customers": ("BatchGetItem", "PutItem", "UpdateItem"),
            "customer-pairs": ("BatchGetItem", "PutItem"),
            "contact-forms": ("UpdateItem",),
            "surveys": ("UpdateItem",),
            "workflows": ("Query",),
            "executions": ("PutItem",),
        },
        queues={"feedback": _CONSUMED, "webhooks": _PRODUCED},
    ),
    "send_webhook": Permissions(
        tables={
            "workflows": ("Query",),
            "webhook-secrets": ("Query",),
            "executions": ("BatchGetItem", "PutItem", "UpdateItem"),
        },
        queues={"webhooks": _CONSUMED},
    ),
    "sweep": Permissions(
        tables={
            "imports": ("UpdateItem",),
            "imports/due": ("Query",),
            "feedback": ("UpdateItem",),
            "feedback/due": ("Query",),
            "executions": ("UpdateItem",),
            "executions/due": ("Query",),
        },
        queues={"imports.fifo": _PRODUCED, "feedback": _PRODUCED, "webhooks": _PRODUCED},
    ),
}


def policy(function: str, stage: str) -> dict[str, object]:
    """The IAM policy document of one function in one stage.

    Account and region are left open: the document is written before either is known, and a name of
    this stage means nothing in another account.
    """
    permissions = FUNCTIONS[function]
    logs = [
        f"arn:aws:logs:*:*:log-group:/aws/lambda/feedback-{stage}:*",
        f"arn:aws:logs:*:*:log-group:/aws/lambda/feedback-{stage}-*:*",
    ]
    statements: list[dict[str, object]] = [
        _allow("logs", ("CreateLogGroup", "CreateLogStream", "PutLogEvents"), logs)
    ]
    for name, actions in permissions.tables.items():
        table, _, index = name.partition("/")
        resource = f"arn:aws:dynamodb:*:*:table/feedback-{stage}-{table}"
        if index:
            resource = f"{resource}/index/{index}"
        statements.append(_allow("dynamodb", actions, [resource]))
    for queue, actions in permissions.queues.items():
        if stage in EMULATED_STAGES:
            # AWS asks for the single action; the emulator asks for one that AWS does not have.
            actions += tuple(f"{action}Batch" for action in actions if action in _BATCHED)
        statements.append(_allow("sqs", actions, [f"arn:aws:sqs:*:*:feedback-{stage}-{queue}"]))
    return {"Version": "2012-10-17", "Statement": statements}


def policy_file(function: str, stage: str) -> Path:
    """Where the policy of one function in one stage is kept."""
    return POLICIES / f"{stage}-{function}.json"


def policy_text(function: str, stage: str) -> str:
    """The policy document as it is written to its file."""
    return json.dumps(policy(function, stage), indent=2) + "\n"


def write_policies() -> None:
    """Write every policy file, and remove those of functions that are no more."""
    wanted = {policy_file(f, s): policy_text(f, s) for f in FUNCTIONS for s in STAGES}
    POLICIES.mkdir(parents=True, exist_ok=True)
    for path in set(POLICIES.glob("*.json")) - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        path.write_text(text)


def _allow(service: str, actions: tuple[str, ...], resources: list[str]) -> dict[str, object]:
    return {
        "Effect": "Allow",
        "Action": [f"{service}:{action}" for action in actions],
        "Resource": resources,
    }


if __name__ == "__main__":
    write_policies()
