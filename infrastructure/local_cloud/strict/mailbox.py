"""The mailbox: store messages instead of sending them, and list them as JSON."""

import contextlib
import json
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from functools import lru_cache
from html import unescape
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

_LINK = re.compile(r"https?://[^\s<>\"]+")
_TARGET = re.compile(r'<a\s[^>]*?href="([^"]*)"')
_UNSAFE = re.compile(r"[^A-Za-z0-9@._-]")
_MAIL = ".eml"
_SMS = ".sms.json"


class Mailbox:
    """The messages in a folder, one file for each. Each file name starts with the time in ms.

    Args:
        show: called with a line about each message. Default: print the line.
    """

    def __init__(self, folder: Path, show: Callable[[str], None] | None = None) -> None:
        self._folder = folder
        self._show = show or print_line
        folder.mkdir(parents=True, exist_ok=True)

    def store_mail(self, content: str) -> None:
        """Store an e-mail."""
        encoded = content.encode()
        self._store(_id_of(_parse(encoded)), _MAIL, encoded)

    def store_text_message(self, message: dict[str, Any]) -> None:
        """Store a text message in the format of the emulator."""
        self._store(message["MessageId"], _SMS, json.dumps(message).encode())

    def all(self) -> list[dict[str, Any]]:
        """Return all messages, the oldest first."""
        files = sorted(self._folder.iterdir())
        return [_read(file) for file in files if file.name.endswith((_MAIL, _SMS))]

    def _store(self, message_id: str, suffix: str, content: bytes) -> None:
        name = f"{time.time_ns() // 1_000_000:013d}-{_UNSAFE.sub('_', message_id)[:150]}{suffix}"
        path = self._folder / name
        # A list can be read at the same time. It ignores the temporary name.
        temporary = path.with_suffix(".tmp")
        temporary.write_bytes(content)
        temporary.rename(path)
        message = _read(path)
        about = message["subject"] or message["text"]
        link = next(iter(message["links"]), "no link")
        self._show(f"✉ {message['channel']} to {message['to']}: {about} → {link}")


def print_line(text: str) -> None:
    """Print a line without control characters and line separators, which could control a terminal.

    Do nothing if the terminal was closed.
    """
    with contextlib.suppress(OSError):
        print("".join(c if c.isprintable() else ascii(c)[1:-1] for c in text), flush=True)


def in_thread(show: Callable[[str], None]) -> Callable[[str], None]:
    """Return a function that shows lines in a thread and does not wait, if a terminal blocks."""
    lines = SimpleQueue[str]()

    def show_lines() -> None:
        while True:
            show(lines.get())

    Thread(target=show_lines, daemon=True).start()
    return lines.put


@lru_cache(maxsize=10_000)
def _read(path: Path) -> dict[str, Any]:
    """Return a stored message as the mailbox lists it. The file of a message never changes."""
    milliseconds, _, _ = path.name.partition("-")
    sent_at = datetime.fromtimestamp(int(milliseconds) / 1000, UTC)
    content = path.read_bytes()
    message = _mail(content) if path.name.endswith(_MAIL) else _text_message(json.loads(content))
    return message | {
        "sentAt": sent_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }


def _mail(content: bytes) -> dict[str, Any]:
    message = _parse(content)
    text, html = _part(message, "plain"), _part(message, "html")
    return {
        "id": _id_of(message),
        "channel": "EMAIL",
        "to": str(message["To"] or ""),
        "from": str(message["From"] or ""),
        "subject": str(message["Subject"] or ""),
        "headers": [[name, str(value)] for name, value in message.items()],
        "text": text,
        "html": html,
        "links": _unique([*_LINK.findall(text), *map(unescape, _TARGET.findall(html))]),
    }


def _text_message(message: dict[str, Any]) -> dict[str, Any]:
    attributes = message.get("MessageAttributes") or {}
    sender = attributes.get("AWS.SNS.SMS.SenderID") or {}
    return {
        "id": message["MessageId"],
        "channel": "SMS",
        "to": message["PhoneNumber"],
        "from": sender.get("StringValue") or sender.get("Value") or "",
        "subject": "",
        "headers": [],
        "text": message["Message"],
        "html": "",
        "links": _unique(_LINK.findall(message["Message"])),
    }


def _parse(content: bytes) -> EmailMessage:
    message = message_from_bytes(content, policy=default)
    assert isinstance(message, EmailMessage)  # noqa: S101 - the policy creates this class
    return message


def _id_of(message: EmailMessage) -> str:
    return str(message["Message-ID"] or "").strip("<> ")


def _part(message: EmailMessage, kind: str) -> str:
    part = message.get_body((kind,))
    return str(part.get_content()) if part else ""


def _unique(links: list[str]) -> list[str]:
    return list(dict.fromkeys(links))
