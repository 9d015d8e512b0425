"""The command ``recount``: check the counts and list positions of an account."""

from typing import Annotated

import typer

from admin.options import AccountArgument
from admin.services.recount.difference import Difference
from admin.services.recount.recount import recount as check
from admin.terminal import notices, prints_json, progress, results, show_json


def recount(
    account: AccountArgument,
    fix: Annotated[bool, typer.Option("--fix", help="Repair the differences.")] = False,
) -> None:
    """Check the counts and list positions of an account against its records.

    Prints one line per difference (with --json, one JSON object per line). With --fix, repairs the
    differences and checks again. Exits with status 1 if differences remain.

    Cost: the command reads the tables of customers, forms and purchases completely and every
    feedback record of the account twice, and sends two more requests per customer.
    """
    found = remaining = _run(account, fix=fix)
    if fix and found:
        notices().print("Checking again.")
        remaining = _run(account, fix=False)
    notices().print(f"Differences: {found}. Remaining: {remaining}.")
    if remaining:
        raise typer.Exit(1)


def _run(account: str, *, fix: bool) -> int:
    """Check the account, print the differences and return their number."""
    number = 0
    with progress("Checking records") as advance:
        for difference in check(account, fix=fix, advance=advance):
            number += 1
            if prints_json():
                show_json(difference, indent=None)
            else:
                results().print(_line(difference))
    return number


def _line(difference: Difference) -> str:
    record, name = difference.record, difference.name
    repaired = " (repaired)" if difference.is_repaired else ""
    match difference.stored, difference.expected:
        case None, None:
            return f"{record}: {name} is missing{repaired}"
        case stored, None:
            return f"{record}: {name} {stored} is wrong{repaired}"
        case None, expected:
            return f"{record}: {name} {expected} is empty{repaired}"
        case stored, expected:
            return f"{record}: {name} is {stored}, expected {expected}{repaired}"
