"""The command ``key``: issue, revoke and list partners' API keys."""

from typing import Annotated

import typer

from admin.commands.account import AccountArgument
from admin.terminal import notices, results, show_table
from chalicelib.domain.schema import format_timestamp
from chalicelib.services.accounts.manage import issue_key, list_keys, revoke_key

app = typer.Typer(help="Issue, revoke and list API keys.", no_args_is_help=True)


@app.command()
def issue(
    account: AccountArgument,
    label: Annotated[str, typer.Option(help="A description of what the key is used for.")] = "",
) -> None:
    """Issue an API key for the account. Print the key and its secret, which is shown only once."""
    credential, secret = issue_key(account, label.strip())
    results().print(f"X-API-KEY: {credential.api_key}")
    results().print(f"X-API-SECRET: {secret}")
    notices().print("Save the secret now: it is not stored and cannot be shown again.")


@app.command()
def revoke(
    api_key: Annotated[str, typer.Argument(metavar="API_KEY", help="The API key to revoke.")],
) -> None:
    """Revoke an API key. Requests that use it are rejected within a minute."""
    revoke_key(api_key)
    notices().print(f"Revoked the key {api_key}.")


@app.command("list")
def list_account_keys(account: AccountArgument) -> None:
    """List the account's API keys, oldest first, including revoked keys."""
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
