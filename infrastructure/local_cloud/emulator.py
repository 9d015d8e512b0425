"""Start and stop the emulator's process, and detect whether it is running.

The running emulator has a lock on a file in the state folder. The emulator's process inherits the
lock, so the operating system releases the lock when the process ends, even after a crash.
"""

import contextlib
import fcntl
import os
import random
import re
import shutil
import signal
import socket
import stat
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from infrastructure.deployment.code_package import PROJECT
from infrastructure.deployment.progress import DeploymentError

START_TIMEOUT_S = 60
STOP_TIMEOUT_S = 60
PROGRAM = PROJECT / ".tools" / "ministack" / "bin" / "python"
"""The interpreter of the emulator's environment."""
LAUNCHER = "infrastructure.local_cloud.strict"
_PORTS = range(20_000, 32_000)
"""The ports of temporary emulators. The system assigns higher ports to outgoing connections."""
_STATE_WITH_QUEUE_URLS = ("sqs.json", "cloudformation.json")
_MARKER = "local-cloud"
"""The file that marks a state folder. The start deletes files only in a folder with this file."""
_QUEUE_URL = re.compile(rb"(?<=http://localhost:)\d+(?=/\d{12}/)")


def free_port() -> int:
    """Return a random free port that the operating system does not assign to other connections.

    Raises:
        DeploymentError: no port is free.
    """
    for port in random.sample(_PORTS, len(_PORTS)):
        if is_free(port):
            return port
    raise DeploymentError("No port for the emulator is free.")


def state_folder() -> Path:
    """Return the folder in the variable ``STATE_DIR``. Default: `.local` in the project."""
    return Path(os.environ.get("STATE_DIR") or PROJECT / ".local").resolve()


def running_emulator() -> "Emulator":
    """Return the emulator that is running in the state folder.

    Raises:
        DeploymentError: no emulator is running, or it is still starting.
    """
    emulator = Emulator(0, state_folder())
    if not emulator.is_running():
        raise DeploymentError("No local cloud is running. Start it with make up.")
    _, port = emulator.process_id_and_port()
    return Emulator(port, emulator.folder)


