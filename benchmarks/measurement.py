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
        requests: the operation and the body of each AWS request of all threads, with retries. The
            operation is empty for services that do not name it in a header, such as SES.
    """

    started: float = 0.0
    seconds: float = 0.0
    cpu_s: float = 0.0
    requests: list[tuple[str, Any]] = field(default_factory=list)


@contextmanager
def measured() -> Iterator[Measurement]:
    """Measure the ``with`` block. Replace botocore's method that sends HTTP requests to count."""
    measurement = Measurement()
    send = URLLib3Session.send

    def counting_send(session: URLLib3Session, request: AWSPreparedRequest) -> Any:
        measurement.requests.append((operation_of(request), request.body))
        return send(session, request)

    with patch.object(URLLib3Session, "send", counting_send):
        measurement.started, cpu = time.perf_counter(), time.process_time()
        yield measurement
        measurement.seconds = time.perf_counter() - measurement.started
        measurement.cpu_s = time.process_time() - cpu


def operation_of(request: AWSPreparedRequest) -> str:
    """Return the name of the operation that an AWS request calls."""
    target = request.headers.get("X-Amz-Target", "")
    return (target if isinstance(target, str) else target.decode()).rpartition(".")[2]
