"""Environment variables that direct a process to the local emulator instead of AWS."""

import ipaddress
import os
from typing import Final
from urllib.parse import urlsplit

REGION: Final = "eu-west-1"


def environment(endpoint: str, stage: str) -> dict[str, str]:
    """Return a copy of this process's environment that selects the emulator at this URL.

    The copy does not contain the caller's AWS settings, so that real credentials are never sent to
    the emulator.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    # Disable the proxy for the loopback address, because a proxy cannot reach this address.
    no_proxy = ",".join(filter(None, [inherited.get("NO_PROXY"), "127.0.0.1", "localhost"]))
    return inherited | {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": no_proxy,
        "no_proxy": no_proxy,
        "STAGE": stage,
        "PRIVATE_WEBHOOKS": "true",
    }


def adopt(endpoint: str, stage: str) -> None:
    """Change the environment of this process to use the emulator at this URL.

    Child processes inherit the environment.
    """
    changed = environment(endpoint, stage)
    for name in os.environ.keys() - changed.keys():
        del os.environ[name]
    os.environ.update(changed)


def is_loopback(url: str) -> bool:
    """Return whether the host of a URL is a loopback address or ``localhost``."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
