"""Describe errors in one line."""

import os
from collections.abc import Iterator
from typing import Final

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    HTTPClientError,
    NoCredentialsError,
    PartialCredentialsError,
)
from botocore.exceptions import ConnectionError as NoConnection

from chalicelib.domain.errors import InvalidInput
from chalicelib.settings import settings

_CREDENTIAL_ERRORS: Final = frozenset(
    (
        "ExpiredTokenException IncompleteSignature InvalidClientTokenId InvalidSignatureException"
        " MissingAuthenticationToken SignatureDoesNotMatch UnrecognizedClientException"
    ).split()
)


_MISSING_STAGE: Final = {
    "ResourceNotFoundException": "tables",
    "AWS.SimpleQueueService.NonExistentQueue": "queues",
}


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
