"""Chalice's command line for this project.

`bin/chalice`, to which `.venv/bin/chalice` is a link, runs ``main``. `app.py` calls ``run_instead``
when another program of Chalice imports it. The deployed app does not contain this package, and
neither does the copy of the app from which a deployment runs Chalice.
"""

import logging
import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final, cast
from urllib.parse import urlsplit

import boto3
import click
from chalice.cli import cli
from chalice.cli import main as chalice_main
from click.core import ParameterSource

from chalicelib.web.openapi import routes as docs_routes
from infrastructure.deployment import chalice_internals, code_stack, deploy
from infrastructure.deployment.code_package import PROJECT, source_files
from infrastructure.deployment.progress import DeploymentError, aws_errors, fail
from infrastructure.functions import FUNCTIONS, STAGES, Stage
from infrastructure.local_cloud import identity as local_identity
from infrastructure.local_cloud.emulator import is_free, running_emulator
from infrastructure.openapi import docs_pages

PROGRAM: Final = str(PROJECT / "bin" / "chalice")
_LOCAL: Final = "local"
_OF_DEPLOYED_CODE: Final = ("url", "invoke", "logs", "generate-sdk")
"""The commands that read Chalice's record of deployed resources."""
_DEPLOY: Final = (
    "The command knows neither the data stack nor the settings that Chalice does not support. Run"
    " make deploy STAGE=…"
)
_INSTEAD: Final = {
    "package": _DEPLOY,
    "plan": _DEPLOY,
    "gen-policy": "The command does not find the AWS calls of the app. The policies of functions"
    " are in .chalice/policies; make generate writes them from infrastructure/functions.py.",
    "generate-pipeline": "The command creates a pipeline that does not deploy the data stack. Use"
    " docs/examples/deploy.yml (docs/first-deployment.md, Deployments from CI).",
}
"""What to use instead of the commands that cannot do what they promise."""


def main() -> int:
    """Run Chalice's command line. Return the exit status of the process."""
    sys.argv[0] = PROGRAM  # Chalice's reloader starts this program again.
    _replace_commands()
    return int(chalice_main() or 0)


def run_instead() -> None:
    """Replace the process of another program of Chalice by this project's."""
    if sys.argv[0] != PROGRAM:
        os.environ["CHALICE_PYTHON"] = sys.executable
        os.execv(PROGRAM, [PROGRAM, *sys.argv[1:]])  # noqa: S606 - no shell is needed


@cache
def _replace_commands() -> None:
    groups = {"plan": cast(click.Group, cli.commands["dev"])}
    for name, advice in _INSTEAD.items():
        groups.get(name, cli).add_command(_refusal(name, advice))
    cli.add_command(_deployment("deploy", deploy.deploy_code))
    cli.add_command(_deployment("delete", deploy.delete_code))
    _prepare(_LOCAL, _use_local_cloud)
    for name in _OF_DEPLOYED_CODE:
        _prepare(name, _use_deployed_code)


def _refusal(name: str, advice: str) -> click.Command:
    any_arguments = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(
        name,
        help=advice,
        context_settings=any_arguments,
        callback=lambda: sys.exit(fail(advice)),
    )


def _deployment(name: str, action: Callable[[Stage], str]) -> click.Command:
    @click.command(name, help=str(action.__doc__).partition("\n")[0])
    @click.option("--stage", default="dev", show_default=True, help="The name of the stage.")
    @click.option("--profile", help="The profile with the AWS credentials and the region.")
    def command(stage: str, profile: str | None) -> None:
        with _errors_in_one_sentence():
            chosen = _stage(stage)
            if stage == _LOCAL:
                raise DeploymentError(
                    "The stage local is the local cloud. Run make up or make stop."
                )
            _use_profile(profile)
        deploy.use_emulator(stage)
        sys.exit(deploy.run(lambda: action(chosen)))

    return command


def _prepare(name: str, prepare: Callable[[click.Context], str]) -> None:
    """Prepare this process before Chalice's command runs for the stage that ``prepare`` returns."""
    command = cli.commands[name]
    callback: Any = command.callback

    def run(*arguments: Any, **options: Any) -> Any:
        with _errors_in_one_sentence():
            stage = prepare(click.get_current_context())
        return callback(*arguments, **options | {"stage": stage})

    command.callback = run


@contextmanager
def _errors_in_one_sentence() -> Iterator[None]:
    try:
        with aws_errors():
            yield
    except DeploymentError as error:
        sys.exit(fail(str(error)))


def _use_local_cloud(command: click.Context) -> str:
    chalice_internals.watch_only(source_files)
    # Chalice prints the informational log lines of libraries. Those of PynamoDB are about its own
    # settings, which the project does not use.
    logging.getLogger("pynamodb").setLevel(logging.WARNING)
    host, port = command.params["host"], command.params["port"]
    if not is_free(port, host):
        raise DeploymentError(f"Port {port} is in use. Free it, or choose another one with --port.")
    docs_routes.PAGES = PROJECT / ".build" / "docs"
    docs_pages.write(docs_routes.PAGES)
    stage = _LOCAL
    if command.get_parameter_source("stage") == ParameterSource.COMMANDLINE:
        chosen = _stage(command.params["stage"])
        stage = chosen.name
        if not chosen.is_emulated:
            return stage  # on AWS, with the credentials of the environment
    _adopt_local_cloud(stage)
    return stage


def _adopt_local_cloud(stage: str) -> None:
    endpoint = os.environ.get("AWS_ENDPOINT_URL", "")
    if not local_identity.is_loopback(endpoint):
        endpoint = running_emulator().endpoint
    elif not _responds(endpoint):
        raise DeploymentError(
            f"No local cloud responds at {endpoint} (AWS_ENDPOINT_URL). Start it with make up, or"
            " unset the variable."
        )
    local_identity.adopt(endpoint, stage)


def _responds(endpoint: str) -> bool:
    address = urlsplit(endpoint)
    try:
        with socket.create_connection((address.hostname, address.port or 80), timeout=5):
            return True
    except OSError:
        return False


def _use_deployed_code(command: click.Context) -> str:
    """Replace Chalice's record of deployed resources by one of the code stack."""
    stage = _stage(command.params["stage"])
    if stage.is_emulated or local_identity.is_loopback(os.environ.get("AWS_ENDPOINT_URL", "")):
        _adopt_local_cloud(stage.name)
    else:
        _use_profile(command.params.get("profile"))
    deployed = code_stack.deployed(stage.name)
    functions = [
        {
            "name": function.name,
            "resource_type": "lambda_function",
            "lambda_arn": f"{deployed.function_arns}:{function.deployed_name(stage.name)}",
        }
        for function in FUNCTIONS
    ]
    rest_api = {"rest_api_id": deployed.rest_api_id, "rest_api_url": deployed.base_url}
    chalice_internals.replace_record(
        [*functions, {"name": "rest_api", "resource_type": "rest_api", **rest_api}]
    )
    return stage.name


def _use_profile(profile: str | None) -> None:
    """Use a profile, also if the environment contains other credentials.

    The emulator needs no credentials, so its commands ignore the profile.
    """
    if profile and not local_identity.is_loopback(os.environ.get("AWS_ENDPOINT_URL", "")):
        os.environ["AWS_PROFILE"] = profile
        boto3.setup_default_session(profile_name=profile)


def _stage(name: str) -> Stage:
    known = {stage.name: stage for stage in STAGES}
    if name not in known:
        raise DeploymentError(f"Unknown stage {name}. The stages are {', '.join(known)}.")
    return known[name]
