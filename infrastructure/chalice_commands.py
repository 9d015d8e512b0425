"""Make Chalice's own commands safe in a clone of the project.

`app.py` calls ``prepare`` when a Chalice command imports it. The deployed app does not contain this
package, and neither does the copy of the app from which a deployment runs Chalice.
"""

import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NoReturn, cast
from urllib.parse import urlsplit

import click
from chalice.cli import cli
from chalice.cli.filewatch.stat import StatFileWatcher
from click.core import ParameterSource

from infrastructure.deployment import deploy
from infrastructure.deployment.code_package import is_source_path, source_files
from infrastructure.deployment.progress import DeploymentError, fail
from infrastructure.functions import STAGES, Stage
from infrastructure.local_cloud import identity as local_identity
from infrastructure.local_cloud.emulator import is_free, running_emulator

_LOCAL: Final = "local"


def prepare() -> None:
    """Prepare this process for the Chalice command in its arguments.

    ``chalice local`` gets the identity of the local cloud. Instead of ``chalice deploy`` and
    ``chalice delete``, the project's deployment runs, because Chalice reads its record of deployed
    resources before it imports the app. If a command cannot do what it promises, print one sentence
    that says what to run, and end the process.
    """
    command = _parse(sys.argv[1:])
    prepare_command = _COMMANDS.get(str(command.info_name))
    if prepare_command is None:
        return
    try:
        prepare_command(command)
    except DeploymentError as error:
        _stop(fail(str(error)))


def _local(command: click.Context) -> None:
    _watch_only_source_files()
    # Chalice prints the informational log lines of libraries. Those of PynamoDB are about its own
    # settings, which the project does not use.
    logging.getLogger("pynamodb").setLevel(logging.WARNING)
    host, port = command.params["host"], command.params["port"]
    if not is_free(port, host):
        raise DeploymentError(f"Port {port} is in use. Free it, or choose another one with --port.")
    stage = _LOCAL
    if _is_given(command, "stage"):
        chosen = _stage(command)
        if not chosen.is_emulated:
            return  # The developer chose a stage on AWS, with the credentials of the environment.
        stage = chosen.name
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


def _deploy(command: click.Context) -> None:
    _run_for_stage(command, deploy.deploy_code)


def _delete(command: click.Context) -> None:
    _run_for_stage(command, deploy.delete_code)


def _refuse(command: click.Context) -> None:
    raise DeploymentError(
        f"chalice {command.info_name} knows neither the data stack nor the settings that Chalice"
        f" does not support. Run make deploy STAGE={command.params['stage']}."
    )


_COMMANDS: Final[dict[str, Callable[[click.Context], None]]] = {
    "local": _local,
    "deploy": _deploy,
    "delete": _delete,
    "package": _refuse,
    "plan": _refuse,
}
_OVERRIDE_PROFILE: Final = (
    "AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_SECURITY_TOKEN"
    " AWS_DEFAULT_PROFILE AWS_ROLE_ARN AWS_WEB_IDENTITY_TOKEN_FILE"
).split()
"""Variables that AWS clients prefer to the profile in the variable AWS_PROFILE."""


def _run_for_stage(command: click.Context, action: Callable[[Stage], str]) -> NoReturn:
    """Run an action of the deployment instead of Chalice's command, and end the process."""
    for option in command.params:
        if _is_given(command, option) and option not in ("stage", "profile"):
            name = option.replace("_", "-")
            raise DeploymentError(
                f"The option --{name} is not supported: the setting is part of"
                " infrastructure/functions.py. Run the command without it."
            )
    stage = _stage(command)
    if stage.name == _LOCAL:
        raise DeploymentError("The stage local is the local cloud. Run make up or make stop.")
    if profile := command.params["profile"]:
        for variable in _OVERRIDE_PROFILE:
            os.environ.pop(variable, None)
        os.environ["AWS_PROFILE"] = profile
    sys.exit(deploy.run(lambda: action(stage)))


def _stage(command: click.Context) -> Stage:
    name = command.params["stage"]
    known = {stage.name: stage for stage in STAGES}
    if name not in known:
        raise DeploymentError(f"Unknown stage {name}. The stages are {', '.join(known)}.")
    return known[name]


def _parse(arguments: list[str]) -> click.Context:
    """Return the context of the Chalice command in the arguments, with its parsed options."""
    command: click.Command = cli
    context = command.make_context("chalice", arguments, obj={})
    while isinstance(command, click.Group):
        rest = [*context._protected_args, *context.args]
        name, subcommand, rest = command.resolve_command(context, rest)
        command = cast(click.Command, subcommand)
        context = command.make_context(name, rest, parent=context)
    return context


def _is_given(command: click.Context, option: str) -> bool:
    return command.get_parameter_source(option) == ParameterSource.COMMANDLINE


def _stop(status: int) -> NoReturn:
    """End this process. End the parent process too if it is Chalice's reloader.

    The reloader's exit status would be 0.
    """
    if "CHALICE_WORKER" in os.environ:
        os.kill(os.getppid(), signal.SIGTERM)
        # The app is imported in a thread, so an exception would end only this thread.
        os._exit(status)
    sys.exit(status)


def _watch_only_source_files() -> None:
    """Make Chalice's reloader ignore files that are not part of the app.

    Otherwise each log line of the local cloud, and each module that Python compiles, would restart
    the server.
    """
    watchers: Any = StatFileWatcher
    poll = watchers._single_pass_poll

    def poll_source_files(watcher: Any, folder: str, callback: Callable[[], None]) -> None:
        # The watcher may have read the times of all files before this function replaced its method.
        times = watcher._mtime_cache.items()
        watcher._mtime_cache = {path: time for path, time in times if is_source_path(Path(path))}
        poll(watcher, folder, callback)

    watchers._single_pass_poll = poll_source_files
    watchers._recursive_walk_files = lambda _watcher, _folder: map(str, source_files())
