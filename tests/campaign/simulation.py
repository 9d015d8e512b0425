"""Run the service in a simulated AWS account: invocations that interleave, queues and faults.

Everything runs in one thread and depends only on the seed. An invocation is a greenlet. After an
AWS request, another invocation can continue. Every AWS request of the process passes through
`Simulation.request`, which injects the faults.
"""

import importlib
import logging
import pkgutil
import random
import sys
import time as real_time
import uuid
from base64 import urlsafe_b64decode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from email import message_from_bytes
from email.utils import formatdate
from math import inf
from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError
from greenlet import getcurrent, greenlet

import chalicelib
from chalicelib.concurrency import map_concurrently
from chalicelib.domain import clock
from chalicelib.outbound import providers, queues
from chalicelib.services.caching import clear_caches
from chalicelib.storage.dynamodb.table import forget_connection
from chalicelib.storage.stage_values import forget_stage_secret
from tests.aws.faults import InjectedFault, Killed, fail
from tests.aws.requests import Request, responding
from tests.aws.tables import Item, Key, Tables, cancelled, error

START: Final = datetime(2026, 11, 20, 10, tzinfo=UTC)
_SINGLE_WRITES: Final = ("DeleteItem", "PutItem", "UpdateItem")
_QUEUE_OPERATIONS: Final = (
    "ChangeMessageVisibilityBatch",
    "SendMessage",
    "SendMessageBatch",
)
LOCKED: Final = ("GetQueueUrl", "GetSecretValue", "GetParameter")
"""Requests during which a lock is held, so that no other invocation may continue."""


_MAIN: Final = getcurrent()


@dataclass(frozen=True)
class Rates:
    """The probability of each fault of a request.

    Attributes:
        lost: the service processes the request or not, and the client gets no response.
        repeated: botocore loses the first response, and sends the request again.
        switched: another invocation continues after the request.
        torn: the writes of a transaction become visible one by one.
    """

    throttled: float = 0.01
    conflict: float = 0.01
    lost: float = 0.01
    repeated: float = 0.005
    partial: float = 0.02
    killed: float = 0.008
    switched: float = 0.4
    lost_message: float = 0.05
    repeated_message: float = 0.05
    torn: float = 0.1


NO_FAULTS: Final = Rates(*[0.0] * 10)


class Invocation(greenlet):
    """One run of a function, or of a request of a client.

    Attributes:
        skew_s: the difference between the clock of this process and the true time.
        deadline: the time at which Lambda stops the process.
        seen: the rows of some tables as of the last request of this invocation to the table.
        seen_at: the number of this request by table.
        delivery: the queue and the messages that the function processes.
    """

    def __init__(
        self, name: str, run: Callable[["Invocation"], object], skew_s: float, deadline: float
    ) -> None:
        super().__init__(lambda: run(self), _MAIN)
        self.name, self.skew_s, self.deadline = name, skew_s, deadline
        self.seen: dict[str, dict[Key, Item]] = {}
        self.seen_at: dict[str, int] = {}
        self.simulation: Simulation | None = None
        self.delivery: tuple[SimulatedQueue, list[Message]] | None = None

    def get_remaining_time_in_millis(self) -> float:
        """Return the remaining time, as Lambda's context does."""
        assert self.simulation
        return (self.deadline - self.simulation.now) * 1000


_SEEN: Final = ("contacts", "customers", "purchases", "executions", "trackers", "solicitations")
"""The tables whose rows an invocation remembers."""


@dataclass(frozen=True)
class Mail:
    """A message that a provider received.

    Attributes:
        invocation: the invocation that sent the message.
        is_known: whether the service got a response.
        link: the link for unsubscribing.
    """

    invocation: Invocation
    at: float
    to: str
    channel: str
    tracker_id: str
    message_id: str
    is_known: bool
    link: str = ""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass
