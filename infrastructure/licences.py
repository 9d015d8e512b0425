"""List the licences of all locked Python packages."""

import re
from importlib.metadata import distribution, metadata
from pathlib import Path
from typing import Any, Final

from infrastructure.deployment.code_package import PROJECT

PAGE: Final = PROJECT / "docs" / "licences.md"
_SHIPPED: Final = PROJECT / "requirements.txt"
_DEVELOPMENT: Final = PROJECT / "requirements-dev.txt"
_MAX_LENGTH: Final = 60


def files() -> dict[Path, str]:
    """Return the page that lists the licences of shipped and of development packages, by path."""
    shipped = _names(_SHIPPED)
    development = [name for name in _names(_DEVELOPMENT) if name not in shipped]
    page = (
        "# Licences\n\nWritten by `make generate` from the metadata of the locked packages.\n\n"
        f"## Packages in the Lambda functions\n\n{_table(shipped)}\n"
        f"## Packages for development\n\n{_table(development)}"
    )
    return {PAGE: page}


def licence_of(name: str) -> str:
    """Return the licence that an installed package declares.

    The result is the package's licence expression or, if that is missing, its licence text if the
    text is one short line. Otherwise, the result is the licence classifiers or, if there are none,
    the first line of the licence file.

    Raises:
        ValueError: the package declares no licence.
    """
    declared: Any = metadata(name)
    text = str(declared.get("License-Expression") or declared.get("License") or "")
    if text and "\n" not in text and len(text) <= _MAX_LENGTH:
        return str(text)
    classifiers = declared.get_all("Classifier") or []
    names = [c.rpartition(" :: ")[2] for c in classifiers if c.startswith("License :: ")]
    if names:
        return ", ".join(names)
    file = distribution(name).read_text(f"licenses/{declared.get('License-File')}")
    if not file:
        raise ValueError(f"The package {name} declares no licence.")
    return file.partition("\n")[0].strip()


def _table(names: list[str]) -> str:
    rows = "".join(f"| {name} | {licence_of(name)} |\n" for name in names)
    return f"| Package | Licence |\n|---|---|\n{rows}"


def _names(file: Path) -> list[str]:
    return re.findall(r"^([a-z0-9][a-z0-9-]*)==", file.read_text(), re.MULTILINE)
