"""Read the public base URL of the API.

The deployment stores this URL, and links in messages use it.
"""

from typing import Any, Final

from chalicelib.settings import settings
from chalicelib.storage.stage_values import StageValue

PARAMETER_NAME: Final = "public-base-url"


def public_base_url() -> str:
    """Return the base URL without a trailing slash. The setting for a custom domain overrides it.

    One AWS request if it is not cached.

    Raises:
        Unavailable: this process never read the URL, and Systems Manager throttles or does not
            respond, or no URL is stored.
    """
    return settings().public_base_url or _stored()


def _load(client: Any) -> str:
    response = client.get_parameter(Name=settings().resource_name(PARAMETER_NAME))
    return str(response["Parameter"]["Value"])


_stored: Final = StageValue("ssm", _load, ttl_s=60)
