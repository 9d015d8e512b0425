"""Test that the commands in the README work without changes."""

import json
import os
import subprocess

from tests.docs.blocks import ROOT, block
from tests.e2e.cloud import Cloud
from tests.e2e.demo_messages import messages, printed_command
from tests.e2e.public_forms import wait_until

PAGE = "README.md"
# Install no requirements, because the environment of the test runs the commands.
MAKE = "make --old-file=.venv/.requirements "


def run(cloud: Cloud, part: str) -> str:
    """Run the README's only code block that contains this text. Return the output."""
    command = block(PAGE, part).text.replace(".local/", f"{cloud.folder}/")
    demo = cloud.demo
    environment = os.environ | {
        "BASE_URL": demo["baseUrl"],
        "API_KEY": demo["apiKey"],
        "API_SECRET": demo["apiSecret"],
    }
    result = subprocess.run(
        ["bash", "-c", command],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout


def test_command_in_readme_sets_variables_of_running_cloud(cloud: Cloud) -> None:
    exports = block(PAGE, "make env").text.replace("make ", MAKE)
    command = f"{exports}\nbin/feedback-admin account list --json\n"
    result = subprocess.run(
        ["bash", "-c", f'{command}echo "$BASE_URL ${{AWS_PROFILE-none}}"'],
        env=os.environ | {"STATE_DIR": str(cloud.folder), "AWS_PROFILE": "other"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert cloud.demo["accountId"] in result.stdout
    assert result.stdout.endswith(f"{cloud.demo['baseUrl']} none\n")


def test_first_request_in_readme_returns_documented_response(cloud: Cloud) -> None:
    response = json.loads(run(cloud, "/partners/customer/list"))
    assert response["meta"]["totalItems"] >= 260
    assert len(response["items"][0]) == 36


def test_survey_submission_in_readme_sends_webhook(cloud: Cloud) -> None:
    received = cloud.folder / "webhooks.jsonl"
    before = len(received.read_text().splitlines()) if received.exists() else 0
    assert json.loads(run(cloud, "/public/survey/submit")) == {
        "redirectTo": "https://reviews.example.com/new?place=maison-lumen"
    }
    wait_until(lambda: received.exists() and len(received.read_text().splitlines()) > before)
    assert json.loads(run(cloud, "tail -n 1"))["event"] == "workflow.action.webhook"


def test_batch_in_readme_is_imported(cloud: Cloud) -> None:
    progress = json.loads(run(cloud, "customers-batch.json"))
    assert progress["rowCount"] == 40


def test_script_in_readme_prints_link_of_nine_in_newest_mail(cloud: Cloud) -> None:
    before = len(messages(cloud))
    subprocess.run(["bash", "-c", printed_command(cloud)], cwd=ROOT, check=True)
    wait_until(lambda: len(messages(cloud)) > before)
    newest = messages(cloud)[-1]
    assert run(cloud, "mailbox").splitlines() == [newest["subject"], newest["links"][9]]
    assert newest["links"][9].endswith("a.nps=9")
