"""Print errors as one line instead of a traceback."""

import errno
import os
from collections.abc import Iterator
from typing import Any, Final

import typer
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    HTTPClientError,
    NoCredentialsError,
    PartialCredentialsError,
)
from botocore.exceptions import ConnectionError as NoConnection
from pydantic import ValidationError
from pynamodb.exceptions import PynamoDBException
from typer.core import TyperGroup

from admin.terminal import notices
from chalicelib.domain.errors import FeedbackError, InvalidInput
from chalicelib.settings import settings

_CREDENTIAL_ERRORS: Final = frozenset(
    (
        "ExpiredTokenException IncompleteSignature InvalidClientTokenId InvalidSignatureException"
        " MissingAuthenticationToken SignatureDoesNotMatch UnrecognizedClientException"
    ).split()
)


_FULL_DISK: Final = frozenset({errno.EDQUOT, errno.EFBIG, errno.ENOSPC})
_MISSING_STAGE: Final = {
    "ResourceNotFoundException": "tables",
    "AWS.SimpleQueueService.NonExistentQueue": "queues",
}


class OneLineErrors(TyperGroup):
    """The root command.

    If the service or AWS returns an error, the command prints one line and exits with status 1. If
    an argument or an option is invalid, Typer prints the usage and exits with status 2.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            capitalized = error.message[:1].upper() + error.message[1:]
            error.message = _allowed_values(error) or capitalized
            raise
        except (FeedbackError, BotoCoreError, ClientError, PynamoDBException) as error:
            notices().print(f"Error: {one_line_message(error)}")
            raise typer.Exit(1) from None
        except BrokenPipeError:
            raise  # The reader of a pipe has closed it. Typer ends the command silently.
        except OSError as error:
            if error.filename is None and error.errno not in _FULL_DISK:
                raise
            name = error.filename or "standard output"
            notices().print(f"Error: Cannot use {name}: {error.strerror}.")
            raise typer.Exit(1) from None


def _allowed_values(error: Any) -> str | None:
    """Describe the values that an argument or an option allows, if it has choices or a range.

    Typer's own messages are those of pydantic: "Input should be greater than or equal to 1".
    """
    if not isinstance(error.__cause__, ValidationError):
        return None
    value_type = error.param.type_descriptor
    if value_type.choices:
        return f"Must be one of: {', '.join(choice.value for choice in value_type.choices)}."
    if not value_type.is_ranged:
        return None
    limits = value_type.parameter_info
    return f"Must be a whole number from {limits.min:,} to {limits.max:,}."


def one_line_message(error: BaseException) -> str:
    """Describe the error in one line and, if known, how to fix it."""
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, NoCredentialsError | PartialCredentialsError):
            return f"No AWS credentials found. {_credentials_advice()}"
        if isinstance(cause, NoConnection | HTTPClientError):
            return f"{_endpoint()} does not respond: {_first_line(cause)}"
        if isinstance(cause, ClientError):
            return _aws_error(cause)
    if isinstance(error, InvalidInput):
        return "; ".join(
            f"{input_error.pointer or '/'}: {input_error.detail}" for input_error in error.errors
        )
    return _first_line(next((c for c in causes if isinstance(c, BotoCoreError)), error))


def _credentials_advice() -> str:
    if settings().is_emulated:
        return 'For the local cloud, run: eval "$(make env)"'
    return "Set AWS_PROFILE, or log in to AWS."


def _aws_error(error: ClientError) -> str:
    code = error.response["Error"]["Code"]
    if code in _MISSING_STAGE:
        return (
            f"{_endpoint()} has no {_MISSING_STAGE[code]} for the stage {settings().stage!r}. "
            "Deploy the stage, or select another with --stage."
        )
    if code in _CREDENTIAL_ERRORS:
        return f"{_endpoint()} rejected the credentials ({code}). Log in to AWS again."
    return f"{_endpoint()} returned {code}: {error.response['Error'].get('Message', '')}"


def _endpoint() -> str:
    endpoint = os.environ.get("AWS_ENDPOINT_URL")
    return f"The endpoint {endpoint}" if endpoint else f"AWS in {settings().region}"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or getattr(error, "cause", None)


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
