"""Deploy a stage to AWS with the caller's credentials.

A deployment consists of the data stack, the code stack and optionally the domain. If
``AWS_ENDPOINT_URL`` is set, the stage is deployed to that endpoint instead of AWS.
"""

import argparse
import os
import sys
from collections.abc import Callable
from typing import Any, Final, Unpack

import boto3

from infrastructure.deployment import (
    code_stack,
    data_stack,
    domain_stack,
    public_base_url,
    quotas,
    stacks,
)
from infrastructure.deployment.lock import deployment_lock
from infrastructure.deployment.progress import DeploymentError, aws_errors, console, fail, step
from infrastructure.functions import STAGES, Stage, stage_named
from infrastructure.local_cloud.identity import adopt, is_loopback

_KEPT: Final = {
    "alarm-email": "the address that receives alarms",
    "firewall": "whether a web ACL protects the gateway: yes or no",
    "domain": 'the domain of the stage, or "no"',
    "role": "the ARN of the role that CloudFormation assumes",
    "boundary": 'the ARN of the permissions boundary of the functions\' roles, or "no"',
}
"""The options that keep the value of the previous deployment by default."""


def main(arguments: list[str]) -> int:
    """Deploy one stage. Return the exit status of the process."""
    parser = argparse.ArgumentParser(prog="make deploy", description=__doc__)
    stages = [stage.name for stage in STAGES if stage.name != "local"]
    parser.add_argument("--stage", choices=stages, help="the stage to deploy")
    types = {"domain": domain_stack.parse_domain, "firewall": _yes_or_no}
    for name, text in _KEPT.items():
        text += "; default: as in the previous deployment"
        parser.add_argument(f"--{name}", type=types.get(name, str), help=text)
    preview_text = "whether to print what the deployment would change instead of deploying"
    parser.add_argument("--preview", type=_yes_or_no, default="no", help=preview_text)
    watch_text = "whether to roll the code back if the alarm of the stage on deployments fires"
    parser.add_argument("--watch", type=_yes_or_no, default="yes", help=watch_text)
    options = parser.parse_args(arguments)
    if options.stage is None:
        return fail("Set the stage: make deploy STAGE=dev (make up deploys the local stage).")
    settings: Any = {name: getattr(options, name) for name in data_stack.Settings.__annotations__}
    use_emulator(options.stage)
    if options.preview == "yes":
        return run(lambda: preview(options.stage, **settings))
    return run(lambda: deploy(options.stage, is_watched=options.watch == "yes", **settings))


