"""Environment variables that direct a process to the local emulator instead of AWS."""

import os
from typing import Final

REGION: Final = "eu-west-1"


def environment(port: int, stage: str) -> dict[str, str]:
    """Return this process's environment, changed to use the emulator on ``port``.

    The caller's AWS settings are removed: the emulator must neither receive nor need them.
    """
    own = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    # An outbound proxy cannot reach the loopback address.
    past_proxy = ",".join(filter(None, [own.get("NO_PROXY"), "127.0.0.1", "localhost"]))
    return own | {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": past_proxy,
        "no_proxy": past_proxy,
        "STAGE": stage,
        "PRIVATE_WEBHOOKS": "true",
    }


def adopt(port: int, stage: str) -> None:
    """Direct this process and its child processes to the emulator on ``port``."""
    adopted = environment(port, stage)
    os.environ.clear()
    os.environ.update(adopted)
