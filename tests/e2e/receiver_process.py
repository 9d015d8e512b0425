"""A webhook receiver in a separate process, which a test can kill and restart."""

import json
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.waiting import wait_until


@dataclass
class ReceiverProcess:
    """The process of the flaky receiver and its log."""

    port: int
    log: Path
    process: "subprocess.Popen[bytes]"

    @classmethod
    def start(cls, port: int, log: Path) -> "ReceiverProcess":
        command = [sys.executable, "-m", "tests.e2e.flaky_receiver", str(port), str(log)]
        process = subprocess.Popen(command)

        def listens() -> bool:
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        wait_until(listens)
        return cls(port, log, process)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()

    def kill_and_restart(self) -> None:
        self.stop()
        time.sleep(1)
        self.process = ReceiverProcess.start(self.port, self.log).process

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def paths(self) -> list[str]:
        """Return the request path of each line of the log, in log order."""
        return [line["path"] for line in self.lines()]

    def lines(self) -> list[dict[str, Any]]:
        if not self.log.exists():
            return []
        complete = self.log.read_text().rpartition("\n")[0]
        return [json.loads(line) for line in complete.splitlines()]


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
