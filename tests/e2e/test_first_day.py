"""Run the first day of an operator, from an empty account to the report, as the guide says."""

import json
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from tests.docs.blocks import ROOT, block, blocks
from tests.e2e.admin import admin
from tests.e2e.cloud import Cloud
from tests.waiting import wait_until

PAGE = "docs/operating.md"


def run(cloud: Cloud, folder: Path, part: str, ids: dict[str, str]) -> str:
    """Run the commands of a block of the guide in the folder. Return the output."""
    (found,) = (b for b in blocks(PAGE) if part in b.text)
    text = re.sub(r"\b[A-Z_]{4,}\b", lambda word: ids.get(word[0], word[0]), found.text)
    command = text.replace("bin/feedback-admin", f"{ROOT}/bin/feedback-admin")
    environment = cloud.environment()
    result = subprocess.run(
        ["bash", "-ec", command], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def rows(cloud: Cloud, *command: str) -> Any:
    """Return the JSON result of a command."""
    return json.loads(admin(cloud, *command, "--json"))


def test_guide_leads_from_empty_account_to_report(cloud: Cloud, tmp_path: Path) -> None:
    account = admin(cloud, "account", "create", "First day")
    ids = {"ACCOUNT": account}
    run(cloud, tmp_path, "definition new store ACCOUNT", ids)
    (survey,) = yaml.safe_load_all((tmp_path / "first-survey.yaml").read_text())
    ids["FIRST_SURVEY"] = survey["id"]
    shown = run(cloud, tmp_path, "survey enable FIRST_SURVEY", ids)
    (link,) = [line for line in shown.splitlines() if line.startswith(cloud.base_url)]
    assert cloud.http.get(link, follow_redirects=True).status_code == 200
    assert {path.suffix for path in (tmp_path / "posters").iterdir()} == {".html"}

    purchases = block(PAGE, "source;externalId").text
    today = purchases.replace("20/11/2026 12:30", f"{datetime.now(UTC):%Y-%m-%d}")
    (tmp_path / "first-day.csv").write_text(today)
    run(cloud, tmp_path, "purchase import first-day.csv", ids)
    wait_until(
        lambda: any(r["state"] == "SENT" for r in rows(cloud, "solicitation", "list", account))
    )
    run(cloud, tmp_path, "definition new workflow ACCOUNT", ids)

    (sent,) = rows(cloud, "solicitation", "list", account)
    parameters = {"survey": survey["id"], "tracker": sent["trackerId"]}
    view = cloud.http.get("/public/survey", params=parameters).json()
    answers = [
        {
            "id": field["id"],
            "values": ["9" if field["type"] == "NPS" else "=Lovely evening, and a kind waiter."],
        }
        for field in view["fields"]
    ]
    parts = {"id": survey["id"], "tracker": sent["trackerId"], "fields": json.dumps(answers)}
    response = cloud.http.post(
        "/public/survey/submit", files={name: (None, value) for name, value in parts.items()}
    )
    assert response.status_code == 201, response.text
    wait_until(lambda: rows(cloud, "account", "stats", account)["feedback"] == 1)

    shown = run(cloud, tmp_path, "feedback report ACCOUNT --output first-report.html", ids)
    assert "Lovely" in shown
    assert "'=Lovely" in (tmp_path / "feedback.csv").read_text(encoding="utf-8-sig")
    report = (tmp_path / "first-report.html").read_text()
    assert "My store" in report
    assert "Lovely" in report
