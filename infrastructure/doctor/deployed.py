"""Read the deployed resources of a stage. Each kind of resource is read once, on first use."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Final

import boto3

from chalicelib.queues import Queue
from chalicelib.settings import settings
from infrastructure.doctor.template import ResolvedTemplate
from infrastructure.functions import FUNCTIONS, Function, Stage

_REST_API: Final = "feedback"
_DEPLOY: Final = (
    "Deploy the stage: make deploy STAGE={stage}. If this commit is already deployed, change the"
    " setting back yourself: CloudFormation compares the templates, not the resources."
)
_DEPLOY_LOCALLY: Final = (
    "Deploy changes: make up. If the problem remains, delete the local cloud's data and create the"
    " local cloud again: make stop, rm -r .local/state, make up."
)


class DeployedStage:
    """A stage, its expected resources, and its deployed resources.

    Args:
        region: the AWS region of the stage. Default: the region of the settings.
    """

    def __init__(self, stage: Stage, region: str | None = None) -> None:
        self.stage = stage
        self._region = region or settings().region
        self.template = ResolvedTemplate(stage.name)
        self._clients: dict[str, Any] = {}

    @property
    def start_fix(self) -> str:
        """How to start a stage that an operator has stopped."""
        command = f"bin/feedback-admin --stage {self.stage.name} stage start"
        return f"If the stage was stopped, run: {command}."

    @property
    def deploy_fix(self) -> str:
        """How to deploy a missing or changed resource of the stage."""
        is_local = self.stage.name == "local"
        return _DEPLOY_LOCALLY if is_local else _DEPLOY.format(stage=self.stage.name)

    def client(self, service: str) -> Any:
        """Return a client of an AWS service in the region of the stage."""
        if service not in self._clients:
            create: Any = boto3.client
            self._clients[service] = create(service, region_name=self._region)
        return self._clients[service]

    def listed(self, service: str, operation: str, key: str, **request: Any) -> Iterator[Any]:
        """Yield the items with this key on all pages of an operation."""
        pages = self.client(service).get_paginator(operation).paginate(**request)
        yield from pages.search(f"{key} || `[]`")  # a page without items can lack the key

    def resource_name(self, name: str) -> str:
        """Return the full name of a table or queue."""
        return f"feedback-{self.stage.name}-{name}"

    @cached_property
    def expected_tables(self) -> dict[str, dict[str, Any]]:
        """The properties of the template's tables by name."""
        return self.template.by_name("AWS::DynamoDB::Table", "TableName")

    @cached_property
    def tables(self) -> dict[str, dict[str, Any]]:
        """The descriptions of the deployed tables by name."""
        dynamodb = self.client("dynamodb")
        found: dict[str, dict[str, Any]] = {}
        for name in self.expected_tables:
            try:
                found[name] = dynamodb.describe_table(TableName=name)["Table"]
            except dynamodb.exceptions.ResourceNotFoundException:
                continue
        return found

    def function_name(self, function: Function) -> str:
        """Return the name of the deployed function."""
        return function.deployed_name(self.stage.name)

    @cached_property
    def functions(self) -> dict[str, dict[str, Any]]:
        """The configurations of all functions of the AWS account by name."""
        return {
            function["FunctionName"]: function
            for function in self.listed("lambda", "list_functions", "Functions")
        }

    @cached_property
    def stage_functions(self) -> list[tuple[Function, str, dict[str, Any]]]:
        """The deployed functions of the manifest, each with its name and its configuration."""
        named = [(function, self.function_name(function)) for function in FUNCTIONS]
        return [
            (function, name, self.functions[name])
            for function, name in named
            if name in self.functions
        ]

    def event_source(self, queue: Queue) -> dict[str, Any] | None:
        """Return the event source mapping of a queue. None if it does not exist."""
        return self._event_sources.get(self.resource_name(queue.name))

    @cached_property
    def _event_sources(self) -> Mapping[str, dict[str, Any]]:
        mappings = self.listed("lambda", "list_event_source_mappings", "EventSourceMappings")
        return {mapping["EventSourceArn"].rpartition(":")[2]: mapping for mapping in mappings}

    @cached_property
    def topics(self) -> dict[str, str]:
        """The ARNs of all topics of the AWS account by name."""
        arns = self.listed("sns", "list_topics", "Topics[].TopicArn")
        return {arn.rpartition(":")[2]: arn for arn in arns}

    @cached_property
    def _gateway_stage(self) -> tuple[str, dict[str, Any]] | None:
        """The id of the REST API, and the gateway's stage. None if the stage does not exist."""
        gateway = self.client("apigateway")
        for api in self.listed("apigateway", "get_rest_apis", "items"):
            if api["name"] == _REST_API:
                for stage in gateway.get_stages(restApiId=api["id"])["item"]:
                    if stage["stageName"] == self.stage.name:
                        return api["id"], stage
        return None

    @property
    def method_settings(self) -> dict[str, dict[str, Any]] | None:
        """The settings of the gateway's stage by method. None if the stage does not exist."""
        if self._gateway_stage is None:
            return None
        _, stage = self._gateway_stage
        return {
            method.replace("~1", "/").strip("/"): settings
            for method, settings in stage.get("methodSettings", {}).items()
        }
