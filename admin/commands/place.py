"""The command ``place``: list the brands and stores of an account."""

import typer

from admin.options import AccountArgument, WideOption, example
from admin.services.accounts.manage import require_account
from admin.terminal import show_table
from chalicelib.services.accounts.directory import current_directory

app = typer.Typer(help="List brands and stores.", no_args_is_help=True)


@app.command("list", epilog=example("place list ACCOUNT"))
def list_all(account: AccountArgument, _wide: WideOption = False) -> None:
    """List an account's brands, each followed by its stores.

    Cost: two AWS requests.
    """
    require_account(account)
    directory = current_directory(account)
    brands = [place for place in directory.places if place.brand_id is None]
    show_table(
        ["Id", "Kind", "Name", "Key", "Brand", "Time zone"],
        [
            [
                place.id,
                place.kind.value,
                place.name,
                place.key,
                directory.name_of(place.brand_id or ""),
                place.time_zone,
            ]
            for brand in brands
            for place in [brand, *directory.stores_of(brand.id)]
        ],
        wide=["Brand", "Time zone"],
    )
