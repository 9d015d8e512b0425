"""The command ``suppression``: show, add and lift the suppression of an address."""

import typer

from admin.domain.lifting import obstacle_to_lifting
from admin.identity import operator_identity
from admin.options import AccountArgument, EmailOption, PhoneOption, YesOption, example
from admin.services.accounts.manage import require_account
from admin.services.solicitation.suppressions import add_suppression, find_contact, lift_suppression
from admin.terminal import (
    cell_text,
    confirm,
    notices,
    prints_json,
    show_json,
    show_properties,
    show_record,
)
from chalicelib.domain.errors import Conflict
from chalicelib.domain.parsing import parse
from chalicelib.domain.solicitation.channel import Channel
from chalicelib.domain.solicitation.contact import Contact, SuppressionReason
from chalicelib.domain.solicitation.opt_out import OptOut
from chalicelib.services.accounts.settings import account_settings

app = typer.Typer(help="Show, add and lift the suppression of an address.", no_args_is_help=True)


@app.command(
    epilog=example(
        "suppression show ACCOUNT --email zoe@example.com",
        'suppression show ACCOUNT --phone "+33 6 12 34 56 78"',
    )
)
def show(account: AccountArgument, email: EmailOption = None, phone: PhoneOption = None) -> None:
    """Show whether an address is suppressed, since when and why.

    Cost: three AWS requests; with --phone, four.
    """
    channel, address = _address(email, phone)
    require_account(account)
    contact = find_contact(account, channel, address)
    record = {
        "channel": channel.value,
        "isSuppressed": bool(contact.suppressed),
        "reason": contact.suppressed.get(channel),
        "suppressedAt": contact.suppressed_at,
        "canBeLifted": obstacle_to_lifting(contact) is None,
        "obstacle": obstacle_to_lifting(contact),
        "complainedAt": contact.complained_at,
        "erasedAt": contact.erased_at,
        "liftedAt": contact.lifted_at,
        "liftedBy": contact.lifted_by,
    }
    if prints_json():
        show_json(record)
    else:
        show_properties(record)


@app.command(
    epilog=example(
        "suppression add ACCOUNT --email zoe@example.com",
        'suppression add ACCOUNT --phone "+33 6 12 34 56 78"',
    )
)
def add(account: AccountArgument, email: EmailOption = None, phone: PhoneOption = None) -> None:
    """Record that a person wants no messages at an address, as a partner's opt-out does.

    No customer with this address receives messages, now or later, and the opt-ins of these
    customers are turned off. If the address is suppressed already, nothing changes. The service
    stores who added the suppression, and when. In an account without default region, a phone number
    needs its country code.

    Cost: six AWS requests; with --phone, seven. If more than 49 customers have the address, the
    service changes the others within minutes.
    """
    channel, address = _address(email, phone)
    require_account(account)
    if channel is Channel.SMS:
        _require_country(account, address)
    wish = parse({"email" if channel is Channel.EMAIL else "phoneNumber": address}, OptOut)
    earlier = add_suppression(account, wish, operator_identity())
    if earlier:
        notices().print(f"The address {address} is suppressed already ({earlier}).")
    else:
        notices().print(f"Suppressed {address}. The opt-ins of customers with it are off.")
    reason = earlier or SuppressionReason.OPTED_OUT
    show_record({"channel": channel.value, "reason": reason, "isSuppressed": True})


@app.command(epilog=example("suppression lift ACCOUNT --email zoe@example.com --yes"))
def lift(
    account: AccountArgument,
    email: EmailOption = None,
    phone: PhoneOption = None,
    yes: YesOption = False,
) -> None:
    """Lift the suppression of an address after an unsubscription or a bounce.

    Lift a suppression only if the person asked for it, or if the address works again. The opt-ins
    of customers do not change. The service stores who lifted the suppression, and when. The
    suppression of an erased person, and a suppression after a complaint, cannot be lifted.

    Cost: six AWS requests; one more without --yes. If more than 49 customers have the address, the
    service changes the others within minutes.
    """
    channel, address = _address(email, phone)
    require_account(account)
    confirm(
        lambda: _question(address, channel, find_contact(account, channel, address)),
        is_confirmed=yes,
    )
    contact = lift_suppression(account, channel, address, operator_identity())
    reason = contact.suppressed[channel].value
    notices().print(f"Lifted the suppression of {address} ({reason}). No opt-in was changed.")
    show_record({"channel": channel.value, "reason": reason, "isSuppressed": False})


def _address(email: str | None, phone: str | None) -> tuple[Channel, str]:
    if email and not phone:
        return Channel.EMAIL, email
    if phone and not email:
        return Channel.SMS, phone
    raise typer.BadParameter("Use either --email or --phone.")


def _require_country(account_id: str, phone_number: str) -> None:
    """Check that the country of a phone number is known: other spellings have other hashes."""
    is_international = phone_number.strip().startswith(("+", "00"))
    if not is_international and not account_settings(account_id).default_region:
        raise Conflict(
            "Write the number with its country code (+33…): the account has no default region."
        )


def _question(address: str, channel: Channel, contact: Contact) -> str:
    if obstacle_to_lifting(contact):
        raise Conflict(obstacle_to_lifting(contact))
    since = cell_text(contact.suppressed_at)
    return (
        f"The address {address} has been suppressed since {since}"
        f" ({contact.suppressed[channel].value}). Lift the suppression?"
    )
