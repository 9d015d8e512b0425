"""The command ``erasure``: list recorded erasures and print their receipts."""

import re
from typing import Annotated

import typer
from pydantic.alias_generators import to_snake

from admin.options import AccountArgument, email_option, example, id_option, phone_option
from admin.services.accounts.manage import require_account
from admin.terminal import notices, show_record, show_table
from chalicelib.domain.erasure import Erasure, build_receipt
from chalicelib.services.erasure.request import list_erasures, require_erasure

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


def show_receipt(erasure: Erasure) -> None:
    """Print the receipt of an erasure."""
    receipt = build_receipt(erasure)
    others = receipt["otherCustomers"]
    ids = f": {', '.join(others['ids'])}" if others["ids"] else ""
    lines = [
        f"Erasure {receipt['erasureId']}",
        f"State: {receipt['state']}, requested at {receipt['erasedAt']} by"
        f" {receipt['requestedBy'] or 'an unknown operator'}",
        *(
            f"Erased {to_snake(name).replace('_', ' ')}: {number}"
            for name, number in receipt["erased"].items()
        ),
        *(
            [f"Other customers with the same address, not erased: {others['count']}{ids}"]
            if others["count"]
            else ()
        ),
        f"Suppressed channels: {', '.join(receipt['suppressedChannels']) or 'none'}",
        "Remaining copies:",
        *(
            f"  {copy['copy']}: {copy['expiresAt'] or str(copy['retentionDays']) + ' days'}"
            for copy in receipt["remainingCopies"]
        ),
    ]
    show_record(receipt, "\n".join(lines))
