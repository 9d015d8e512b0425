"""The function manifest: memory, event source, permissions and alarms of each function.

This module also defines the stages. `make generate` generates `.chalice/config.json`,
`.chalice/policies` and part of `data.yaml` from this module. Queue settings are in
`chalicelib/queues.py`, because the deployed app needs them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from chalicelib.queues import (
    ERASURES,
    FEEDBACK,
    IMPORTS,
    LISTING,
    MESSAGE_EVENTS,
    PURCHASES,
    SOLICITATIONS,
    SUPPRESSIONS,
    WEBHOOKS,
    Queue,
)

_RECEIVE: Final = ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes")
_SEND: Final = ("GetQueueUrl", "SendMessage")
_REDELIVER: Final = ("GetQueueUrl", "ChangeMessageVisibility")


@dataclass(frozen=True)
class Throttling:
    """The limits of a gateway stage. The gateway responds with 429 to requests above a limit.

    All respondents and partners share these limits.

    Attributes:
        rate: the number of requests per second, for each method.
        burst: the number of concurrent requests, for each method.
        submit_rate: the number of requests per second, for each path in `PUBLIC_SUBMITS`.
        submit_burst: the number of concurrent requests, for each path in `PUBLIC_SUBMITS`.
    """

    rate: int
    burst: int
    submit_rate: int
    submit_burst: int


@dataclass(frozen=True)
class Stage:
    """One deployment of the service.

    Attributes:
        is_emulated: whether the stage runs on the emulator and is never deployed to AWS.
        python: the version of Python in which the functions run on AWS. A deployment builds for it,
            also if it runs in another version. On the emulator, functions run in the emulator's
            Python.
        environment: environment variables of all functions, in addition to ``STAGE``.
        memory_mb: memory by function, for functions whose memory differs from `Function.memory_mb`.
        reserved_concurrency: reserved concurrency by function. Do not set it for a function with a
            queue: if Lambda throttles an invocation, the messages of this invocation count as
            received although they are not processed.
        throttling: the limits of the gateway stage. None means only the limits of the AWS account.
        tracing: whether AWS X-Ray traces requests and invocations.
    """

    name: str
    is_emulated: bool = False
    python: Literal["3.11", "3.12", "3.13", "3.14"] = "3.13"
    environment: Mapping[str, str] = field(default_factory=dict)
    memory_mb: Mapping[str, int] = field(default_factory=dict)
    reserved_concurrency: Mapping[str, int] = field(default_factory=dict)
    throttling: Throttling | None = None
    tracing: bool = False


@dataclass(frozen=True)
class Function:
    """One Lambda function. Every function has a log group, and alarms for errors and throttling.

    Attributes:
        name: the name of the function in `app.py`. Chalice names the function for all routes
            ``api_handler``.
        tables: the allowed DynamoDB actions by table, or by ``table/index`` for an index. A
            transaction requires only the actions of the writes that it contains.
        queue: the queue that invokes the function. The queue has alarms for invalid and old
            messages.
        sends_to: the queues to which the function sends messages.
        rejects_messages: whether the function moves invalid messages to the dead-letter queue.
        reads_stage_values: whether the function may read the stage's secret and public base URL.
        sends_messages: whether the function may send e-mails and text messages.
        schedule: the rate at which the function is invoked, at least once every five minutes. If
            the function is not invoked for five minutes, an alarm fires.
        work: the kind of work that the function processes. When work of this kind raises an
            exception or is parked, an alarm fires.
        max_message_age_s: the age of a queue message at which an alarm fires.
    """

    name: str
    memory_mb: int
    timeout_s: int
    tables: Mapping[str, tuple[str, ...]]
    queue: Queue | None = None
    sends_to: tuple[Queue, ...] = ()
    rejects_messages: bool = False
    reads_stage_values: bool = False
    sends_messages: bool = False
    schedule: str | None = None
    work: str | None = None
    max_message_age_s: int = 900

    def deployed_name(self, stage: str) -> str:
        """Return the name that Chalice gives to the function in a stage."""
        is_api = self.name == "api_handler"
        return f"feedback-{stage}" if is_api else f"feedback-{stage}-{self.name}"

    @property
    def queues(self) -> dict[str, tuple[str, ...]]:
        """The allowed SQS actions by queue name."""
        receives: dict[str, tuple[str, ...]] = (
            {self.queue.name: (*_RECEIVE, *_REDELIVER)} if self.queue else {}
        )
        rejects = (
            {self.queue.dead_letter_name: _SEND} if self.queue and self.rejects_messages else {}
        )
        return receives | rejects | {queue.name: _SEND for queue in self.sends_to}


STAGES: Final = (
    Stage("local", is_emulated=True, environment={"PRIVATE_WEBHOOKS": "true"}),
    Stage("test", is_emulated=True, environment={"PRIVATE_WEBHOOKS": "true"}),
    Stage("dev", throttling=Throttling(rate=100, burst=200, submit_rate=50, submit_burst=100)),
    Stage(
        "prod",
        memory_mb={"api_handler": 1769},
        reserved_concurrency={"api_handler": 200},
        throttling=Throttling(rate=2000, burst=2000, submit_rate=500, submit_burst=1000),
    ),
)


def stage_named(name: str) -> Stage:
    """Return the stage with this name.

    Raises:
        KeyError: there is no such stage.
    """
    return {stage.name: stage for stage in STAGES}[name]


MAX_WORK_AGE_S: Final = {
    "import": 1800,
    "listing": 900,
    "feedback": 900,
    "webhook": 7200,
    "solicitation": 3600,
    "erasure": 3600,
    "suppression": 3600,
    "retention": 86400,
}
"""By kind of work: the age of the oldest unfinished record at which an alarm fires.

