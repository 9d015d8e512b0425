"""Run workers in a model that counts only waiting, with transaction conflicts.

The workers run the real functions on tables in memory, in virtual time: each AWS request takes a
fixed time, pauses take their length, and everything else takes no time. The worker with the
earliest time runs next, so the result does not depend on the machine. DynamoDB rejects a write of a
row that a transaction is writing at the same time (``TransactionConflict``).
"""

import json
import random
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from email.utils import format_datetime
from typing import Any, Final
from unittest.mock import patch

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.httpsession import URLLib3Session

from benchmarks.memory_cloud import MemoryCloud, operation_of, response_to
from chalicelib.domain import clock
from chalicelib.services import caching
from chalicelib.settings import settings

REQUEST_S: Final = 0.01
_WRITES: Final = ("PutItem", "UpdateItem", "DeleteItem")
_CONFLICT: Final = "TransactionConflict"


class WaitingModel(MemoryCloud):
    """The tables and queues of a stage, and the virtual time of the workers that use them."""

    def __init__(self) -> None:
        super().__init__(settings().stage)
        self.conflicts = 0
        self._started_at = clock.now()
        self._turn = threading.Condition()
        self._local = threading.local()
        self._times: dict[int | None, float] = {}
        self._locked_until: dict[tuple[str, ...], float] = {}

    def run(self, workers: int, jobs: Iterable[Callable[[], object]]) -> float:
        """Run the jobs on concurrent workers. Return the virtual seconds until all have ended."""
        waiting, ended = deque(jobs), [0.0]
        self._times = dict.fromkeys(range(workers), 0.0)

        def work(worker: int) -> None:
            self._local.worker = worker
            try:
                self.wait(0)
                while waiting:
                    waiting.popleft()()
            finally:
                with self._turn:
                    ended.append(self._times.pop(worker))
                    self._turn.notify_all()

        with ThreadPoolExecutor(workers) as threads:
            list(threads.map(work, range(workers)))
        self._locked_until.clear()
        return max(ended)

    def wait(self, seconds: float) -> None:
        """Let the virtual time of this worker pass. Return when no other worker is earlier."""
        me = self._worker()
        with self._turn:
            if me not in self._times:
                return
            self._times[me] += seconds
            self._turn.notify_all()
            self._turn.wait_for(lambda: me == min(self._times, key=self._times.__getitem__))

    def now(self) -> Any:
        """Return the virtual time as a timestamp."""
        return self._started_at + timedelta(seconds=self._times.get(self._worker(), 0))

    def receive(self, request: AWSPreparedRequest) -> AWSResponse:
        """Return the response to an AWS request, after the time that the request takes."""
        operation = operation_of(request)
        status, body = self._conflict(operation, request.body) or self.response(
            operation, request.body if isinstance(request.body, bytes) else b""
        )
        self.wait(REQUEST_S)
        headers = {
            "Content-Type": request.headers["Content-Type"],
            "Date": format_datetime(self.now(), usegmt=True),
        }
        return response_to(request, status, headers, body)

    def _conflict(self, operation: str, body: Any) -> tuple[int, bytes] | None:
        """Return the response to a conflicting write. Otherwise, lock the rows of a transaction."""
        now = self._times.get(self._worker())
        is_transaction = operation == "TransactWriteItems"
        if now is None or not (is_transaction or operation in _WRITES):
            return None
        sent = json.loads(body)
        writes = [next(iter(write.values())) for write in sent.get("TransactItems", ())] or [sent]
        rows = [self._row(write) for write in writes]
        is_locked = [self._locked_until.get(row, 0) > now for row in rows]
        if any(is_locked):
            self.conflicts += 1
            kind = "TransactionCanceledException" if is_transaction else f"{_CONFLICT}Exception"
            reasons = [{"Code": _CONFLICT if locked else "None"} for locked in is_locked]
            return 400, json.dumps({"__type": kind, "CancellationReasons": reasons}).encode()
        if is_transaction:
            self._locked_until.update(dict.fromkeys(rows, now + REQUEST_S))
        return None

    def _worker(self) -> int | None:
        """Return the number of the worker of this thread."""
        return getattr(self._local, "worker", None)

    def _row(self, write: Any) -> tuple[str, ...]:
        return (write["TableName"], *self._key(write))


@contextmanager
def waiting_model() -> Iterator[WaitingModel]:
    """Replace the AWS of this process, the clock and all pauses by the model."""
    model = WaitingModel()

    def send(_session: Any, request: AWSPreparedRequest) -> AWSResponse:
        return model.receive(request)

    with (
        patch.object(URLLib3Session, "send", send),
        patch.object(clock, "now", model.now),
        patch.object(caching, "wall_clock_s", lambda: 0.0),  # cached values never expire
        patch("chalicelib.backoff.time.sleep", model.wait),
    ):
        random.seed(1)
        yield model
