"""Tests of the command ``status``."""

import json
from datetime import timedelta

import boto3
import pytest

from chalicelib.domain import clock
from chalicelib.queues import ALL_QUEUES
from chalicelib.services.work.kinds import ALL_WORK
from infrastructure.functions import FUNCTIONS
from tests.admin.command import new_account, run
from tests.admin.commands.test_work import park_import

pytestmark = pytest.mark.usefixtures("cloud")


def send(queue: str) -> None:
    sqs = boto3.client("sqs")
    url = sqs.get_queue_url(QueueName=f"feedback-test-{queue}")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="{}")


def read() -> dict[str, dict[str, object]]:
    result = run("status", "--json")
    assert result.exit_code == 0
    status = json.loads(result.stdout)
    return {queue["name"]: queue for queue in status["queues"]} | {"parked": status["parked"]}


def test_status_covers_every_queue_of_manifest() -> None:
    assert {queue for f in FUNCTIONS if (queue := f.queue)} == set(ALL_QUEUES)


def test_status_counts_messages_and_dead_letters() -> None:
    before = read()
    send("feedback")
    send("webhooks-dead")
    after = read()
    assert after["feedback"] == {
        **before["feedback"],
        "waiting": int(str(before["feedback"]["waiting"])) + 1,
    }
    assert after["webhooks"] == {**before["webhooks"], "deadLetters": 1}
    assert after["imports.fifo"] == before["imports.fifo"]


def test_status_counts_parked_work_by_kind() -> None:
    before = read()["parked"]
    park_import(new_account())
    assert read()["parked"] == {**before, "import": int(str(before["import"])) + 1}


def test_status_shows_last_measured_age_of_oldest_message() -> None:
    cloudwatch = boto3.client("cloudwatch")
    for minutes, age in ((4, 900), (2, 61)):
        cloudwatch.put_metric_data(
            Namespace="AWS/SQS",
            MetricData=[
                {
                    "MetricName": "ApproximateAgeOfOldestMessage",
                    "Dimensions": [{"Name": "QueueName", "Value": "feedback-test-listing.fifo"}],
                    "Timestamp": clock.now() - timedelta(minutes=minutes),
                    "Value": age,
                }
            ],
        )
    status = read()
    assert status["listing.fifo"]["oldestMessageS"] == 61
    assert status["imports.fifo"]["oldestMessageS"] is None


def test_status_prints_tables_by_default() -> None:
    result = run("status")
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert [line[0] for line in lines if line] == [
        "Queue",
        *(queue.name for queue in ALL_QUEUES),
        "Work",
        *(work.records.kind for work in ALL_WORK),
    ]
