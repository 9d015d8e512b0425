"""Run one of the compared implementations (contenders) in a child process."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from benchmarks.processes import PROJECT, PYTHON, environment


@dataclass(frozen=True)
class Response:
    """A contender's response to one request when its caches are warm.

    Attributes:
        calls: the number of AWS requests by operation and table.
    """

    status: int
    body: Any
    calls: dict[str, int]


class Contender:
    """A child process that runs a handler on recorded requests, for the time of a ``with`` block.

    Args:
        module: the module that contains the handler.
        recording: the file that contains the recorded requests.
    """

    def __init__(self, name: str, module: str, recording: Path) -> None:
        self.name = name
        self._process = subprocess.Popen(
            [PYTHON, "-m", "benchmarks.contender_process", module, recording],
            cwd=PROJECT,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def response(self, request: str) -> Response:
        """Send the recorded request with this name to the handler and return the response."""
        return Response(**self._execute({"request": request}))

    def cpu_us(self, request: str, times: int) -> float:
        """Return the CPU time per request in microseconds, averaged over ``times`` requests."""
        return float(self._execute({"request": request, "times": times})) / 1000

    def _execute(self, command: dict[str, Any]) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} exited during {command}.")
        return json.loads(line)
