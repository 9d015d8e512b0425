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
from pathlib import Path
from types import FrameType
from typing import NoReturn

from botocore.exceptions import BotoCoreError, ClientError

from admin.services.solicitation.support_email import register_mail_domain
from infrastructure.deployment import code_stack, data_stack, public_base_url
from infrastructure.deployment.code_package import PROJECT
from infrastructure.deployment.progress import DeploymentError, console, fail, step
from infrastructure.functions import stage_named
from infrastructure.local_cloud import identity as local_identity
from infrastructure.local_cloud.emulator import Emulator, free_port, running_emulator, state_folder

STAGE = "local"
_SENDERS = "@example.com"
"""The domain of all senders of demo messages. The emulator also verifies its subdomains."""


def main(arguments: list[str]) -> int:
    """Run one command and return its exit status."""
    parser = argparse.ArgumentParser(prog="local_cloud", description=__doc__)
    parser.add_argument("--port", type=int, default=os.environ.get("PORT") or "4566")
    parser.add_argument("action", choices=["run", "up", "stop", "env", "with"])
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


def run_with(command: list[str]) -> int:
    """Start a temporary local cloud, run a command and return the command's exit status.

    For the command, the environment variable ``E2E_DEMO`` contains the path of the file with the
    demo's ids and credentials. ``LOG_NAME`` is part of the name of the log that is kept if the
    command fails.
    """
    folder = Path(tempfile.mkdtemp(prefix="feedback-cloud-"))
    emulator = Emulator(free_port(), folder)
    try:
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


def deploy(emulator: Emulator) -> None:
    """Deploy the data stack, the code stack and the demo data to a running emulator.

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
        shown.outcome = code_stack.deploy(stage_named(STAGE))
    base_url = code_stack.deployed(STAGE).base_url
    with step("Gateway") as shown:
        emulator.wait_for(f"{base_url}/openapi.json", "The gateway does not respond")
        public_base_url.store(STAGE, base_url)
        shown.outcome = "ready"
    _load_demo(base_url, emulator)


def demo_file(emulator: Emulator) -> Path:
    """Return the path of the file with the demo's ids and credentials."""
    return emulator.folder / "demo.json"


def _start(emulator: Emulator, *, printing: bool = False) -> "subprocess.Popen[bytes]":
    with step("Emulator") as shown:
        process = emulator.start(printing=printing)
        shown.outcome = f"on port {emulator.port}"
    try:
        deploy(emulator)
    except BaseException:
        # Kill the emulator instead of stopping it, so that it does not save a partial deployment.
        # The saved state of the previous run does not change.
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


def _load_demo(base_url: str, emulator: Emulator) -> None:
    urls = {"DEMO_WEBHOOK_URL": emulator.webhook_receiver, "DEMO_MAILBOX": emulator.mailbox}
    options = ("--base-url", base_url, "--output", demo_file(emulator))
    process = subprocess.run(
        [sys.executable, "-m", "admin", "demo-data", "load", *options],
        cwd=PROJECT,
        env=os.environ | urls,
        stdin=subprocess.DEVNULL,
    )
    if process.returncode != 0:
        raise DeploymentError("Loading the demo data failed; see the output above.")


def _stop_uninterrupted(emulator: Emulator) -> None:
    # The emulator saves its state when it stops. A second Ctrl-C must not interrupt this.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    emulator.stop()


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
