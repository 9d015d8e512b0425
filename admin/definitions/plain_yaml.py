"""A YAML loader for the values of JSON, without the implicit types of YAML 1.1.

YAML 1.1 reads the language ``no`` as false, a date as a timestamp, ``12:30`` as 750 and a phone
number as an octal number.
"""

import re
from collections.abc import Iterator
from typing import Any

import yaml


class PlainLoader(yaml.SafeLoader):
    """Reads true, false, null and decimal numbers; any other unquoted scalar is a string."""

    yaml_implicit_resolvers = {}

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        """Return the mapping; a duplicate key is an error."""
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"duplicate key {key.value!r}", key.start_mark
                    )
                seen.add(key.value)
        return super().construct_mapping(node, deep)


def _read_as(tag: str, pattern: str, first: str) -> None:
    PlainLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{pattern})$"), [*first] or [""]
    )


_read_as("null", "null|Null|NULL|~", "nN~")
_read_as("null", "", first="")
_read_as("bool", "true|True|TRUE|false|False|FALSE", "tTfF")
_read_as("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789")
_read_as("float", r"[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", "-+0123456789")
_read_as("merge", "<<", "<")


def read_yaml(text: str, loader: type[PlainLoader] = PlainLoader) -> Iterator[Any]:
    """Yield the YAML documents of a stream in order.

    Raises:
        yaml.YAMLError: the next document is not valid YAML.
    """
    return yaml.load_all(text, loader)
