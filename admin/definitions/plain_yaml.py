"""YAML that holds what JSON can: a text stays the text that it looks like.

The rules of YAML 1.1 would turn the language ``no`` into false, a date into a moment, ``12:30``
into 750 and a phone number into an octal one.
"""

import re
from collections.abc import Iterator
from typing import Any

import yaml


class PlainLoader(yaml.SafeLoader):
    """Reads true, false, null and decimal numbers; all else that is unquoted is text."""

    yaml_implicit_resolvers = {}

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        """A mapping, whose keys may stand in it once only."""
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"the key {key.value!r} stands here twice", key.start_mark
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
    """The documents of a stream, in order.

    Raises:
        yaml.YAMLError: what comes next is no YAML.
    """
    return yaml.load_all(text, loader)