@dataclass(frozen=True)
class Emulator:
    """An emulator, identified by its port and its folder.

    Emulators with different ports and folders can run at the same time.

    Attributes:
        port: the port on the loopback address.
        folder: the folder for the emulator's state, log and temporary files.
    """

    port: int
    folder: Path

    @property
    def endpoint(self) -> str:
        """The URL that AWS clients use as endpoint."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def mailbox(self) -> str:
        """The URL that lists all sent messages as JSON."""
        return f"{self.endpoint}/_local/messages"

    @property
    def webhook_receiver(self) -> str:
        """The URL that receives webhooks of the demo."""
        return f"{self.endpoint}/_local/webhooks"

    @property
    def log(self) -> Path:
        """The file with the log of the emulator and of the Lambda functions that it runs."""
        return self.folder / "emulator.log"

    @property
    def temporary(self) -> Path:
        """The folder in which the emulator unpacks the code of functions."""
        return self.folder / "tmp"

    @property
    def has_state(self) -> bool:
        """Whether an earlier emulator in this folder has saved its state."""
        return (self.folder / "state").exists()

    @property
    def _pid_file(self) -> Path:
        return self.folder / "emulator.pid"

    def is_running(self) -> bool:
        """Return whether an emulator is running or starting in this folder."""
        if not (self.folder / _MARKER).exists():
            return False
        try:
            with self._lock():
                return False
        except BlockingIOError:
            return True

    def process_id_and_port(self) -> tuple[int, int]:
        """Return the process id and the port of the running emulator.

        Raises:
            DeploymentError: the emulator is still starting and has not stored its id and port yet.
        """
        try:
            process_id, port = self._pid_file.read_text().split()
        except (OSError, ValueError):
            raise DeploymentError(
                f"A local cloud is starting in {self.folder}. Wait and try again."
            ) from None
        return int(process_id), int(port)

    def start(self, *, printing: bool = False) -> subprocess.Popen[bytes]:
        """Start the emulator, wait until it responds, and return its process.

        Args:
            printing: whether the emulator prints a line about each message and webhook to this
                process's standard output instead of the file ``messages.log``.

        Raises:
            DeploymentError: the folder or the port is in use, every user can write to the folder,
                the folder has other content, or the emulator did not start.
        """
        self._claim_folder()
        try:
            with self._lock() as lock:
                if not is_free(self.port):
                    raise DeploymentError(
                        f"Port {self.port} is in use. Free it, or choose another one with PORT=…"
                    )
                self._move_queues()
                process = self._spawn(lock, printing=printing)
        except BlockingIOError:
            raise DeploymentError(
                f"A local cloud is already running in {self.folder}. Stop it with make stop, or"
                " choose another folder with STATE_DIR=…"
            ) from None
        try:
            self._pid_file.write_text(f"{process.pid} {self.port}\n")
            ready = f"{self.endpoint}/_ministack/ready"
            self.wait_for(ready, "The emulator did not start", process)
        except BaseException:
            self.kill(process.pid)
            process.wait()
            raise
        return process

    def wait_for(
        self, url: str, failure: str, process: subprocess.Popen[bytes] | None = None
    ) -> None:
        """Wait until a URL responds.

        Args:
            failure: the start of the message of the error.
            process: the process of the emulator, if this process started it.

        Raises:
            DeploymentError: the URL does not respond in time, or the process has ended.
        """
        deadline = time.monotonic() + START_TIMEOUT_S
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        problem: object = "no response"
        while (process is None or process.poll() is None) and time.monotonic() < deadline:
            try:
                with direct.open(url, timeout=30):
                    return
            except urllib.error.HTTPError as error:
                problem = f"{error.code} {error.read(500).decode(errors='replace')}"
            except OSError as error:
                problem = error
            time.sleep(0.1)
        raise DeploymentError(f"{failure} ({problem}). See the emulator's log: {self.log}")

    def stop(self) -> bool:
        """Stop the emulator, which saves its state. Return whether it was running."""
        if not self.is_running():
            self._pid_file.unlink(missing_ok=True)
            return False
        process_id, _ = self.process_id_and_port()
        with contextlib.suppress(ProcessLookupError):
            os.kill(process_id, signal.SIGTERM)
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while self.is_running() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.kill(process_id)
        return True

    def kill(self, process_id: int) -> None:
        """Kill the emulator and its functions. Unsaved state is lost."""
        # The process group contains only the emulator and the processes of its functions.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process_id, signal.SIGKILL)
        self._pid_file.unlink(missing_ok=True)
        shutil.rmtree(self.temporary, ignore_errors=True)

    def _claim_folder(self) -> None:
        """Create and mark the state folder. Restrict the access to this user."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.folder.stat().st_mode & stat.S_IWOTH:
            raise DeploymentError(
                f"Every user can write to {self.folder}. Choose another folder with STATE_DIR=…"
            )
        marker = self.folder / _MARKER
        if not marker.exists() and any(self.folder.iterdir()):
            raise DeploymentError(
                f"{self.folder} contains files that are not from a local cloud. Choose an empty"
                " folder with STATE_DIR=…"
            )
        marker.touch()
        self.folder.chmod(0o700)

    def _move_queues(self) -> None:
        """Change the port in the saved URLs of queues.

        The emulator identifies a queue by a URL with its port. Without this change, event sources
        would not find their queues after a start on another port.
        """
        for name in _STATE_WITH_QUEUE_URLS:
            saved = self.folder / "state" / name
            if saved.exists():
                moved = saved.with_suffix(".moved")
                moved.write_bytes(_QUEUE_URL.sub(b"%d" % self.port, saved.read_bytes()))
                moved.replace(saved)

    def _spawn(self, lock: int, *, printing: bool) -> subprocess.Popen[bytes]:
        shutil.rmtree(self.temporary, ignore_errors=True)
        self.temporary.mkdir()
        with self.log.open("wb") as log, (self.folder / "messages.log").open("wb") as messages:
            return subprocess.Popen(
                [PROGRAM, "-m", LAUNCHER],
                cwd=PROJECT,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=None if printing else messages,
                stderr=log,
                start_new_session=True,
                pass_fds=(lock,),
            )

    def _environment(self) -> dict[str, str]:
        # Functions inherit this environment, so it must not contain environment variables of the
        # caller.
        inherited = {
            name: os.environ[name] for name in ("HOME", "LANG", "PATH") if name in os.environ
        }
        return inherited | {
            "BIND_HOST": "127.0.0.1",
            "GATEWAY_PORT": str(self.port),
            "LAMBDA_EXECUTOR": "local",
            # Enforce the functions' IAM policies.
            "AUTH": "true",
            "PERSIST_STATE": "1",
            "STATE_DIR": str(self.folder / "state"),
            "TMPDIR": str(self.temporary),
            # Disable unused listeners on fixed ports, because they would prevent a second emulator
            # from starting.
            "IOT_MTLS_ENABLED": "0",
            "SFTP_ENABLED": "0",
            # Deny the emulator access to Docker, so that it cannot remove other containers on this
            # machine.
            "DOCKER_HOST": f"unix://{self.folder}/no-docker",
        }

    @contextlib.contextmanager
    def _lock(self) -> Iterator[int]:
        handle = os.open(self.folder / "emulator.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield handle
        finally:
            # If the emulator's process inherited the lock, closing the file here does not release
            # the lock.
            os.close(handle)


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Return whether a server can listen on the port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
