"""The command ``support-email``: register and check the addresses from which surveys are sent."""

from typing import Annotated

import typer

from admin.domain.mail_domain import MailDomain
from admin.options import AccountArgument, example, id_option, parse_email
from admin.services.solicitation import support_email as service
from admin.terminal import notices, show_table
from chalicelib.domain.forms.survey import SupportEmail

app = typer.Typer(
    help="Register and check the addresses from which surveys are sent.", no_args_is_help=True
)
sender_app = typer.Typer(
    help="Register and check the default sender, for surveys without a verified support address.",
    no_args_is_help=True,
)


EmailArgument = Annotated[
    str, typer.Argument(metavar="EMAIL", help="The e-mail address.", parser=parse_email)
]


@app.command(epilog=example("support-email create ACCOUNT help@shop.example --survey SURVEY"))
def create(
    account: AccountArgument,
    email: EmailArgument,
    survey: Annotated[
        list[str] | None,
        id_option("The id of a survey that will use the address. Repeatable.", "SURVEY"),
    ] = None,
) -> None:
    """Register the domain of a support address, and print the DNS records to publish.

    The domain and its subdomains then belong to the account: no other account can use them. You can
    safely repeat the command.
    """
    domain, names = service.create_support_email(account, email, survey or ())
    _show(domain)
    notices().print(f"Surveys that use the address: {', '.join(names) or 'none'}.")


@app.command(epilog=example("support-email check ACCOUNT help@shop.example"))
def check(account: AccountArgument, email: EmailArgument) -> None:
    """Read the state of a support address from SES, and store the state in the surveys.

    If the domain belongs to another account, the surveys are no longer sent from the address.

    Cost: five AWS requests, plus three per 100 surveys of the account, plus one per survey that
    uses the address, and one more per survey whose state changes.
    """
    domain, names = service.check_support_email(account, email)
    _show(domain)
    notices().print(f"Surveys that use the address: {', '.join(names) or 'none'}.")


@app.command(epilog=example("support-email release ACCOUNT help@shop.example"))
def release(account: AccountArgument, email: EmailArgument) -> None:
    """Release the domain of a support address, so that another account can use it.

    The account's surveys are no longer sent from addresses in this domain. You can safely repeat
    the command.
    """
    domain, names = service.release_mail_domain(account, email)
    notices().print(f"Released {domain}. Updated surveys: {', '.join(names) or 'none'}.")


@app.command("list", epilog=example("support-email list ACCOUNT"))
def list_addresses(account: AccountArgument) -> None:
    """List the support addresses of an account with their last checked states.

    Cost: one AWS request, plus three per 100 surveys of the account.
    """
    show_table(
        ["Address", "DKIM", "Return path", "Sender", "Surveys"],
        [_row(address, names) for address, names in service.list_support_emails(account)],
    )


@sender_app.command("create", epilog=example("mail-sender create surveys@feedback.example"))
def create_sender(email: EmailArgument) -> None:
    """Register the domain of the sender of a stage, and print the DNS records to publish."""
    _show(service.register_mail_domain(email))


@sender_app.command("check", epilog=example("mail-sender check surveys@feedback.example"))
def check_sender(email: EmailArgument) -> None:
    """Read the state of the sender of a stage from SES.

    Cost: two AWS requests.
    """
    _show(service.require_mail_domain(email))


def _row(address: SupportEmail, survey_names: list[str]) -> list[str]:
    verified = address.dkim_verified and address.return_path_verified
    return [
        address.email,
        "verified" if address.dkim_verified else "not verified",
        "verified" if address.return_path_verified else "not verified",
        address.email if verified else "the service's sender",
        ", ".join(survey_names),
    ]


def _show(domain: MailDomain) -> None:
    show_table(
        ["Host", "Type", "Value", "State"],
        [
            [record.host, record.type, record.value, state]
            for records, state in (
                (domain.dkim_records, domain.dkim_status),
                (domain.return_path_records, domain.mail_from_status),
            )
            for record in records
        ],
        wraps=True,
    )