The age counts from the time at which the record could first be processed. The delays between the
attempts of a webhook, held surveys and the next pass of an erasure are planned and do not count.
The age of ``retention`` counts from when an account was due, until its old feedback is anonymized.
"""

PUBLIC_SUBMITS: Final = ("/public/contact-form/submit", "/public/survey/submit")

FUNCTIONS: Final = (
    Function(
        name="api_handler",
        memory_mb=1024,
        timeout_s=20,
        sends_to=(IMPORTS, LISTING, FEEDBACK, WEBHOOKS, SOLICITATIONS, ERASURES),
        reads_stage_values=True,
        tables={
            "accounts": ("GetItem",),
            "credentials": ("BatchGetItem",),
            "workflows": ("Query",),
            "places": ("Query",),
            "counters": ("GetItem", "BatchGetItem", "UpdateItem"),
            "customers": (
                "GetItem",
                "BatchGetItem",
                "PutItem",
                "UpdateItem",
                "ConditionCheckItem",
            ),
            "contacts": ("BatchGetItem", "UpdateItem", "ConditionCheckItem"),
            "contacts/by_change": ("Query",),
            "erasures": ("BatchGetItem", "PutItem", "UpdateItem", "ConditionCheckItem"),
            "account-changes": ("PutItem",),
            "customers/by_block": ("Query",),
            "customers/by_email": ("Query",),
            "customers/by_pair": ("Query",),
            "customers/by_phone": ("Query",),
            "customer-pairs": (
                "BatchGetItem",
                "PutItem",
                "UpdateItem",
                "DeleteItem",
                "ConditionCheckItem",
            ),
            "purchases": (
                "GetItem",
                "BatchGetItem",
                "PutItem",
                "UpdateItem",
                "ConditionCheckItem",
            ),
            "purchases/by_customer": ("Query",),
            "solicitations": ("BatchGetItem", "PutItem", "UpdateItem", "ConditionCheckItem"),
            "solicitations/by_account": ("Query",),
            "solicitations/by_customer": ("Query",),
            "contact-forms": ("Query", "BatchGetItem"),
            "contact-forms/by_block": ("Query",),
            "surveys": ("Query", "BatchGetItem"),
            "surveys/by_block": ("Query",),
            "imports": ("BatchGetItem", "PutItem", "BatchWriteItem", "Query"),
            "trackers": ("GetItem", "BatchGetItem", "PutItem", "UpdateItem"),
            "feedback": ("BatchGetItem", "PutItem", "UpdateItem", "DeleteItem"),
            "feedback-changes": ("BatchGetItem", "Query"),
            "executions": ("BatchGetItem", "PutItem", "Query", "UpdateItem"),
            "executions/by_account_shard": ("Query",),
            "statistics": ("Query", "UpdateItem"),
            "rate-limits": ("BatchGetItem", "UpdateItem"),
        },
    ),
    Function(
        name="import_customers",
        memory_mb=1769,
        timeout_s=30,
        queue=IMPORTS,
        work="import",
        reads_stage_values=True,
        tables={
            "accounts": ("GetItem",),
            "contacts": ("BatchGetItem", "ConditionCheckItem"),
            "counters": ("BatchGetItem", "UpdateItem"),
            "customers": ("BatchGetItem", "PutItem", "UpdateItem"),
            "customer-pairs": ("BatchGetItem", "PutItem", "UpdateItem", "ConditionCheckItem"),
            "imports": ("BatchGetItem", "UpdateItem", "DeleteItem"),
            "places": ("Query",),
        },
    ),
    Function(
        name="assign_positions",
        memory_mb=1024,
        timeout_s=30,
        queue=LISTING,
        tables={
            "counters": ("GetItem", "UpdateItem"),
            "customers": ("UpdateItem",),
            "customers/unlisted": ("Query",),
        },
    ),
    Function(
        name="process_feedback",
        memory_mb=1024,
        timeout_s=60,
        queue=FEEDBACK,
        sends_to=(LISTING, WEBHOOKS),
        work="feedback",
        tables={
            "accounts": ("GetItem",),
            "feedback": ("BatchGetItem", "UpdateItem"),
            "feedback-changes": ("BatchGetItem", "UpdateItem"),
            "trackers": ("BatchGetItem", "UpdateItem"),
            "statistics": ("UpdateItem",),
            "counters": ("BatchGetItem", "UpdateItem"),
            "customers": ("BatchGetItem", "PutItem", "UpdateItem"),
            "customer-pairs": ("BatchGetItem", "PutItem", "ConditionCheckItem"),
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
            "feedback": ("BatchGetItem",),
            "workflows": ("Query",),
            "webhook-secrets": ("Query",),
            "executions": ("BatchGetItem", "PutItem", "UpdateItem"),
        },
    ),
    Function(
        name="record_purchase",
        memory_mb=1024,
        timeout_s=60,
        queue=PURCHASES,
        sends_to=(LISTING, SOLICITATIONS),
        rejects_messages=True,
        reads_stage_values=True,
        tables={
            "accounts": ("GetItem",),
            "places": ("Query",),
            "counters": ("BatchGetItem", "UpdateItem"),
            "customers": ("BatchGetItem", "PutItem", "UpdateItem"),
            "customer-pairs": ("BatchGetItem", "PutItem", "ConditionCheckItem"),
            "purchases": ("BatchGetItem", "PutItem", "UpdateItem"),
            "solicitations": ("BatchGetItem", "PutItem", "UpdateItem", "ConditionCheckItem"),
            "contacts": ("BatchGetItem", "ConditionCheckItem"),
            "erasures": ("BatchGetItem", "ConditionCheckItem"),
        },
    ),
    Function(
        name="send_survey",
        memory_mb=1024,
        timeout_s=90,
        queue=SOLICITATIONS,
        work="solicitation",
        reads_stage_values=True,
        sends_messages=True,
        tables={
            "accounts": ("GetItem",),
            "places": ("Query",),
            "statistics": ("UpdateItem",),
            "counters": ("GetItem", "UpdateItem"),
            "surveys/by_block": ("Query",),
            "surveys": ("BatchGetItem",),
            "purchases": ("BatchGetItem", "ConditionCheckItem"),
            "customers": ("BatchGetItem", "ConditionCheckItem", "UpdateItem"),
            "contacts": ("BatchGetItem", "UpdateItem"),
            "solicitations": ("BatchGetItem", "PutItem", "UpdateItem", "ConditionCheckItem"),
            "trackers": ("BatchGetItem", "PutItem", "UpdateItem", "ConditionCheckItem"),
            "messages": ("PutItem",),
            "rate-limits": ("BatchGetItem", "UpdateItem"),
            "customers/by_phone": ("Query",),
        },
    ),
    Function(
        name="process_message_events",
        memory_mb=1024,
        timeout_s=30,
        queue=MESSAGE_EVENTS,
        reads_stage_values=True,
        tables={
            "messages": ("BatchGetItem",),
            "contacts": ("UpdateItem",),
            "customers": ("UpdateItem", "ConditionCheckItem"),
            "customers/by_email": ("Query",),
        },
    ),
    Function(
        name="erase_customer",
        memory_mb=1024,
        timeout_s=60,
        queue=ERASURES,
        work="erasure",
        reads_stage_values=True,
        tables={
            "accounts": ("GetItem",),
            "contacts": ("BatchGetItem", "UpdateItem"),
            "erasures": ("BatchGetItem", "UpdateItem"),
            "customers": (
                "GetItem",
                "BatchGetItem",
                "UpdateItem",
                "DeleteItem",
                "ConditionCheckItem",
            ),
            "customers/by_block": ("Query",),
            "customers/by_email": ("Query",),
            "customers/by_pair": ("Query",),
            "customers/by_phone": ("Query",),
            "customer-pairs": ("BatchGetItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"),
            "counters": ("UpdateItem",),
            "imports": ("BatchGetItem", "UpdateItem"),
            "imports/unfinished": ("Query",),
            "feedback": ("BatchGetItem", "UpdateItem"),
            "feedback-changes": ("BatchGetItem", "UpdateItem"),
            "feedback/by_customer": ("Query",),
            "feedback/by_contact": ("Query",),
            "purchases": ("BatchGetItem", "UpdateItem"),
            "purchases/by_customer": ("Query",),
            "solicitations": ("BatchGetItem", "UpdateItem"),
            "solicitations/by_customer": ("Query",),
            "trackers": ("BatchGetItem", "UpdateItem", "DeleteItem"),
            "trackers/by_customer": ("Query",),
            "messages": ("DeleteItem",),
        },
    ),
    Function(
        name="change_customers",
        memory_mb=1024,
        timeout_s=60,
        queue=SUPPRESSIONS,
        work="suppression",
        reads_stage_values=True,
        tables={
            "contacts": ("BatchGetItem", "UpdateItem"),
            "customers": ("UpdateItem", "ConditionCheckItem"),
            "customers/by_email": ("Query",),
            "customers/by_phone": ("Query",),
        },
    ),
    Function(
        name="sweep",
        memory_mb=1769,
        timeout_s=50,
        schedule="rate(1 minute)",
        sends_to=(IMPORTS, LISTING, FEEDBACK, WEBHOOKS, SOLICITATIONS, ERASURES, SUPPRESSIONS),
        tables={
            "customers/due": ("Query",),
            "imports": ("BatchGetItem", "UpdateItem"),
            "imports/due": ("Query",),
            "feedback": ("BatchGetItem", "UpdateItem"),
            "feedback-changes": ("BatchGetItem", "UpdateItem"),
            "feedback/due": ("Query",),
            "executions": ("BatchGetItem", "UpdateItem"),
            "executions/due": ("Query",),
            "solicitations": ("BatchGetItem", "UpdateItem"),
            "solicitations/due": ("Query",),
            "erasures": ("BatchGetItem", "UpdateItem"),
            "erasures/due": ("Query",),
            "contacts": ("BatchGetItem", "UpdateItem"),
            "contacts/due": ("Query",),
            "accounts": ("BatchGetItem", "UpdateItem"),
            "accounts/retention": ("Scan",),
            "feedback/by_account": ("Query",),
        },
    ),
)
