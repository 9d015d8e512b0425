"""Count the requests between this process and AWS, and add a delay to each."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from botocore.awsrequest import AWSPreparedRequest
from botocore.httpsession import URLLib3Session


@contextmanager
def network(added_ms: float = 0) -> Iterator[Counter[str]]:
    """Count the requests sent inside the block by service and operation, each after a delay.

    The delay is at the single point through which every botocore client sends, retries included.
    """
    requests: Counter[str] = Counter()
    send = URLLib3Session.send

    def counted(session: URLLib3Session, request: AWSPreparedRequest) -> Any:
        target = request.headers["X-Amz-Target"]
        requests[target.decode() if isinstance(target, bytes) else target] += 1
        time.sleep(added_ms / 1000)
        return send(session, request)

    with patch.object(URLLib3Session, "send", counted):
        yield requests
