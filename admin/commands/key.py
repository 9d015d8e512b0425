"""The commands ``key`` and ``webhook-secret``: issue, revoke and list keys, and rotate secrets."""

from datetime import datetime
from typing import Annotated

import typer

from admin.domain.selection import select
from admin.identity import operator_identity
from admin.options import (
    AccountArgument,
    WideOption,
    YesOption,
    example,
    id_option,
    time_option,
)
from admin.services.accounts.manage import (
    issue_key,
    list_keys,
    require_account,
    require_key,
    revoke_key,
)
from admin.services.webhooks.secret import rotate_webhook_secret
from admin.terminal import cell_text, confirm, notices, show_record, show_table
from chalicelib.domain.accounts.account import Permission
from chalicelib.domain.schema import format_timestamp
from chalicelib.domain.webhooks.signature import standard_secret

app = typer.Typer(help="Issue, revoke and list API keys.", no_args_is_help=True)
secret_app = typer.Typer(help="Rotate webhook secrets.", no_args_is_help=True)


def _parse_permissions(text: str) -> frozenset[Permission]:
    try:
        return frozenset(Permission(name.strip()) for name in text.split(","))
    except ValueError:
        allowed = ", ".join(Permission)
        raise typer.BadParameter(f"Must be one or more of {allowed}.") from None


@app.command(
    epilog=example(
        "key issue ACCOUNT --label website",
        "key issue ACCOUNT --label privacy --permissions read,erase --expires 2027-11-20",
    )
)
def issue(
    account: AccountArgument,
    label: Annotated[str, typer.Option(help="A description of what the key is used for.")] = "",
    permissions: Annotated[
        str,
        typer.Option(
            help="What the key may do: read, write, erase (erase customers), separated by commas."
        ),
    ] = "read,write",
    expires: Annotated[
        datetime | None,
        time_option("The time from which the key is rejected. Default: it does not expire."),
    ] = None,
) -> None:
    """Issue an API key for the account.

    Print the key and its secret. The secret is shown only once. The permissions and the expiry of a
    key never change: to change them, issue a new key and revoke the old one.

    Cost: three AWS requests; one more if the time of --expires has no offset.
    """
    credential, secret = issue_key(
        account, operator_identity(), label.strip(), _parse_permissions(permissions), expires
    )
    show_record(
        {"apiKey": credential.api_key, "apiSecret": secret, "expiresAt": expires},
        f"X-API-KEY: {credential.api_key}\nX-API-SECRET: {secret}",
    )
    notices().print("Save the secret now: it is not stored and cannot be shown again.")


@app.command(epilog=example("key revoke API_KEY --yes", "key revoke website --account ACCOUNT"))
def revoke(
    api_key: Annotated[
        str,
        typer.Argument(
            metavar="API_KEY",
            help="The API key to revoke. With --account also its label, or the beginning of one.",
        ),
    ],
    account: Annotated[
        str | None, id_option("The account, to name the key by its label.", "ACCOUNT")
    ] = None,
    yes: YesOption = False,
) -> None:
    """Revoke an API key. Requests that use it are rejected within a minute.

    Before the confirmation, the command shows the label, the account and the age of the key.

    Cost: three AWS requests; two more without --yes, and two more with --account.
    """
    if account:
        keys = [key for key in list_keys(account) if not key.revoked_at]
        api_key = select(api_key, keys, lambda key: (key.api_key, key.label), "API key").api_key
    confirm(lambda: f"Revoke {_summary_of(api_key)}?", is_confirmed=yes)
    revoke_key(api_key, operator_identity())
    notices().print(f"Revoked the key {api_key}.")
    show_record({"apiKey": api_key, "isRevoked": True})


def _summary_of(api_key: str) -> str:
    key = require_key(api_key)
    account = require_account(key.account_id)
    label = f'labelled "{key.label}"' if key.label else "without label"
    revoked = f", already revoked at {cell_text(key.revoked_at)}" if key.revoked_at else ""
    return (
        f"the key {api_key} ({label}) of the account {account.name}, issued at"
        f" {cell_text(key.created_at)}{revoked}"
    )


@app.command("list", epilog=example("key list ACCOUNT"))
def list_account_keys(account: AccountArgument, _wide: WideOption = False) -> None:
    """List the account's API keys, oldest first, including expired and revoked keys.

    The last use is a day in UTC.

    Cost: three AWS requests, and one more per further 100 keys.
    """
    show_table(
        ["Key", "Label", "Permissions", "Created", "Expires at", "Last used at", "Revoked"],
        [
            [
                key.api_key,
                key.label,
                _names(key.permissions),
                key.created_at,
                key.ends_at,
                key.last_used_at and key.last_used_at.date(),
                key.revoked_at,
            ]
            for key in list_keys(account)
        ],
        wide=["Permissions", "Created", "Last used at"],
    )


def _names(permissions: frozenset[Permission]) -> str:
    return ", ".join(name for name in Permission if name in permissions)


@secret_app.command(epilog=example("webhook-secret rotate ACCOUNT --at 2026-11-20T10:00:00Z --yes"))
def rotate(
    account: AccountArgument,
    at: Annotated[
        datetime | None,
        time_option("The time at which the new secret becomes active. Default: now."),
    ] = None,
    yes: YesOption = False,
) -> None:
    """Create a webhook secret and print it in both forms. It cannot be shown again.

    The current secret signs webhooks until the new secret becomes active. Until a day later, both
    sign the header webhook-signature. Other secrets that are not active yet are deleted.

    Cost: four AWS requests; one more without --yes, and one more if the time of --at has no offset.
    """
    confirm(lambda: _question(account), is_confirmed=yes)
    new = rotate_webhook_secret(account, operator_identity(), at)
    start = f"at {format_timestamp(at)}" if at else "within a minute"
    if new.replaced:
        notices().print(f"Replaced secrets that were not active yet: {new.replaced}.")
    notices().print(f"The new secret becomes active {start}. It cannot be shown again:")
    standard = standard_secret(new.secret)
    show_record(
        {"secret": new.secret, "standardSecret": standard, "activeFrom": at},
        f"Secret: {new.secret}\nSecret for libraries of Standard Webhooks: {standard}",
    )


def _question(account: str) -> str:
    name = require_account(account).name
    return f"Replace the secret that signs the webhooks of the account {name}?"
