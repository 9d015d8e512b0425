"""The secret of the stage, from Secrets Manager: the key of contact hashes and link signatures."""

from typing import Any, Final

from chalicelib.settings import settings
from chalicelib.storage.stage_values import StageValue

SECRET_NAME: Final = "stage-secret"  # noqa: S105 - a name


def stage_secret() -> bytes:
    """Return the secret of the stage, cached for an hour. One AWS request if it is not cached.

    Raises:
        Unavailable: this process never read the secret, and Secrets Manager throttles or does not
            respond.
    """
    return _secret().encode()


def forget_stage_secret() -> None:
    """Discard the cached secret. Tests use this to replace the AWS endpoint."""
    _secret.forget()


def _load(client: Any) -> str:
    response = client.get_secret_value(SecretId=settings().resource_name(SECRET_NAME))
    return str(response["SecretString"])


_secret: Final = StageValue("secretsmanager", _load, ttl_s=3600)
