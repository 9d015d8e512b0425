"""Register domains with SES, and read the state of their verification."""

from admin.domain.mail_domain import MailDomain, mail_from_of
from chalicelib.aws_calls import aws_client
from chalicelib.settings import settings

_EVENTS = ("Bounce", "Complaint")


def register(domain: str) -> MailDomain:
    """Register a domain for sending, and route its bounces and complaints to the service.

    The notifications contain the headers of the e-mail. A repeated call changes nothing. Ten AWS
    requests.
    """
    ses, topic = aws_client("ses"), _events_topic()
    ses.verify_domain_dkim(Domain=domain)
    ses.set_identity_mail_from_domain(
        Identity=domain,
        MailFromDomain=mail_from_of(domain),
        BehaviorOnMXFailure="UseDefaultValue",
    )
    for event in _EVENTS:
        ses.set_identity_notification_topic(Identity=domain, NotificationType=event, SnsTopic=topic)
        ses.set_identity_headers_in_notifications_enabled(
            Identity=domain, NotificationType=event, Enabled=True
        )
    # Otherwise SES also sends an e-mail about each bounce to the sender.
    ses.set_identity_feedback_forwarding_enabled(Identity=domain, ForwardingEnabled=False)
    registered = find(domain)
    assert registered  # noqa: S101 - it was registered above
    return registered


def find(domain: str) -> MailDomain | None:
    """Return the domain with its current state, or None if the domain is not registered.

    Two AWS requests.
    """
    ses = aws_client("ses")
    dkim = ses.get_identity_dkim_attributes(Identities=[domain])["DkimAttributes"].get(domain, {})
    if not dkim.get("DkimTokens"):
        return None
    response = ses.get_identity_mail_from_domain_attributes(Identities=[domain])
    mail_from = response["MailFromDomainAttributes"].get(domain, {})
    return MailDomain(
        domain=domain,
        region=settings().region,
        dkim_tokens=tuple(dkim["DkimTokens"]),
        dkim_status=dkim["DkimVerificationStatus"],
        mail_from_status=mail_from.get("MailFromDomainStatus", "Pending"),
    )


def _events_topic() -> str:
    account = aws_client("sts").get_caller_identity()["Account"]
    return f"arn:aws:sns:{settings().region}:{account}:{settings().resource_name('message-events')}"
