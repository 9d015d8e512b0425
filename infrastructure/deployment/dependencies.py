"""Install the locked packages of the app for the platform and the Python version of a stage.

Chalice can install the packages too, but it downloads packages for another platform by name and
version and verifies no hashes. uv verifies the hashes of all packages.
"""

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from infrastructure.deployment.progress import DeploymentError
from infrastructure.functions import Stage
from infrastructure.local_cloud.identity import is_loopback

_PROJECT: Final = Path(__file__).resolve().parents[2]
REQUIREMENTS: Final = _PROJECT / "requirements.txt"
UV: Final = _PROJECT / ".tools" / "uv" / "bin" / "uv"


@dataclass(frozen=True)
class Runtime:
    """The environment in which the functions of a stage run.

    Attributes:
        python_version: the minor version of Python, for example ``"3.13"``.
        platform: the platform in the notation of uv. None means the platform of this machine.
    """

    python_version: str
    platform: str | None


THIS_MACHINE: Final = Runtime(".".join(platform.python_version_tuple()[:2]), None)


def runtime_of(stage: Stage) -> Runtime:
    """Return the runtime of a stage.

    The emulator runs functions on this machine, in the same version of Python as this process.
    """
    if stage.is_emulated or is_loopback(os.environ.get("AWS_ENDPOINT_URL", "")):
        return THIS_MACHINE
    return Runtime(stage.python, "x86_64-manylinux2014")


def install(folder: Path, runtime: Runtime, *, requirements: Path = REQUIREMENTS) -> None:
    """Replace a folder with the locked packages. Install only wheels whose hashes are in the lock.

    Raises:
        DeploymentError: a hash differs, or a package cannot be downloaded or has no wheel for the
            runtime.
    """
    shutil.rmtree(folder, ignore_errors=True)
    selection = ["--python-version", runtime.python_version]
    if runtime.platform:
        selection += ["--python-platform", runtime.platform]
    command = [str(UV), "pip", "install", "--quiet", "--require-hashes", "--only-binary", ":all:"]
    command += ["--python", sys.executable, *selection]
    command += ["--target", str(folder.resolve()), "--requirement", str(requirements)]
    # Some networks require a certificate that only the system's certificate store contains.
    for certificates in ([], ["--system-certs"]):
        process = subprocess.run(
            [*command, *certificates],
            cwd=_PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if process.returncode == 0:
            return
    raise DeploymentError(f"Installing the packages of the app failed: {process.stdout.strip()}")
