"""Test that the command line prints an error of the service or of AWS as one line."""

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError, NoCredentialsError
from pynamodb.exceptions import ScanError

from admin.commands import account
from admin.error_messages import one_line_message
from chalicelib.domain.errors import FeedbackError, InvalidInput, Unavailable
from chalicelib.domain.input_errors import InputError
from chalicelib.settings import settings
from tests.admin.command import run


@pytest.fixture
def fresh_settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("STAGE", "test")
    yield
    settings.cache_clear()


@pytest.mark.parametrize(
    ("stage", "advice"),
    [("local", 'For the local cloud, run: eval "$(make env)"'), ("prod", "Set AWS_PROFILE, or ")],
)
def test_advice_about_missing_credentials_depends_on_the_stage(
    monkeypatch: pytest.MonkeyPatch, stage: str, advice: str
) -> None:
    monkeypatch.setenv("STAGE", stage)
    settings.cache_clear()
    try:
        message = one_line_message(ScanError("Failed", NoCredentialsError()))
    finally:
        settings.cache_clear()
    assert message.startswith(f"No AWS credentials found. {advice}")


def rejected_by_aws(code: str) -> ScanError:
    return ScanError("Failed", ClientError({"Error": {"Code": code, "Message": "No."}}, "Scan"))


def unavailable_aws() -> Unavailable:
    error = Unavailable("The database does not answer.")
    error.__cause__ = EndpointConnectionError(endpoint_url="http://127.0.0.1:1/")
    return error


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ScanError("Failed", NoCredentialsError()), "No AWS credentials found. "),
        (
            rejected_by_aws("ResourceNotFoundException"),
            "AWS in eu-west-1 has no tables for the stage ",
        ),
        (
            rejected_by_aws("AWS.SimpleQueueService.NonExistentQueue"),
            "AWS in eu-west-1 has no queues for the stage ",
        ),
        (
            rejected_by_aws("UnrecognizedClientException"),
            "AWS in eu-west-1 rejected the credentials ",
        ),
        (
            rejected_by_aws("AccessDeniedException"),
            "AWS in eu-west-1 returned AccessDeniedException: No.",
        ),
        (
            unavailable_aws(),
            "AWS in eu-west-1 does not respond: Could not connect to the endpoint ",
        ),
        (
            InvalidInput([InputError("/a", "x", "Bad."), InputError("", "y", "So.")]),
            "/a: Bad.; /: So.",
        ),
        (FeedbackError("First line\nsecond line"), "First line"),
    ],
)
def test_error_is_printed_as_one_line(error: Exception, line: str) -> None:
    message = one_line_message(error)
    assert message.startswith(line)
    assert "\n" not in message


def test_connection_error_message_contains_custom_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:4566")
    assert one_line_message(unavailable_aws()).startswith(
        "The endpoint http://127.0.0.1:4566 does not"
    )


def test_invalid_endpoint_is_reported_without_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "127.0.0.1:4566")
    result = run("account", "list")
    assert result.exit_code == 2
    assert "AWS_ENDPOINT_URL: Must be a URL" in result.stderr


@pytest.mark.usefixtures("cloud", "fresh_settings")
def test_missing_stage_is_reported_without_traceback() -> None:
    from chalicelib.storage.dynamodb.table import forget_connection

    forget_connection()
    result = run("--stage", "dev", "account", "list")
    forget_connection()
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: AWS in eu-west-1 has no tables for the stage 'dev'")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.usefixtures("cloud", "fresh_settings")
def test_region_of_aws_profile_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from chalicelib.storage.dynamodb.table import forget_connection

    (tmp_path / "config").write_text("[profile operator]\nregion = us-west-2\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_PROFILE", "operator")
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.setenv("AWS_REGION", "")  # restored after the test
    monkeypatch.delenv("AWS_REGION")
    forget_connection()
    result = run("account", "list")
    forget_connection()
    assert result.stderr.startswith("Error: AWS in us-west-2 has no tables for the stage 'test'")


@pytest.mark.usefixtures("fresh_settings")
def test_aws_configuration_is_not_read_if_region_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_PROFILE", "missing")
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    assert run("account", "list", "--help").exit_code == 0
    monkeypatch.setenv("AWS_REGION", "")
    result = run("account", "list", "--help")
    assert (result.exit_code, "missing" in result.stderr) == (1, True)


@pytest.mark.usefixtures("cloud")
def test_full_disk_of_standard_output_is_reported_without_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(account, "show_table", fail)
    result = run("account", "list")
    assert result.exit_code == 1
    assert result.stderr == "Error: Cannot use standard output: No space left on device.\n"
