"""The command ``customer``: find, show, export and erase customers."""

import json
from pathlib import Path
from typing import Annotated, Final

import typer

from admin.display.customers import summary_of
from admin.display.erasures import show_receipt
from admin.display.feedback import comment_of
from admin.display.purchases import show_purchases
from admin.display.solicitations import show_solicitations
from admin.identity import operator_identity
from admin.options import (
    AccountArgument,
    EmailOption,
    PhoneOption,
    WideOption,
    YesOption,
    example,
    id_argument,
    parse_name,
)
from admin.output_file import replaced_file
from admin.services.accounts.manage import require_account
from admin.services.customers.find import find_by_email, find_by_name, find_by_phone_number
from admin.services.customers.save import change_tags
from admin.services.erasure.collect import collect_person
from admin.services.erasure.replay import replay_erasures
from admin.services.feedback.selection import list_feedback
from admin.services.purchases.stored import list_purchases
from admin.services.solicitation.manage import list_solicitations_of_customer
from admin.terminal import (
    cell_text,
    confirm,
    notices,
    prints_json,
    progress,
    results,
    show_json,
    show_properties,
    show_record,
    show_table,
)
from chalicelib.domain.customers.customer import Customer
from chalicelib.domain.erasure.erasure import build_receipt
from chalicelib.domain.errors import NotFound
from chalicelib.services.accounts.directory import current_directory
from chalicelib.services.customers.read import read_customer
from chalicelib.services.erasure.erase import continue_erasure, start_erasure
from chalicelib.settings import settings

_CUSTOMER: Final = id_argument("The customer's id.")


def _text(text: str) -> str:
    if not text.strip():
        raise typer.BadParameter("Must not be empty.")
    return text.strip()


app = typer.Typer(help="Find, show, export and erase customers.", no_args_is_help=True)


@app.command(
    epilog=example(
        "customer find ACCOUNT --email zoe@example.com",
        "customer find ACCOUNT --name martin",
    )
)
def find(
    account: AccountArgument,
    email: EmailOption = None,
    phone: PhoneOption = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="A part of the display name, the full name or the company.",
            parser=_text,
            metavar="TEXT",
        ),
    ] = None,
    _wide: WideOption = False,
) -> None:
    """Find customers by e-mail address, by phone number or by name.

    Cost: three AWS requests; with --phone, up to five. With --name, the command reads the complete
    list of customers: two requests per 100 customers of the account.
    """
    if sum(option is not None for option in (email, phone, name)) != 1:
        raise typer.BadParameter("Use one of --email, --phone and --name.")
    require_account(account)
    if email is not None:
        found = find_by_email(account, email)
    elif phone is not None:
        found = find_by_phone_number(account, phone)
    else:
        with progress("Reading customers") as advance:
            found = list(find_by_name(account, name or "", advance))
    _show_list(found)


@app.command("show", epilog=example("customer show ACCOUNT ID"))
def show_customer(account: AccountArgument, customer: Annotated[str, _CUSTOMER]) -> None:
    """Show all data of a customer, with its purchases, surveys and feedback.

    Cost: five AWS requests, plus one per 100 purchases, surveys and feedback records.
    """
    read = read_customer(account, customer)
    shown = read.model_dump(mode="json", by_alias=True)
    purchases = list_purchases(account, customer)
    solicitations = list_solicitations_of_customer(account, customer)
    feedback = list_feedback(account, customer)
    directory = current_directory(account)
    if prints_json():
        lists = {"purchases": purchases, "surveys": solicitations, "feedback": feedback}
        show_json(shown | lists)
        return
    shown |= {"createdAt": read.created_at, "updatedAt": read.updated_at}
    shown["tags"] = [tag["tag"] for tag in shown["tags"]]
    shown["attributes"] = [
        f"{each['attribute']}: {each['value'] or each['rating'] or each['text']}"
        for each in shown["attributes"]
    ]
    show_properties({name: value for name, value in shown.items() if cell_text(value)})
    if purchases:
        results().print("\nPurchases")
        show_purchases(directory, purchases)
    if solicitations:
        results().print("\nSurveys")
        show_solicitations(solicitations)
    if feedback:
        results().print("\nFeedback")
        show_table(
            ["Id", "Created", "Rating", "Comment"],
            [[f.id, f.created_at, f.rating, comment_of(f)] for f in feedback],
        )


tag_app = typer.Typer(help="Add and remove tags of a customer.", no_args_is_help=True)
app.add_typer(tag_app, name="tag")

TagsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="TAG…", help="The names of the tags. Case is ignored.", parser=parse_name
    ),
]


@tag_app.command("add", epilog=example("customer tag add ACCOUNT ID VIP"))
def add_tags(
    account: AccountArgument, customer: Annotated[str, _CUSTOMER], tags: TagsArgument
) -> None:
    """Add tags to a customer. The other tags stay.

    Cost: up to six AWS requests for 99 tags.
    """
    _show_tags(change_tags(account, customer, add=tags))


@tag_app.command("remove", epilog=example("customer tag remove ACCOUNT ID VIP"))
def remove_tags(
    account: AccountArgument, customer: Annotated[str, _CUSTOMER], tags: TagsArgument
) -> None:
    """Remove tags from a customer. The other tags stay.

    Cost: up to three AWS requests.
    """
    _show_tags(change_tags(account, customer, remove=tags))


def _show_tags(customer: Customer) -> None:
    names = [tag.tag for tag in customer.tags]
    show_record({"tags": names}, f"Tags: {', '.join(names) or 'none'}.")


@app.command(epilog=example("customer export ACCOUNT ID --output zoe.json"))
def export(
    account: AccountArgument,
    customer: Annotated[str, _CUSTOMER],
    output: Annotated[
        Path | None,
        typer.Option(help="The file to write. Default: standard output.", dir_okay=False),
    ] = None,
) -> None:
    """Export all stored data about a customer, as one JSON file.

    Only you can read the file.

    Cost: about 15 AWS requests, plus one per 100 purchases, feedback records and solicitations.
    """
    document = collect_person(account, customer)
    if output is None:
        show_json(document)
        return
    with replaced_file(output) as file:
        file.write(json.dumps(document, ensure_ascii=False, indent=2).encode() + b"\n")
    notices().print(f"Wrote {output}.")
    show_record({"output": str(output)})


@app.command(
    epilog=example(
        "customer erase ACCOUNT ID",
        "customer erase ACCOUNT ID --yes --json",
        "customer erase --replay --yes",
    )
)
def erase(
    account: Annotated[str | None, id_argument("The account's id.", "ACCOUNT")] = None,
    customer: Annotated[str | None, _CUSTOMER] = None,
    replay: Annotated[
        bool,
        typer.Option(
            "--replay", help="Repeat all recorded erasures after a restore from a backup."
        ),
    ] = False,
    yes: YesOption = False,
) -> None:
    """Erase all data of a customer, and print a receipt. This cannot be undone.

    The first pass runs immediately. After 15 minutes, the service searches for data of the customer
    again and ends the erasure. If you repeat the command, it only prints the current receipt,
    unless the customer was created again. To only print a receipt, use erasure show.

    Cost: about 30 AWS requests, plus one per 100 records and one per 15 records of the customer.
    With --replay, one per MB of the tables that contain data about customers.
    """
    if replay != (account is None) or replay != (customer is None):
        raise typer.BadParameter("Use either ACCOUNT and ID, or --replay.")
    if account is None or customer is None:
        _replay(is_confirmed=yes)
        return
    confirm(lambda: f"Erase all data of the customer {_name(account, customer)}?", is_confirmed=yes)
    started = start_erasure(account, customer, operator_identity())
    show_receipt(continue_erasure(started.pointer) or started)


def _name(account: str, customer_id: str) -> str:
    try:
        customer = read_customer(account, customer_id)
    except NotFound:  # Unknown or erased: `start_erasure` distinguishes these cases.
        return customer_id
    return f"{customer_id} ({summary_of(customer)})"


def _replay(*, is_confirmed: bool) -> None:
    stage = settings().stage
    confirm(
        lambda: f"Repeat all recorded erasures of the stage {stage}?", is_confirmed=is_confirmed
    )
    with progress("Reading records") as advance:
        repeated = replay_erasures(advance)
    notices().print(f"Repeated {len(repeated)} erasures.")
    show_record({"repeated": [build_receipt(erasure) for erasure in repeated]})


def _show_list(found: list[Customer]) -> None:
    show_table(
        ["Id", "Name", "E-mail", "Phone number", "Type", "Feedback", "Purchases", "Rating"],
        [
            [
                customer.id,
                customer.display_name,
                customer.email,
                customer.phone_number,
                customer.type,
                customer.feedback_count,
                customer.purchase_count,
                customer.average_feedback_rating,
            ]
            for customer in found
        ],
        wide=["Phone number", "Type", "Feedback", "Purchases", "Rating"],
    )
    notices().print(f"Found: {len(found)}.")
