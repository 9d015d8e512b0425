"""Deploy the packaged app to the local cloud as a CloudFormation stack."""

import contextlib
import json
from pathlib import Path

import boto3

from infrastructure.deployment import code_package, stacks
from infrastructure.deployment.dependencies import THIS_MACHINE
from infrastructure.local_cloud.identity import REGION

STAGE = "local"
STACK = f"feedback-{STAGE}-code"
_BUCKET = f"feedback-{STAGE}-artifacts"


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
    s3 = boto3.client("s3")
    with contextlib.suppress(s3.exceptions.BucketAlreadyOwnedByYou):
        s3.create_bucket(Bucket=_BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    archive, template = f"{content}.zip", f"{content}.json"
    completed = code_package.complete(package.template, f"s3://{_BUCKET}/{archive}")
    s3.upload_file(str(package.archive), _BUCKET, archive)
    s3.put_object(Bucket=_BUCKET, Key=template, Body=json.dumps(completed).encode())
    return stacks.deploy(
        STACK, content, template_url=f"https://s3.amazonaws.com/{_BUCKET}/{template}"
    )


def base_url(port: int) -> str:
    """Return the base URL of the app on the local cloud at ``port``, without a trailing slash."""
    rest_api_id = stacks.outputs(STACK)["RestAPIId"]
    return f"http://127.0.0.1:{port}/restapis/{rest_api_id}/{STAGE}/_user_request_"
