"""The mail sink of the local cloud: it stores, prints and lists messages instead of sending them.

The emulator relays e-mails to the sink by SMTP. The sink reads text messages from the emulator. The
mailbox lists both as JSON, the oldest first.
"""

import argparse
import asyncio
import contextlib
import json
import re
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from functools import lru_cache
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from aiosmtpd.smtp import SMTP, Envelope, Session

from infrastructure.local_cloud.background_server import BackgroundServer, Listener, escaped
from infrastructure.local_cloud.strict.access import rejection_reason

SMS_INTERVAL_S = 1
_LINK = re.compile(r"https?://[^\s<>\"]+")
_UNSAFE = re.compile(r"[^A-Za-z0-9@._-]")
_MAIL = ".eml"
_SMS = ".sms.json"


@dataclass(frozen=True)
class MailSink(BackgroundServer):
    """Start and stop the sink's process, and detect whether it is running."""

    name: ClassVar[str] = "mail sink"
    module: ClassVar[str] = "infrastructure.local_cloud.mail_sink"

    @property
    def stored(self) -> Path:
        """The folder with one file per message. Each file name starts with the time in ms."""
        return self.folder / "mail"

    @property
    def smtp_address(self) -> str:
        """The host and port that accept e-mails."""
        return f"127.0.0.1:{self.ports[0]}"

    @property
    def url(self) -> str:
        """The URL that lists all messages as JSON."""
        return f"http://127.0.0.1:{self.ports[1]}/messages"

    @contextlib.contextmanager
    def listen(self, ports: tuple[int, ...]) -> Iterator[Listener]:
        """Listen on the ports of the last run if they are free, otherwise on other ports."""
        smtp_port, http_port = ports or (0, 0)
        messages = Messages(self.stored, self.folder / "emulator.pid")
        with _listen_http(messages, http_port) as server:
            port = _start_smtp(messages, smtp_port)
            threading.Thread(target=messages.poll_text_messages, daemon=True).start()
            yield (port, server.server_port), server.serve_forever


class Messages:
    """The messages in a folder."""

    def __init__(self, folder: Path, emulator: Path) -> None:
        self._folder = folder
        self._emulator = emulator
        self._lock = threading.Lock()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    async def handle_DATA(  # noqa: N802 - a name of aiosmtpd
        self, _server: SMTP, _session: Session, envelope: Envelope
    ) -> str:
        """Store an e-mail."""
        content = envelope.original_content or b""
        message_id = str(_parse(content)["Message-ID"] or "").strip("<> ")
        self._store(message_id, _MAIL, content)
        return "250 OK"

    def all(self) -> list[dict[str, Any]]:
        """Return all messages, the oldest first."""
        self.fetch_text_messages()
        return [_read(path) for path in sorted(self._folder.iterdir()) if _is_message(path)]

    def fetch_text_messages(self) -> None:
        """Store the text messages that the emulator has accepted since the last call."""
        with self._lock:
            known = {path.name.partition("-")[2] for path in self._folder.glob(f"*{_SMS}")}
            for message in self._text_messages_of_emulator():
                message_id = str(message["MessageId"])
                if f"{message_id}{_SMS}" not in known:
                    self._store(message_id, _SMS, json.dumps(message).encode())

    def poll_text_messages(self) -> None:
        """Store new text messages every second until the process ends."""
        while True:
            time.sleep(SMS_INTERVAL_S)
            self.fetch_text_messages()

    def _store(self, message_id: str, suffix: str, content: bytes) -> None:
        name = f"{time.time_ns() // 1_000_000:013d}-{_UNSAFE.sub('_', message_id)[:150]}{suffix}"
        path = self._folder / name
        # Only the current user may read the file. The file gets its final name when it is complete.
        temporary = path.with_suffix(".tmp")
        temporary.touch(mode=0o600)
        temporary.write_bytes(content)
        temporary.rename(path)
        message = _read(path)
        about = message["subject"] or message["text"]
        link = next(iter(message["links"]), "no link")
        print(escaped(f"✉ {message['channel']} to {message['to']}: {about} → {link}"), flush=True)

    def _text_messages_of_emulator(self) -> list[dict[str, Any]]:
        try:
            _, port = self._emulator.read_text().split()
            url = f"http://127.0.0.1:{port}/_ministack/sns/sms-messages"
            direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with direct.open(url, timeout=5) as response:
                by_number = json.load(response)["sms_messages"]
        except (OSError, ValueError, KeyError):
            return []  # The emulator is starting or stopping.
        return [message for messages in by_number.values() for message in messages]


class _Handler(BaseHTTPRequestHandler):
    messages: Messages
    timeout = 30

    def do_GET(self) -> None:
        """Return all messages. Reject requests from web pages of other origins."""
        headers = [(n.encode("latin-1"), v.encode("latin-1")) for n, v in self.headers.items()]
        if reason := rejection_reason(self.path, headers):
            self.send_error(403, reason)
            return
        if self.path != "/messages":
            self.send_error(404)
            return
        body = json.dumps(self.messages.all(), ensure_ascii=False, indent=1).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Do nothing, because the sink prints a line about each message."""


class _Links(HTMLParser):
    """Collect the targets of the links in a document."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.targets += [value for name, value in attrs if tag == "a" and name == "href" and value]


def _listen_http(messages: Messages, port: int) -> ThreadingHTTPServer:
    handler = type("_BoundHandler", (_Handler,), {"messages": messages})
    try:
        return ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError:
        return ThreadingHTTPServer(("127.0.0.1", 0), handler)


def _start_smtp(messages: Messages, port: int) -> int:
    """Accept e-mails in a daemon thread and return the port."""
    loop = asyncio.new_event_loop()

    async def listen(port: int) -> int:
        server = await loop.create_server(
            lambda: SMTP(messages, loop=loop, enable_SMTPUTF8=True), "127.0.0.1", port
        )
        return int(server.sockets[0].getsockname()[1])

    try:
        used = loop.run_until_complete(listen(port))
    except OSError:
        used = loop.run_until_complete(listen(0))
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return used


def _is_message(path: Path) -> bool:
    return path.name.endswith((_MAIL, _SMS))


@lru_cache(maxsize=10_000)
def _read(path: Path) -> dict[str, Any]:
    """Return a stored message as the mailbox lists it. The file of a message never changes."""
    milliseconds, _, _ = path.name.partition("-")
    sent_at = datetime.fromtimestamp(int(milliseconds) / 1000, UTC)
    is_mail = path.name.endswith(_MAIL)
    return {
        **(_mail(path.read_bytes()) if is_mail else _text_message(json.loads(path.read_bytes()))),
        "sentAt": sent_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }


def _mail(content: bytes) -> dict[str, Any]:
    message = _parse(content)
    text, html = _part(message, "plain"), _part(message, "html")
    return {
        "id": str(message["Message-ID"] or "").strip("<> "),
        "channel": "EMAIL",
        "to": str(message["To"] or ""),
        "from": str(message["From"] or ""),
        "subject": str(message["Subject"] or ""),
        "headers": [[name, str(value)] for name, value in message.items()],
        "text": text,
        "html": html,
        "links": _unique([*_LINK.findall(text), *_Links(html).targets]),
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


def _part(message: EmailMessage, kind: str) -> str:
    part = message.get_body((kind,))
    return str(part.get_content()) if part else ""


def _unique(links: list[str]) -> list[str]:
    return list(dict.fromkeys(links))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="mail_sink", description=__doc__)
    parser.add_argument("folder", type=Path)
    MailSink(parser.parse_args().folder).serve()
