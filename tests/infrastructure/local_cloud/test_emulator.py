"""Tests of starting and stopping the emulator. A small HTTP server replaces the emulator."""

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from infrastructure.deployment.progress import DeploymentError
from infrastructure.local_cloud import emulator
from infrastructure.local_cloud.emulator import Emulator, free_port

Process = subprocess.Popen[bytes]
Start = Callable[[], Process]

SERVER = """#!{python}
import http.server, os

class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

http.server.HTTPServer(("127.0.0.1", int(os.environ["GATEWAY_PORT"])), Handler).serve_forever()
"""


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Emulator]:
    use_program(SERVER, tmp_path, monkeypatch)
    cloud = Emulator(free_port(), tmp_path / "state")
    yield cloud
    cloud.stop()


@pytest.fixture
def start(cloud: Emulator) -> Iterator[Start]:
    started: list[Process] = []

    def start_and_remember() -> Process:
        started.append(cloud.start())
        return started[-1]

    yield start_and_remember
    cloud.stop()
    for process in started:
        process.wait(5)


def use_program(source: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "program"
    program.write_text(source.format(python=sys.executable))
    program.chmod(0o700)
    monkeypatch.setattr(emulator, "PROGRAM", program)


def test_emulator_responds_after_start_and_ends_after_stop(cloud: Emulator, start: Start) -> None:
    assert not cloud.is_running()
    process = start()
    assert cloud.is_running()
    assert cloud.process_id_and_port() == (process.pid, cloud.port)
    assert cloud.stop()
    assert not cloud.is_running()
    assert process.wait(5) == -signal.SIGTERM
    assert not cloud.stop()


def test_emulator_starts_again_after_crash(cloud: Emulator, start: Start) -> None:
    crashed = start()
    os.kill(crashed.pid, signal.SIGKILL)
    crashed.wait(5)
    assert not cloud.is_running()
    assert start().pid != crashed.pid
    assert cloud.is_running()


def test_saved_queues_get_port_of_emulator(cloud: Emulator, start: Start) -> None:
    saved = cloud.folder / "state" / "sqs.json"
    start()
    cloud.stop()
    saved.parent.mkdir()
    saved.write_text('["http://localhost:4566/000000000000/a", "http://localhost:8080/hook"]')
    start()
    queue = f"http://localhost:{cloud.port}/000000000000/a"
    assert saved.read_text() == f'["{queue}", "http://localhost:8080/hook"]'


def test_stop_with_stale_process_id_kills_no_process(cloud: Emulator) -> None:
    cloud.folder.mkdir()
    (cloud.folder / "emulator.pid").write_text(f"{os.getpid()} 4566\n")
    assert not cloud.stop()


def test_state_folder_becomes_private(cloud: Emulator, start: Start) -> None:
    cloud.folder.mkdir(mode=0o755)
    start()
    assert cloud.folder.stat().st_mode & 0o777 == 0o700


def test_shared_folder_is_rejected_and_not_changed(cloud: Emulator) -> None:
    cloud.folder.mkdir()
    cloud.folder.chmod(0o777)
    with pytest.raises(DeploymentError, match=r"Every user can write.*STATE_DIR"):
        cloud.start()
    assert cloud.folder.stat().st_mode & 0o777 == 0o777
    assert not list(cloud.folder.iterdir())


def test_folder_with_other_content_is_rejected_and_not_changed(cloud: Emulator) -> None:
    work = cloud.temporary / "work"
    work.mkdir(parents=True)
    cloud.folder.chmod(0o755)
    assert not cloud.is_running()
    with pytest.raises(DeploymentError, match=r"not from a local cloud.*STATE_DIR"):
        cloud.start()
    assert not cloud.stop()
    assert work.is_dir()
    assert list(cloud.folder.iterdir()) == [cloud.temporary]
    assert cloud.folder.stat().st_mode & 0o777 == 0o755


def test_second_start_in_same_folder_is_rejected(cloud: Emulator, start: Start) -> None:
    start()
    with pytest.raises(DeploymentError, match="make stop"):
        Emulator(cloud.port + 1, cloud.folder).start()
    assert cloud.is_running()


def test_port_in_use_is_rejected(cloud: Emulator) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", cloud.port))
        other.listen()
        with pytest.raises(DeploymentError, match=rf"Port {cloud.port} is in use.*PORT="):
            cloud.start()
    assert not cloud.is_running()


def test_free_port_is_not_in_use_and_below_ports_of_outgoing_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used, free = free_port(), free_port()
    assert 20_000 <= used < 32_000
    monkeypatch.setattr(random, "sample", lambda *_: [used, free])
    with socket.socket() as other:
        other.bind(("127.0.0.1", used))
        other.listen()
        assert free_port() == free


def test_start_raises_error_if_emulator_exits_immediately(
    cloud: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_program(
        "#!{python}\nimport sys\nprint('no luck', file=sys.stderr)\n", tmp_path, monkeypatch
    )
    with pytest.raises(DeploymentError, match=r"emulator\.log"):
        cloud.start()
    assert not cloud.is_running()
    assert cloud.log.read_text() == "no luck\n"


def test_caller_environment_is_not_passed_to_emulator(
    cloud: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "the caller's own")
    source = "#!{python}\nimport os, sys\nprint(dict(os.environ), file=sys.stderr)\n"
    use_program(source, tmp_path, monkeypatch)
    with pytest.raises(DeploymentError):
        cloud.start()
    assert "PATH" in cloud.log.read_text()
    assert "the caller's own" not in cloud.log.read_text()


def test_stop_ends_function_processes(
    cloud: Emulator, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = tmp_path / "function.py"
    function.write_text("import time; time.sleep(60)")
    spawn = f"import subprocess, sys\nchild = subprocess.Popen([sys.executable, '{function}'])\n"
    note = f"open('{tmp_path}/child', 'w').write(str(child.pid))\n"
    use_program(SERVER.replace("\nclass", f"\n{spawn}{note}\nclass"), tmp_path, monkeypatch)
    start()
    child_id = int((tmp_path / "child").read_text())
    cloud.stop()
    deadline = time.monotonic() + 5
    while _is_alive(child_id) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _is_alive(child_id)


def _is_alive(process_id: int) -> bool:
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
