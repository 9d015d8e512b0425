"""Execute commands of the AWS command line, which the guides contain, with boto3."""

import shlex
from pathlib import Path
from typing import Any

from botocore import xform_name


def run_aws_commands(block: str, client: Any) -> None:
    """Execute the commands of a code block, whose options are texts, with the client."""
    for line in block.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        program, service, operation, *options = words
        assert (program, service) == ("aws", client.meta.service_model.service_name)
        method = operation.replace("-", "_")
        name = client.meta.method_to_api_mapping[method]
        members = client.meta.service_model.operation_model(name).input_shape.members
        named = {f"--{xform_name(member, '-')}": member for member in members}
        pairs = zip(options[::2], options[1::2], strict=True)
        getattr(client, method)(**{named[option]: _value(word) for option, word in pairs})


def _value(word: str) -> str:
    is_file = word.startswith("file://")
    return Path(word.removeprefix("file://")).read_text() if is_file else word
