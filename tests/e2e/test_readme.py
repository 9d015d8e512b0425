"""Test that the commands in the README work without changes."""

import json
import os
import re
import subprocess
from pathlib import Path

from tests.e2e.cloud import Cloud
from tests.e2e.public_forms import wait_until

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


def run(cloud: Cloud, part: str) -> str:
    """Run the README's only code block that contains this text. Return the output."""
    (block,) = (block for block in BLOCKS if part in block)
    demo = cloud.demo
    environment = os.environ | {
        "BASE_URL": demo["baseUrl"],
        "API_KEY": demo["apiKey"],
        "API_SECRET": demo["apiSecret"],
    }
    result = subprocess.run(
        ["bash", "-c", block.replace(".local/", f"{cloud.folder}/")],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout


def test_first_request_in_readme_returns_documented_response(cloud: Cloud) -> None:
    response = json.loads(run(cloud, "/partners/customer/list"))
    assert response["meta"]["totalItems"] >= 260
    assert len(response["items"][0]) == 36


def test_survey_submission_in_readme_sends_signed_webhook(cloud: Cloud) -> None:
    received = cloud.folder / "webhooks.jsonl"
    before = len(received.read_text().splitlines()) if received.exists() else 0
    assert json.loads(run(cloud, "/public/survey/submit")) == {
        "redirectTo": "https://reviews.example.com/new?place=maison-lumen"
    }
    wait_until(lambda: received.exists() and len(received.read_text().splitlines()) > before)
    assert json.loads(run(cloud, "tail -n 1"))["event"] == "workflow.action.webhook"
