"""Check the address that sends surveys by e-mail, and the settings of text messages."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from infrastructure.doctor.deployed import DeployedStage
from infrastructure.doctor.findings import Problem, Skipped

SENDER: Final = "MAIL_SENDER"
"""The environment variable of a stage that contains the sender's address."""

_MIN_QUOTA_LEFT: Final = 0.1
_VERIFY: Final = "Verify the identity in Amazon SES (DNS records for DKIM)."
_SANDBOX: Final = "Request production access in Amazon SES."
_QUOTA: Final = "Request a higher sending quota in Amazon SES, or wait for the next 24-hour period."
_LOG_TEXTS: Final = (
    "Create a role with which SNS writes to CloudWatch Logs (docs/operating.md, Leaving the"
    " sandbox), and run: aws sns set-sms-attributes --attributes DeliveryStatusIAMRole=ROLE_ARN"
)
_SUSPENDED: Final = "See the reputation dashboard and the open cases in Amazon SES."


def check_senders(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that Amazon SES can send from the stage's sender."""
    sender = deployed.stage.environment.get(SENDER)
    if not sender:
        raise Skipped("The stage has no sender.")
    ses = deployed.client("sesv2")
    account = ses.get_account()
    identities = {}
    for name in (sender, sender.rpartition("@")[2]):
        try:
            identities[name] = ses.get_email_identity(EmailIdentity=name)
        except ses.exceptions.NotFoundException:
            continue
    yield from sender_problems(sender, identities, account)


def sender_problems(
    sender: str, identities: Mapping[str, Mapping[str, Any]], account: Mapping[str, Any]
) -> Iterator[Problem]:
    """Yield the problems of a sender.

    Args:
        identities: the existing SES identities of the address and of the address's domain.
        account: the SES account.
    """
    if not any(identity["VerifiedForSendingStatus"] for identity in identities.values()):
        yield Problem(sender, "Neither the address nor its domain is verified.", _VERIFY)
    if not account["SendingEnabled"] or account["EnforcementStatus"] == "SHUTDOWN":
        yield Problem("Amazon SES", "Sending is suspended.", _SUSPENDED)
    elif account["EnforcementStatus"] != "HEALTHY":
        yield Problem("Amazon SES", "The account is under review.", _SUSPENDED)
    quota = account["SendQuota"]
    rate = f"{quota['MaxSendRate']:g} messages a second"
    if not account["ProductionAccessEnabled"]:
        detail = f"The account is in the sandbox: only verified recipients, {rate}."
        yield Problem("Amazon SES", detail, _SANDBOX)
    limit, sent = quota["Max24HourSend"], quota["SentLast24Hours"]
    # A limit of -1 means that the quota is unlimited.
    if limit >= 0 and limit - sent < limit * _MIN_QUOTA_LEFT:
        detail = f"{sent:.0f} of {limit:.0f} messages of the last 24 hours are used, at {rate}."
        yield Problem("Amazon SES", detail, _QUOTA)


def check_text_messages(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that SNS logs the delivery status of text messages.

    SNS always logs failed deliveries if it has a role. ``DeliveryStatusSuccessSamplingRate``
    concerns only successful deliveries.
    """
    name = "DeliveryStatusIAMRole"
    response = deployed.client("sns").get_sms_attributes(attributes=[name])
    if not response["attributes"].get(name):
        detail = f"The delivery status of text messages is not logged: {name} is not set."
        yield Problem("Amazon SNS", detail, _LOG_TEXTS)
