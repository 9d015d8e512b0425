"""Execute commands of the AWS command line, which the operating guide contains, with boto3."""

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
from botocore import xform_name
from botocore.model import Shape

_PLACEHOLDERS = {
    "UUID": lambda response: response["EventSourceMappings"][0]["UUID"],
    "ARN": lambda response: response["BackupDetails"]["BackupArn"],
    "URL": lambda response: response["QueueUrl"],
}
"""For each word in capital letters, where an earlier response contains its value."""


@dataclass
class AwsCommands:
    """Executes commands. Later commands use values from earlier responses."""

    responses: list[dict[str, Any]] = field(default_factory=list)
    clients: dict[str, Any] = field(default_factory=dict)

    def run(self, block: str) -> None:
        """Execute the commands of a code block."""
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words:
                self._execute(words)

    def _execute(self, words: list[str]) -> None:
        program, service, operation, *options = words
        assert program == "aws"
        if service not in self.clients:
            self.clients[service] = boto3.client(service)  # type: ignore[call-overload]
        client = self.clients[service]
        method = operation.replace("-", "_")
        name = client.meta.method_to_api_mapping[method]
        shape = client.meta.service_model.operation_model(name).input_shape
        members = {xform_name(member, "-"): member for member in shape.members}
        arguments: dict[str, Any] = {}
        while options:
            option = options.pop(0).removeprefix("--")
            if option in members and shape.members[members[option]].type_name != "boolean":
                value = self._value(options.pop(0))
                arguments[members[option]] = _parsed(value, shape.members[members[option]])
            else:
                arguments[members[option.removeprefix("no-")]] = not option.startswith("no-")
        self.responses.append(getattr(client, method)(**arguments))

    def _value(self, word: str) -> str:
        if word.startswith("file://"):
            return Path(word.removeprefix("file://")).read_text()
        if word not in _PLACEHOLDERS:
            return word
        for response in reversed(self.responses):
            try:
                return str(_PLACEHOLDERS[word](response))
            except KeyError:
                continue
        raise AssertionError(f"No earlier command returns {word}.")


def _parsed(value: str, shape: Shape) -> Any:
    if shape.type_name == "integer":
        return int(value)
    if shape.type_name != "structure":
        return value
    pairs = dict(pair.split("=") for pair in value.split(","))
    return {
        key: text == "true" if text in ("true", "false") else text for key, text in pairs.items()
    }
