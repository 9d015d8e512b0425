"""Count the AWS requests of this process, and delay each of them."""

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
    """Count and delay the AWS requests of the ``with`` block. Yield the counts by operation.

    The function patches the botocore method that sends HTTP requests, so it counts and delays
    retries too.
    """
    requests: Counter[str] = Counter()
    send = URLLib3Session.send

    def delayed_send(session: URLLib3Session, request: AWSPreparedRequest) -> Any:
        target = request.headers["X-Amz-Target"]
        requests[target.decode() if isinstance(target, bytes) else target] += 1
        time.sleep(added_ms / 1000)
        return send(session, request)

    with patch.object(URLLib3Session, "send", delayed_send):
        yield requests
