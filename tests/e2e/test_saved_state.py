"""Tests of an emulator that starts with the saved state of another one."""

from pathlib import Path
from typing import TYPE_CHECKING

import boto3

from infrastructure.local_cloud.emulator import Emulator, free_port

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


def client(emulator: Emulator) -> "SQSClient":
    return boto3.client(
        "sqs",
        endpoint_url=emulator.endpoint,
        region_name="eu-west-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


def test_saved_queues_have_port_of_emulator(tmp_path: Path) -> None:
    for port in (free_port(), free_port()):
        emulator = Emulator(port, tmp_path)
        is_first = not (tmp_path / "state").exists()
        process = emulator.start()
        try:
            sqs = client(emulator)
            if is_first:
                sqs.create_queue(QueueName="messages")
            url = sqs.get_queue_url(QueueName="messages")["QueueUrl"]
            assert url == f"{emulator.endpoint}/000000000000/messages"
        finally:
            emulator.stop()
            process.wait()
