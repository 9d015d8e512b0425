"""Test the dispatch of a survey in the demo: purchase, message, page and submission."""

import json
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from chalicelib.domain.ids import new_id
from infrastructure.demo.description import purchase_command
from tests.docs.blocks import ROOT
from tests.e2e.admin import admin
from tests.e2e.cloud import TIMEOUT_S, Cloud
from tests.e2e.demo_messages import messages, new_mobile_number, unsent_surveys
from tests.waiting import wait_until


def partner_view(cloud: Cloud, path: str, record_id: str) -> Any:
    demo = cloud.demo
    headers = {"X-API-KEY": demo["apiKey"], "X-API-SECRET": demo["apiSecret"]}
    return cloud.http.get(path, params={"id": record_id}, headers=headers).json()


def test_submission_after_printed_command_counts_for_its_purchase(cloud: Cloud) -> None:
    known = {message["id"] for message in messages(cloud)}
    subprocess.run(["bash", "-c", purchase_command(cloud.environment())], cwd=ROOT, check=True)

    def new_mails() -> list[dict[str, Any]]:
        mails = [message for message in messages(cloud) if message["id"] not in known]
        return [mail for mail in mails if re.fullmatch(r"zoe\.\d+@example\.com", mail["to"])]

    wait_until(lambda: len(new_mails()) == 1)
    (mail,) = new_mails()
    assert len(list((cloud.folder / "mail").glob(f"*{mail['id']}*.eml"))) == 1
    link = httpx.URL(next(link for link in mail["links"] if "/public/survey/page?" in link))
    assert httpx.get(link, timeout=TIMEOUT_S, trust_env=False).status_code == 200
    survey, tracker = link.params["survey"], link.params["tracker"]
    view = cloud.http.get("/public/survey", params={"survey": survey, "tracker": tracker}).json()
    rating = next(field for field in view["fields"] if field["type"] == "NPS")
    answer = json.dumps({"id": rating["id"], "values": ["9"]})
    parts = {"id": survey, "tracker": tracker, "fields": answer}
    files = {name: (None, text) for name, text in parts.items()}
    assert cloud.http.post("/public/survey/submit", files=files).is_success
    account = cloud.demo["accountId"]
    sent = json.loads(admin(cloud, "solicitation", "list", account, "--state", "sent", "--json"))
    (solicitation,) = (row for row in sent if row["trackerId"] == tracker)

    def customer() -> Any:
        return partner_view(cloud, "/partners/customer", solicitation["customerId"])

    wait_until(lambda: bool(customer()["feedbackCount"] == 1))
    assert (customer()["email"], customer()["purchaseCount"]) == (mail["to"], 1)
    assert customer()["type"] == "Both"
    assert cloud.http.post("/public/survey/submit", files=files).status_code == 409


def test_text_message_opens_survey_with_short_link(cloud: Cloud, tmp_path: Path) -> None:
    number, external_id = new_mobile_number(), new_id()
    purchase = {
        "source": "Site",
        "externalId": external_id,
        "storeId": cloud.demo["storeIds"][0],
        "date": datetime.now(UTC).isoformat(),
        "customer": {"phoneNumber": number, "smsOptin": True},
    }
    file = tmp_path / "purchases.jsonl"
    file.write_text(json.dumps(purchase))
    admin(cloud, "purchase", "import", str(file), "--account", cloud.demo["accountId"], "--solicit")

    def received() -> list[dict[str, Any]]:
        return [message for message in messages(cloud) if message["to"] == number]

    wait_until(lambda: len(received()) == 1, opposite=lambda: unsent_surveys(cloud, external_id))
    (text,) = received()
    (link,) = text["links"]
    assert text["channel"] == "SMS"
    assert re.search(r"/s/[\w-]{22}$", link)
    opened = httpx.get(link, timeout=TIMEOUT_S, trust_env=False, follow_redirects=True)
    assert opened.status_code == 200
    assert httpx.URL(opened.url).params["tracker"]
