"""Read the number and the age of the messages in the queues."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from botocore.exceptions import ClientError

from chalicelib.aws_calls import aws_client
from chalicelib.domain import clock
from chalicelib.queues import Queue
from chalicelib.settings import settings

_COUNTS: Final = {
    "waiting": "ApproximateNumberOfMessages",
    "in_process": "ApproximateNumberOfMessagesNotVisible",
    "delayed": "ApproximateNumberOfMessagesDelayed",
}
_AGE_WINDOW: Final = timedelta(minutes=10)


@dataclass(frozen=True)
class QueueDepth:
    """The approximate number of messages in a queue.

    Attributes:
        name: the name of the queue, without the prefix of the stage.
        in_process: the number of messages that a function has received but not deleted.
        oldest_message_s: the age of the oldest message in seconds: the newest value that CloudWatch
            has for the last ten minutes. None if there is no value.
    """

    name: str
    waiting: int
    in_process: int
    delayed: int
    dead_letters: int
    oldest_message_s: int | None


def read_depths(queues: Sequence[Queue]) -> list[QueueDepth]:
    """Return the depths of the queues. Four requests per queue, and one to CloudWatch."""
    sqs = aws_client("sqs")
    ages = _oldest_messages(queues, clock.now())
    return [
        QueueDepth(
            queue.name,
            **_counts(sqs, queue.name),
            dead_letters=sum(_counts(sqs, queue.dead_letter_name).values()),
            oldest_message_s=ages.get(queue.name),
        )
        for queue in queues
    ]


def _counts(sqs: Any, queue: str) -> dict[str, int]:
    url = sqs.get_queue_url(QueueName=settings().resource_name(queue))["QueueUrl"]
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[*_COUNTS.values()])
    return {name: int(attributes["Attributes"][count]) for name, count in _COUNTS.items()}


def _oldest_messages(queues: Sequence[Queue], now: datetime) -> dict[str, int]:
    """Return the age of the oldest message by queue. Omit queues without a value in CloudWatch."""
    metrics = [
        {
            "Id": f"q{number}",
            "MetricStat": {
                "Metric": {
                    "Namespace": "AWS/SQS",
                    "MetricName": "ApproximateAgeOfOldestMessage",
                    "Dimensions": [
                        {"Name": "QueueName", "Value": settings().resource_name(queue.name)}
                    ],
                },
                "Period": 60,
                "Stat": "Maximum",
            },
        }
        for number, queue in enumerate(queues)
    ]
    try:
        response = aws_client("cloudwatch").get_metric_data(
            MetricDataQueries=metrics,
            StartTime=now - _AGE_WINDOW,
            EndTime=now,
            ScanBy="TimestampDescending",
        )
    except ClientError:
        return {}  # The ages are optional: the operator may lack the permission.
    newest = {result["Id"]: result["Values"] for result in response["MetricDataResults"]}
    return {
        queue.name: int(values[0])
        for number, queue in enumerate(queues)
        if (values := newest.get(f"q{number}"))
    }
