"""``key``: the credentials of partners."""

from typing import Annotated

import typer

from admin.commands.account import AccountArgument
from admin.terminal import notices, results, show_table
from chalicelib.domain.schema import format_timestamp
from chalicelib.services.accounts.manage import issue_key, list_keys, revoke_key

app = typer.Typer(help="Partner keys and their secrets.", no_args_is_help=True)


@app.command()
def issue(
    account: AccountArgument,
    label: Annotated[str, typer.Option(help="What the key is for.")] = "",
) -> None:
    """Issue a key of the account. Its secret is shown this one time."""
    credential, secret = issue_key(account, label.strip())
    results().print(f"X-API-KEY: {credential.api_key}")
    results().print(f"X-API-SECRET: {secret}")
    notices().print("Keep the secret now: it is not stored and cannot be shown again.")


@app.command()
def revoke(
    api_key: Annotated[
        str, typer.Argument(metavar="API_KEY", help="The key, as partners send it.")
    ],
) -> None:
    """Revoke a key. Whoever uses it is refused within a minute."""
    revoke_key(api_key)
    notices().print(f"The key {api_key} is revoked.")


@app.command("list")
def list_account_keys(account: AccountArgument) -> None:
    """List the keys of the account, oldest first, revoked ones too."""
    show_table(
        ["Key", "Label", "Created", "Revoked"],
        [
            [
                key.api_key,
                key.label,
                format_timestamp(key.created_at),
                format_timestamp(key.revoked_at) if key.revoked_at else "",
            ]
            for key in list_keys(account)
        ],
    )
