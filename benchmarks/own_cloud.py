"""Start a temporary local cloud for benchmarks."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from chalicelib.outbound.queues import forget_urls
from chalicelib.storage.dynamodb.table import forget_connection
from chalicelib.storage.stage_values import forget_stage_secret
from infrastructure.deployment import code_stack, data_stack
from infrastructure.functions import stage_named
from infrastructure.local_cloud import identity as local_identity
from infrastructure.local_cloud.emulator import Emulator, free_port

_STAGE: Final = "local"


@contextmanager
def own_cloud() -> Iterator[Emulator]:
    """Start an emulator with empty tables, and configure this process to use it instead of AWS."""
    with tempfile.TemporaryDirectory(prefix="feedback-bench-") as folder:
        emulator = Emulator(free_port(), Path(folder))
        process = emulator.start()
        try:
            local_identity.adopt(emulator.endpoint, _STAGE)
            _forget_connections()
            data_stack.deploy(_STAGE)
            yield emulator
        finally:
            _forget_connections()
            # Kill the emulator: a normal stop would first save the state, but nothing needs this
            # state.
            emulator.kill(process.pid)
            process.wait()


def deploy_app() -> str:
    """Deploy the packaged app to the emulator and return the base URL of its gateway."""
    code_stack.deploy(stage_named(_STAGE))
    return code_stack.deployed(_STAGE).base_url


def _forget_connections() -> None:
    # Clear cached clients, because this process can use several emulators, one after the other.
    forget_connection()
    forget_urls()
    forget_stage_secret()
