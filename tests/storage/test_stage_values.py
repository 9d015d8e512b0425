"""Tests of the cached values of the stage."""

import time

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError

from chalicelib.domain.errors import Unavailable
from chalicelib.storage.stage_values import RETRY_AFTER_S, StageValue

TTL_S = 3600
UNREACHABLE = [
    ConnectTimeoutError(endpoint_url="x"),
    ClientError({"Error": {"Code": "ThrottlingException", "Message": ""}}, "GetSecretValue"),
]


class Store:
    """A store of one value that a test can replace or make unreachable, and a clock."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.value = "old"
        self.error: Exception | None = None
        self.reads = 0
        self.now = 1_000_000.0
        patch.setattr(time, "time", lambda: self.now)

    def load(self) -> str:
        self.reads += 1
        if self.error:
            raise self.error
        return self.value


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    return Store(monkeypatch)


def test_value_is_cached_until_it_expires(store: Store) -> None:
    value = StageValue("secretsmanager", store.load, TTL_S)
    assert value() == "old"
    store.value = "new"
    store.now += TTL_S - 1
    assert (value(), store.reads) == ("old", 1)
    store.now += 1
    assert (value(), store.reads) == ("new", 2)


@pytest.mark.parametrize("error", UNREACHABLE, ids=["timeout", "throttled"])
def test_expired_value_is_used_while_the_store_is_unreachable(
    store: Store, error: Exception
) -> None:
    value = StageValue("secretsmanager", store.load, TTL_S)
    value()
    store.value, store.error = "new", error
    store.now += TTL_S
    assert (value(), value(), store.reads) == ("old", "old", 2)
    store.now += RETRY_AFTER_S - 1
    assert (value(), store.reads) == ("old", 2)
    store.now += 1
    assert (value(), store.reads) == ("old", 3)
    store.error = None
    store.now += RETRY_AFTER_S
    assert (value(), store.reads) == ("new", 4)


def test_first_read_fails_while_the_store_is_unreachable(store: Store) -> None:
    value = StageValue("secretsmanager", store.load, TTL_S)
    store.error = UNREACHABLE[0]
    with pytest.raises(Unavailable):
        value()
    store.error = None
    assert value() == "old"
