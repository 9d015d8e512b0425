"""Let all processes of functions share one copy of the deployment package.

The emulator extracts the package, which has 3,000 files, for each process. This takes longer than
importing the app.
"""

import hashlib
import shutil
import tempfile
import threading
import zipfile
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Final

_lock: Final = threading.Lock()


class SharedPackage(zipfile.ZipFile):
    """A deployment package. Each extraction creates a link to one shared copy of the package.

    The copy is in the folder for temporary files.
    """

    def extractall(
        self,
        path: str | PathLike[str] | None = None,
        members: Iterable[str | zipfile.ZipInfo] | None = None,
        pwd: bytes | None = None,
    ) -> None:
        """Replace the empty folder ``path`` with a link to the copy of this package."""
        link, package = Path(str(path)), Path(str(self.filename))  # the emulator sets both
        folder = Path(tempfile.gettempdir())
        copy = folder / f"package-{hashlib.sha256(package.read_bytes()).hexdigest()}"
        with _lock:
            if not copy.exists():
                _delete_unused_copies(folder)
                partial = copy.with_suffix(".partial")
                super().extractall(partial, members, pwd)
                partial.rename(copy)
            link.rmdir()
            link.symlink_to(copy)


def _delete_unused_copies(folder: Path) -> None:
    linked = {link.resolve() for link in folder.glob("*/code")}
    for copy in folder.glob("package-*"):
        if copy.resolve() not in linked:
            shutil.rmtree(copy)
