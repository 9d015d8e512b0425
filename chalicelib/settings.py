"""The process's environment as frozen settings, read once, on first use.

Chalice imports the app without its environment while packaging, so nothing here is read at import.
"""

import os
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Settings:
    """What one deployed function is told by its environment.

    Attributes:
        stage: the deployment's name; every table and queue carries it.
        region: the AWS region of the tables and queues.
    """

    stage: str
    region: str

    def resource_name(self, name: str) -> str:
        """The full name of one of this stage's tables or queues: ``feedback-<stage>-<name>``."""
        return f"feedback-{self.stage}-{name}"


@cache
def settings() -> Settings:
    """The settings of this process."""
    return Settings(
        stage=os.environ.get("STAGE", "local"),
        region=os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "eu-west-1",
    )
