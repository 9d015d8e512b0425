"""Chalice's configuration, and a policy for each function and stage."""

import json
from pathlib import Path
from typing import Any, Final

from chalicelib import __version__
from infrastructure.functions import FUNCTIONS, STAGES, Function, Stage

CONFIG: Final = Path(__file__).resolve().parents[2] / ".chalice" / "config.json"
POLICIES: Final = CONFIG.with_name("policies")

Json = dict[str, Any]


def files() -> dict[Path, str]:
    """Return the texts of the configuration and of the policies by path."""
    policies = {
        policy_file(function, stage): policy(function, stage)
        for function in FUNCTIONS
        for stage in STAGES
    }
    documents = {CONFIG: chalice_config(), **policies}
    return {path: json.dumps(document, indent=2) + "\n" for path, document in documents.items()}


def policy_file(function: Function, stage: Stage) -> Path:
    """Return the path of the policy file of a function in a stage."""
    return POLICIES / f"{stage.name}-{function.name}.json"


def chalice_config() -> Json:
    """Return Chalice's configuration."""
    return {
        "version": "2.0",
        "app_name": "feedback",
        "autogen_policy": False,
        # Without this setting, the emulator cannot create the REST API.
        "minimum_compression_size": 1024,
        "api_gateway_endpoint_type": "REGIONAL",
        "stages": {
            stage.name: {
                "api_gateway_stage": stage.name,
                "environment_variables": environment(stage),
                "lambda_functions": {
                    function.name: _function_config(function, stage) for function in FUNCTIONS
                },
            }
            for stage in STAGES
        },
    }


def environment(stage: Stage) -> dict[str, str]:
    """Return the environment variables of all functions in a stage."""
    return {"STAGE": stage.name, "VERSION": __version__, **stage.environment}


def policy(function: Function, stage: Stage) -> Json:
    """Return the IAM policy of a function in a stage.

    The AWS account and region in resource names are wildcards, because they are unknown when the
    policy is generated. The wildcards give no access to another AWS account, because that account
    would have to allow the access too.
    """
    prefix = f"feedback-{stage.name}"
    logs = [
        f"arn:aws:logs:*:*:log-group:/aws/lambda/{prefix}:*",
        f"arn:aws:logs:*:*:log-group:/aws/lambda/{prefix}-*:*",
    ]
    statements = [_allow("logs", ("CreateLogStream", "PutLogEvents"), logs)]
    for name, actions in function.tables.items():
        table, _, index = name.partition("/")
        resource = f"arn:aws:dynamodb:*:*:table/{prefix}-{table}"
        statements.append(
            _allow("dynamodb", actions, [f"{resource}/index/{index}" if index else resource])
        )
    for queue, actions in function.queues.items():
        statements.append(_allow("sqs", actions, [f"arn:aws:sqs:*:*:{prefix}-{queue}"]))
    if function.reads_stage_values:
        # Secrets Manager appends six random characters to the name in the ARN.
        secret = f"arn:aws:secretsmanager:*:*:secret:{prefix}-stage-secret-*"
        statements.append(_allow("secretsmanager", ("GetSecretValue",), [secret]))
        parameter = f"arn:aws:ssm:*:*:parameter/{prefix}-public-base-url"
        statements.append(_allow("ssm", ("GetParameter",), [parameter]))
    if function.sends_messages:
        statements += _messages()
    if stage.tracing:
        # X-Ray has no resources.
        statements.append(_allow("xray", ("PutTraceSegments", "PutTelemetryRecords"), ["*"]))
    return {"Version": "2012-10-17", "Statement": statements}


def _function_config(function: Function, stage: Stage) -> Json:
    config: Json = {
        "lambda_memory_size": stage.memory_mb.get(function.name, function.memory_mb),
        "lambda_timeout": function.timeout_s,
        "iam_policy_file": str(policy_file(function, stage).relative_to(CONFIG.parent)),
    }
    if function.name in stage.reserved_concurrency:
        config["reserved_concurrency"] = stage.reserved_concurrency[function.name]
    return config


def _allow(service: str, actions: tuple[str, ...], resources: list[str]) -> Json:
    return {
        "Effect": "Allow",
        "Action": [f"{service}:{action}" for action in actions],
        "Resource": resources,
    }


def _messages() -> list[Json]:
    """Return the statements that allow e-mails and text messages, but no messages to topics.

    A phone number has no ARN, so the resource of text messages is a wildcard.
    """
    topics = _allow("sns", ("Publish",), ["arn:aws:sns:*:*:*"]) | {"Effect": "Deny"}
    return [
        _allow("ses", ("SendRawEmail",), ["arn:aws:ses:*:*:identity/*"]),
        _allow("sns", ("Publish",), ["*"]),
        topics,
    ]
