"""The commands ``form`` and ``survey``: list, check, export, compare, enable and archive.

`form_page` contains the commands for their pages.
"""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from admin.commands.definition import (
    AccountOption,
    FileArgument,
    check_file,
    diff_file,
    print_definition,
)
from admin.commands.form_page import add_page_commands
from admin.definitions.definition import Kind
from admin.definitions.export import form_definition
from admin.options import AccountArgument, example, id_of
from admin.services.accounts.manage import require_account
from admin.services.forms.manage import archive_form, list_forms, require_form, set_form_enabled
from admin.terminal import notices, show_record, show_table
from chalicelib.domain.feedback.feedback import FormKind

IdArgument = Annotated[str, id_of("The id of the form or survey.")]


def form_commands(noun: str, form_kind: FormKind, kind: Kind, word: str) -> typer.Typer:
    """Return the commands of contact forms or of surveys.

    Args:
        noun: the first word of the commands.
        word: the singular noun for this kind of form, used in help texts and messages.
    """
    app = typer.Typer(
        help=f"List, check, export, compare, enable and archive {word}s, and print their links.",
        no_args_is_help=True,
    )

    def command(verb: str, arguments: str, text: str) -> Callable[[Callable[..., None]], Any]:
        return app.command(verb, help=text, epilog=example(f"{noun} {verb} {arguments}"))

    @command(
        "list",
        "ACCOUNT",
        f"List the account's {word}s, oldest first, without archived ones.\n\nCost: one AWS "
        f"request, and three per 100 {word}s.",
    )
    def list_all(
        account: AccountArgument,
        archived: Annotated[
            bool, typer.Option("--archived", help="List only archived ones.")
        ] = False,
    ) -> None:
        require_account(account)
        show_table(
            ["Id", "Name", "Language", "Enabled", "Submissions"],
            [
                [
                    form.saved.id,
                    form.saved.name,
                    form.saved.language.value,
                    form.saved.enabled,
                    form.submission_count,
                ]
                for form in list_forms(account, form_kind)
                if form.saved.archived == archived
            ],
        )

    @command(
        "check",
        f"{noun}s.yaml --account ACCOUNT",
        f"Validate {word}s without saving them.\n\nCost: two AWS requests.",
    )
    def check(file: FileArgument, account: AccountOption = None) -> None:
        check_file(kind, file, account)

    @command(
        "diff",
        f"{noun}s.yaml --account ACCOUNT",
        f"Compare {word}s in a file with the saved {word}s. Exit with status 1 if they differ."
        f"\n\nCost: two AWS requests, and one per {word}.",
    )
    def diff(file: FileArgument, account: AccountOption = None) -> None:
        diff_file(kind, file, account)

    @command(
        "export",
        f"ID > {noun}.yaml",
        f"Print the definition of a {word} in the format of definition files.\n\n"
        "Cost: one AWS request.",
    )
    def export(form: IdArgument) -> None:
        found = require_form(form_kind, form)
        print_definition(form_definition(found.account_id, found.saved))

    @command(
        "enable",
        "ID",
        f"Enable a {word}. The change takes effect within a minute.\n\nCost: two AWS requests.",
    )
    def enable(form: IdArgument) -> None:
        _set_enabled(form, is_enabled=True)

    @command(
        "disable",
        "ID",
        f"Disable a {word}, so that it accepts no submissions. The change takes effect within a "
        "minute.\n\nCost: two AWS requests.",
    )
    def disable(form: IdArgument) -> None:
        _set_enabled(form, is_enabled=False)

    @command(
        "archive",
        "ID",
        f"Disable a {word}, and hide it from the list. Its responses stay. To undo it, enable the"
        f" {word}.\n\nCost: two AWS requests.",
    )
    def archive(form: IdArgument) -> None:
        archived = archive_form(form_kind, form)
        notices().print(f"Archived the {word} {archived.name}.")
        show_record({"id": archived.id, "archived": True})

    def _set_enabled(form_id: str, *, is_enabled: bool) -> None:
        form = set_form_enabled(form_kind, form_id, is_enabled=is_enabled)
        notices().print(f"{'Enabled' if is_enabled else 'Disabled'} the {word} {form.name}.")
        show_record({"id": form.id, "enabled": is_enabled})

    add_page_commands(app, noun, word)
    return app
