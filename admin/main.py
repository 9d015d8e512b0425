"""The commands of ``bin/feedback-admin`` and their common options."""

import os
import re
from typing import Annotated, Final

import typer

from admin.commands import account as account_commands
from admin.commands import customer as customer_commands
from admin.commands import definition as definition_commands
from admin.commands import delivery as delivery_commands
from admin.commands import erasure as erasure_commands
from admin.commands import feedback as feedback_commands
from admin.commands import key as key_commands
from admin.commands import place as place_commands
from admin.commands import purchase as purchase_commands
from admin.commands import solicitation as solicitation_commands
from admin.commands import stage as stage_commands
from admin.commands import support_email as support_email_commands
from admin.commands import suppression as suppression_commands
from admin.commands import work as work_commands
from admin.commands import workflow as workflow_commands
from admin.commands.definition import add_file_commands
from admin.commands.form import form_commands
from admin.commands.recount import recount
from admin.options import example
from admin.root_command import RootCommand
from admin.services.definitions.definition import Kind
from chalicelib.settings import settings

_EXIT_CODES: Final = """\b
Exit status:
  0  success
  1  an error, or the command found invalid, different or rejected items
  2  an invalid command, argument or option, or a missing confirmation"""


app = typer.Typer(
    cls=RootCommand,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_show_locals=False,
)


_forms, _surveys = form_commands("form", Kind.CONTACT_FORM), form_commands("survey", Kind.SURVEY)
add_file_commands(_forms, "form", Kind.CONTACT_FORM, "two", ", and one per contact form")
add_file_commands(_surveys, "survey", Kind.SURVEY, "two", ", and one per survey")
add_file_commands(workflow_commands.app, "workflow", Kind.WORKFLOW, "three")

for _noun, _commands in {
    "account": account_commands.app,
    "place": place_commands.app,
    "key": key_commands.app,
    "definition": definition_commands.app,
    "feedback": feedback_commands.app,
    "customer": customer_commands.app,
    "erasure": erasure_commands.app,
    "form": _forms,
    "survey": _surveys,
    "workflow": workflow_commands.app,
    "delivery": delivery_commands.app,
    "purchase": purchase_commands.app,
    "solicitation": solicitation_commands.app,
    "suppression": suppression_commands.app,
    "support-email": support_email_commands.app,
    "mail-sender": support_email_commands.sender_app,
    "webhook-secret": key_commands.secret_app,
    "work": work_commands.app,
    "stage": stage_commands.app,
}.items():
    app.add_typer(_commands, name=_noun)

app.command(epilog=example("doctor"))(stage_commands.doctor)
app.command(epilog=example("recount ACCOUNT --fix"))(recount)
app.command(epilog=example("status"))(stage_commands.status)


@app.callback(epilog=_EXIT_CODES)
def choose_stage(
    stage: Annotated[
        str | None,
        typer.Option(help="The stage to use.  [env var: STAGE; default: local]"),
    ] = None,
) -> None:
    """Operate the service with your AWS credentials.

    The AWS account and region are configured as for the AWS command line. To use a local cloud, set
    the environment variable AWS_ENDPOINT_URL.
    """
    _check_endpoint()
    _use_configured_region()
    if stage is None:
        return
    if not re.fullmatch(r"[a-z][a-z0-9]{1,15}", stage):
        raise typer.BadParameter(
            "Must be 2 to 16 lower-case letters and digits, starting with a letter.",
            param_hint="--stage",
        )
    os.environ["STAGE"] = stage
    settings.cache_clear()


def _check_endpoint() -> None:
    endpoint = os.environ.get("AWS_ENDPOINT_URL")
    if endpoint and not re.match(r"https?://[^/]", endpoint):
        raise typer.BadParameter(
            "Must be a URL, such as http://127.0.0.1:4566.", param_hint="AWS_ENDPOINT_URL"
        )


def _use_configured_region() -> None:
    """Set AWS_REGION to the region of the AWS configuration, for example of a profile.

    `settings` reads only environment variables, as on AWS Lambda. Only botocore reads profiles.
    """
    if os.environ.get("AWS_REGION"):
        return
    from botocore.session import Session

    region = Session().get_config_variable("region")
    if region:
        os.environ["AWS_REGION"] = region
        settings.cache_clear()
