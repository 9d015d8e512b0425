"""Read the example policies of the identities that deploy."""

import json
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[3] / "docs" / "examples"


def statements(name: str) -> list[dict[str, Any]]:
    """Return the statements of a policy."""
    found: list[dict[str, Any]] = json.loads((FOLDER / name).read_text())["Statement"]
    return found


def forbidden(name: str, actions: set[str]) -> list[str]:
    """Return the actions that a policy does not allow."""
    allowed = [action for statement in statements(name) for action in statement["Action"]]
    return sorted(a for a in actions if not any(fnmatch(a, pattern) for pattern in allowed))
