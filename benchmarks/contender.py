"""One contender of a comparison in its own process."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from benchmarks.processes import PROJECT, PYTHON, environment


@dataclass(frozen=True)
class Response:
    """A contender's response and the AWS requests that it took when warm."""

    status: int
    body: Any
    calls: dict[str, int]


class Contender:
    """A handler that serves recorded requests. A context manager that ends the process on exit."""

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
        """Return the warm response to the recorded request of this name."""
        return Response(**self._ask({"request": request}))

    def cpu_us(self, request: str, times: int) -> float:
        """Measure the CPU time of one request in microseconds, averaged over ``times`` requests."""
        return float(self._ask({"request": request, "times": times})) / 1000

    def _ask(self, command: dict[str, Any]) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} exited during {command}.")
        return json.loads(line)
