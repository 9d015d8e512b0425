"""Deploy the code stack: functions, roles, routes, event sources and the firewall."""

import hashlib
import json
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import boto3

from infrastructure.deployment import code_package, data_stack, stacks
from infrastructure.deployment.code_template import Options, complete
from infrastructure.deployment.data_stack import Outputs
from infrastructure.deployment.dependencies import runtime_of
from infrastructure.deployment.progress import DeploymentError
from infrastructure.functions import Stage
from infrastructure.local_cloud.identity import is_loopback

_OTHER_METHODS: Final = "x-amazon-apigateway-any-method"
"""The operation of a path for all methods without an operation of their own."""


@dataclass(frozen=True)
class DeployedCode:
    """The deployed code of a stage.

    Attributes:
        rest_api_id: the id of the REST API.
        base_url: the URL of the API, without a trailing slash.
        function_arns: the part that the ARNs of all functions share, without the last colon.
    """

    rest_api_id: str
    base_url: str
    function_arns: str


def stack_name(stage: str) -> str:
    """Return the name of the code stack of a stage."""
    return f"feedback-{stage}-code"


def deploy(
    stage: Stage,
    *,
    is_watched: bool = True,
    packaging: Future[code_package.CodePackage] | None = None,
) -> str:
    """Package the app, and deploy the package if it or a setting of the data stack has changed.

    Return ``"created"``, ``"updated"`` or ``"unchanged"``. If an update fails, CloudFormation
    restores the previous functions and routes.

    Args:
        is_watched: whether CloudFormation rolls an update back if the stage's alarm on deployments
            fires.
        packaging: the package for this stage, if the caller has started to build it.

    Raises:
        DeploymentError: packaging or deployment failed.
    """
    data = data_stack.outputs(stage.name)
    name = stack_name(stage.name)
    settings = json.dumps([data.has_firewall, data.boundary])
    content = stacks.content_hash([code_package.source_hash(runtime_of(stage)), settings])
    if stacks.is_current(name, content):
        return "unchanged"
    with _packaged(stage, data, packaging) as (template, archive, key):
        s3 = boto3.client("s3")
        s3.put_object(Bucket=data.deployment_bucket, Key=key, Body=archive.read_bytes())
    alarms = [data.deployment_alarm] if data.deployment_alarm and is_watched else []
    return stacks.deploy(name, content, template=template, role=data.role, alarms=alarms)


def changes(stage: Stage, data: Outputs) -> list[str]:
    """Return what ``deploy`` would change, one line each. Change nothing.

    Args:
        data: the outputs that the data stack has when the code is deployed.

    Raises:
        DeploymentError: the code cannot be packaged, or CloudFormation rejects the template.
    """
    name = stack_name(stage.name)
    with _packaged(stage, data) as (template, _, _):
        found = stacks.changes(name, template, role=data.role)
    expected, deployed = _routes(json.loads(template)), _routes(stacks.template_of(name))
    routes = sorted(expected ^ deployed)
    return [*found, *(f"{'Add' if r in expected else 'Remove'} {r}" for r in routes)]


def deployed(stage: str) -> DeployedCode:
    """Return the deployed code of a stage.

    Raises:
        DeploymentError: no code is deployed.
    """
    outputs = stacks.outputs(stack_name(stage))
    if not outputs:
        raise DeploymentError(f"No code of the stage {stage} is deployed.")
    rest_api, url = outputs["RestAPIId"], outputs["EndpointURL"].rstrip("/")
    endpoint = boto3.client("cloudformation").meta.endpoint_url
    if is_loopback(endpoint):
        url = f"{endpoint}/restapis/{rest_api}/{stage}/_user_request_"
    return DeployedCode(rest_api, url, outputs["APIHandlerArn"].rpartition(":")[0])


@contextmanager
def _packaged(
    stage: Stage, data: Outputs, packaging: Future[code_package.CodePackage] | None = None
) -> Iterator[tuple[str, Path, str]]:
    """Package the app in a temporary folder. Yield the template, the archive and its S3 key."""
    with tempfile.TemporaryDirectory(prefix="feedback-deploy-") as folder:
        if packaging:
            package = packaging.result()
        else:
            package = code_package.package(stage.name, Path(folder), runtime_of(stage))
        # CloudFormation reads the archive of the previous deployment again for a rollback.
        key = f"{hashlib.sha256(package.archive.read_bytes()).hexdigest()}.zip"
        options = Options(f"s3://{data.deployment_bucket}/{key}", data.has_firewall, data.boundary)
        template = complete(package.template, stage, options)
        yield json.dumps(template, separators=(",", ":")), package.archive, key


def _routes(template: code_package.Template) -> set[str]:
    """Return the routes of a template in the form ``GET /path``."""
    return {
        f"{'ANY' if method == _OTHER_METHODS else method.upper()} {path}"
        for resource in template.get("Resources", {}).values()
        if resource["Type"] == "AWS::Serverless::Api"
        for path, methods in resource["Properties"]["DefinitionBody"]["paths"].items()
        for method in methods
    }
