"""The command ``definition new``."""

from typing import Annotated

import typer

from admin.definitions.plain_yaml import read_yaml
from admin.definitions.templates import Template, new_definition
from admin.options import AccountArgument
from admin.services.accounts.manage import require_account
from admin.terminal import prints_json, results, show_json
from chalicelib.services.accounts.directory import current_directory


def new(
    kind: Annotated[
        Template, typer.Argument(metavar="KIND", help="store, contact-form, survey or workflow.")
    ],
    account: AccountArgument,
) -> None:
    """Print a short commented definition that loads as it is, with the ids of your brands.

    Surveys and workflows are disabled, until you set `enabled` to true or enable them.

    Cost: two AWS requests.
    """
    require_account(account)
    text = new_definition(kind, current_directory(account).places)
    if prints_json():
        show_json(list(read_yaml(text)))
    else:
        results().print(text.rstrip("\n"))
