"""The command ``account``: create, list and close accounts; show and change their settings."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final

import typer
from pydantic.alias_generators import to_snake

from admin.identity import operator_identity
from admin.options import (
    AccountArgument,
    WideOption,
    YesOption,
    example,
    limit_option,
    parse_id_argument,
    parse_name,
    report_language,
)
from admin.services.accounts import manage
from admin.services.accounts.manage import CUSTOMERS, last_changes, read_stats, require_account
from admin.services.accounts.settings import change_account_settings, current_settings
from admin.services.close_account import close_account
from admin.services.feedback.find import MAX_COUNTED, count_old_feedback
from admin.terminal import (
    cell_text,
    confirm,
    confirm_by_typing,
    json_name,
    notices,
    prints_json,
    progress,
    results,
    show_json,
    show_record,
    show_table,
)
from chalicelib.domain.accounts.changes import AccountChange
from chalicelib.domain.accounts.settings import (
    MAX_DAILY_TEXTS,
    MAX_RETENTION_DAYS,
    MAX_SEGMENT_PRICE,
    Weekday,
)
from chalicelib.domain.errors import Conflict, InvalidInput

app = typer.Typer(
    help="Create, list and close accounts; show settings, counts and history; change settings.",
    no_args_is_help=True,
)

_OFF: Final = "off"
_NONE: Final = "none"
_SHOWN_CHANGES: Final = 20


@app.command(epilog=example('account create "Maison Lumen"'))
def create(
    name: Annotated[
        str, typer.Argument(help="The account's name.", parser=parse_name, metavar="NAME")
    ],
    account_id: Annotated[
        str | None,
        typer.Option("--id", help="The account's id. Default: a new id.", parser=parse_id_argument),
    ] = None,
) -> None:
    """Create an account and print its id."""
    existing = manage.find_account(account_id) if account_id else None
    if existing:
        raise Conflict(f"An account with this id already exists: {existing.name}.")
    account = manage.create_account(name, account_id)
    notices().print(f"Created the account {account.name}. Its id:")
    show_record({"id": account.id, "name": account.name}, account.id)


@app.command("list", epilog=example("account list"))
def list_accounts(_wide: WideOption = False) -> None:
    """List all accounts, oldest first.

    Cost: one AWS request per MB of the table of accounts.
    """
    show_table(
        ["Id", "Name", "Created", "Closed"],
        [
            [account.id, account.name, account.created_at, account.closed_at]
            for account in manage.list_accounts()
        ],
        wide=["Created"],
    )


@app.command("show", epilog=example("account show ACCOUNT"))
def show_settings(account: AccountArgument) -> None:
    """Show the account's settings and the last changes by operators, newest first.

    Cost: three AWS requests.
    """
    settings = current_settings(account).model_dump(mode="json")
    closed_at = require_account(account).closed_at
    changes = last_changes(account, _SHOWN_CHANGES)
    if prints_json():
        show_json({"settings": settings, "closedAt": closed_at, "changes": changes})
        return
    if closed_at:
        notices().print(f"The account was closed on {closed_at:%Y-%m-%d}.")
    rows = [[name, _text(value)] for name, value in settings.items()]
    show_table(["Setting", "Value"], rows, wraps=True)
    if changes:
        results().print()
        _show_changes(changes)


@app.command(epilog=example("account history ACCOUNT --limit 200"))
def history(
    account: AccountArgument,
    limit: Annotated[int, limit_option("changes", 10_000)] = 50,
) -> None:
    """List the last changes that operators made to the account, newest first.

    The history contains loaded definitions (customers as numbers), changes of settings, API keys
    and webhook secrets, requested erasures, deleted feedback and lifted suppressions. Other
    commands are not recorded. With --json, the old value of a brand, store, contact form or survey
    is its earlier definition; to load it, use definition revert.

    Cost: two AWS requests, and one more per 3,000 changes or 1 MB of loaded forms.
    """
    require_account(account)
    changes = last_changes(account, limit)
    if prints_json():
        show_json(changes)
    else:
        _show_changes(changes)


def _show_changes(changes: Sequence[AccountChange]) -> None:
    rows = []
    for change in changes:
        text = _record_text if " " in change.subject else _text
        values = text(change.old), text(change.new)
        rows.append([change.changed_at, change.operator, change.subject, *values])
    show_table(["Changed", "Operator", "Subject", "Old value", "New value"], rows, wraps=True)


def _record_text(value: Any) -> str:
    """Return the cell for a value in the history. A definition is shown as its name."""
    return cell_text(value["name"] if isinstance(value, Mapping) and "name" in value else value)


def _number_or_off(noun: str, highest: int) -> Callable[[str], int | str]:
    """Return a parser of a whole number from 1 and of the word ``off``."""

    def parse(text: str) -> int | str:
        if text == _OFF:
            return text
        if not re.fullmatch(r"[0-9]{1,7}", text) or not 1 <= int(text) <= highest:
            raise typer.BadParameter(f"Must be a {noun} from 1 to {highest:,}, or off.")
        return int(text)

    return parse


def _price_or_off(text: str) -> float | str:
    if text == _OFF:
        return text
    try:
        price = float(text)
    except ValueError:
        price = math.nan
    if not 0 <= price <= MAX_SEGMENT_PRICE:
        raise typer.BadParameter(f"Must be a price from 0 to {MAX_SEGMENT_PRICE}, or off.")
    return price


@app.command(
    "set",
    epilog=example("account set ACCOUNT --time-zone Europe/Paris --retention-days 730 --yes"),
)
def change(
    account: AccountArgument,
    name: Annotated[str | None, typer.Option(help="The account's name.")] = None,
    identify_respondents: Annotated[
        bool | None,
        typer.Option(
            help="Link feedback to customers by the e-mail addresses and phone numbers in answers. "
            "Otherwise, only trackers link feedback to customers."
        ),
    ] = None,
    default_region: Annotated[
        str | None,
        typer.Option(
            metavar="COUNTRY|off",
            help="The country of phone numbers without a country code, such as FR.",
        ),
    ] = None,
    time_zone: Annotated[
        str | None,
        typer.Option(
            metavar="ZONE|off",
            help="The time zone of stores without a time zone, such as Europe/Paris.",
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(metavar="CODE", help="The language of reports.", parser=report_language),
    ] = None,
    sending_hours: Annotated[
        str | None,
        typer.Option(
            metavar="HOURS|off",
            help="The times at which surveys are sent, such as 09:00-20:00, or "
            '"09:00-20:00 MONDAY,TUESDAY" for some days of the week.',
        ),
    ] = None,
    retention_days: Annotated[
        Any,
        typer.Option(
            metavar="DAYS|off",
            help="The number of days after which the answers of feedback are anonymized.",
            parser=_number_or_off("number of days", MAX_RETENTION_DAYS),
        ),
    ] = None,
    sms_segment_price: Annotated[
        Any,
        typer.Option(
            metavar="PRICE|off",
            help="The price of one segment of a text message. solicitation explain shows prices.",
            parser=_price_or_off,
        ),
    ] = None,
    sms_countries: Annotated[
        str | None,
        typer.Option(
            metavar="COUNTRIES|none|off",
            help="The countries whose phone numbers receive text messages, such as FR,BE. "
            "Default: the default region.",
        ),
    ] = None,
    sms_daily_limit: Annotated[
        Any,
        typer.Option(
            metavar="NUMBER|off",
            help="The maximum number of text messages of a day (UTC).",
            parser=_number_or_off("number", MAX_DAILY_TEXTS),
        ),
    ] = None,
    yes: YesOption = False,
) -> None:
    """Change settings of the account. Functions use the new values within a minute.

    The value off restores the default of a setting: no region, UTC, no sending hours, no
    retention period, no price, text messages only to the default region, no daily limit. A
    retention period needs a confirmation, because anonymized answers cannot be restored. The
    question contains the number of records that are older now.

    Cost: three AWS requests. To confirm a retention period, three more, and one more per 5,000
    older records, up to 10,000.
    """
    options = {
        "name": name,
        "identifyRespondents": identify_respondents,
        "defaultRegion": default_region,
        "timeZone": time_zone,
        "language": language,
        "sendingHours": sending_hours and _sending_hours(sending_hours),
        "retentionDays": retention_days,
        "smsSegmentPrice": sms_segment_price,
        "smsCountries": sms_countries and _countries(sms_countries),
        "smsDailyLimit": sms_daily_limit,
    }
    values = {
        setting: None if value == _OFF and setting != "name" else value
        for setting, value in options.items()
        if value is not None
    }
    if not values:
        raise typer.BadParameter("Set at least one setting.")
    if values.get("retentionDays") is not None:
        confirm(lambda: _retention_question(account, retention_days), is_confirmed=yes)
    changes = _change(account, values)
    for changed in changes:
        old, new = _text(changed.old), _text(changed.new)
        notices().print(f"Changed {changed.subject} from {old} to {new}.")
    if not changes:
        notices().print("The settings already have these values.")
    show_record({"changes": [{"setting": c.subject, "old": c.old, "new": c.new} for c in changes]})


def _retention_question(account: str, days: int) -> str:
    name = current_settings(account).name
    count = count_old_feedback(account, days)
    at_least = "at least " if count >= MAX_COUNTED else ""
    return (
        f"Anonymize all feedback older than {days} days in the account {name}?"
        f" Records that are older now: {at_least}{count:,}."
    )


def _change(account: str, values: Mapping[str, Any]) -> list[AccountChange]:
    try:
        return change_account_settings(account, values, operator_identity())
    except InvalidInput as invalid:
        first = invalid.errors[0]
        option = to_snake(first.pointer.split("/")[1]).replace("_", "-")
        raise typer.BadParameter(first.detail, param_hint=f"--{option}") from None


def _countries(text: str) -> str | list[str]:
    if text == _OFF:
        return text
    return [] if text == _NONE else [code.strip().upper() for code in text.split(",")]


def _sending_hours(text: str) -> str | dict[str, Any]:
    if text == _OFF:
        return text
    hours, _, days = text.strip().partition(" ")
    start, _, end = hours.partition("-")
    weekdays = [day.strip() for day in days.upper().split(",")]
    return {"start": start, "end": end} | ({"weekdays": weekdays} if days else {})


def _text(value: Any) -> str:
    match value:
        case None:
            return _OFF
        case str():
            return value
        case list():
            return ",".join(value) or _NONE
        case Mapping():
            days = value["weekdays"]
            hours = f"{value['start']}-{value['end']}"
            return hours if len(days) == len(Weekday) else f"{hours} {','.join(days)}"
    return json.dumps(value)


@app.command(epilog=example('account close ACCOUNT --confirm "Maison Lumen"'))
def close(
    account: AccountArgument,
    name: Annotated[
        str | None,
        typer.Option(
            "--confirm", help="The name of the account, instead of typing it.", metavar="NAME"
        ),
    ] = None,
) -> None:
    """Revoke all keys, disable all forms and workflows, and erase all customers of an account.

    This cannot be undone. You confirm it by typing the name of the account. Feedback, purchases and
    numbers stay, without personal data. A closed account gets no keys, definitions and imported
    purchases. If the command is interrupted, run it again to continue.

    Cost: about ten AWS requests, two per key, form and workflow, and about 30 per customer.
    """
    expected = require_account(account).name
    customers = read_stats(account)[CUSTOMERS]
    question = f"Close the account {expected} and erase its {customers:,} customers? Type its name"
    confirm_by_typing(expected, question, typed=name)
    with progress("Erasing customers") as advance:
        closed = close_account(account, operator_identity(), advance)
    for what, number in vars(closed).items():
        notices().print(f"{what.replace('_', ' ').capitalize()}: {number:,}")
    show_record({"closed": closed})
    if closed.remaining_customers:
        notices().print("Customers were created in the meantime. Run the command again.")
        raise typer.Exit(1)


@app.command(epilog=example("account stats ACCOUNT --json"))
def stats(account: AccountArgument) -> None:
    """Show the numbers of customers, forms, surveys, purchases, feedback and solicitations.

    The numbers come from counters. To verify the counters against the records, use the command
    recount.

    Cost: two AWS requests.
    """
    numbers = read_stats(account)
    if prints_json():
        show_json({json_name(name): number for name, number in numbers.items()})
        return
    show_table(
        ["Records", "Number"],
        [[name.replace("_", " "), number] for name, number in numbers.items()],
    )
