"""Tests of the mailbox of the local cloud."""

from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from threading import Event

import pytest

from chalicelib.outbound.mail import mime
from infrastructure.local_cloud.strict.mailbox import Mailbox, in_thread
from tests.outbound.test_mail import MAIL

LINK = "https://api.example.com/prod/public/survey/page?survey=s&tracker=t"
TEXT_MESSAGE = {
    "MessageId": "5f0c0000-0000-4000-8000-000000000001",
    "PhoneNumber": "+33612345678",
    "Message": "Lumen: https://x.example/s/1",
    "MessageAttributes": {"AWS.SNS.SMS.SenderID": {"Type": "String", "Value": "Lumen"}},
}


@pytest.fixture
def mailbox(tmp_path: Path) -> Mailbox:
    return Mailbox(tmp_path / "mail")


def store(mailbox: Mailbox, message_id: str, content: bytes) -> None:
    """Store an e-mail as the emulator does."""
    mailbox.store_mail(f"Message-ID: <{message_id}>\r\n{content.decode()}")


def test_mailbox_stores_prints_and_lists_mails(
    mailbox: Mailbox, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = mime(
        replace(
            MAIL, text=f"Open {LINK}\n", html=f'<a href="https://x.example/?a&amp;b">{LINK}</a>'
        )
    )
    store(mailbox, "m1@email.amazonses.com", content)
    store(mailbox, "m2@email.amazonses.com", mime(replace(MAIL, subject="\x1b]0;owned\x07")))
    first, second = mailbox.all()
    assert [message["id"] for message in (first, second)] == [
        "m1@email.amazonses.com",
        "m2@email.amazonses.com",
    ]
    assert {name: first[name] for name in ("channel", "to", "from", "subject")} == {
        "channel": "EMAIL",
        "to": "zoe@example.com",
        "from": "Maison Lumen <surveys@lumen.example.com>",
        "subject": "Votre visite ?",
    }
    assert first["text"].strip() == f"Open {LINK}"
    assert first["links"] == [LINK, "https://x.example/?a&b"]
    assert ["List-Unsubscribe", f"<{MAIL.unsubscribe_link}>"] in first["headers"]
    assert first["sentAt"] <= second["sentAt"]
    assert first["sentAt"].endswith("Z")
    files = sorted((tmp_path / "mail").iterdir())
    assert [file.suffix for file in files] == [".eml", ".eml"]
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"✉ EMAIL to zoe@example.com: Votre visite ? → {LINK}"
    assert len(lines) == 2
    assert all(line.isprintable() for line in lines)


def test_mailbox_keeps_messages_after_restart(mailbox: Mailbox, tmp_path: Path) -> None:
    store(mailbox, "m1@x", mime(MAIL))
    assert [message["id"] for message in Mailbox(tmp_path / "mail").all()] == ["m1@x"]


def test_mailbox_lists_text_message(mailbox: Mailbox) -> None:
    mailbox.store_text_message(TEXT_MESSAGE)
    (message,) = mailbox.all()
    assert message.pop("sentAt").endswith("Z")
    assert message == {
        "id": TEXT_MESSAGE["MessageId"],
        "channel": "SMS",
        "to": "+33612345678",
        "from": "Lumen",
        "subject": "",
        "headers": [],
        "text": TEXT_MESSAGE["Message"],
        "html": "",
        "links": ["https://x.example/s/1"],
    }


def test_message_is_stored_if_terminal_was_closed(
    mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("builtins.print", fail)
    mailbox.store_text_message(TEXT_MESSAGE)
    assert len(mailbox.all()) == 1


def test_partially_written_message_is_not_listed(
    mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_a_part(path: Path, content: bytes) -> None:
        with path.open("wb") as file:
            file.write(content[:100])
        raise InterruptedError

    monkeypatch.setattr(Path, "write_bytes", write_a_part)
    with pytest.raises(InterruptedError):
        store(mailbox, "m1@x", mime(MAIL))
    assert mailbox.all() == []


def test_blocked_terminal_does_not_block_mailbox(tmp_path: Path) -> None:
    shown, is_free = SimpleQueue[str](), Event()

    def show(line: str) -> None:
        is_free.wait()
        shown.put(line)

    mailbox = Mailbox(tmp_path / "mail", in_thread(show))
    mailbox.store_text_message(TEXT_MESSAGE)
    assert len(mailbox.all()) == 1
    assert shown.empty()
    is_free.set()
    assert shown.get(timeout=60).startswith("✉ SMS to +33612345678")
