"""The command ``customer``: find and show customers."""

from typing import Annotated

import typer

from admin.commands.account import AccountArgument, id_argument
from admin.options import example
from admin.terminal import cell_text, notices, progress_total, show_record, show_table
from chalicelib.domain.customers.customer import Customer
from chalicelib.services.accounts.manage import require_account
from chalicelib.services.customers.find import find_by_email, find_by_name, find_by_phone_number
from chalicelib.services.customers.read import read_customer

app = typer.Typer(help="Find and show customers.", no_args_is_help=True)


@app.command(
    epilog=example(
        "customer find ACCOUNT --email zoe@example.com",
        "customer find ACCOUNT --name martin",
    )
)
def find(
    account: AccountArgument,
    email: Annotated[str | None, typer.Option(help="The e-mail address. Case is ignored.")] = None,
    phone: Annotated[
        str | None, typer.Option(help="The phone number. Separators are ignored.")
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="A part of the display name, the full name or the company."),
    ] = None,
) -> None:
    """Find customers by e-mail address, by phone number or by name.

    Cost: three AWS requests. With --name, the command reads the complete list of customers: two
    requests per 100 customers of the account.
    """
    if sum(option is not None for option in (email, phone, name)) != 1:
        raise typer.BadParameter("Use one of --email, --phone and --name.")
    require_account(account)
    if email is not None:
        _show_list(find_by_email(account, email))
    elif phone is not None:
        _show_list(find_by_phone_number(account, phone))
    else:
        with progress_total("Reading customers") as advance:
            found = list(find_by_name(account, name or "", advance))
        _show_list(found)


@app.command("show", epilog=example("customer show ACCOUNT ID"))
def show_customer(
    account: AccountArgument,
    customer: Annotated[
        str, typer.Argument(metavar="ID", help="The customer's id.", parser=id_argument)
    ],
) -> None:
    """Show all data of a customer.

    Cost: two AWS requests.
    """
    shown = read_customer(account, customer).model_dump(mode="json", by_alias=True)
    width = max(map(len, shown))
    show_record(
        shown, "\n".join(f"{name:<{width}}  {cell_text(value)}" for name, value in shown.items())
    )


def _show_list(found: list[Customer]) -> None:
    show_table(
        ["Id", "Name", "E-mail", "Phone number", "Type", "Feedback", "Purchases", "Rating"],
        [
            [
                customer.id,
                customer.display_name,
                customer.email,
                customer.phone_number,
                customer.type,
                customer.feedback_count,
                customer.purchase_count,
                customer.average_feedback_rating,
            ]
            for customer in found
        ],
    )
    notices().print(f"Found: {len(found)}.")
