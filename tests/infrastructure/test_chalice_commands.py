"""Tests of Chalice's command line for this project."""

import os
import socket
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import boto3
import pytest
from chalice.cli import reloader
from chalice.cli.filewatch.stat import StatFileWatcher
from chalice.config import Config

from chalicelib.web.openapi import routes
from infrastructure import chalice_commands
from infrastructure.deployment import chalice_internals, stacks
from infrastructure.deployment.code_package import PROJECT
from infrastructure.functions import Stage
from infrastructure.local_cloud.emulator import Emulator, free_port

CHALICE = Path(sys.executable).with_name("chalice")
NO_CREDENTIALS = {
    "AWS_DEFAULT_REGION": "eu-west-1",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """Replace this process's environment by one without a running local cloud.

    Commands replace attributes of modules.
    """
    monkeypatch.setattr(routes, "PAGES", routes.PAGES)
    changed = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
    changed |= {"STATE_DIR": str(tmp_path), **NO_CREDENTIALS}
    monkeypatch.setattr(os, "environ", changed)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    monkeypatch.setattr(Config, "deployed_resources", Config.deployed_resources)
    for method in ("_seed_mtime_cache", "_recursive_walk_files"):
        monkeypatch.setattr(StatFileWatcher, method, getattr(StatFileWatcher, method))
    return changed


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """Replace the local server. Return the environments in which it was started."""
    environments: list[dict[str, str]] = []

    def start(server: Any, *_: Any) -> None:
        _, _, _, stage = server.args
        environments.append(dict(os.environ) | {"CHALICE_STAGE": stage})

    monkeypatch.setattr(reloader, "run_with_reloader", start)
    return environments


def chalice(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run a command in this process. Return its exit status."""
    monkeypatch.setattr(sys, "argv", ["chalice", *arguments])
    try:
        return chalice_commands.main()
    except SystemExit as end:
        return int(end.code or 0)


def test_private_parts_of_chalice_were_checked_with_locked_version() -> None:
    # After an upgrade, compare `chalice_internals.py` with Chalice, and change this number.
    assert version("chalice") == "1.34.0"


def test_make_links_chalice_to_command_of_project() -> None:
    assert CHALICE.resolve() == PROJECT / "bin" / "chalice"


def test_chalice_local_gets_identity_of_running_cloud(
    environment: dict[str, str],
    served: list[dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    environment |= {"AWS_PROFILE": "work", "AWS_ENDPOINT_URL_SQS": "https://sqs.example.com"}
    (tmp_path / "emulator.pid").write_text("1 4599\n")
    monkeypatch.setattr(Emulator, "is_running", lambda _: True)
    port = str(free_port())
    assert chalice(monkeypatch, "--no-debug", "local", "--port", port) == 0
    (variables,) = served
    assert variables["AWS_ENDPOINT_URL"] == "http://127.0.0.1:4599"
    assert variables["AWS_ACCESS_KEY_ID"] == "test"
    assert not {"AWS_PROFILE", "AWS_ENDPOINT_URL_SQS"} & set(variables)
    assert variables["STAGE"] == variables["CHALICE_STAGE"] == "local"
    assert (routes.PAGES / "purchases.html").exists()


@pytest.mark.parametrize(
    ("options", "endpoint", "message"),
    [
        (["--stage", "staging"], "", "Unknown stage staging."),
        ([], "", "No local cloud is running. Start it with make up."),
        (["--stage", "local"], "", "No local cloud is running. Start it with make up."),
        ([], "https://aws.example.com", "No local cloud is running."),
        (["--stage=test"], "http://127.0.0.1.example.com", "No local cloud is running."),
        ([], "http://localhost:1", "No local cloud responds at http://localhost:1"),
    ],
)
def test_chalice_local_rejects_other_targets(
    environment: dict[str, str],
    served: list[dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    endpoint: str,
    message: str,
) -> None:
    environment["AWS_ENDPOINT_URL"] = endpoint
    assert chalice(monkeypatch, "local", "--port", str(free_port()), *options) == 1
    assert message in capsys.readouterr().err
    assert not served


def test_chalice_local_rejects_port_in_use(
    served: list[dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert chalice(monkeypatch, "local", "--port", str(port)) == 1
    message = f"✗ Port {port} is in use. Free it, or choose another one with --port.\n"
    assert capsys.readouterr().err == message
    assert not served


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("deploy --stage staging", "Unknown stage staging."),
        ("deploy --stage local", "Run make up"),
        ("deploy --stage test", "Deploy it only to an endpoint on the loopback address"),
        ("deploy --stage prod", "Set AWS credentials and a region"),
        ("delete --stage prod", "Set AWS credentials and a region"),
        ("package --stage prod out", "Run make deploy STAGE=…"),
        ("dev plan", "Run make deploy STAGE=…"),
        ("gen-policy", "The policies of functions are in .chalice/policies"),
        ("generate-pipeline out.json", "Use docs/examples/deploy.yml"),
        ("url --stage staging", "Unknown stage staging."),
        ("logs --stage local", "No local cloud is running. Start it with make up."),
        ("url --stage prod", "Set AWS credentials and a region"),
    ],
)
def test_chalice_command_that_does_nothing_ends_with_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    message: str,
) -> None:
    assert chalice(monkeypatch, *command.split()) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (PROJECT / "out").exists()


def test_chalice_command_with_unsupported_option_is_rejected(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert chalice(monkeypatch, "deploy", "--connection-timeout", "9") == 2
    assert "No such option" in capsys.readouterr().err


def test_other_program_of_chalice_continues_with_command_of_project(
    environment: dict[str, str], tmp_path: Path
) -> None:
    program = "import sys; from chalice.cli import main; sys.argv[0] = 'chalice'; sys.exit(main())"
    result = subprocess.run(
        [sys.executable, "-c", program, "package", "--stage", "prod", str(tmp_path / "out")],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert result.stderr.startswith("✗ The command knows neither the data stack")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["deploy", "delete"])
def test_profile_of_chalice_command_has_precedence_over_environment(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
) -> None:
    config = tmp_path / "config"
    config.write_text("[profile team]\naws_access_key_id=TEAM\naws_secret_access_key=x\n")
    environment |= {
        "AWS_CONFIG_FILE": str(config),
        "AWS_ACCESS_KEY_ID": "OTHER",
        "AWS_SECRET_ACCESS_KEY": "y",
        "AWS_SESSION_TOKEN": "z",
        "AWS_DEFAULT_PROFILE": "other",
    }
    used: list[tuple[str, str]] = []

    def record(stage: Stage) -> str:
        credentials = boto3.client("sts")._get_credentials()  # type: ignore[attr-defined]
        used.append((stage.name, credentials.access_key))
        return "done"

    renewed = chalice_commands._deployment(command, record)
    monkeypatch.setitem(chalice_commands.cli.commands, command, renewed)
    monkeypatch.setattr(chalice_commands, "_replace_commands", lambda: None)
    assert chalice(monkeypatch, command, "--stage", "prod", "--profile", "team") == 0
    assert used == [("prod", "TEAM")]


def test_unknown_profile_is_reported_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert chalice(monkeypatch, "deploy", "--stage", "prod", "--profile", "nope") == 1
    assert capsys.readouterr().err.startswith("✗ Set AWS credentials and a region")


def test_reloader_watches_only_files_of_app(tmp_path: Path) -> None:
    source, log = tmp_path / "app.py", tmp_path / "emulator.log"
    source.touch()
    log.touch()
    chalice_internals.watch_only(lambda: [source])
    watcher, restarts = StatFileWatcher(), list[bool]()
    watcher._seed_mtime_cache(str(tmp_path))
    for file, expected in ((log, []), (source, [True])):
        later = file.stat().st_mtime + 10
        os.utime(file, (later, later))
        watcher._single_pass_poll(str(tmp_path), lambda: restarts.append(True))
        assert restarts == expected


def test_commands_of_deployed_code_read_outputs_of_code_stack(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arn = "arn:aws:lambda:eu-west-1:123456789012:function:feedback-dev"
    url = "https://abc.execute-api.eu-west-1.amazonaws.com/dev"
    outputs = {"RestAPIId": "abc", "EndpointURL": f"{url}/", "APIHandlerArn": arn}
    monkeypatch.setattr(stacks, "outputs", lambda name: outputs if "dev" in name else {})
    assert chalice(monkeypatch, "url", "--stage", "dev") == 0
    assert capsys.readouterr().out == f"{url}\n"
    record = Config().deployed_resources("dev")
    assert record.resource_values("sweep")["lambda_arn"] == f"{arn}-sweep"
    assert record.resource_values("api_handler")["lambda_arn"] == arn
    assert chalice(monkeypatch, "logs", "--stage", "prod") == 1
    assert "No code of the stage prod is deployed." in capsys.readouterr().err
