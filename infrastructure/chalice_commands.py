"""Make Chalice's own commands safe in a clone of the project.

`app.py` calls ``prepare`` when a Chalice command imports it, and `bin/chalice`, to which
`.venv/bin/chalice` is a link, calls it for the commands that do not import the app. The deployed
app does not contain this package, and neither does the copy of the app from which a deployment runs
Chalice.
"""

import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final, NoReturn, cast
from urllib.parse import urlsplit

import click
from chalice.cli import cli
from chalice.cli import main as chalice_main
from chalice.cli.filewatch.stat import StatFileWatcher
from chalice.config import Config, DeployedResources
from click.core import ParameterSource

from infrastructure.deployment import code_stack, deploy
from infrastructure.deployment.code_package import PROJECT, is_source_path, source_files
from infrastructure.deployment.progress import DeploymentError, aws_errors, fail
from infrastructure.functions import FUNCTIONS, STAGES, Stage
from infrastructure.local_cloud import identity as local_identity
from infrastructure.local_cloud.emulator import is_free, running_emulator

_LOCAL: Final = "local"


def main() -> int:
    """Run Chalice's command line. Return the exit status of the process."""
    # Chalice's reloader starts this program again.
    sys.argv[0] = str(PROJECT / "bin" / "chalice")
    for name in (*_OF_DEPLOYED_CODE, *_OTHERS_WITHOUT_APP):
        command = cli.commands[name]
        command.callback = _prepared(command.callback)
    return int(chalice_main() or 0)


def _prepared(callback: Any) -> Callable[..., Any]:
    def run(*arguments: Any, **options: Any) -> Any:
        prepare()
        return callback(*arguments, **options)

    return run


@cache
def prepare() -> None:
    """Prepare this process for the Chalice command in its arguments.

    ``chalice local`` gets the identity of the local cloud. Instead of ``chalice deploy`` and
    ``chalice delete``, the project's deployment runs. Commands that read Chalice's record of the
    deployed resources get a record of the code stack. If a command cannot do what it promises,
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
    _adopt_local_cloud(stage)


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


def _deploy(command: click.Context) -> None:
    _run_for_stage(command, deploy.deploy_code)


def _delete(command: click.Context) -> None:
    _run_for_stage(command, deploy.delete_code)


def _refuse(command: click.Context) -> None:
    stage = command.params.get("stage", "dev")
    raise DeploymentError(
        f"chalice {command.info_name} knows neither the data stack nor the settings that Chalice"
        f" does not support. Run make deploy STAGE={stage}."
    )


def _refuse_policy(command: click.Context) -> None:
    raise DeploymentError(
        "chalice gen-policy does not find the AWS calls of the app. The policies of the functions"
        " are in .chalice/policies; make generate writes them from infrastructure/functions.py."
    )


def _refuse_pipeline(command: click.Context) -> None:
    raise DeploymentError(
        "chalice generate-pipeline creates a pipeline that does not deploy the data stack. Use"
        " docs/examples/deploy.yml (docs/first-deployment.md, Deployments from CI)."
    )


def _use_deployed_code(command: click.Context) -> None:
    """Replace Chalice's record of deployed resources by one of the code stack."""
    stage = _stage(command)
    if stage.is_emulated or local_identity.is_loopback(os.environ.get("AWS_ENDPOINT_URL", "")):
        _adopt_local_cloud(stage.name)
    else:
        _use_profile(command)
    with aws_errors():
        deployed = code_stack.deployed(stage.name)
    resources = [
        {
            "name": function.name,
            "resource_type": "lambda_function",
            "lambda_arn": f"{deployed.function_arns}:{function.deployed_name(stage.name)}",
        }
        for function in FUNCTIONS
    ]
    rest_api = {"rest_api_id": deployed.rest_api_id, "rest_api_url": deployed.base_url}
    resources.append({"name": "rest_api", "resource_type": "rest_api", **rest_api})
    record = DeployedResources({"resources": resources})
    config: Any = Config
    config.deployed_resources = lambda _config, _stage: record


_OF_DEPLOYED_CODE: Final = ("url", "invoke", "logs", "generate-sdk")
"""The commands that read Chalice's record of deployed resources."""
_OTHERS_WITHOUT_APP: Final = ("gen-policy", "generate-pipeline")
_COMMANDS: Final[dict[str, Callable[[click.Context], None]]] = {
    "local": _local,
    "deploy": _deploy,
    "delete": _delete,
    "package": _refuse,
    "plan": _refuse,
    "gen-policy": _refuse_policy,
    "generate-pipeline": _refuse_pipeline,
    **dict.fromkeys(_OF_DEPLOYED_CODE, _use_deployed_code),
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
    _use_profile(command)
    deploy.use_emulator(stage.name)
    sys.exit(deploy.run(lambda: action(stage)))


def _use_profile(command: click.Context) -> None:
    if profile := command.params.get("profile"):
        for variable in _OVERRIDE_PROFILE:
            os.environ.pop(variable, None)
        os.environ["AWS_PROFILE"] = profile


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
