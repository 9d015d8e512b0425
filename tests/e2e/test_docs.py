"""Test that the examples in the documentation work without changes, except for placeholders."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from chalicelib.domain.ids import new_id
from infrastructure.demo.description import purchase_command
from tests.chromium.browser import open_page, serve
from tests.docs.blocks import ROOT, block
from tests.e2e.admin import admin
from tests.e2e.cloud import Cloud
from tests.e2e.demo_messages import messages
from tests.waiting import wait_until

INTEGRATING = "docs/integrating.md"
OPERATING = "docs/operating.md"
README = "README.md"
RUNBOOK = "docs/runbook.md"
# Install no requirements, because the environment of the test runs the commands.
MAKE = "make --no-print-directory --old-file=.venv/.requirements "


def run(cloud: Cloud, folder: Path, part: str) -> str:
    """Run a block of the page for partners. Return the output."""
    demo = cloud.demo
    values = {
        "BASE_URL": demo["baseUrl"],
        "API_KEY": demo["apiKey"],
        "API_SECRET": demo["apiSecret"],
    }
    text = block(INTEGRATING, part).text
    for name, value in values.items():
        text = text.replace(f"{name}='…'", f"{name}='{value}'")
    return bash(text, folder, **values)


@dataclass(frozen=True)
class Form:
    """A contact form of a new account, with one field."""

    base_url: str
    id: str
    field_id: str

    def fill(self, part: str) -> str:
        """Replace the placeholders in a block of the page for partners."""
        text = block(INTEGRATING, part).text
        for placeholder, value in {
            "BASE_URL": self.base_url,
            "…": self.base_url,
            "CONTACT_FORM_ID": self.id,
            '"FORM"': f'"{self.id}"',
            '"FIELD"': f'"{self.field_id}"',
        }.items():
            text = text.replace(placeholder, value)
        return text


@pytest.fixture(scope="module")
def form(cloud: Cloud, tmp_path_factory: pytest.TempPathFactory) -> Form:
    """Create an account with a contact form that has the field of the examples."""
    brand, form, field = new_id(), new_id(), new_id()
    question = {"id": field, "key": "topic", "type": "SINGLE_SELECT", "values": ["A visit"]}
    definitions = [
        {"kind": "brand", "id": brand, "name": "Maison Lumen"},
        {"kind": "contactForm", "id": form, "brandId": brand, "name": "Contact", "language": "en"}
        | {"fields": [{**question, "label": "Subject"}]},
    ]
    file = tmp_path_factory.mktemp("form") / "form.yaml"
    file.write_text(yaml.safe_dump_all(definitions))
    account = admin(cloud, "account", "create", "Docs")
    admin(cloud, "definition", "load", "--yes", str(file), "--account", account)
    return Form(cloud.base_url, form, field)


def test_first_request_returns_documented_page(cloud: Cloud, tmp_path: Path) -> None:
    response = json.loads(run(cloud, tmp_path, "/partners/customer/list"))
    assert len(response["items"]) == response["meta"]["itemCount"] == 2


def test_documented_customer_is_created(cloud: Cloud, tmp_path: Path) -> None:
    customer = json.loads(run(cloud, tmp_path, "Idempotency-Key: $KEY"))
    assert customer["metadata"]["import"] == {"card": "LC-20418"}


def test_documented_batch_is_accepted_and_its_progress_read(cloud: Cloud, tmp_path: Path) -> None:
    accepted, progress = run(cloud, tmp_path, "batch.json").replace("}{", "}\n{").splitlines()
    assert json.loads(accepted)["rowCount"] == json.loads(progress)["rowCount"] == 2
    assert json.loads(accepted)["id"] == json.loads(progress)["id"]


def test_documented_problem_is_returned(cloud: Cloud) -> None:
    demo = cloud.demo
    response = cloud.http.post(
        "/partners/customer/list",
        json={"limit": 101, "offset": 0},
        headers={"X-API-KEY": demo["apiKey"], "X-API-SECRET": demo["apiSecret"]},
    )
    shown = json.loads(block(INTEGRATING, "requestId").text)
    assert {**response.json(), "requestId": shown["requestId"]} == shown


def test_urls_of_pages_return_pages(cloud: Cloud) -> None:
    text = block(INTEGRATING, "page?id=FORM").text
    for url in text.split():
        path = url.removeprefix("BASE_URL").replace("FORM", cloud.demo["contactFormId"])
        response = cloud.http.get(path.replace("SURVEY", cloud.demo["surveyId"]))
        assert response.status_code == 200


def test_script_tags_embed_forms(form: Form, cloud: Cloud) -> None:
    tags = form.fill("embed.js").replace("SURVEY_ID", cloud.demo["surveyId"])
    with serve(f"<!doctype html><title>Shop</title><body>{tags}") as address, open_page() as page:
        page.goto(address)
        for number in range(2):
            page.frame_locator("iframe").nth(number).locator("form").wait_for()


def test_script_submits_form(form: Form, cloud: Cloud) -> None:
    snippet = block(INTEGRATING, "new FormData").text
    script = f"async ([base, form]) => {{ {snippet} return response.status; }}"
    view = cloud.http.get("/public/contact-form", params={"id": form.id}).json()
    with serve("<!doctype html>") as address, open_page() as page:
        page.goto(address)
        assert page.evaluate(script, [form.base_url, view]) == 204


def test_plain_html_form_submits_form(form: Form) -> None:
    with serve(f"<!doctype html>{form.fill('<form')}") as address, open_page() as page:
        page.goto(address)
        page.fill('[name="fields[0][values][0]"]', "A visit")
        with page.expect_response("**/submit") as response_info:
            page.click("button")
        assert response_info.value.status == 200


def test_operator_command_line_is_set_up(cloud: Cloud) -> None:
    exports = block(OPERATING, "make env").text.replace("make ", MAKE)
    completion = block(OPERATING, "--show-completion").text
    command = f"set -e\n{exports}{completion}feedback-admin account list --json"
    accounts = json.loads(bash(command, STATE_DIR=str(cloud.folder)))
    assert cloud.demo["accountId"] in {account["id"] for account in accounts}


def test_make_logs_prints_log_lines(cloud: Cloud) -> None:
    response: Any = cloud.http.get("/public/survey", params={"survey": "x"}).json()
    command, _, example_id = block(RUNBOOK, "make logs").text.strip().partition("=")
    assert len(example_id) == len(response["requestId"])
    command = command.replace("make ", MAKE)
    # pytest sets STAGE, which is also an option of this command.
    environment = {"STATE_DIR": str(cloud.folder), "STAGE": ""}
    line = json.loads(bash(f"{command}={response['requestId']}", **environment))
    assert line["status"] == 400


def run_readme(cloud: Cloud, part: str) -> str:
    """Run the README's only code block that contains this text. Return the output."""
    demo = cloud.demo
    names = {"BASE_URL": "baseUrl", "API_KEY": "apiKey", "API_SECRET": "apiSecret"}
    command = block(README, part).text.replace(".local/", f"{cloud.folder}/")
    return bash(command, **{name: demo[key] for name, key in names.items()})