class Message:
    """A message in a queue."""

    id: str
    body: str
    group: str
    sent_at: float
    visible_at: float
    receives: int = 0
    kills: int = 0


@dataclass(frozen=True)
class SimulatedQueue:
    """A queue and the function that its messages trigger.

    Attributes:
        is_only_copy: whether no work record exists, so a lost message would lose the work.
    """

    name: str
    function: Callable[[Any, Any], Mapping[str, Any]]
    batch_size: int
    visibility_s: float
    timeout_s: float
    is_only_copy: bool = False
    messages: list[Message] = field(default_factory=list)
    dead: list[str] = field(default_factory=list)

    @property
    def is_fifo(self) -> bool:
        return self.name.endswith(".fifo")


class Simulation:
    """A simulated AWS account.

    Attributes:
        now: the true time in epoch seconds.
        number: the number of AWS requests.
        swept: the number of those that the sweeper sent.
        on_send: called with each message that a provider receives.
        after_request: called after each request of an invocation. It can return an invocation that
            continues before all others.
        while_torn: the same, while some writes of a transaction are visible and others are not.
        urgent: the invocation that continues before all others.
        poison: returns whether a request kills its process, for work that always kills.
        throttled_until: the time until which DynamoDB throttles all requests.
        refused_until: the time until which the providers refuse all messages.
        max_lag_s: the maximum delay after which a write is visible in indexes.
        stopped_until: by queue, the time until which its messages are not delivered.
    """

    def __init__(self, seed: int, rates: Rates, queues: Callable[[], list[SimulatedQueue]]) -> None:
        self.random = random.Random(seed)
        self.rates, self.now = rates, START.timestamp()
        self.tables = Tables(
            "test", lambda: self.now, lambda: self.random.random() < 0.5, self._delays_s
        )
        self.queues = {queue.name: queue for queue in queues()}
        self.invocations: list[Invocation] = []
        self.hosts = [0.0, 0.0, *(self.random.uniform(-300, 300) for _ in range(4))]
        self.faults: Counter[str] = Counter()
        self.operations: Counter[str] = Counter()
        self.number = self.swept = 0
        self.throttled_until, self.refused_until, self.max_lag_s = 0.0, 0.0, inf
        self.stopped_until: dict[str, float] = {}
        self.mails: list[Mail] = []
        self.on_send: Callable[[Mail], None] = lambda _: None
        self.urgent: Invocation | None = None
        self.after_request: Callable[[Invocation, Mapping[str, Any]], Invocation | None]
        self.after_request = lambda *_: None
        self.while_torn: Callable[[Invocation, Mapping[str, Any]], Invocation | None]
        self.while_torn = lambda *_: None
        self.poison: Callable[[Invocation, Mapping[str, Any]], bool] = lambda *_: False
        self._sent_groups: dict[str, float] = {}
        self._claims: set[str] = set()

    @property
    def unswept(self) -> int:
        """The number of AWS requests without those of the sweeper."""
        return self.number - self.swept

    # Invocations

    def start(
        self, name: str, run: Callable[[Invocation], object], timeout_s: float, skew_s: float | None
    ) -> Invocation:
        """Start an invocation. It runs when `step` selects it."""
        skew_s = self.random.choice(self.hosts) if skew_s is None else skew_s
        invocation = Invocation(name, run, skew_s, self.now + timeout_s)
        invocation.simulation = self
        self.invocations.append(invocation)
        return invocation

    def step(self) -> None:
        """Continue the urgent invocation or a random one until its next switch."""
        if self.urgent not in self.invocations:
            self.urgent = None
        # A greenlet that has not started is false.
        invocation = self.random.choice(self.invocations) if self.urgent is None else self.urgent
        try:
            invocation.switch()
        except Killed:
            self.faults["killed"] += 1
        if invocation.dead:
            self.invocations.remove(invocation)

    def finish(self) -> None:
        """Continue all invocations until they have ended."""
        while self.invocations:
            self.step()

    def deliver(self, queue: SimulatedQueue) -> bool:
        """Invoke the function of a queue with visible messages. Return False if there are none."""
        if self.stopped_until.get(queue.name, 0) > self.now:
            return False
        visible = [message for message in queue.messages if message.visible_at <= self.now]
        if queue.is_fifo:
            # A message that is being processed blocks the later messages of its group.
            blocked = {m.group for m in queue.messages if m.visible_at > self.now}
            visible = [message for message in visible if message.group not in blocked]
        else:
            self.random.shuffle(visible)
        batch = []
        size = self.random.choice([1, self.random.randint(1, queue.batch_size)])
        for message in visible[:size]:
            message.receives += 1
            message.visible_at = self.now + queue.visibility_s
            if message.receives > 10:
                queue.messages.remove(message)
                # The sweeper requeues work with a record whose message killed processes.
                if queue.is_only_copy or not message.kills:
                    queue.dead.append(message.body)
                continue
            batch.append(message)
            if not queue.is_fifo and self._happens("repeated_message"):
                message.visible_at = self.now + self.random.uniform(0, 5)
        if not batch:
            return bool(visible)
        self._start_function(queue, batch)
        if not queue.is_fifo and self._happens("repeated_message"):
            # SQS delivers the messages to two invocations at the same time.
            self._start_function(queue, batch)
        return True

    def deliver_again(self, queue: str, wanted: Callable[[str], bool]) -> Invocation | None:
        """Invoke the function of a queue with a message that other invocations may be processing.

        Return None if the queue contains no message whose body is wanted.
        """
        messages = [each for each in self.queues[queue].messages if wanted(each.body)]
        if not messages:
            return None
        return self._start_function(self.queues[queue], [self.random.choice(messages)])

    def stop(self, queue: str, duration_s: float) -> None:
        """Deliver no messages of a queue for some time, as if its event source was disabled."""
        self.faults["stopped queues"] += 1
        self.stopped_until[queue] = self.now + duration_s

    def _start_function(self, queue: SimulatedQueue, batch: list[Message]) -> Invocation:
        receives = {message.id: message.receives for message in batch}
        invocation = self.start(
            queue.name,
            lambda invocation: self._invoke(queue, batch, receives, invocation),
            queue.timeout_s,
            None,
        )
        invocation.delivery = (queue, batch)
        return invocation

    def _invoke(
        self,
        queue: SimulatedQueue,
        batch: list[Message],
        receives: dict[str, int],
        invocation: Invocation,
    ) -> None:
        records = [
            {
                "messageId": message.id,
                "body": message.body,
                "receiptHandle": message.id,
                "eventSourceARN": queue.name,
                "attributes": {
                    "ApproximateReceiveCount": str(receives[message.id]),
                    "SentTimestamp": str(int(message.sent_at * 1000)),
                    "MessageGroupId": message.group,
                },
            }
            for message in batch
        ]
        try:
            response = queue.function({"Records": records}, invocation)
        except Killed:
            for message in batch:
                message.kills += 1
            raise
        failed = {failure["itemIdentifier"] for failure in response["batchItemFailures"]}
        for message in batch:
            if message.id not in failed and message in queue.messages:
                queue.messages.remove(message)

    def send(self, name: str, body: str, group: str = "", delay_s: float = 0) -> None:
        """Put a message into a queue."""
        queue = self.queues[name]
        if not queue.is_only_copy and self._happens("lost_message"):
            return
        if queue.is_fifo:
            if self._sent_groups.get(name + body, 0) > self.now - 300:
                return  # FIFO queues drop duplicates for five minutes.
            self._sent_groups[name + body] = self.now
        elif delay_s == 0 and self.random.random() < self.rates.lost_message:
            delay_s = self.random.uniform(0, 600)
        message_id = str(UUID(int=self.random.getrandbits(128)))
        queue.messages.append(Message(message_id, body, group, self.now, self.now + delay_s))

    def set_lag(self, lag_s: float) -> None:
        """Set the delay after which a write is visible in indexes."""
        self.tables.lag_s = min(lag_s, self.max_lag_s)

    # Requests

    def request(self, request: Request) -> Any:
        """Respond to an AWS request of the service, or fail as AWS does."""
        invocation, operation, arguments = getcurrent(), request.operation, request.arguments
        if not isinstance(invocation, Invocation):
            return self._respond(operation, arguments)
        if operation in LOCKED:
            return self._respond(operation, arguments)
        self.number += 1
        self.swept += invocation.name == "sweep"
        self.operations[f"{invocation.name} {operation}"] += 1
        self.now += self.random.uniform(0.002, 0.02)
        if self.now > invocation.deadline:
            self.faults["timed out"] += 1
            raise Killed
        if self._happens("killed") or self.poison(invocation, arguments):
            if self.random.random() < 0.5:
                raise Killed
            self._suppressed(operation, arguments)
            raise Killed
        try:
            response = self._with_faults(invocation, request)
        finally:
            self._look(invocation, operation, arguments)
            first = self.after_request(invocation, arguments)
            is_switched = self.random.random() < self.rates.switched
            if is_switched or first is not None or self.urgent is not None:
                self.let_others_run(first)
        if operation == "TransactWriteItems":
            # DynamoDB responds when all writes are visible.
            while self.now < self.tables.visible_at(arguments["ClientRequestToken"]):
                self.now += self.random.uniform(0.002, 0.02)
                self.let_others_run(self.while_torn(invocation, arguments))
        return response

    def let_others_run(self, first: Invocation | None = None) -> None:
        """Continue other invocations before the current one, beginning with ``first``."""
        self.urgent = self.urgent if first is None else first
        parent = getcurrent().parent
        assert parent
        parent.switch()

    def _with_faults(self, invocation: Invocation, request: Request) -> Any:
        operation, arguments = request.operation, request.arguments
        if operation in ("SendRawEmail", "Publish"):
            return self._send_mail(invocation, operation, arguments)
        is_database = operation not in _QUEUE_OPERATIONS
        if self._happens("throttled") or (is_database and self.now < self.throttled_until):
            if operation == "TransactWriteItems" and self.random.random() < 0.5:
                raise cancelled(*self._reasons(arguments, "ThrottlingError"))
            raise error(operation, "ThrottlingException")
        if operation in (*_SINGLE_WRITES, "TransactWriteItems") and self._happens("conflict"):
            if operation == "TransactWriteItems":
                raise cancelled(*self._reasons(arguments, "TransactionConflict"))
            raise error(operation, "TransactionConflictException")
        if self._happens("lost"):
            if self.random.random() < 0.7:
                self._suppressed(operation, arguments)
            self.now += self.random.uniform(2, 6)
            if invocation.delivery and self.random.random() < 0.3:
                queue, batch = invocation.delivery
                if not queue.is_fifo:
                    # Another invocation processes the messages before this one tries again.
                    self.urgent = self._start_function(queue, batch)
            raise ReadTimeoutError(endpoint_url="x")
        if self._happens("repeated"):
            self._suppressed(operation, arguments)
        if operation.startswith(("Batch", "SendMessageBatch")) and self._happens("partial"):
            respond: Any = lambda _, *sent: self._respond(*sent)  # noqa: E731
            return fail(replace(request, respond=respond), InjectedFault.PARTIAL_SUCCESS)
        return self._respond(operation, arguments)

    def _delays_s(self, number: int) -> list[float]:
        """Return the delays after which the writes of a transaction become visible."""
        if not self._happens("torn"):
            return [0.0] * number
        longest_s = self.random.choice([0.1, 1, 5])
        return [self.random.uniform(0, longest_s) for _ in range(number)]

    def _suppressed(self, operation: str, arguments: dict[str, Any]) -> None:
        """Process a request whose response nobody receives."""
        if operation in ("SendRawEmail", "Publish"):
            self._receive_mail(getcurrent(), operation, arguments, is_known=False)
            return
        with suppress(ClientError):
            self._respond(operation, arguments)

    def _reasons(self, arguments: Mapping[str, Any], code: str) -> list[dict[str, str]]:
        reasons = [{"Code": "None"} for _ in arguments["TransactItems"]]
        self.random.choice(reasons)["Code"] = code
        return reasons

    def _respond(self, operation: str, arguments: Mapping[str, Any]) -> Any:
        match operation:
            case "GetQueueUrl":
                response: Any = {"QueueUrl": arguments["QueueName"]}
            case "GetSecretValue":
                response = {"SecretString": "secret" * 8}
            case "GetParameter":
                response = {"Parameter": {"Value": "https://api.example.com/test"}}
            case "SendMessageBatch":
                for entry in arguments["Entries"]:
                    self._enqueue(arguments["QueueUrl"], entry)
                response = {"Successful": [{"Id": e["Id"]} for e in arguments["Entries"]]}
            case "ChangeMessageVisibilityBatch":
                self._change_messages(arguments)
                response = {}
            case "SendMessage":
                name = arguments["QueueUrl"].removeprefix("feedback-test-").replace("-dead", "")
                self.queues[name].dead.append(arguments["MessageBody"])
                response = {}
            case _:
                response = self.tables.respond(operation, arguments)
        date = formatdate(self.now, usegmt=True)
        metadata = {"HTTPStatusCode": 200, "HTTPHeaders": {"date": date}, "RetryAttempts": 0}
        return {**response, "ResponseMetadata": metadata}

    def _enqueue(self, url: str, entry: Mapping[str, Any]) -> None:
        name = url.removeprefix("feedback-test-")
        self.send(name, entry["MessageBody"], entry["MessageGroupId"])

    def _change_messages(self, arguments: Mapping[str, Any]) -> None:
        messages = self.queues[arguments["QueueUrl"].removeprefix("feedback-test-")].messages
        received = {message.id: message for message in messages}
        for entry in arguments["Entries"]:
            if message := received.get(entry["ReceiptHandle"]):
                message.visible_at = self.now + entry["VisibilityTimeout"]

    def _look(self, invocation: Invocation, operation: str, arguments: dict[str, Any]) -> None:
        """Copy the rows that the invocation can know from this request."""
        if invocation.name not in ("solicitations", "webhooks"):
            return
        if operation == "TransactWriteItems" and "feedback-test-trackers" in str(arguments):
            token = arguments["ClientRequestToken"]
            if token in self._claims:
                return  # The facts were checked when the request was processed first.
            if self.tables.was_processed(token):
                self._claims.add(token)
            # The claim of a survey checks all facts.
            invocation.seen = {name: dict(self.tables.rows(name)) for name in _SEEN}
            invocation.seen_at = dict.fromkeys(_SEEN, self.number)
            return
        requested = str(arguments.get("RequestItems", "")) + str(arguments.get("TransactItems", ""))
        requested += str(arguments.get("TableName", ""))
        for name in _SEEN:
            if f"feedback-test-{name}" in requested:
                invocation.seen[name] = self.tables.visible_rows(name)
                invocation.seen_at[name] = self.number

    # Messages to customers

    def _send_mail(self, invocation: Invocation, operation: str, arguments: Any) -> Any:
        if self._happens("throttled") or self.now < self.refused_until:
            raise error(operation, "Throttling")
        if self._happens("throttled"):
            raise error(operation, "MessageRejected")
        if self._happens("lost") or self._happens("lost"):
            if self.random.random() < 0.7:
                self._receive_mail(invocation, operation, arguments, is_known=False)
            raise ReadTimeoutError(endpoint_url="x")
        mail = self._receive_mail(invocation, operation, arguments, is_known=True)
        return {"MessageId": mail.message_id}

    def _receive_mail(
        self, invocation: Any, operation: str, arguments: Any, *, is_known: bool
    ) -> Mail:
        message_id = str(UUID(int=self.random.getrandbits(128), version=4))
        if operation == "Publish":
            text = arguments["Message"]
            to, channel, link, headers = arguments["PhoneNumber"], "SMS", "", ()
        else:
            parsed = message_from_bytes(arguments["RawMessage"]["Data"])
            part: Any = next(part for part in parsed.walk() if not part.is_multipart())
            text = part.get_payload(decode=True).decode()
            to, channel = arguments["Destinations"][0], "EMAIL"
            link = str(parsed["List-Unsubscribe"] or "").strip("<>")
            headers = tuple((name, str(value)) for name, value in parsed.items())
        tracker = str(UUID(bytes=urlsafe_b64decode(text.partition("/s/")[2][:22] + "==")))
        mail = Mail(invocation, self.now, to, channel, tracker, message_id, is_known, link, headers)
        self.mails.append(mail)
        self.on_send(mail)
        return mail

    def _happens(self, fault: str) -> bool:
        rate: float = getattr(self.rates, fault)
        if rate and self.random.random() < rate:
            self.faults[fault] += 1
            return True
        return False


