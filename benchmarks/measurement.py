"""Measure the time, the CPU time and the AWS requests of a block of code."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from botocore.awsrequest import AWSPreparedRequest
from botocore.httpsession import URLLib3Session


@dataclass
class Measurement:
    """The cost of a block of code in this process.

    Attributes:
        started: the time of ``time.perf_counter()`` at the start.
        requests: the target of each AWS request of all threads: ``"DynamoDB_20120810.GetItem"``.
            It is empty for services that do not name it in a header, such as SES.
    """

    started: float = 0.0
    seconds: float = 0.0
    cpu_s: float = 0.0
    requests: list[str] = field(default_factory=list)


@contextmanager
def measured(added_ms: float = 0) -> Iterator[Measurement]:
    """Measure the ``with`` block, and delay each of its AWS requests.

    The function patches the botocore method that sends HTTP requests, so it counts and delays
    retries too.
    """
    measurement = Measurement()
    send = URLLib3Session.send

    def delayed_send(session: URLLib3Session, request: AWSPreparedRequest) -> Any:
        measurement.requests.append(target_of(request))
        time.sleep(added_ms / 1000)
        return send(session, request)

    with patch.object(URLLib3Session, "send", delayed_send):
        measurement.started, cpu = time.perf_counter(), time.process_time()
        yield measurement
        measurement.seconds = time.perf_counter() - measurement.started
        measurement.cpu_s = time.process_time() - cpu


def target_of(request: AWSPreparedRequest) -> str:
    """Return the service and the name of the operation that an AWS request calls."""
    target = request.headers.get("X-Amz-Target", "")
    return target if isinstance(target, str) else target.decode()
