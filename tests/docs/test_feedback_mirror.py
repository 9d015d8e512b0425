"""Test that the example that mirrors feedback into SQLite stays equal to the store."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from chalice.test import Client

from admin.services.accounts.settings import change_account_settings
from admin.services.feedback.exclude import delete_feedback, mark_test
from chalicelib.domain.feedback.submission import SurveySubmission
from chalicelib.domain.parsing import parse
from chalicelib.domain.solicitation.contact import SuppressionReason
from chalicelib.services.caching import clear_caches
from chalicelib.services.erasure.erase import continue_erasure, start_erasure
from chalicelib.services.feedback.process import process_feedback
from chalicelib.services.feedback.retention import anonymize_old_feedback
from chalicelib.services.feedback.submit import SubmissionMetadata, submit_feedback
from chalicelib.services.forms.read import read_survey
from chalicelib.services.solicitation import send_survey
from chalicelib.storage.feedback_changes import EPOCH, FeedbackChangeRow
from tests.docs.blocks import block
from tests.local_server import Response, serving
from tests.services.feedback.submitting import answer_contact_form, answer_survey
from tests.services.moved_time import Time
from tests.services.solicitation.provider import Provider
from tests.services.solicitation.soliciting import open_shop
from tests.web.partner_client import ROOT, Partner, with_permissions
from tests.web.seeded_account import SeededAccount, seed_account

EXAMPLE = ROOT / "docs" / "examples" / "feedback_mirror.py"


@pytest.fixture
def client(cloud: None) -> Iterator[Client]:
    from app import app

    clear_caches()
    with Client(app, stage_name="test", project_dir=str(ROOT)) as client:
        yield client
    clear_caches()


@pytest.fixture
def seeded(client: Client) -> SeededAccount:
    return seed_account()


@pytest.fixture
def partner(client: Client, seeded: SeededAccount) -> Partner:
    return with_permissions(Partner(client, seeded.account_id))


@pytest.fixture
def address(client: Client) -> Iterator[str]:
    """Serve the app on a port of this machine. The first request fails, as a deployment can."""
    failures = iter([503])

    def respond(method: str, path: str, headers: Mapping[str, str], body: bytes) -> Response:
        response = client.http.request(method, path, headers=dict(headers), body=body)
        return next(failures, response.status_code), {}, response.body

    with serving(respond) as port:
        yield f"http://127.0.0.1:{port}"


def test_mirror_stays_equal_while_feedback_arrives_changes_and_disappears(
    partner: Partner, seeded: SeededAccount, address: str, tmp_path: Path, time: Time
) -> None:
    file = tmp_path / "feedback.db"
    alive: set[str] = set()

    def submit(*, with_tracker: bool = False) -> str:
        tracker = seeded.tracker() if with_tracker else None
        record = (
            answer_survey(seeded, tracker, nps="9", note="Merci")
            if tracker
            else answer_contact_form(seeded, nps="3", note="Slow")
        )
        process_feedback([record.id])
        alive.add(record.id)
        return record.id

    def mirror() -> dict[str, Any]:
        """Run the program, and compare its copy with the store."""
        result = subprocess.run(
            [sys.executable, EXAMPLE, file],
            env={
                **os.environ,
                "BASE_URL": address,
                "API_KEY": partner.headers["X-API-KEY"],
                "API_SECRET": partner.headers["X-API-SECRET"],
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
        assert result.returncode == 0, result.stderr
        with closing(sqlite3.connect(file)) as database:
            rows = database.execute("SELECT id, record FROM feedback").fetchall()
        copy = {feedback_id: json.loads(record) for feedback_id, record in rows}
        stored = {
            feedback_id: partner.get(f"/partners/feedback?id={feedback_id}").json
            for feedback_id in alive
        }
        assert copy == stored
        return copy

    ids = [submit(with_tracker=number == 0) for number in range(4)]
    mirror()
    submit()
    mark_test(ids[1], is_test=True)
    alive.discard(ids[1])
    delete_feedback(ids[2], "operator")
    alive.discard(ids[2])
    mirror()
    mark_test(ids[1], is_test=False)
    alive.add(ids[1])
    erasure = start_erasure(seeded.account_id, seeded.customer_id, "operator")
    continue_erasure(erasure.pointer)
    copy = mirror()
    assert copy[ids[0]]["anonymized"]
    assert not copy[ids[3]]["anonymized"]
    change_account_settings(seeded.account_id, {"retentionDays": 30}, "operator")
    time.ahead += timedelta(days=31)
    while anonymize_old_feedback().records:
        pass
    assert mirror()[ids[3]]["anonymized"]
    # A restore starts a new epoch. The deleted feedback is missing from the restored feed.
    delete_feedback(ids[3], "operator")
    alive.discard(ids[3])
    for row in FeedbackChangeRow.query(seeded.account_id, FeedbackChangeRow.number < "head"):
        row.update([FeedbackChangeRow.ids.set([key for key in row.ids if key != ids[3]])])
    FeedbackChangeRow(EPOCH, EPOCH, epoch="restored").save()
    clear_caches()
    mirror()


def test_commands_of_guide_lead_from_a_sale_to_the_copy_of_the_answer(
    client: Client, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider, shop = Provider(), open_shop()
    monkeypatch.setattr(send_survey, "send_invitation", provider.send)
    partner = with_permissions(Partner(client, shop.account_id))
    (tmp_path / EXAMPLE.name).write_text(EXAMPLE.read_text())

    def run(*parts: str, interpreter: str = "bash") -> list[str]:
        options = ["-euc"] if interpreter == "bash" else ["-c"]
        result = subprocess.run(
            [
                interpreter,
                *options,
                "\n".join(block("docs/integrating.md", part).text for part in parts),
            ],
            env={
                **os.environ,
                "BASE_URL": address,
                "API_KEY": partner.headers["X-API-KEY"],
                "API_SECRET": partner.headers["X-API-SECRET"],
            },
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
        assert result.returncode == 0, result.stderr
        return result.stdout.split()

    copy = "feedback_mirror.py feedback.sqlite"
    assert run(copy) == ["changes:", "0"]
    assert run("call() {") == ["PENDING"]
    shop.solicit()
    (invitation,) = provider.sent
    (question,) = read_survey(shop.account_id, shop.survey_id).fields
    answers = {
        "id": shop.survey_id,
        "tracker": invitation.tracker_id,
        "fields": [{"id": question.id, "values": ["9"]}],
    }
    record = submit_feedback(parse(answers, SurveySubmission), SubmissionMetadata())
    process_feedback([record.id])
    # A repeated report of the sale has no further effect.
    assert run("call() {", "FEEDBACK=$(") == ["SENT", "9"]
    assert run(copy) == ["changes:", "1"]
    *_, booking, preview, link = run(
        "call() {", "SEND_AT=$(", "call purchase/preview", "RECEIPT=$("
    )
    assert booking == "BOOKING-1"
    assert preview == "NO_CONSENT"
    shop.suppress("ada.martin@example.com", SuppressionReason.COMPLAINT)
    copied = ["ada.martin@example.com", "COMPLAINT"]
    assert run("consents.sqlite", interpreter="python3") == copied
    assert run("consents.sqlite", interpreter="python3") == copied
    assert "/s/" in link
    shop.solicit()
    assert len(provider.sent) == 1


def test_mirror_has_at_most_200_lines() -> None:
    assert len(EXAMPLE.read_text().splitlines()) <= 200
