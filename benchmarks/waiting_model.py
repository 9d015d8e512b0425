"""Run workers in a model that counts only waiting, with transaction conflicts.

The workers run the real functions on tables in memory, in virtual time: each AWS request takes a
fixed time, pauses take their length, and everything else takes no time. The worker with the
earliest time runs next, so the result does not depend on the machine. DynamoDB rejects a write of a
row that a transaction is writing at the same time (``TransactionConflict``).
"""

import json
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from email.utils import format_datetime
from typing import Any, Final
from unittest.mock import patch

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.httpsession import URLLib3Session

from benchmarks.memory_cloud import Body, MemoryCloud, operation_of
from chalicelib.domain import clock
from chalicelib.settings import settings

REQUEST_S: Final = 0.01
_WRITES: Final = ("PutItem", "UpdateItem", "DeleteItem")


class WaitingModel(MemoryCloud):
    """The tables and queues of a stage, and the virtual time of the workers that use them."""

    def __init__(self) -> None:
        super().__init__(settings().stage)
        self.conflicts = self.requests = 0
        self._started_at = clock.now()
        self._turn = threading.Condition()
        self._times: dict[int, float] = {}
        self._locked_until: dict[tuple[str, ...], float] = {}

    def run(self, workers: int, jobs: Sequence[Callable[[], object]]) -> float:
        """Run the jobs on concurrent workers. Return the virtual seconds until all have ended."""
        waiting, ended = list(reversed(jobs)), [0.0]
        failures: list[BaseException] = []

        def work() -> None:
            try:
                self.wait(0)
                while waiting:
                    waiting.pop()()
            except BaseException as error:
                failures.append(error)
            finally:
                with self._turn:
                    ended.append(self._times.pop(threading.get_ident()))
                    self._turn.notify_all()

        threads = [threading.Thread(target=work, daemon=True) for _ in range(workers)]
        with self._turn:
            for thread in threads:
                thread.start()
                self._times[thread.ident or 0] = 0.0
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        self._locked_until.clear()
        return max(ended)

    def wait(self, seconds: float) -> None:
        """Let the virtual time of this worker pass. Return when no other worker is earlier."""
        me = threading.get_ident()
        with self._turn:
            if me not in self._times:
                return
            self._times[me] += seconds
            self._turn.notify_all()
            self._turn.wait_for(lambda: me == min(self._times, key=self._order))

    def now(self) -> Any:
        """Return the virtual time as a timestamp."""
        return self._started_at + timedelta(seconds=self._times.get(threading.get_ident(), 0))

    def respond(self, request: AWSPreparedRequest) -> AWSResponse:
        """Return the response to an AWS request, after the time that the request takes."""
        self.requests += 1
        operation = operation_of(request)
        status, body = self._conflict(operation, request.body) or self.response(
            operation, request.body if isinstance(request.body, bytes) else b""
        )
        self.wait(REQUEST_S)
        headers = {
            "Content-Type": request.headers["Content-Type"],
            "Date": format_datetime(self.now(), usegmt=True),
        }
        return AWSResponse(request.url, status, HTTPHeaders.from_dict(headers), Body(body))

    def _conflict(self, operation: str, body: Any) -> tuple[int, bytes] | None:
        """Return the response to a conflicting write. Otherwise, lock the rows of a transaction."""
        now = self._times.get(threading.get_ident())
        if now is None or operation not in (*_WRITES, "TransactWriteItems"):
            return None
        sent = json.loads(body)
        if operation in _WRITES:
            if self._locked_until.get(self._row(sent), 0) <= now:
                return None
            self.conflicts += 1
            return 400, b'{"__type": "TransactionConflictException"}'
        rows = [self._row(next(iter(write.values()))) for write in sent["TransactItems"]]
        codes = [
            "TransactionConflict" if self._locked_until.get(row, 0) > now else "None"
            for row in rows
        ]
        if set(codes) == {"None"}:
            self._locked_until.update(dict.fromkeys(rows, now + REQUEST_S))
            return None
        self.conflicts += 1
        failed = {
            "__type": "TransactionCanceledException",
            "CancellationReasons": [{"Code": code} for code in codes],
        }
        return 400, json.dumps(failed).encode()

    def _row(self, write: Any) -> tuple[str, ...]:
        table = self._tables[write["TableName"]]
        return (write["TableName"], *table.key_of(write.get("Key") or write["Item"]))

    def _order(self, worker: int) -> tuple[float, int]:
        return self._times[worker], worker


@contextmanager
def waiting_model() -> Iterator[WaitingModel]:
    """Replace the AWS of this process, the clock and all pauses by the model."""
    model = WaitingModel()

    def send(_session: Any, request: AWSPreparedRequest) -> AWSResponse:
        return model.respond(request)

    with (
        patch.object(URLLib3Session, "send", send),
        patch.object(clock, "now", model.now),
        patch("chalicelib.backoff.time.sleep", model.wait),
    ):
        random.seed(1)
        yield model
