"""The command ``erasure``: list recorded erasures and print their receipts."""

import re
from typing import Annotated

import typer

from admin.display.erasures import show_receipt
from admin.options import (
    AccountArgument,
    WideOption,
    email_option,
    example,
    id_option,
    phone_option,
)
from admin.services.accounts.manage import require_account
from admin.services.erasure.find import list_erasures, require_erasure
from admin.terminal import notices, show_table

app = typer.Typer(help="List recorded erasures and print their receipts.", no_args_is_help=True)


def _erasure_id(text: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{64}", text.lower()):
        raise typer.BadParameter("Must be 64 hexadecimal digits.")
    return text.lower()


@app.command(
    "list",
    epilog=example("erasure list ACCOUNT", "erasure list ACCOUNT --email zoe@example.com"),
)
def list_all(
    account: AccountArgument,
    customer: Annotated[str | None, id_option("Only the erasure of this customer.")] = None,
    email: Annotated[
        str | None,
        email_option("Only erasures of persons with this e-mail address. Case is ignored."),
    ] = None,
    phone: Annotated[
        str | None,
        phone_option(
            "Only erasures of persons with this phone number, in national or international "
            "notation."
        ),
    ] = None,
    _wide: WideOption = False,
) -> None:
    """List the recorded erasures of an account, newest first.

    An erasure contains no address, only keyed hashes of addresses. If several options are set, an
    erasure must match all of them.

    Cost: two AWS requests, and one more per 1,500 erasures. With an option, one more; with --phone,
    two more.
    """
    require_account(account)
    found = list_erasures(account, customer_id=customer, email=email, phone_number=phone)
    show_table(
        ["Id", "Requested at", "Requested by", "State", "Ended at", "Erased records"],
        [
            [
                erasure.id,
                erasure.erased_at,
                erasure.operator,
                erasure.state.value,
                erasure.ended_at,
                sum(erasure.counts.values()),
            ]
            for erasure in found
        ],
        wide=["Requested by", "Ended at"],
    )
    notices().print(f"Found: {len(found)}.")


@app.command("show", epilog=example("erasure show ERASURE", "erasure show ERASURE --json"))
def show_erasure(
    erasure: Annotated[
        str,
        typer.Argument(
            metavar="ERASURE",
            help="The erasure's id, as in the list and in the receipt.",
            parser=_erasure_id,
        ),
    ],
) -> None:
    """Print the receipt of an erasure again. The command changes nothing.

    Cost: one AWS request.
    """
    show_receipt(require_erasure(erasure))
