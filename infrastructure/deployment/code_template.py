"""Add what Chalice does not support to the SAM template that it packages."""

import json
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from infrastructure.deployment import code_package, dependencies, firewall, gateway_responses
from infrastructure.deployment.code_package import Template
from infrastructure.deployment.progress import DeploymentError, fail
from infrastructure.functions import FUNCTIONS, PUBLIC_SUBMITS, Stage, Throttling, stage_named

PARTIAL_BATCH_RESPONSES: Final[list[Literal["ReportBatchItemFailures"]]] = [
    "ReportBatchItemFailures"
]
"""The value of an event source's `FunctionResponseTypes` that enables partial batch responses."""


@dataclass(frozen=True)
class Options:
    """What a template depends on besides the stage and the packaged app.

    Attributes:
        code_url: the S3 URL of the archive with the code.
        has_firewall: whether a web ACL protects the gateway's stage.
        boundary: the ARN of the permissions boundary of the functions' roles; ``""`` for none.
    """

    code_url: str
    has_firewall: bool = False
    boundary: str = ""


def complete(packaged: Template, stage: Stage, options: Options) -> Template:
    """Return the template of the code stack.

    CloudFormation updates a resource only if its properties change, so everything that a stage
    needs is in the template, also values that are defaults when a resource is created.
    """
    resources: dict[str, Any] = {}
    for name, resource in packaged["Resources"].items():
        properties = resource["Properties"]
        match resource["Type"]:
            case "AWS::Serverless::Function":
                properties = _function(properties, stage, options)
            case "AWS::Serverless::Api":
                properties = _api(properties, stage)
                if options.has_firewall:
                    resources |= firewall.resources(stage.name, name)
            case "AWS::IAM::Role" if options.boundary:
                properties = properties | {"PermissionsBoundary": options.boundary}
        resources[name] = resource | {"Properties": properties}
    return packaged | {"Resources": resources}


def _function(properties: Template, stage: Stage, options: Options) -> Template:
    names = {f"app.{function.name}": function.deployed_name(stage.name) for function in FUNCTIONS}
    names["app.app"] = names.pop("app.api_handler")
    added: Template = {
        # Alarms and log groups of the data stack contain the name.
        "FunctionName": names[properties["Handler"]],
        "CodeUri": options.code_url,
        "Tracing": "Active" if stage.tracing else "PassThrough",
    }
    if events := properties.get("Events"):
        added["Events"] = {name: _event(event) for name, event in events.items()}
    return properties | added


def _event(event: Template) -> Template:
    # An event source that was disabled stays disabled if the template does not enable it.
    properties = event["Properties"] | {"Enabled": True}
    if event["Type"] == "SQS":
        properties["FunctionResponseTypes"] = PARTIAL_BATCH_RESPONSES
    return event | {"Properties": properties}


def _api(properties: Template, stage: Stage) -> Template:
    added: Template = {
        # Without this version, SAM creates a second, public stage without limits and firewall.
        "OpenApiVersion": "2.0",
        # SAM deploys the API again if its definition changes. As resources of their own, the
        # responses would race with the deployment.
        "DefinitionBody": properties["DefinitionBody"] | gateway_responses.definition(),
        "TracingEnabled": stage.tracing,
    }
    if stage.throttling:
        added["MethodSettings"] = _method_settings(stage.throttling)
    return properties | added


def _method_settings(limits: Throttling) -> list[Template]:
    submits = [f"/{path.replace('/', '~1')}" for path in PUBLIC_SUBMITS]
    return [
        _method_setting("/*", "*", limits.rate, limits.burst),
        *(_method_setting(p, "POST", limits.submit_rate, limits.submit_burst) for p in submits),
    ]


def _method_setting(path: str, method: str, rate: int, burst: int) -> Template:
    return {
        "ResourcePath": path,
        "HttpMethod": method,
        "ThrottlingRateLimit": rate,
        "ThrottlingBurstLimit": burst,
    }


def main(arguments: list[str]) -> int:
    """Package the app, and write the template to the path in the first argument for the linter.

    The template contains every part that a stage can have. Return the exit status of the process.
    """
    output = Path(arguments[0])
    # Chalice requires a region. Any region works, because the template does not depend on it.
    os.environ.setdefault("AWS_DEFAULT_REGION", "eu-west-1")
    prod = replace(stage_named("prod"), tracing=True)
    try:
        packaged = code_package.package(
            prod.name, output.parent / "build", dependencies.runtime_of(prod)
        )
    except DeploymentError as error:
        return fail(str(error))
    boundary = "arn:aws:iam::123456789012:policy/boundary"
    options = Options("s3://artifacts/code.zip", has_firewall=True, boundary=boundary)
    output.write_text(json.dumps(complete(packaged.template, prod, options), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
