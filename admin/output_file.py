"""Write output files that contain personal data."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replaced_file(path: Path) -> Iterator[BinaryIO]:
    """Open a new file that replaces ``path`` if the ``with`` block succeeds.

    Only the current user can read the file. If ``path`` is a symbolic link, its target is replaced.

    Raises:
        OSError: the file cannot be written, or ``path`` is a device, a pipe or a folder.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "Not a regular file", str(path))
    if path.is_symlink():
        path = path.resolve()
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        part.replace(path)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # Writing to a full disk raises an error without a path.
        raise
