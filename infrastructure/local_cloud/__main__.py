"""The local cloud: run the complete service on one machine.

Deploys the data stack and the code stack to an emulator and loads demo data. The emulator's state
persists between runs, so only changes are deployed.
"""

import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import FrameType
from typing import NoReturn

from botocore.exceptions import BotoCoreError, ClientError

from admin.services.solicitation.support_email import register_mail_domain
from infrastructure.demo.description import DemoDescription
from infrastructure.demo.load import load as load_demo
from infrastructure.deployment import code_package, code_stack, data_stack, public_base_url
from infrastructure.deployment.code_package import PROJECT, CodePackage
from infrastructure.deployment.dependencies import THIS_MACHINE
from infrastructure.deployment.progress import DeploymentError, console, fail, step
from infrastructure.functions import stage_named
from infrastructure.local_cloud import identity as local_identity
from infrastructure.local_cloud.emulator import (
    Emulator,
    free_port,
    is_free,
    running_emulator,
    state_folder,
)

STAGE = "local"
_SENDERS = "@example.com"
"""The domain of all senders of demo messages. The emulator also verifies its subdomains."""


def main(arguments: list[str]) -> int:
    """Run one command and return its exit status."""
    parser = argparse.ArgumentParser(prog="local_cloud", description=__doc__)
    parser.add_argument("--port", type=int, default=os.environ.get("PORT") or "4566")
    parser.add_argument("action", choices=["run", "up", "stop", "env", "prepare", "with"])
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the command of the action with")
    options = parser.parse_args(arguments)
    if options.command and options.action != "with":
        parser.error(f"unrecognized arguments: {shlex.join(options.command)}")
    # Only this user may access the files that this process and its child processes create.
    os.umask(0o077)
    emulator = Emulator(options.port, state_folder())
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGHUP, _interrupt)
    commands: dict[str, Callable[[], int | None]] = {
        "run": lambda: run(emulator),
        "up": lambda: up(emulator),
        "stop": lambda: stop(emulator),
        "env": print_environment,
        "prepare": lambda: prepare(Emulator(free_port(), emulator.folder)),
        "with": lambda: run_with(options.command),
    }
    try:
        return commands[options.action]() or 0
    except DeploymentError as error:
        return fail(str(error))
    except (BotoCoreError, ClientError) as error:
        return fail(f"The local cloud failed: {error}")
    except OSError as error:
        return fail(f"The local cloud failed with an error of the operating system: {error}")
    except KeyboardInterrupt:
        return 130


def run(emulator: Emulator) -> int | None:
    """Start the local cloud and run it in the foreground until Ctrl-C or the command ``stop``."""
    process = _start(emulator, printing=True)
    try:
        _print_examples(emulator)
        console.print('Use it in another shell: eval "$(make env)"')
        console.print("Running. Press Ctrl-C to stop.")
        status = process.wait()
    except KeyboardInterrupt:
        status = 0
    finally:
        _stop_uninterrupted(emulator)
    if status != 0:
        return fail(f"The emulator exited with status {status}. See its log: {emulator.log}")
    return None


def up(emulator: Emulator) -> None:
    """Start the local cloud in the background, or deploy changes if it is already running."""
    if emulator.is_running():
        _, port = emulator.process_id_and_port()
        if port != emulator.port:
            raise DeploymentError(
                f"The local cloud in {emulator.folder} uses port {port}. Run make stop first, or"
                f" set PORT={port}."
            )
        deploy(emulator)
    else:
        _start(emulator)
    _print_examples(emulator)
    console.print('Use it in this shell: eval "$(make env)"')
    console.print("Running in the background. Stop it with make stop.")


def stop(emulator: Emulator) -> None:
    """Stop the local cloud and save its state for the next start."""
    console.print("Stopped." if emulator.stop() else "No local cloud is running.")


def print_environment() -> None:
    """Print shell commands that select the running local cloud and its demo account.

    Raises:
        DeploymentError: no local cloud is running, or its demo data is not loaded yet.
    """
    emulator = running_emulator()
    try:
        demo = json.loads(demo_file(emulator).read_text())
    except OSError:
        raise DeploymentError("The demo data is not loaded yet. Wait and try again.") from None
    cloud = local_identity.environment(emulator.endpoint, STAGE) | {
        "BASE_URL": demo["baseUrl"],
        "API_KEY": demo["apiKey"],
        "API_SECRET": demo["apiSecret"],
    }
    for name in sorted(set(os.environ) - set(cloud)):
        print(f"unset {name}")
    for name, value in sorted(cloud.items()):
        if os.environ.get(name) != value:
            print(f"export {name}={shlex.quote(value)}")


