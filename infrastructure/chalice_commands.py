"""Make Chalice's own commands safe in a clone of the project.

`app.py` calls ``prepare`` when a Chalice command imports it. The deployed app does not contain this
package, and neither does the copy of the app from which a deployment runs Chalice.
"""

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

from infrastructure.deployment.code_package import PROJECT, is_source_path, source_files
from infrastructure.deployment.progress import DeploymentError, fail
from infrastructure.functions import STAGES
from infrastructure.local_cloud import identity as local_identity
from infrastructure.local_cloud.emulator import running_emulator

_LOCAL: Final = "local"


def prepare() -> None:
    """Prepare this process for the Chalice command in its arguments.

    ``chalice local`` gets the identity of the local cloud. If a command cannot do what it promises,
    print one sentence that says what to run, and end the process.
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
    stage = _LOCAL
    if _is_given(command, "stage"):
        stage = command.params["stage"]
        known = {stage.name: stage for stage in STAGES}
        if stage not in known:
            raise DeploymentError(f"Unknown stage {stage}. The stages are {', '.join(known)}.")
        if not known[stage].is_emulated:
            return  # The developer chose a stage on AWS, with the credentials of the environment.
    endpoint = os.environ.get("AWS_ENDPOINT_URL", "")
    if not local_identity.is_loopback(endpoint):
        folder = Path(os.environ.get("STATE_DIR") or PROJECT / ".local").resolve()
        endpoint = running_emulator(folder).endpoint
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


_COMMANDS: Final[dict[str, Callable[[click.Context], None]]] = {"local": _local}


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
