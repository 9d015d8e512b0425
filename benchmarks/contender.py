"""One contender of a comparison, in a process of its own."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from benchmarks.processes import PROJECT, PYTHON, environment


@dataclass(frozen=True)
class Answer:
    """What a contender answered, and which requests to AWS that took it when warm."""

    status: int
    body: Any
    calls: dict[str, int]


class Contender:
    """A handler that serves recorded requests; a context manager, whose end ends the process."""

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

    def answer(self, request: str) -> Answer:
        """Its answer to the recorded request of this name, when warm."""
        return Answer(**self._ask({"request": request}))

    def cpu_us(self, request: str, times: int) -> float:
        """The CPU time of one such request, in microseconds, over this many of them."""
        return float(self._ask({"request": request, "times": times})) / 1000

    def _ask(self, command: dict[str, Any]) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended while it served {command}.")
        return json.loads(line)