def test_command_in_readme_sets_variables_of_running_cloud(cloud: Cloud) -> None:
    exports = block(README, "make env").text.replace("make ", MAKE)
    command = f"{exports}\nbin/feedback-admin account list --json\n"
    variables = 'echo "$BASE_URL ${AWS_PROFILE-none}"'
    output = bash(command + variables, STATE_DIR=str(cloud.folder), AWS_PROFILE="other")
    assert cloud.demo["accountId"] in output
    assert output.endswith(f"{cloud.demo['baseUrl']} none\n")


def test_first_request_in_readme_returns_documented_response(cloud: Cloud) -> None:
    response = json.loads(run_readme(cloud, "/partners/customer/list"))
    assert response["meta"]["totalItems"] >= 80
    assert response["items"][0]["displayName"]


def test_survey_submission_in_readme_sends_webhook(cloud: Cloud) -> None:
    received = cloud.folder / "webhooks.jsonl"
    before = len(received.read_text().splitlines()) if received.exists() else 0
    assert json.loads(run_readme(cloud, "/public/survey/submit")) == {
        "redirectTo": "https://reviews.example.com/new?place=maison-lumen"
    }
    wait_until(lambda: received.exists() and len(received.read_text().splitlines()) > before)
    assert json.loads(run_readme(cloud, "tail -n 1"))["event"] == "workflow.action.webhook"


def test_batch_in_readme_is_imported(cloud: Cloud) -> None:
    progress = json.loads(run_readme(cloud, "customers-batch.json"))
    assert progress["rowCount"] == 40


def test_script_in_readme_prints_link_of_nine_in_newest_mail(cloud: Cloud) -> None:
    before = len(messages(cloud))
    subprocess.run(["bash", "-c", purchase_command(cloud.environment())], cwd=ROOT, check=True)
    wait_until(lambda: len(messages(cloud)) > before)
    newest = messages(cloud)[-1]
    assert run_readme(cloud, "mailbox").splitlines() == [newest["subject"], newest["links"][9]]
    assert newest["links"][9].endswith("a.nps=9")


def bash(command: str, folder: Path = ROOT, **environment: str) -> str:
    """Run a command in a folder. Return the output."""
    result = subprocess.run(
        ["bash", "-c", command],
        env=os.environ | environment | {"NO_PROXY": "127.0.0.1"},
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return result.stdout