def _yes_or_no(text: str) -> str:
    if text not in ("yes", "no"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither yes nor no")
    return text


def use_emulator(stage: str) -> None:
    """If the environment selects the emulator, remove the other AWS settings of the caller.

    The emulator needs no credentials, and must not get those of the caller.
    """
    endpoint = os.environ.get("AWS_ENDPOINT_URL", "")
    if is_loopback(endpoint):
        adopt(endpoint, stage)


def run(action: Callable[[], str]) -> int:
    """Run an action that returns a closing message. Print it, or the error as one line.

    Return the exit status of the process.
    """
    try:
        with aws_errors():
            console.print(action())
    except DeploymentError as error:
        return fail(str(error))
    except KeyboardInterrupt:
        return fail(
            "Interrupted. Operations that AWS has started continue. Run the command again to"
            " finish the deployment: it waits until they have ended."
        )
    return 0


def deploy(
    stage_name: str, *, is_watched: bool = True, **settings: Unpack[data_stack.Settings]
) -> str:
    """Deploy one stage. Return its name and its base URL. After a failure, call it again.

    Args:
        is_watched: whether an update of the code is rolled back if the stage's alarm fires.

    Raises:
        DeploymentError: a step failed.
    """
    stage = stage_named(stage_name)
    require_loopback(stage)
    with deployment_lock(stage.name):
        quotas.require_concurrency(stage)
        with step("Data stack") as shown:
            shown.outcome = data_stack.deploy(stage_name, **settings)
        closing = _deploy_code(stage, is_watched=is_watched)
        if settings.get("domain") == data_stack.NO:
            # Links no longer use the domain.
            with step("Domain"):
                domain_stack.delete(stage_name)
        return closing


def preview(stage_name: str, **settings: Unpack[data_stack.Settings]) -> str:
    """Print what ``deploy`` with the same arguments would change. Return a closing message.

    Raises:
        DeploymentError: the deployment would fail at its start.
    """
    stage = stage_named(stage_name)
    require_loopback(stage)
    quotas.require_concurrency(stage)
    _show("Data stack", lambda: data_stack.changes(stage_name, **settings))
    planned = data_stack.planned_outputs(stage_name, **settings)
    _show("Code stack", lambda: code_stack.changes(stage, planned))
    return f"Nothing was changed. To deploy, run make deploy STAGE={stage_name} without PREVIEW."


def deploy_code(stage: Stage) -> str:
    """Deploy the code of a stage whose data stack is up to date.

    Return the stage's name and the URL of its gateway. After a failure, call it again.

    Raises:
        DeploymentError: the data stack does not exist or differs from the template of this commit
            (then nothing has changed), or a step failed.
    """
    require_loopback(stage)
    with deployment_lock(stage.name):
        if not data_stack.outputs(stage.name).deployment_bucket:
            raise DeploymentError(
                f"The stage {stage.name} has no data stack. Run make deploy STAGE={stage.name}."
            )
        if not data_stack.is_current(stage.name):
            raise DeploymentError(
                f"The data stack of the stage {stage.name} differs from the template of this"
                f" commit. Run make deploy STAGE={stage.name}."
            )
        quotas.require_concurrency(stage)
        return _deploy_code(stage)


def delete_code(stage: Stage) -> str:
    """Delete the domain, the code stack and the base URL of a stage.

    Return a closing message.

    Raises:
        DeploymentError: no code is deployed, or a stack could not be deleted.
    """
    require_loopback(stage)
    with deployment_lock(stage.name):
        if not stacks.exists(code_stack.stack_name(stage.name)):
            raise DeploymentError(f"No code of the stage {stage.name} is deployed.")
        # AWS does not delete an API that a domain is mapped to.
        with step("Domain"):
            domain_stack.delete(stage.name)
        with step("Code stack"):
            stacks.delete(code_stack.stack_name(stage.name))
        public_base_url.delete(stage.name)
        return f"The code of the stage {stage.name} is deleted. Its data stack is unchanged."


def _deploy_code(stage: Stage, *, is_watched: bool = True) -> str:
    with step("Code stack") as shown:
        shown.outcome = code_stack.deploy(stage, is_watched=is_watched)
    deployed = code_stack.deployed(stage.name)
    url, data = deployed.base_url, data_stack.outputs(stage.name)
    if data.domain and _is_served(stage.name, data, deployed.rest_api_id):
        url = f"https://{data.domain}"
    with step("Public address") as shown:
        shown.outcome = public_base_url.store(stage.name, url)
    return f"Stage {stage.name}: {url}"


def _show(name: str, find_changes: Callable[[], list[str]]) -> None:
    with step(name) as shown:
        changes = find_changes()
        shown.outcome = "differs" if changes else "unchanged"
    for change in changes:
        console.print(f"  {change}", markup=False)


def _is_served(stage: str, data: data_stack.Outputs, rest_api_id: str) -> bool:
    """Continue the set-up of the domain. Return whether links can use the domain."""
    domain = data.domain
    is_in_use = public_base_url.load(stage) == f"https://{domain}"
    with step("Domain") as shown:
        progress = domain_stack.deploy(
            stage, domain, rest_api_id, is_in_use=is_in_use, role=data.role
        )
        shown.outcome = progress.state
    if not progress.is_served:
        for record in progress.missing:
            console.print(f"  Missing DNS record: {record}")
        console.print(
            f"  Links use the address of the gateway until {domain} responds. Then deploy again."
        )
    return progress.is_served


def require_loopback(stage: Stage) -> None:
    """Check that a stage for the emulator is deployed only to the loopback address.

    Raises:
        DeploymentError: the stage is for the emulator, and an endpoint has another address.
    """
    if not stage.is_emulated:
        return
    create: Any = boto3.client
    services = ("cloudformation", "lambda", "apigateway", "ssm")
    if not all(is_loopback(create(service).meta.endpoint_url) for service in services):
        raise DeploymentError(
            f"The stage {stage.name} allows private webhook addresses and has no rate limits."
            " Deploy it only to an endpoint on the loopback address (AWS_ENDPOINT_URL)."
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
