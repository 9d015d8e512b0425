"""``load``: documents from files into the service."""

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Annotated

import typer

from admin.commands.account import account_id_of
from admin.definitions.check import check
from admin.definitions.definition import Definition, Kind, Problem
from admin.definitions.files import read_files
from admin.definitions.save import write
from admin.terminal import notices, results, writing_progress
from chalicelib.domain.accounts.places import Directory
from chalicelib.storage import accounts, customers, places


class StoredKnowledge:
    """What is there already, asked for once."""

    @cache  # noqa: B019 - lives as long as one run of the command
    def has_account(self, account_id: str) -> bool:
        """Whether there is such an account."""
        return accounts.find(account_id) is not None

    @cache  # noqa: B019
    def directory(self, account_id: str) -> Directory:
        """The account's brands and stores."""
        return places.load_directory(account_id, consistent=True)

    @cache  # noqa: B019
    def has_customer(self, account_id: str, customer_id: str) -> bool:
        """Whether the account has such a customer."""
        return customers.find(account_id, customer_id) is not None


def load(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…",
            help="YAML, JSON, JSON lines, or CSV of purchases.",
            exists=True,
            dir_okay=False,
            readable=True,
        ),
    ],
    account: Annotated[
        str | None,
        typer.Option(help="The account of documents that name none.", parser=account_id_of),
    ] = None,
) -> None:
    """Create or replace what documents describe.

    Each document has a kind: brand, store, customer, contactForm, survey, workflow or purchase;
    and may name its account. A file may hold several: YAML documents, the items of a list, or
    lines. Everything is checked first, and nothing is written while anything is wrong. Loading the
    same documents again changes nothing.

    A CSV file holds purchases, a row each. Its columns: source, externalId, storeId, date,
    startDate, endDate, customerId, account; customer.email, customer.phoneNumber,
    customer.firstName and so on; metadata.KEY for any key. An empty cell is not given.
    """
    found, unreadable = read_files(files)
    definitions, problems = check(found, account, StoredKnowledge(), unreadable)
    if problems:
        _list(problems)
        notices().print(f"{len(problems)} fault(s); nothing was written.")
        raise typer.Exit(1)
    written: Counter[Kind] = Counter()
    try:
        with writing_progress("Loading", len(definitions)) as advance:

            def count(definition: Definition) -> None:
                written[definition.kind] += 1
                advance()

            refused = write(definitions, count)
    except BaseException:
        notices().print(
            f"{written.total()} of {len(definitions)} documents were written; "
            "load them again to go on."
        )
        raise
    _list(refused)
    results().print("Loaded: " + counts_in_words(written))
    if refused:
        raise typer.Exit(1)


def counts_in_words(counts: Counter[Kind]) -> str:
    """How many of each kind: ``2 stores, 1 survey``."""
    words = {Kind.CONTACT_FORM: "contact form"}
    return (
        ", ".join(
            f"{counts[kind]} {words.get(kind, kind.value)}{'s' if counts[kind] > 1 else ''}"
            for kind in Kind
            if counts[kind]
        )
        or "nothing"
    )


def _list(problems: list[Problem]) -> None:
    for problem in problems:
        notices().print(str(problem))
