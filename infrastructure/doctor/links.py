"""Check the public base URL, which links in messages contain."""

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from chalicelib.storage.stage_values import PARAMETER_NAME
from infrastructure.deployment import public_base_url
from infrastructure.doctor.deployed import DeployedStage
from infrastructure.doctor.findings import Problem, Skipped

_SETTING: Final = "PUBLIC_BASE_URL"
_PRODUCTION: Final = "prod"
_GATEWAY: Final = ".execute-api."
_SET_DOMAIN: Final = "Deploy with a domain: make deploy STAGE={stage} DOMAIN=…"


def check_public_address(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that links in messages of production do not contain the address of the gateway.

    A link with this address stops working when the API is created again, and spam filters and
    customers do not know the address.
    """
    stage = deployed.stage
    if stage.is_emulated:
        raise Skipped("The stage runs on the emulator.")
    resource = deployed.resource_name(PARAMETER_NAME)
    url = stage.environment.get(_SETTING) or public_base_url.load(stage.name)
    if url is None:
        yield Problem(
            resource, "No base URL is stored, so no message is sent.", deployed.deploy_fix
        )
    elif stage.name == _PRODUCTION and _GATEWAY in (urlsplit(url).hostname or ""):
        detail = f"Links in messages contain the address of the gateway, {url}."
        yield Problem(resource, detail, _SET_DOMAIN.format(stage=stage.name))
