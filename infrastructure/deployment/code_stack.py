"""Deploy the packaged app to the local cloud as a CloudFormation stack."""

import json
from pathlib import Path

from infrastructure.deployment import code_package, stacks
from infrastructure.deployment.dependencies import THIS_MACHINE

STAGE = "local"
STACK = f"feedback-{STAGE}-code"


def deploy(folder: Path) -> str:
    """Package the app in ``folder``. Deploy the package if the app has changed.

    Return ``"created"``, ``"updated"`` or ``"unchanged"``.

    Raises:
        DeploymentError: packaging or deployment failed.
    """
    content = code_package.source_hash()
    if stacks.is_current(STACK, content):
        return "unchanged"
    package = code_package.package(STAGE, folder, THIS_MACHINE)
    archive = f"{content}.zip"
    bucket = stacks.upload(archive, package.archive.read_bytes())
    template = code_package.complete(package.template, f"s3://{bucket}/{archive}")
    return stacks.deploy(STACK, content, template=json.dumps(template))


def base_url(port: int) -> str:
    """Return the base URL of the app on the local cloud at ``port``, without a trailing slash."""
    rest_api_id = stacks.outputs(STACK)["RestAPIId"]
    return f"http://127.0.0.1:{port}/restapis/{rest_api_id}/{STAGE}/_user_request_"