class _Clock(datetime):
    """A replacement of `datetime` in the module `clock`."""

    simulation: Simulation

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime.fromtimestamp(cls.simulation.now + _skew_s(), tz)


def _skew_s() -> float:
    invocation = getcurrent()
    return invocation.skew_s if isinstance(invocation, Invocation) else 0.0


@contextmanager
def installed(simulation: Simulation) -> Iterator[None]:
    """Replace AWS, the clock, random numbers and threads of the service with the simulation."""

    def sleep(seconds: float) -> None:
        simulation.now += seconds
        invocation = getcurrent()
        if isinstance(invocation, Invocation):
            assert invocation.parent
            invocation.parent.switch()

    fake_time = SimpleNamespace(
        time=lambda: simulation.now + _skew_s(),
        monotonic=lambda: simulation.now,
        perf_counter=lambda: simulation.now,
        sleep=sleep,
    )

    def one_after_the_other(function: Any, items: Any, _max_threads: int) -> list[Any]:
        # All calls run, even if one raises an exception.
        results, errors = [], []
        for item in items:
            try:
                results.append(function(item))
            except Exception as raised:  # raised below
                errors.append(raised)
        if errors:
            raise errors[0]
        return results

    def uuid4() -> UUID:
        return UUID(int=simulation.random.getrandbits(128), version=4)

    # Functions import modules when they run. Only imported modules can be patched.
    for module in pkgutil.walk_packages(chalicelib.__path__, "chalicelib."):
        importlib.import_module(module.name)
    _Clock.simulation = simulation
    with pytest.MonkeyPatch.context() as patch, responding(simulation.request):
        patch.setattr(clock, "datetime", _Clock)
        fakes = (
            ("time", real_time, fake_time),
            ("map_concurrently", map_concurrently, one_after_the_other),
            ("uuid4", uuid.uuid4, uuid4),
        )
        for name in [name for name in sys.modules if name.startswith(("chalicelib.", "admin."))]:
            for attribute, real, fake in fakes:
                if getattr(sys.modules[name], attribute, None) is real:
                    patch.setattr(sys.modules[name], attribute, fake)
        random.seed(simulation.random.random())
        clear_caches()
        yield
    clear_caches()


def forget_clients() -> None:
    """Discard the clients of the process, and the values that they have read."""
    forget_connection()
    forget_stage_secret()
    queues.forget_urls()
    providers.forget_clients()


@contextmanager
def without_log() -> Iterator[None]:
    """Write no log lines of the service in the ``with`` block, because this takes time."""
    logging.disable()
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
