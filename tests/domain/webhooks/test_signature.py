"""Tests of signing and verifying webhooks.

The expected signatures were created with this OpenSSL command:
``printf '%s.%s' "$timestamp" "$body" | openssl dgst -sha256 -hmac "$secret" -r`` (OpenSSL 3.0.19).
"""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.webhooks.signature import sign
from infrastructure.local_cloud.strict.signature import (
    BadSignature,
    BadTimestamp,
    OutsideReplayWindow,
    WebhookVerificationError,
    verify,
)

NOW = 1_700_000_000
VECTORS = [
    (
        "whsec_demo",
        1700000000,
        '{"event":"workflow.action.webhook"}',
        "ed5d86b7ba5f3380df5c35d87693afc502009be8b671ea8d57d61f08a3f80d07",
    ),
    ("k", 0, "", "6b4a4b8b3c40f1e8f53a3d36682e5f99f7ad2ac1df1c93dfe336f329167641e7"),
    (
        "sécret-é",
        1763668800,
        '{"name":"Zoë — café","emoji":"🙂"}',
        "d7a9afe50fb232ae3f6ff6205c01abc44b5785d33580b899d6a86d5b366f0f38",
    ),
]


@pytest.mark.parametrize(("secret", "timestamp", "body", "digest"), VECTORS)
def test_signature_equals_openssl_signature(
    secret: str, timestamp: int, body: str, digest: str
) -> None:
    assert sign(secret, timestamp, body.encode()) == f"sha256={digest}"


@given(secret=st.text(st.characters(codec="utf-8")), body=st.binary(), age=st.integers(-300, 300))
def test_timestamp_within_five_minutes_of_current_time_is_accepted(
    secret: str, body: bytes, age: int
) -> None:
    verify(secret, str(NOW - age), sign(secret, NOW - age, body), body, NOW)


@pytest.mark.parametrize(
    ("age", "message"),
    [
        (301, "The timestamp is 301 s old."),
        (-301, "The timestamp is 301 s ahead."),
        (10**9, "The timestamp is 1000000000 s old."),
        (-(10**9), "The timestamp is 1000000000 s ahead."),
    ],
)
def test_timestamp_outside_replay_window_is_rejected(age: int, message: str) -> None:
    with pytest.raises(OutsideReplayWindow) as caught:
        verify("s", str(NOW - age), sign("s", NOW - age, b""), b"", NOW)
    assert caught.value.age_s == age
    assert str(caught.value) == message


@given(body=st.binary(min_size=1), data=st.data())
def test_body_with_changed_byte_is_rejected(body: bytes, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(body) - 1))
    changed = bytearray(body)
    changed[position] ^= data.draw(st.integers(1, 255))
    with pytest.raises(BadSignature):
        verify("s", str(NOW), sign("s", NOW, body), bytes(changed), NOW)


@given(st.text())
def test_random_text_is_rejected_as_signature(signature: str) -> None:
    with pytest.raises(BadSignature):
        verify("s", str(NOW), signature, b"{}", NOW)


def test_signature_of_other_secret_or_timestamp_is_rejected() -> None:
    signature = sign("s", NOW, b"{}")
    with pytest.raises(BadSignature):
        verify("other", str(NOW), signature, b"{}", NOW)
    with pytest.raises(BadSignature):
        verify("s", str(NOW + 1), signature, b"{}", NOW)
    with pytest.raises(BadSignature):
        verify("s", str(NOW), signature.upper(), b"{}", NOW)
    with pytest.raises(BadSignature):
        verify("s", str(NOW), signature.removeprefix("sha256="), b"{}", NOW)


def test_signature_covers_text_of_timestamp_header() -> None:
    verify("s", f"0{NOW}", sign("s", f"0{NOW}", b"{}"), b"{}", NOW)
    with pytest.raises(BadSignature):
        verify("s", f"0{NOW}", sign("s", NOW, b"{}"), b"{}", NOW)


@pytest.mark.parametrize(
    "timestamp", ["", " 1700000000", "1700000000.0", "-1", "+1", "1e9", "now", "١٧", "1" * 5000]
)
def test_non_numeric_timestamp_is_rejected(timestamp: str) -> None:
    with pytest.raises(BadTimestamp):
        verify("s", timestamp, sign("s", NOW, b""), b"", NOW)


def test_verification_errors_share_base_class() -> None:
    assert all(
        issubclass(error_class, WebhookVerificationError)
        for error_class in (BadSignature, BadTimestamp, OutsideReplayWindow)
    )


def test_signature_module_imports_only_standard_library() -> None:
    script = (
        "import sys, chalicelib.domain.webhooks.signature\n"
        "imported = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted(imported - set(sys.stdlib_module_names) - {'__main__', 'chalicelib'}))\n"
    )
    result = subprocess.run(
        [sys.executable, "-S", "-c", script], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