def prepare(emulator: Emulator) -> None:
    """Start the local cloud and stop it, so that other local clouds can start with its state."""
    _start(emulator)
    emulator.stop()


def run_with(command: list[str]) -> int:
    """Start a temporary local cloud, run a command and return the command's exit status.

    For the command, the environment variable ``E2E_DEMO`` contains the path of the file with the
    demo's ids and credentials. If ``PREPARED_STATE`` is a state folder, the local cloud starts with
    a copy of it, so that it deploys only what has changed since. ``LOG_NAME`` is part of the name
    of the log that is kept if the command fails.
    """
    folder = Path(tempfile.mkdtemp(prefix="feedback-cloud-"))
    emulator = Emulator(free_port(), folder)
    try:
        if prepared := os.environ.get("PREPARED_STATE"):
            shutil.copytree(prepared, folder, dirs_exist_ok=True)
        _start(emulator)
        status = _call(command, os.environ | {"E2E_DEMO": str(demo_file(emulator))})
        if status != 0:
            name = os.environ.get("LOG_NAME", "emulator")
            log_copy = PROJECT / ".build" / f"last-failed-{name}.log"
            log_copy.parent.mkdir(exist_ok=True)
            shutil.copyfile(emulator.log, log_copy)
            console.print(f"The output of the emulator and of the functions is in {log_copy}.")
        return status
    finally:
        _stop_uninterrupted(emulator)
        shutil.rmtree(folder, ignore_errors=True)


def deploy(emulator: Emulator, packaging: Future[CodePackage] | None = None) -> None:
    """Deploy the data stack, the code stack and the demo data to a running emulator.

    Args:
        packaging: the code's package, if it is already being built.

    Raises:
        DeploymentError: a step failed.
    """
    local_identity.adopt(emulator.endpoint, STAGE)
    with step("Data stack") as shown:
        shown.outcome = data_stack.deploy(STAGE)
        if shown.outcome == "created":
            # Delete the file: it contains credentials that an earlier emulator issued and that are
            # invalid now.
            demo_file(emulator).unlink(missing_ok=True)
    with step("Mail sender") as shown:
        shown.outcome = register_mail_domain(_SENDERS).domain
    with step("Code stack") as shown:
        shown.outcome = code_stack.deploy(stage_named(STAGE), packaging=packaging)
    base_url = code_stack.deployed(STAGE).base_url
    with step("Gateway") as shown:
        emulator.wait_for(f"{base_url}/openapi.json", "The gateway does not respond")
        public_base_url.store(STAGE, base_url)
        shown.outcome = "ready"
    with step("Demo data") as shown:
        shown.outcome = load_demo(
            base_url, demo_file(emulator), emulator.webhook_receiver, emulator.mailbox
        )


def _print_examples(emulator: Emulator) -> None:
    if description := DemoDescription.read(demo_file(emulator)):
        console.print(description.examples())
    console.print(f"All ids and credentials are in {demo_file(emulator)}.")


def demo_file(emulator: Emulator) -> Path:
    """Return the path of the file with the demo's ids and credentials."""
    return emulator.folder / "demo.json"


def _start(emulator: Emulator, *, printing: bool = False) -> "subprocess.Popen[bytes]":
    local_identity.adopt(emulator.endpoint, STAGE)
    # The thread must end before its folder is deleted.
    with (
        tempfile.TemporaryDirectory(prefix="feedback-package-") as folder,
        ThreadPoolExecutor(1) as packager,
    ):
        packaging = None
        if not emulator.has_state and is_free(emulator.port):
            # The first deployment needs the package. Build it while the emulator starts.
            package = partial(code_package.package, STAGE, Path(folder), THIS_MACHINE)
            packaging = packager.submit(package)
        with step("Emulator") as shown:
            process = emulator.start(printing=printing)
            shown.outcome = f"on port {emulator.port}"
        try:
            deploy(emulator, packaging)
        except BaseException:
            # Kill the emulator instead of stopping it, so that it does not save a partial
            # deployment. The saved state of the previous run does not change.
            emulator.kill(process.pid)
            process.wait()
            raise
        return process


def _call(command: list[str], environment: dict[str, str]) -> int:
    with subprocess.Popen(command, env=environment) as child:
        try:
            return child.wait()
        except KeyboardInterrupt:
            child.terminate()
            raise


def _stop_uninterrupted(emulator: Emulator) -> None:
    # The emulator saves its state when it stops. A second Ctrl-C must not interrupt this.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    emulator.stop()


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
