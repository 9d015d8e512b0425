"""Let no other user of this machine read the files of the local cloud."""

import os
import stat
from pathlib import Path

from infrastructure.deployment.progress import DeploymentError


def hide_new_files() -> None:
    """Let only this user access the files that this process and its child processes create."""
    os.umask(0o077)


def hide_folder(folder: Path) -> None:
    """Create a folder that only this user can access, or restrict the access to it.

    Raises:
        DeploymentError: every user can write to the existing folder, so it is shared.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if folder.stat().st_mode & stat.S_IWOTH:
        raise DeploymentError(
            f"Every user can write to {folder}. Choose another folder with STATE_DIR=…"
        )
    folder.chmod(0o700)
