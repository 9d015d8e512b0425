"""Discard log lines during a benchmark."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from chalicelib.log import logger


@contextmanager
def discard_log() -> Iterator[None]:
    """Format log lines as in a deployed function, so that their cost is measured, but drop them."""
    with (
        Path(os.devnull).open("w") as devnull,
        patch.object(logger.registered_handler, "stream", devnull),
    ):
        yield
