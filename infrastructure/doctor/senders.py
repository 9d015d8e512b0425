"""Check the sender of surveys, the address in their links, and the settings of text messages.

Large mailbox providers require of senders that e-mails are authenticated and get few complaints.
"""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from dns.exception import DNSException
from dns.resolver import NXDOMAIN, NoAnswer, resolve

from admin.domain.mail_domain import domain_of
from chalicelib.domain import clock
from chalicelib.storage.stage_values import PARAMETER_NAME
from infrastructure.deployment import public_base_url
from infrastructure.doctor.deployed import DeployedStage
from infrastructure.doctor.findings import Problem, Skipped
from infrastructure.doctor.message_events import SENDER, sending_identities

_RATES: Final = {"Bounce": 0.02, "Complaint": 0.001}
"""The rates to stay below. AWS pauses sending at 10% and 0.5%; providers reject e-mails at 0.3%
complaints."""
_PERIOD: Final = timedelta(days=1)

_PUBLISH: Final = (
    "Publish the DNS records of: bin/feedback-admin mail-sender create ADDRESS (for a support"
    " address: support-email create)."
)
_PUBLISH_DMARC: Final = (
    'Publish the record _dmarc.{domain} TXT "v=DMARC1; p=none; rua=mailto:dmarc@{domain}".'
)
_FEWER: Final = "Send fewer surveys, and only to customers who agreed (docs/sending.md, Bounces)."
_NETWORK: Final = "Run the command where DNS can be reached."
_MIN_QUOTA_LEFT: Final = 0.1
_VERIFY: Final = "Verify the identity in Amazon SES (DNS records for DKIM)."
_SANDBOX: Final = "Request production access in Amazon SES."
_QUOTA: Final = "Request a higher sending quota in Amazon SES, or wait for the next 24-hour period."
_LOG_TEXTS: Final = (
    "Create a role with which SNS writes to CloudWatch Logs (docs/sending.md, Leaving the"
    " sandbox), and run: aws sns set-sms-attributes --attributes DeliveryStatusIAMRole=ROLE_ARN"
)
_SUSPENDED: Final = "See the reputation dashboard and the open cases in Amazon SES."
_SETTING: Final = "PUBLIC_BASE_URL"
_PRODUCTION: Final = "prod"
_GATEWAY: Final = ".execute-api."
_SET_DOMAIN: Final = "Deploy with a domain: make deploy STAGE={stage} DOMAIN=…"


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


def check_authentication(deployed: DeployedStage) -> Iterator[Problem]:
    """Check DKIM, SPF and DMARC of the domains from which the service sends."""
    identities, _ = sending_identities(deployed)
    ses = deployed.client("sesv2")
    for domain in sorted({domain_of(identity) for identity in identities}):
        try:
            identity = ses.get_email_identity(EmailIdentity=domain)
        except ses.exceptions.NotFoundException:
            identity = {}
        yield from authentication_problems(domain, identity)
        try:
            if not has_dmarc(domain):
                fix = _PUBLISH_DMARC.format(domain=domain)
                yield Problem(domain, "The domain has no DMARC record.", fix)
        except DNSException as error:
            yield Problem(domain, f"The DMARC record cannot be read: {error}", _NETWORK)


def authentication_problems(domain: str, identity: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the kinds of authentication that e-mails from a domain lack.

    Args:
        identity: the SES identity of the domain; empty if there is none.
    """
    dkim, mail_from = identity.get("DkimAttributes", {}), identity.get("MailFromAttributes", {})
    if dkim.get("Status") != "SUCCESS" or not dkim.get("SigningEnabled"):
        yield Problem(domain, "E-mails have no DKIM signature of the domain.", _PUBLISH)
    if mail_from.get("MailFromDomainStatus") != "SUCCESS":
        yield Problem(domain, "SPF does not cover the domain: it has no return path.", _PUBLISH)


def has_dmarc(domain: str) -> bool:
    """Return whether a domain, or a domain above it, has a DMARC record.

    Raises:
        DNSException: the record cannot be read.
    """
    labels = domain.split(".")
    names = [".".join(labels[start:]) for start in range(len(labels) - 1)]
    return any(text.startswith("v=DMARC1") for name in names for text in _texts(f"_dmarc.{name}"))


def _texts(name: str) -> list[str]:
    try:
        return [b"".join(record.strings).decode() for record in resolve(name, "TXT")]
    except (NXDOMAIN, NoAnswer):
        return []


def check_reputation(deployed: DeployedStage) -> Iterator[Problem]:
    """Check the shares of bounces and complaints that SES measured last."""
    cloudwatch, now = deployed.client("cloudwatch"), clock.now()
    rates: dict[str, float] = {}
    for event in _RATES:
        points = cloudwatch.get_metric_statistics(
            Namespace="AWS/SES",
            MetricName=f"Reputation.{event}Rate",
            StartTime=now - _PERIOD,
            EndTime=now,
            Period=int(_PERIOD.total_seconds()),
            Statistics=["Maximum"],
        )["Datapoints"]
        rates |= {event: max(point["Maximum"] for point in points)} if points else {}
    if not rates:
        raise Skipped("SES measured no rates in the last 24 hours.")
    yield from reputation_problems(rates)


def reputation_problems(rates: Mapping[str, float]) -> Iterator[Problem]:
    """Yield the rates that are too high.

    Args:
        rates: the share of e-mails with a bounce or a complaint, by event.
    """
    for event, rate in rates.items():
        if rate >= _RATES[event]:
            detail = (
                f"{event} rate: {rate:.2%} in the last 24 hours, stay below {_RATES[event]:.1%}."
            )
            yield Problem("Amazon SES", detail, _FEWER)


def check_public_address(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that links in messages of production do not contain the address of the gateway.

    A link with this address stops working when the API is created again, and spam filters and
    customers do not know the address.
    """
    stage = deployed.stage
    if stage.is_emulated:
        raise Skipped("The stage runs on the emulator.")
    resource = deployed.resource_name(PARAMETER_NAME)
    url = stage.environment.get(_SETTING) or public_base_url.load(
        stage.name, deployed.client("ssm")
    )
    if url is None:
        yield Problem(
            resource, "No base URL is stored, so no message is sent.", deployed.deploy_fix
        )
    elif stage.name == _PRODUCTION and _GATEWAY in (urlsplit(url).hostname or ""):
        detail = f"Links in messages contain the address of the gateway, {url}."
        yield Problem(resource, detail, _SET_DOMAIN.format(stage=stage.name))
