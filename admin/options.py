"""Options and help texts that several commands share."""

from typing import Annotated, Any

import typer
from pydantic import TypeAdapter, ValidationError

from admin.terminal import set_json_output
from chalicelib.domain.schema import Email


def example(*commands: str) -> str:
    """Return the help text with one or more examples of a command."""
    title = "Example:" if len(commands) == 1 else "Examples:"
    return "\n".join(["\b", title, *(f"  python -m admin {command}" for command in commands)])


def parse_email(text: str) -> str:
    """Parse an e-mail address.

    Raises:
        BadParameter: the text is not an e-mail address.
    """
    try:
        return TypeAdapter[str](Email).validate_python(text)
    except ValidationError:
        raise typer.BadParameter("Must be an e-mail address.") from None


YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


def add_json_option(group: Any) -> None:
    """Add the option ``--json`` to all commands of a group that do not have it."""
    for command in group.commands.values():
        if hasattr(command, "commands"):
            add_json_option(command)
        elif not any("--json" in parameter.opts for parameter in command.params):
            command.params.append(_json_option())


def _json_option() -> Any:
    only_option = typer.Typer(add_completion=False)

    @only_option.command()
    def _command(
        _is_json: Annotated[
            bool,
            typer.Option(
                "--json",
                help="Print the result as JSON.",
                callback=set_json_output,
                expose_value=False,
                is_eager=True,
            ),
        ] = False,
    ) -> None: ...

    return typer.main.get_command(only_option).params[0]
