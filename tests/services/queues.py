"""Receive messages from a queue and pass them to the function that the queue triggers.

The function has only the permissions of its policy.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from moto.core import DEFAULT_ACCOUNT_ID
from moto.sqs.models import sqs_backends

import app
from infrastructure.functions import FUNCTIONS
from tests.aws.faults import Killed
from tests.policies import allowed


@dataclass(frozen=True)
class FunctionQueue:
    """A queue of the stage, whose messages trigger a function."""

    name: str

    @property
    def function(self) -> str:
        """The name of the function."""
        return next(f.name for f in FUNCTIONS if f.queue and f.queue.name == self.name)

    def queued_messages(self, account_id: str) -> list[str]:
        """Remove all messages from the queue and return the bodies of this account's messages."""
        sqs, name = sqs_backends[DEFAULT_ACCOUNT_ID]["eu-west-1"], f"feedback-test-{self.name}"
        bodies: list[str] = []
        while messages := sqs.receive_message(name, 10, 0, 30):
            for message in messages:
                bodies.append(message.body)
                sqs.delete_message(name, message.receipt_handle)
        return [body for body in bodies if json.loads(body)["accountId"] == account_id]

    def deliver(
        self,
        bodies: Sequence[str],
        receive_count: int = 1,
        sent_at: datetime | None = None,
        context: Any = None,
        receipt_handle: str = "",
    ) -> list[str]:
        """Invoke the function with all messages in one event. Return the messages that failed.

        The function reports failed messages in its response. By default, it has no time-out.
        """
        attributes = {"ApproximateReceiveCount": str(receive_count)}
        if sent_at:
            attributes["SentTimestamp"] = str(int(sent_at.timestamp() * 1000))
        event: dict[str, Any] = {
            "Records": [
                {
                    "messageId": str(number),
                    "body": body,
                    "receiptHandle": receipt_handle,
                    "attributes": attributes,
                    "eventSourceARN": f"arn:aws:sqs:eu-west-1:1:{self.function}",
                }
                for number, body in enumerate(bodies)
            ]
        }
        with allowed(self.function):
            failures = getattr(app, self.function)(event, context)["batchItemFailures"]
        return [bodies[int(failure["itemIdentifier"])] for failure in failures]

    def deliver_all(self, account_id: str, batch_size: int = 10) -> None:
        """Deliver the account's messages in batches.

        Redeliver failed messages up to two times. If a batch kills the function, all messages of
        the batch have failed.
        """
        pending = self.queued_messages(account_id)
        for receive_count in (1, 2, 3):
            failed: list[str] = []
            for start in range(0, len(pending), batch_size):
                batch = pending[start : start + batch_size]
                try:
                    failed += self.deliver(batch, receive_count)
                except Killed:
                    failed += batch
            pending = failed


IMPORT_QUEUE: Final = FunctionQueue("imports.fifo")
LISTING_QUEUE: Final = FunctionQueue("listing.fifo")
FEEDBACK_QUEUE: Final = FunctionQueue("feedback")
WEBHOOK_QUEUE: Final = FunctionQueue("webhooks")
PURCHASE_QUEUE: Final = FunctionQueue("purchases")
SOLICITATION_QUEUE: Final = FunctionQueue("solicitations")
ERASURE_QUEUE: Final = FunctionQueue("erasures")
SUPPRESSION_QUEUE: Final = FunctionQueue("suppressions")
