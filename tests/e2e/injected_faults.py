"""Make the local cloud inject faults into DynamoDB requests."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from infrastructure.local_cloud.strict.layer import FAULTS_PATH
from tests.e2e.cloud import TIMEOUT_S, Cloud


@contextmanager
def injected_faults(cloud: Cloud, **rates: float) -> Iterator[dict[str, int]]:
    """Inject faults with these rates while the ``with`` block runs.

    Yield an empty dict. When the block ends, the dict receives the number of injected faults by
    kind.
    """
    counts: dict[str, int] = {}
    _set(cloud, rates)
    try:
        yield counts
    finally:
        state = httpx.get(f"{cloud.endpoint}{FAULTS_PATH}", timeout=TIMEOUT_S, trust_env=False)
        counts.update(state.json()["injected"])
        _set(cloud, {})


def _set(cloud: Cloud, rates: dict[str, Any]) -> None:
    url = f"{cloud.endpoint}{FAULTS_PATH}"
    httpx.put(url, json=rates, timeout=TIMEOUT_S, trust_env=False).raise_for_status()
