"""Send a report as an e-mail from the sender of the account."""

from admin.services.feedback.report.page import Report
from admin.services.solicitation.support_email import list_support_emails
from chalicelib.domain import clock
from chalicelib.domain.errors import Conflict
from chalicelib.domain.solicitation.sending_errors import OutcomeUnknown, SendingError
from chalicelib.outbound.mail import Mail, send_mail
from chalicelib.settings import settings


def send_report(account_id: str, report: Report, to: str, file_name: str) -> None:
    """Send the summary of the report, with the report attached.

    The sender is a verified support address of the account's surveys, by default the sender of the
    stage. AWS requests: two, and three per 100 surveys.

    Raises:
        Conflict: there is no verified sender, or the mail was not or may not have been sent.
    """
    addresses = [address for address, _ in list_support_emails(account_id)]
    verified = [each for each in addresses if each.dkim_verified and each.return_path_verified]
    default = sorted(verified, key=lambda address: not address.default)
    sender = default[0].email if default else settings().mail_sender
    if not sender:
        raise Conflict("The account has no verified sender, and MAIL_SENDER is not set.")
    subject, text = report.summary()
    mail = Mail(
        sender_name=report.scope.account_name,
        sender=sender,
        to=to,
        subject=subject,
        text=text,
        date=clock.now(),
        attachment=(file_name, report.html()),
    )
    try:
        send_mail(mail)
    except SendingError as error:
        outcome = "may have been" if isinstance(error, OutcomeUnknown) else "was not"
        raise Conflict(
            f"The report {outcome} sent from {sender} to {to}: {error.reason}."
        ) from None
