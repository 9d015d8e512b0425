"""Read the settings of the process from environment variables on first use.

The settings cannot be read at import time: Chalice imports the app when it packages the app, and
the environment variables are not set at that time.
"""

import os
from dataclasses import dataclass
from functools import cache
from typing import Final

_EMULATED: Final = ("local", "test")
_DEFAULT_LIMIT: Final = 30
_SENDER: Final = "surveys@feedback.example.com"


@dataclass(frozen=True)
class Settings:
    """The settings of a deployed function.

    Attributes:
        stage: the name of the deployment. The names of all tables and queues contain this name.
        region: the AWS region of the tables and queues.
        submissions: the maximum number of submissions from one source address to one public form
            in a time window; 0 means no limit.
        submission_window_s: the length of the time window in seconds.
        private_webhooks: whether webhook URLs may use plain http and private addresses. True only
            on stages that run on the emulator.
        public_base_url: the base URL of a custom domain, without a trailing slash; ``""`` to use
            the URL that the deployment stored.
        survey_link_template: the template of survey links; ``""`` for the page of the service.
        mail_sender: the sender of e-mails about surveys without a verified support address; ``""``
            if it is not set.
        sandbox_email: the address that receives all e-mails and text messages instead of the
            customers; ``""`` if customers receive them.
        sms_sender_id: the sender of text messages; ``""`` for the default of the AWS account.
        sms_segments: the maximum number of segments of a text message. Each segment has a price.
        erasure_recheck_s: the time in seconds after which an erasure searches for the customer's
            data again.
    """

    stage: str
    region: str
    submissions: int = 0
    submission_window_s: int = 60
    private_webhooks: bool = False
    public_base_url: str = ""
    survey_link_template: str = ""
    erasure_recheck_s: int = 900
    mail_sender: str = ""
    sandbox_email: str = ""
    sms_sender_id: str = ""
    sms_segments: int = 3

    @property
    def is_emulated(self) -> bool:
        """Whether the stage runs on an emulator and is never deployed to AWS."""
        return self.stage in _EMULATED

    def resource_name(self, name: str) -> str:
        """Return the full name of a table or queue: ``feedback-<stage>-<name>``."""
        return f"feedback-{self.stage}-{name}"


@cache
def settings() -> Settings:
    """Return the settings of this process."""
    stage = os.environ.get("STAGE", "local")
    return Settings(
        stage=stage,
        region=os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "eu-west-1",
        submissions=int(
            os.environ.get("SUBMISSIONS") or (0 if stage in _EMULATED else _DEFAULT_LIMIT)
        ),
        submission_window_s=max(1, int(os.environ.get("SUBMISSION_WINDOW_S") or 60)),
        private_webhooks=stage in _EMULATED and os.environ.get("PRIVATE_WEBHOOKS") == "true",
        public_base_url=os.environ.get("PUBLIC_BASE_URL", "").rstrip("/"),
        survey_link_template=os.environ.get("SURVEY_LINK_TEMPLATE", ""),
        erasure_recheck_s=int(os.environ.get("ERASURE_RECHECK_S") or 900),
        mail_sender=os.environ.get("MAIL_SENDER") or (_SENDER if stage in _EMULATED else ""),
        sandbox_email=os.environ.get("SANDBOX_EMAIL") or "",
        sms_sender_id=os.environ.get("SMS_SENDER_ID") or "",
        sms_segments=max(1, int(os.environ.get("SMS_SEGMENTS") or 3)),
    )
