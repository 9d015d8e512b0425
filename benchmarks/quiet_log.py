"""Discard log lines during a benchmark."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from chalicelib.log import logger


@contextmanager
def discard_log() -> Iterator[None]:
    """Format log lines but do not print them.

    The benchmark then includes the cost of formatting, as in a deployed function.
    """
    with (
        Path(os.devnull).open("w") as devnull,
        patch.object(logger.registered_handler, "stream", devnull),
    ):
        yield
