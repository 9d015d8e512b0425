"""The manifest of the functions: size, event source, permissions and alarms of each; the stages.

`make generate` writes `.chalice/config.json`, `.chalice/policies` and the generated part of
`data.yaml` from these tables. Settings of queues are in `chalicelib/queues.py`, which ships.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from chalicelib.queues import FEEDBACK, IMPORTS, WEBHOOKS, Queue

_RECEIVE: Final = ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes")
_SEND: Final = ("GetQueueUrl", "SendMessage")


@dataclass(frozen=True)
class Stage:
    """One deployment of the service.

    Attributes:
        is_emulated: whether it runs on the emulator. Such a stage cannot be deployed to AWS.
        environment: environment variables of its functions, besides ``STAGE``.
        memory_mb: memory by function, where it differs from the manifest.
        reserved_concurrency: reserved concurrency by function. A queue function has none: throttled
            receives use up the receive counts of its messages.
    """

    name: str
    is_emulated: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    memory_mb: Mapping[str, int] = field(default_factory=dict)
    reserved_concurrency: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Function:
    """One function. Each has an alarm on its errors.

    Attributes:
        name: the function's name in `app.py`; Chalice calls the one for the routes `api_handler`.
        tables: DynamoDB actions by table, or by ``table/index`` for an index. A transaction needs
            the actions of its items and no other.
        queue: the queue that invokes it. Its alarms watch invalid messages and old messages.
        sends_to: the queues that it sends messages to.
        schedule: the rate at which it is invoked.
        work: the kind of work whose parked records raise an alarm.
        max_message_age_s: the age of a message in its queue that raises an alarm.
    """

    name: str
    memory_mb: int
    timeout_s: int
    tables: Mapping[str, tuple[str, ...]]
    queue: Queue | None = None
    sends_to: tuple[Queue, ...] = ()
    schedule: str | None = None
    work: str | None = None
    max_message_age_s: int = 900

    @property
    def queues(self) -> dict[str, tuple[str, ...]]:
        """SQS actions by queue."""
        receives = {self.queue.name: _RECEIVE} if self.queue else {}
        return receives | {queue.name: _SEND for queue in self.sends_to}


STAGES: Final = (
    Stage("local", is_emulated=True, environment={"PRIVATE_WEBHOOKS": "true"}),
    Stage("test", is_emulated=True, environment={"PRIVATE_WEBHOOKS": "true"}),
    Stage("dev"),
    Stage("prod", memory_mb={"api_handler": 1769}, reserved_concurrency={"api_handler": 200}),
)

FUNCTIONS: Final = (
    Function(
        name="api_handler",
        memory_mb=1024,
        timeout_s=20,
        sends_to=(IMPORTS, FEEDBACK),
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
    ),
    Function(
        name="import_customers",
        memory_mb=1024,
        timeout_s=15,
        queue=IMPORTS,
        work="import",
        tables={
            "counters": ("BatchGetItem", "UpdateItem"),
            "customers": ("BatchGetItem", "PutItem", "UpdateItem"),
            "customer-pairs": ("BatchGetItem", "PutItem"),
            "imports": ("BatchGetItem", "UpdateItem", "DeleteItem"),
        },
    ),
    Function(
        name="process_feedback",
        memory_mb=1024,
        timeout_s=60,
        queue=FEEDBACK,
        sends_to=(WEBHOOKS,),
        work="feedback",
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
    ),
    Function(
        name="send_webhook",
        memory_mb=1024,
        timeout_s=30,
        queue=WEBHOOKS,
        work="webhook",
        tables={
            "workflows": ("Query",),
            "webhook-secrets": ("Query",),
            "executions": ("BatchGetItem", "PutItem", "UpdateItem"),
        },
    ),
    Function(
        name="sweep",
        memory_mb=512,
        timeout_s=50,
        schedule="rate(1 minute)",
        sends_to=(IMPORTS, FEEDBACK, WEBHOOKS),
        tables={
            "imports": ("UpdateItem",),
            "imports/due": ("Query",),
            "feedback": ("UpdateItem",),
            "feedback/due": ("Query",),
            "executions": ("UpdateItem",),
            "executions/due": ("Query",),
        },
    ),
)
