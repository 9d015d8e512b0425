"""Tests of the record id and the input hash that an idempotency key and a request determine."""

from typing import Any

import pytest

from chalicelib.domain.errors import IdempotencyKeyReused
from chalicelib.domain.idempotency import origin_of

INPUT = {"firstName": "Zoé", "metadata": {"a": 1, "b": [1, None]}}
ORIGIN = origin_of("account", "create", "key", INPUT)


def test_record_without_idempotency_key_has_random_id_and_no_input_hash() -> None:
    first, second = (origin_of("account", "create", None, INPUT) for _ in range(2))
    assert first.record_id != second.record_id
    assert first.input_hash is second.input_hash is None


@pytest.mark.parametrize(
    "same_input",
    [INPUT, {"metadata": {"b": [1, None], "a": 1}, "firstName": "Zo\u00e9"}],
    ids=["same", "reordered"],
)
def test_same_idempotency_key_and_input_give_same_record_id_and_input_hash(same_input: Any) -> None:
    assert origin_of("account", "create", "key", same_input) == ORIGIN


@pytest.mark.parametrize(
    "scope",
    [
        ("other", "create", "key"),
        ("account", "batch", "key"),
        ("account", "create", "Key"),
        ("account", "create", "key "),
        ("account", "create", ""),
    ],
)
def test_record_id_depends_on_account_endpoint_and_key(scope: tuple[str, str, str]) -> None:
    origin = origin_of(*scope, INPUT)
    assert origin.record_id != ORIGIN.record_id
    assert origin.input_hash == ORIGIN.input_hash


@pytest.mark.parametrize(
    "other_input",
    [
        {},
        None,
        INPUT | {"firstName": "Zoe"},
        INPUT | {"firstName": None},
        INPUT | {"metadata": {"a": "1", "b": [1, None]}},
        INPUT | {"metadata": {"a": 1, "b": [None, 1]}},
    ],
)
def test_different_input_changes_only_input_hash(other_input: Any) -> None:
    origin = origin_of("account", "create", "key", other_input)
    assert origin.record_id == ORIGIN.record_id
    assert origin.input_hash != ORIGIN.input_hash


def test_key_reused_with_different_input_is_rejected() -> None:
    ORIGIN.check_same_input(ORIGIN.input_hash)
    for stored_hash in (None, "0" * 64):
        with pytest.raises(IdempotencyKeyReused):
            ORIGIN.check_same_input(stored_hash)
