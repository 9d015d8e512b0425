"""Tests of the mail sink of the local cloud, which runs as a separate process."""

import http.client
import json
import smtplib
import stat
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from chalicelib.outbound.mail import mime
from infrastructure.local_cloud.mail_sink import MailSink
from tests.outbound.test_mail import MAIL

LINK = "https://api.example.com/prod/public/survey/page?survey=s&tracker=t"
TEXT_MESSAGE = {
    "MessageId": "5f0c0000-0000-4000-8000-000000000001",
    "PhoneNumber": "+33612345678",
    "Message": "Lumen: https://x.example/s/1",
    "MessageAttributes": {"AWS.SNS.SMS.SenderID": {"Type": "String", "Value": "Lumen"}},
}


@pytest.fixture
def sink(tmp_path: Path) -> Iterator[MailSink]:
    sink = MailSink(tmp_path)
    yield sink
    sink.stop()


def send(sink: MailSink, message_id: str, content: bytes) -> None:
    host, port = sink.smtp_address.split(":")
    with smtplib.SMTP(host, int(port)) as smtp:
        body = f"Message-ID: <{message_id}>\r\n".encode() + content
        smtp.sendmail(MAIL.sender, [MAIL.to], body)


def mailbox(sink: MailSink) -> list[dict[str, Any]]:
    with urllib.request.urlopen(sink.url) as response:  # noqa: S310
        messages: list[dict[str, Any]] = json.load(response)
    return messages


@contextmanager
def emulator(folder: Path) -> Iterator[None]:
    """Run an emulator that has accepted one text message."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps({"sms_messages": {"+33612345678": [TEXT_MESSAGE]}}).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        (folder / "emulator.pid").write_text(f"1 {server.server_port}\n")
        yield
        server.shutdown()


def test_sink_stores_prints_and_lists_mails(sink: MailSink) -> None:
    process = sink.start()
    assert process
    content = mime(
        replace(
            MAIL, text=f"Open {LINK}\n", html=f'<a href="https://x.example/?a&amp;b">{LINK}</a>'
        )
    )
    send(sink, "m1@email.amazonses.com", content)
    send(sink, "m2@email.amazonses.com", mime(replace(MAIL, subject="\x1b]0;owned\x07")))
    first, second = mailbox(sink)
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
    files = sorted(sink.stored.iterdir())
    assert [file.suffix for file in files] == [".eml", ".eml"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    sink.stop()
    process.wait(5)
    lines = sink.log.read_text().splitlines()
    assert lines[0] == f"✉ EMAIL to zoe@example.com: Votre visite ? → {LINK}"
    assert all(line.isprintable() for line in lines)


def test_sink_keeps_messages_and_ports_after_restart(sink: MailSink) -> None:
    process = sink.start()
    assert process
    send(sink, "m1@x", mime(MAIL))
    ports = sink.ports
    sink.stop()
    process.wait(5)
    restarted = sink.start()
    assert restarted
    assert sink.ports == ports
    assert [message["id"] for message in mailbox(sink)] == ["m1@x"]
    sink.stop()
    restarted.wait(5)


def test_sink_lists_each_text_message_of_emulator_once(sink: MailSink, tmp_path: Path) -> None:
    process = sink.start()
    assert process
    with emulator(tmp_path):
        mailbox(sink)
        (message,) = mailbox(sink)
    del message["sentAt"]
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
    sink.stop()
    process.wait(5)


def test_mailbox_rejects_web_pages_of_other_origins(sink: MailSink) -> None:
    process = sink.start()
    assert process
    for headers, path, status in [
        ({}, "/messages", 200),
        ({}, "/", 404),
        ({"Host": "evil.example"}, "/messages", 403),
        ({"Origin": "https://evil.example"}, "/messages", 403),
        ({"Sec-Fetch-Site": "cross-site"}, "/messages", 403),
    ]:
        connection = http.client.HTTPConnection("127.0.0.1", sink.ports[1])
        connection.request("GET", path, headers=headers)
        assert connection.getresponse().status == status, headers
        connection.close()
    sink.stop()
    process.wait(5)
