"""Servers of the local cloud that run in a separate process next to the emulator.

While a server runs, its process has a lock on a file in the state folder. This folder also contains
the server's ports. The server uses the same ports after a restart, so that its URL stays valid.
"""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import ClassVar

from infrastructure.deployment.code_package import PROJECT
from infrastructure.deployment.progress import DeploymentError

START_TIMEOUT_S = 20
STOP_TIMEOUT_S = 5

Listener = tuple[tuple[int, ...], Callable[[], None]]
"""The ports of a server, and a function that runs the server until an interrupt."""


@dataclass(frozen=True)
class BackgroundServer:
    """Start and stop a server's process, and detect whether it is running.

    Attributes:
        name: the name of the server in messages and in the names of its files.
        module: the module that runs the server.
        folder: the state folder.
    """

    folder: Path
    name: ClassVar[str]
    module: ClassVar[str]

    def listen(self, ports: tuple[int, ...]) -> AbstractContextManager[Listener]:
        """Listen on the ports of the last run if they are free, otherwise on other ports."""
        raise NotImplementedError

    @property
    def log(self) -> Path:
        """The file with the server's output if it runs in the background."""
        return self._file("log")

    @property
    def ports(self) -> tuple[int, ...]:
        """Return the server's ports.

        Raises:
            DeploymentError: the server was never started in this folder.
        """
        _, ports = self._process_id_and_ports()
        if not ports:
            raise DeploymentError(f"No {self.name} was started in {self.folder}.")
        return ports

    def is_running(self) -> bool:
        """Return whether a server of this kind is running in this state folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._file("lock").open("a") as lock:
            return not _locks(lock.fileno())

    def start(self, *, printing: bool = False) -> "subprocess.Popen[bytes] | None":
        """Start the server and return its process, or None if it is already running.

        Args:
            printing: whether the server prints to this process's standard output instead of the
                log.

        Raises:
            DeploymentError: the server did not start.
        """
        if self.is_running():
            return None
        with self.log.open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", self.module, str(self.folder)],
                cwd=PROJECT,
                stdin=subprocess.DEVNULL,
                stdout=None if printing else log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_TIMEOUT_S
        while process.poll() is None and time.monotonic() < deadline:
            if self._process_id_and_ports()[0] == process.pid:
                return process
            time.sleep(0.02)
        process.kill()
        process.wait()
        raise DeploymentError(f"The {self.name} did not start. See its log: {self.log}")

    def stop(self) -> bool:
        """Stop the server and return whether it was running.

        The stored ports and everything that the server received are not deleted.
        """
        if not self.is_running():
            return False
        for number in (signal.SIGTERM, signal.SIGKILL):
            process_id, _ = self._process_id_and_ports()
            if process_id:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process_id, number)
            deadline = time.monotonic() + STOP_TIMEOUT_S
            while self.is_running() and time.monotonic() < deadline:
                time.sleep(0.02)
            if not self.is_running():
                break
        return True

    def serve(self) -> None:
        """Serve until this process is terminated.

        Raises:
            DeploymentError: another server of this kind is already running in this folder.
        """
        with self._hold_lock():
            _, ports = self._process_id_and_ports()
            # The process with the stored id has ended, and another process may have this id now.
            self._store(0, ports)
            signal.signal(signal.SIGTERM, _exit)
            with contextlib.suppress(SystemExit), self.listen(ports) as (used, serve):
                self._store(os.getpid(), used)
                serve()

    def _file(self, suffix: str) -> Path:
        return self.folder / f"{self.name.replace(' ', '-')}.{suffix}"

    def _store(self, process_id: int, ports: tuple[int, ...]) -> None:
        self._file("pid").write_text(" ".join(map(str, (process_id, *ports))) + "\n")

    def _process_id_and_ports(self) -> tuple[int, tuple[int, ...]]:
        try:
            process_id, *ports = map(int, self._file("pid").read_text().split())
        except (OSError, ValueError):
            return 0, ()
        return process_id, tuple(ports)

    @contextlib.contextmanager
    def _hold_lock(self) -> Iterator[None]:
        with self._file("lock").open("a") as lock:
            if not _locks(lock.fileno()):
                raise DeploymentError(f"A {self.name} is already running in {self.folder}.")
            yield


def escaped(text: str) -> str:
    """Escape control characters and line separators, which could control a terminal."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _locks(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _exit(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit
