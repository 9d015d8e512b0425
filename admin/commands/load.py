"""The command ``definition load``: load definitions from files into the service."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated

import typer

from admin.commands.account import id_argument
from admin.definitions.check import check, warnings
from admin.definitions.definition import Definition, Kind, Problem
from admin.definitions.files import read_files
from admin.definitions.save import write
from admin.services.accounts.manage import find_account
from admin.services.workflows.manage import list_workflows
from admin.terminal import notices, progress_bar, show_record
from chalicelib.domain.accounts.places import Directory
from chalicelib.domain.workflows.workflow import Workflow
from chalicelib.services.accounts.directory import current_directory
from chalicelib.services.customers.read import find_customer


class StoredResources:
    """Look up stored resources to which definitions refer, and cache the results."""

    @cache  # noqa: B019 - the process ends with the command
    def has_account(self, account_id: str) -> bool:
        """Return whether the account exists."""
        return find_account(account_id) is not None

    @cache  # noqa: B019
    def directory(self, account_id: str) -> Directory:
        """Return the account's brands and stores."""
        return current_directory(account_id)

    @cache  # noqa: B019
    def has_customer(self, account_id: str, customer_id: str) -> bool:
        """Return whether the account has a customer with this id."""
        return find_customer(account_id, customer_id) is not None

    @cache  # noqa: B019
    def workflows(self, account_id: str) -> Sequence[Workflow]:
        """Return the account's workflows."""
        return list_workflows(account_id)


def load(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…",
            help="YAML, JSON or JSON Lines files, or CSV files of purchases.",
            exists=True,
            dir_okay=False,
            readable=True,
        ),
    ],
    account: Annotated[
        str | None,
        typer.Option(
            help="The account's id. Without this option, each definition needs an `account` field.",
            parser=id_argument,
        ),
    ] = None,
) -> None:
    """Create or replace the resources that definitions describe.

    Each definition has a `kind` field (brand, store, customer, contactForm, survey, workflow or
    purchase) and can have an `account` field. If --account is set, the field must have the same
    value. A file can contain several definitions: as YAML documents, as items of a list, or as
    lines of a JSON Lines file. All definitions are validated first. If any definition is invalid,
    nothing is written. Loading the same definitions again changes nothing.

    A CSV file contains one purchase per row. The columns are source, externalId, storeId, date,
    startDate, endDate, customerId and account; fields of the customer, such as customer.email and
    customer.phoneNumber; and metadata.NAME for any metadata property. Empty cells are ignored.
    """
    raw_definitions, unreadable = read_files(files)
    definitions, problems = check(raw_definitions, account, StoredResources(), unreadable)
    if problems:
        _list(problems)
        notices().print(f"{len(problems)} error(s); nothing was written.")
        show_record({"loaded": {}, "rejected": len(problems)})
        raise typer.Exit(1)
    show_warnings(definitions)
    written: dict[str, Counter[Kind]] = {}
    try:
        with progress_bar("Loading", len(definitions)) as advance:

            def count(definition: Definition) -> None:
                written.setdefault(definition.account_id, Counter())[definition.kind] += 1
                advance()

            rejected = write(definitions, count)
    except BaseException:
        total = sum(map(Counter.total, written.values()))
        notices().print(
            f"{total} of {len(definitions)} definitions were written. Load them again to continue."
        )
        raise
    _list(rejected)
    loaded = [
        f"Loaded{f' into account {account_id}' if len(written) > 1 else ''}: {count_list(counts)}"
        for account_id, counts in written.items()
    ]
    show_record(
        {"loaded": written, "rejected": len(rejected)}, "\n".join(loaded) or "Loaded: nothing"
    )
    if rejected:
        raise typer.Exit(1)


def count_list(counts: Counter[Kind]) -> str:
    """Format the number of definitions of each kind: ``2 stores, 1 survey``."""
    words = {Kind.CONTACT_FORM: "contact form"}
    return ", ".join(
        f"{counts[kind]} {words.get(kind, kind.value)}{'s' if counts[kind] > 1 else ''}"
        for kind in Kind
        if counts[kind]
    )


def show_warnings(definitions: list[Definition]) -> None:
    """Print the warnings about valid definitions."""
    for warning in warnings(definitions):
        notices().print(f"Warning: {warning}")


def _list(problems: list[Problem]) -> None:
    for problem in problems:
        notices().print(str(problem))
