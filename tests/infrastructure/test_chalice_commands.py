"""Tests of Chalice's own commands in a clone of the project."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from botocore.session import Session
from chalice.cli.filewatch.stat import StatFileWatcher
from chalice.config import Config

from infrastructure import chalice_commands
from infrastructure.deployment import code_package, deploy, stacks
from infrastructure.deployment.code_package import PROJECT
from infrastructure.functions import Stage
from infrastructure.local_cloud.emulator import Emulator, free_port

CHALICE = Path(sys.executable).with_name("chalice")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """Replace this process's environment by one without a running local cloud."""
    changed = {
        **{k: v for k, v in os.environ.items() if not k.startswith("AWS_")},
        "AWS_CHALICE_CLI_MODE": "true",
        "STATE_DIR": str(tmp_path),
    }
    monkeypatch.setattr(os, "environ", changed)
    return changed


def prepare(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Prepare a Chalice command in this process. Return its exit status; 0 if it may run."""
    monkeypatch.setattr(sys, "argv", ["chalice", *arguments])
    chalice_commands.prepare.cache_clear()
    try:
        chalice_commands.prepare()
    except SystemExit as end:
        return int(str(end.code))
    return 0


def test_chalice_local_without_local_cloud_ends_with_one_sentence(
    environment: dict[str, str],
) -> None:
    result = subprocess.run(
        [CHALICE, "local", "--no-autoreload"],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert result.returncode != 0
    assert result.stderr == "✗ No local cloud is running. Start it with make up.\n"
    assert result.stdout == ""


def test_chalice_local_gets_identity_of_running_cloud(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    environment |= {"AWS_PROFILE": "work", "AWS_ENDPOINT_URL_SQS": "https://sqs.example.com"}
    (tmp_path / "emulator.pid").write_text("1 4599\n")
    monkeypatch.setattr(Emulator, "is_running", lambda _: True)
    monkeypatch.setattr(chalice_commands, "_watch_only_source_files", lambda: None)
    assert prepare(monkeypatch, "--debug", "local", "--port", "8001") == 0
    aws = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    assert aws["AWS_ENDPOINT_URL"] == "http://127.0.0.1:4599"
    assert aws["AWS_ACCESS_KEY_ID"] == "test"
    assert not {"AWS_PROFILE", "AWS_ENDPOINT_URL_SQS"} & set(aws)
    assert os.environ["STAGE"] == "local"


@pytest.mark.parametrize(
    ("options", "endpoint", "message"),
    [
        (["--stage", "staging"], "", "Unknown stage staging."),
        ([], "", "No local cloud is running. Start it with make up."),
        (["--stage", "local"], "", "No local cloud is running. Start it with make up."),
        ([], "https://aws.example.com", "No local cloud is running."),
        (["--stage=test"], "http://127.0.0.1.example.com", "No local cloud is running."),
    ],
)
def test_chalice_local_rejects_other_targets(
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    endpoint: str,
    message: str,
) -> None:
    environment["AWS_ENDPOINT_URL"] = endpoint
    monkeypatch.setattr(chalice_commands, "_watch_only_source_files", lambda: None)
    assert prepare(monkeypatch, "local", *options) == 1
    assert message in capsys.readouterr().err


def test_chalice_local_rejects_loopback_endpoint_that_does_not_respond(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    environment["AWS_ENDPOINT_URL"] = f"http://localhost:{free_port()}"
    monkeypatch.setattr(chalice_commands, "_watch_only_source_files", lambda: None)
    assert prepare(monkeypatch, "local") == 1
    assert "No local cloud responds at http://localhost:" in capsys.readouterr().err


def test_chalice_local_with_reloader_rejects_port_in_use(environment: dict[str, str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        result = subprocess.run(
            [CHALICE, "local", "--port", str(port)],
            cwd=PROJECT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert result.returncode != 0
    assert result.stderr == (
        f"✗ Port {port} is in use. Free it, or choose another one with --port.\n"
    )
    assert result.stdout == ""


NO_CREDENTIALS = {
    "AWS_DEFAULT_REGION": "eu-west-1",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["deploy", "--stage", "prod"], "Set AWS credentials and a region"),
        (["delete", "--stage", "prod"], "Set AWS credentials and a region"),
        (["deploy", "--stage", "test"], "Deploy it only to an endpoint on the loopback address"),
        (["package", "--stage", "prod", "out"], "Run make deploy STAGE=prod."),
    ],
)
def test_chalice_command_that_changes_nothing_ends_with_one_sentence(
    environment: dict[str, str], tmp_path: Path, command: list[str], message: str
) -> None:
    command = [str(tmp_path / "out") if part == "out" else part for part in command]
    result = subprocess.run(
        [CHALICE, *command],
        cwd=PROJECT,
        env=environment | NO_CREDENTIALS,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert not (tmp_path / "out").exists()
    assert not (PROJECT / ".chalice" / "deployed").exists()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["deploy", "--stage", "staging"], "Unknown stage staging."),
        (["deploy", "--stage", "local"], "Run make up"),
        (["deploy", "--no-autogen-policy"], "The option --autogen-policy is not supported"),
        (["deploy", "--api-gateway-stage=v1"], "The option --api-gateway-stage is not supported"),
        (["deploy", "--connection-timeout", "9"], "The option --connection-timeout is not"),
        (["dev", "plan"], "Run make deploy STAGE=dev."),
    ],
)
def test_chalice_command_with_unsupported_option_is_rejected(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
    message: str,
) -> None:
    assert prepare(monkeypatch, *command) == 1
    assert message in capsys.readouterr().err


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
        credentials = Session().get_credentials()
        used.append((stage.name, credentials.access_key if credentials else ""))
        return "done"

    monkeypatch.setattr(deploy, f"{command}_code", record)
    assert prepare(monkeypatch, command, "--stage", "prod", "--profile", "team") == 0
    assert used == [("prod", "TEAM")]


def test_reloader_ignores_files_that_are_not_part_of_app(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(code_package, "PROJECT", tmp_path)
    for method in ("_single_pass_poll", "_recursive_walk_files"):
        monkeypatch.setattr(StatFileWatcher, method, getattr(StatFileWatcher, method))
    source, log = tmp_path / "app.py", tmp_path / ".local" / "emulator.log"
    log.parent.mkdir()
    source.touch()
    log.touch()
    watcher, restarts = StatFileWatcher(), []

    def changed(file: Path) -> bool:
        later = file.stat().st_mtime + 10
        os.utime(file, (later, later))
        before = len(restarts)
        watcher._single_pass_poll(str(tmp_path), lambda: restarts.append(1))
        return len(restarts) > before

    watcher._seed_mtime_cache(str(tmp_path))
    chalice_commands._watch_only_source_files()
    assert not changed(log)
    assert changed(source)


@pytest.mark.parametrize("command", [["dev", "appgraph"], ["generate-models", "--stage", "x"]])
def test_other_chalice_commands_keep_their_environment(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    before = dict(environment)
    assert prepare(monkeypatch, *command) == 0
    assert dict(os.environ) == before


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["gen-policy"], "The policies of the functions are in .chalice/policies"),
        (["generate-pipeline", "out.json"], "Use docs/examples/deploy.yml"),
        (["url", "--stage", "staging"], "Unknown stage staging."),
        (["logs", "--stage", "local"], "No local cloud is running. Start it with make up."),
        (["url", "--stage", "prod"], "Set AWS credentials and a region"),
    ],
)
def test_chalice_command_without_app_ends_with_one_sentence(
    environment: dict[str, str], command: list[str], message: str
) -> None:
    result = subprocess.run(
        [PROJECT / "bin" / "chalice", *command],
        cwd=PROJECT,
        env=environment | NO_CREDENTIALS,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert not (PROJECT / "out.json").exists()


def test_make_links_chalice_to_command_of_project() -> None:
    assert CHALICE.resolve() == PROJECT / "bin" / "chalice"


def test_commands_of_deployed_code_read_outputs_of_code_stack(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arn = "arn:aws:lambda:eu-west-1:123456789012:function:feedback-dev"
    outputs = {
        "RestAPIId": "abc",
        "EndpointURL": "https://abc.execute-api.eu-west-1.amazonaws.com/dev/",
        "APIHandlerArn": arn,
    }
    monkeypatch.setattr(stacks, "outputs", lambda name: outputs if "dev" in name else {})
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setattr(Config, "deployed_resources", Config.deployed_resources)
    assert prepare(monkeypatch, "url", "--stage", "dev") == 0
    record = Config().deployed_resources("dev")
    assert record.resource_values("rest_api")["rest_api_url"] == outputs["EndpointURL"].rstrip("/")
    assert record.resource_values("sweep")["lambda_arn"] == f"{arn}-sweep"
    assert record.resource_values("api_handler")["lambda_arn"] == arn


def test_commands_of_deployed_code_need_deployed_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(stacks, "outputs", lambda _: {})
    assert prepare(monkeypatch, "logs", "--stage", "prod") == 1
    assert "No code of the stage prod is deployed." in capsys.readouterr().err
