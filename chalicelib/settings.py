"""The process's environment as frozen settings, read once, on first use.

Chalice imports the app without its environment while packaging, so nothing here is read at import.
"""

import os
from dataclasses import dataclass
from functools import cache
from typing import Final

_ON_ONE_MACHINE: Final = ("local", "test")
_USUAL_SUBMISSIONS: Final = 30


@dataclass(frozen=True)
class Settings:
    """What one deployed function is told by its environment.

    Attributes:
        stage: the deployment's name; every table and queue carries it.
        region: the AWS region of the tables and queues.
        submissions: how many submissions one source may make to one public form in a window; 0 for
            any number.
        submission_window_s: the length of that window.
        private_webhooks: whether webhooks may go to plain http and private addresses: for work on
            one machine, and only on the stages that live there.
    """

    stage: str
    region: str
    submissions: int = 0
    submission_window_s: int = 60
    private_webhooks: bool = False

    def resource_name(self, name: str) -> str:
        """The full name of one of this stage's tables or queues: ``feedback-<stage>-<name>``."""
        return f"feedback-{self.stage}-{name}"


@cache
def settings() -> Settings:
    """The settings of this process."""
    stage = os.environ.get("STAGE", "local")
    return Settings(
        stage=stage,
        region=os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "eu-west-1",
        submissions=int(
            os.environ.get("SUBMISSIONS") or (0 if stage in _ON_ONE_MACHINE else _USUAL_SUBMISSIONS)
        ),
        submission_window_s=max(1, int(os.environ.get("SUBMISSION_WINDOW_S") or 60)),
        private_webhooks=stage in _ON_ONE_MACHINE and os.environ.get("PRIVATE_WEBHOOKS") == "true",
    )
