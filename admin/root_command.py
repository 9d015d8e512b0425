"""The root command: the option ``--json`` of all commands, and errors in one line.

This is the only module that uses parts of Typer that its documentation does not describe:
``tests/admin/test_root_command.py`` names the version.
"""

import errno
from typing import Annotated, Any, Final

import typer
from botocore.exceptions import BotoCoreError, ClientError
from pydantic import ValidationError
from pynamodb.exceptions import PynamoDBException
from typer.core import TyperGroup

from admin.error_messages import one_line_message
from admin.terminal import (
    name_time_zone,
    notices,
    set_json_output,
    set_time_zone,
    set_wide_output,
)
from chalicelib.domain.errors import FeedbackError

_FULL_DISK: Final = frozenset({errno.EDQUOT, errno.EFBIG, errno.ENOSPC})


class RootCommand(TyperGroup):
    """The root command.

    If the service or AWS returns an error, the command prints one line and exits with status 1. If
    an argument or an option is invalid, Typer prints the usage and exits with status 2.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        _add_json_option(self)

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Its options and its time zone do not affect later commands."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            capitalized = error.message[:1].upper() + error.message[1:]
            error.message = _allowed_values(error) or capitalized
            raise
        except (FeedbackError, BotoCoreError, ClientError, PynamoDBException) as error:
            notices().print(f"Error: {one_line_message(error)}")
            raise typer.Exit(1) from None
        except BrokenPipeError:
            raise  # The reader of a pipe has closed it. Typer ends the command silently.
        except OSError as error:
            if error.filename is None and error.errno not in _FULL_DISK:
                raise
            name = error.filename or "standard output"
            notices().print(f"Error: Cannot use {name}: {error.strerror}.")
            raise typer.Exit(1) from None
        finally:
            name_time_zone()
            set_json_output(False)
            set_wide_output(False)
            set_time_zone(None)


def _allowed_values(error: Any) -> str | None:
    """Describe the values that an argument or an option allows, if it has choices or a range.

    Typer's own messages are those of pydantic: "Input should be greater than or equal to 1".
    """
    if not isinstance(error.__cause__, ValidationError):
        return None
    value_type = error.param.type_descriptor
    if value_type.choices:
        return f"Must be one of: {', '.join(choice.value for choice in value_type.choices)}."
    if not value_type.is_ranged:
        return None
    limits = value_type.parameter_info
    return f"Must be a whole number from {limits.min:,} to {limits.max:,}."


def _add_json_option(group: Any) -> None:
    """Add the option ``--json`` to all commands of a group."""
    for command in group.commands.values():
        if hasattr(command, "commands"):
            _add_json_option(command)
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
