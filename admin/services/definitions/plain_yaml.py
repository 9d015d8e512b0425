"""A YAML loader that produces only the data types of JSON.

The default loader implements YAML 1.1, which converts the language ``no`` to false, dates to
timestamps, ``12:30`` to 750, and some phone numbers to octal numbers.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import yaml

MAX_ALIASES: Final = 100
"""Maximum number of aliases in a file.

Nested aliases are not allowed, because they could multiply the size of a file without limit.
"""


_JSON_TYPES: Final = frozenset({"null", "bool", "int", "float", "str", "seq", "map"})


class PlainLoader(yaml.SafeLoader):
    """A YAML loader that converts unquoted true, false, null and decimal numbers.

    It returns all other scalars as strings. Explicit tags can select only the data types of JSON.
    """

    yaml_implicit_resolvers = {}
    yaml_constructors = {
        tag: constructor
        for tag, constructor in yaml.SafeLoader.yaml_constructors.items()
        if tag is None or tag.rpartition(":")[2] in _JSON_TYPES
    }

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._aliases = 0
        self._containing_aliases: set[yaml.Node | None] = set()

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Return the next node. Raise a YAML error if the node is an alias that is not allowed."""
        if self.check_event(yaml.AliasEvent):
            event: Any = self.peek_event()  # type: ignore[no-untyped-call]
            self._aliases += 1
            if self._aliases > MAX_ALIASES:
                problem = f"too many aliases (at most {MAX_ALIASES})"
                raise yaml.composer.ComposerError(None, None, problem, event.start_mark)
            if self.anchors.get(event.anchor) in self._containing_aliases:
                problem = f"the alias {event.anchor!r} refers to other aliases"
                raise yaml.composer.ComposerError(None, None, problem, event.start_mark)
            return super().compose_node(parent, index)
        aliases = self._aliases
        node = super().compose_node(parent, index)
        if self._aliases > aliases:
            self._containing_aliases.add(node)
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Return the value of a node. Raise a YAML error if the node's text does not fit its tag.

        A number can also have too many digits for Python.
        """
        try:
            return super().construct_object(node, deep)
        except (KeyError, ValueError):
            problem = f"invalid {node.tag.rpartition(':')[2]} value"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        """Return the mapping as a dictionary. Raise a YAML error if a key occurs twice."""
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


class _PlainDumper(yaml.SafeDumper):
    """A YAML writer that quotes strings that a YAML parser would read as another type."""

    yaml_implicit_resolvers = {
        first: [
            *yaml.SafeDumper.yaml_implicit_resolvers.get(first, ()),
            *PlainLoader.yaml_implicit_resolvers.get(first, ()),
        ]
        for first in (
            *yaml.SafeDumper.yaml_implicit_resolvers,
            *PlainLoader.yaml_implicit_resolvers,
        )
    }

    def ignore_aliases(self, _data: Any) -> bool:
        """Write repeated values in full, without YAML aliases."""
        return True


def _represent_text(dumper: _PlainDumper, text: str) -> yaml.Node:
    """Write texts with line breaks other than line feeds, or with direction characters, in quotes.

    YAML would change unquoted line breaks. The terminal escapes direction characters, and YAML
    reads the escape sequences only in double quotes.
    """
    style = '"' if _QUOTED.intersection(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_QUOTED: Final = frozenset(
    "\r\x85\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_PlainDumper.add_representer(str, _represent_text)


def write_yaml(value: Any) -> str:
    """Return the YAML text from which `read_yaml` reads an equal value."""
    return yaml.dump(value, Dumper=_PlainDumper, allow_unicode=True, sort_keys=False, width=100)
