"""Compile the templates and the modules of the packaged app.

Lambda's folder with the code is read-only: without byte code in the package, each cold start
compiles every module that it imports, and every template of its first page.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from jinja2 import FileSystemLoader

from chalicelib.web.pages import page
from infrastructure.deployment.dependencies import THIS_MACHINE, UV
from infrastructure.deployment.progress import DeploymentError

_PROJECT: Final = Path(__file__).resolve().parents[2]
_NOT_IMPORTED: Final = (
    "aws_lambda_powertools/event_handler/",
    "aws_lambda_powertools/utilities/data_classes/",
    "aws_lambda_powertools/utilities/parser/",
    "dns/",
    "phonenumbers/data/region_",  # one small module for each region, imported for its numbers
    "phonenumbers/shortdata/region_",
    "pydantic/v1/",
)
"""Prefixes of modules that a cold start does not import. Their byte code would only take space."""


def compile_templates(folder: Path) -> None:
    """Add a module to a folder of the app for each template that functions render."""
    templates = folder / page.TEMPLATES.relative_to(_PROJECT)
    environment = page.environment().overlay()
    environment.loader = FileSystemLoader(templates)
    compiled = folder / page.COMPILED.relative_to(_PROJECT)
    # `make openapi` renders the API reference. Functions only send the result.
    environment.compile_templates(
        compiled, zip=None, filter_func=lambda name: name != "docs.html", ignore_errors=False
    )


def compile_modules(folder: Path, python_version: str) -> None:
    """Add the byte code of the modules in a folder, for a minor version of Python.

    Python uses this byte code without comparing it with the source (PEP 552, unchecked hash).
    Another version of Python ignores it, because the file names contain the version. Equal
    modules in different folders result in equal byte code.

    Raises:
        DeploymentError: no interpreter of this version was found, or a module has an error.
    """
    command = [sys.executable]
    if python_version != THIS_MACHINE.python_version:
        command = [str(UV), "run", "--quiet", "--no-project", "--python", python_version, "python"]
    folder = folder.resolve()
    # uv searches the PATH. The interpreters of pyenv are there only if pyenv has selected them.
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    interpreters = map(str, pyenv.glob(f"versions/{python_version}.*/bin"))
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *interpreters])
    process = subprocess.run(
        [
            *(*command, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"),
            *("-x", f"^{folder}/({'|'.join(_NOT_IMPORTED)})", "-s", folder, folder),
        ],
        cwd=folder.parent,
        # The order of the items of a set depends on the seed for hashes.
        env=os.environ | {"PYTHONHASHSEED": "0", "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if process.returncode != 0:
        raise DeploymentError(
            f"Compiling the app for Python {python_version} failed: {process.stdout.strip()}"
        )
