"""Options and help texts that several commands share."""

from datetime import UTC, date, datetime, time, tzinfo
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo

import typer
from pydantic import TypeAdapter, ValidationError

from admin.services.feedback.report.languages import LANGUAGES
from admin.terminal import set_time_zone, set_wide_output, time_zone
from chalicelib.domain.ids import parse_id
from chalicelib.domain.schema import Email
from chalicelib.services.accounts.settings import account_settings

_YEARS: Final = range(1900, 3000)
"""The years that an operator can enter. A report can always compute the preceding period."""


def example(*commands: str) -> str:
    """Return the help text with one or more examples of a command."""
    title = "Example:" if len(commands) == 1 else "Examples:"
    return "\n".join(["\b", title, *(f"  bin/feedback-admin {command}" for command in commands)])


def parse_id_argument(text: str) -> str:
    """Parse the id in a command line argument and convert it to lower case.

    Raises:
        BadParameter: the text is not a UUID.
    """
    parsed = parse_id(text)
    if parsed is None:
        raise typer.BadParameter("Must be a UUID of the form 8-4-4-4-12.")
    return parsed


def id_argument(help_text: str, metavar: str = "ID") -> Any:
    """Return an argument with an id."""
    return typer.Argument(help=help_text, parser=parse_id_argument, metavar=metavar)


def id_option(help_text: str, metavar: str = "ID") -> Any:
    """Return an option with an id."""
    return typer.Option(help=help_text, parser=parse_id_argument, metavar=metavar)


def name_option(help_text: str) -> Any:
    """Return an option that names a record of a short list."""
    return typer.Option(help=f"{help_text} Id, key or name, or the beginning.", metavar="NAME")


def limit_option(noun: str, highest: int) -> Any:
    """Return an option with the maximum number of listed records."""
    return typer.Option(help=f"The maximum number of {noun}.", min=1, max=highest, metavar="NUMBER")


def parse_name(text: str) -> str:
    """Parse a name of 1 to 255 characters.

    Raises:
        BadParameter: the name is empty or too long.
    """
    name = text.strip()
    if not 1 <= len(name) <= 255:
        raise typer.BadParameter("Must be 1 to 255 characters.")
    return name


def parse_email(text: str) -> str:
    """Parse an e-mail address.

    Raises:
        BadParameter: the text is not an e-mail address.
    """
    try:
        return TypeAdapter[str](Email).validate_python(text)
    except ValidationError:
        raise typer.BadParameter("Must be an e-mail address.") from None


def parse_phone(text: str) -> str:
    """Parse a phone number in any notation.

    Raises:
        BadParameter: the text contains no digit.
    """
    if not any(map(str.isdigit, text)):
        raise typer.BadParameter("Must be a phone number.")
    return text.strip()


def report_language(text: str) -> str:
    """Parse the language of a report.

    Raises:
        BadParameter: there are no texts in this language.
    """
    if text not in LANGUAGES:
        raise typer.BadParameter(f"Must be one of {', '.join(LANGUAGES)}.")
    return text


def email_option(help_text: str) -> Any:
    """Return an option with an e-mail address."""
    return typer.Option(help=help_text, parser=parse_email, metavar="EMAIL")


def phone_option(help_text: str) -> Any:
    """Return an option with a phone number."""
    return typer.Option(help=help_text, parser=parse_phone, metavar="NUMBER")


def parse_time(text: str) -> tuple[datetime, bool]:
    """Parse a date or a date-time in ISO 8601. Return it, and whether it is a date.

    Raises:
        BadParameter: the text is neither, or the year is not between the limits.
    """
    try:
        try:
            entered, is_date = datetime.combine(date.fromisoformat(text), time()), True
        except ValueError:
            entered, is_date = datetime.fromisoformat(text), False
        is_valid = entered.year in _YEARS
    except ValueError:
        is_valid = False
    if not is_valid:
        raise typer.BadParameter(
            f"Must be a date or a date-time from {_YEARS.start} to {_YEARS.stop - 1}, such as"
            " 2026-11-20 or 2026-11-20T10:00:00Z."
        )
    return entered, is_date


def in_zone(entered: datetime, zone: tzinfo) -> datetime:
    """Return the time in UTC. Without an offset, it is a time in this zone."""
    return (entered if entered.tzinfo else entered.replace(tzinfo=zone)).astimezone(UTC)


def time_option(help_text: str) -> Any:
    """Return an option with a date or a date-time.

    A time without an offset is in the zone in which the command shows times.
    """

    def parse(text: str) -> datetime:
        return parse_time(text)[0]

    def localize(entered: datetime | None) -> datetime | None:
        if entered is None:
            return None
        return in_zone(entered, UTC if entered.tzinfo else time_zone())

    return typer.Option(help=help_text, parser=parse, callback=localize, metavar="TIME")


def show_times_of(account_id: str) -> str:
    """Show the times of this run in the time zone of an account. Return its id.

    One AWS request when the first time is shown.
    """
    set_time_zone(lambda: ZoneInfo(account_settings(account_id).time_zone))
    return account_id


AccountArgument = Annotated[
    str,
    typer.Argument(
        help="The account's id.",
        parser=parse_id_argument,
        metavar="ACCOUNT",
        callback=show_times_of,
        is_eager=True,  # before options with times
    ),
]
EmailOption = Annotated[str | None, email_option("The e-mail address. Case is ignored.")]
PhoneOption = Annotated[
    str | None, phone_option("The phone number, in national or international notation.")
]

SOURCE: Final = typer.Argument(metavar="SOURCE", help="The purchase's source, for example Site.")
EXTERNAL_ID: Final = typer.Argument(
    metavar="EXTERNAL_ID", help="The purchase's id in the external system."
)

WideOption = Annotated[
    bool,
    typer.Option(
        "--wide",
        help="Print all columns, in a table of any width.",
        callback=set_wide_output,
    ),
]

YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
