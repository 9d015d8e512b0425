"""Tests of submissions that HTTP clients and a browser send through the gateway."""

import html
import json
import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.chromium.browser import open_page, serve
from tests.e2e.cloud import TIMEOUT_S, Cloud
from tests.e2e.public_forms import PublicForms

Parts = Sequence[tuple[str, str]]

_NODE = """
const [url, parts, headers] = JSON.parse(require('fs').readFileSync(0));
const body = new FormData();
for (const [name, text] of parts) body.append(name, text);
fetch(url, {method: 'POST', body, headers}).then(async response => {
  console.log(JSON.stringify([response.status, await response.text()]));
});
"""


def with_curl(url: str, parts: Parts, folder: Path) -> tuple[int, str]:
    sent = []
    for name, text in parts:
        quoted = text.replace("\\", "\\\\").replace('"', '\\"')
        sent += ["-F", f'{name}="{quoted}"']
    command = ["curl", "--silent", "--noproxy", "*", "--write-out", "\n%{http_code}", *sent, url]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    body, _, status = result.stdout.rpartition("\n")
    return int(status), body


def with_httpx(url: str, parts: Parts, folder: Path) -> tuple[int, str]:
    files = [(name, (None, text.encode())) for name, text in parts]
    response = httpx.post(url, files=files, timeout=TIMEOUT_S, trust_env=False)
    return response.status_code, response.text


def with_node(url: str, parts: Parts, folder: Path) -> tuple[int, str]:
    result = subprocess.run(
        ["node", "-e", _NODE],
        input=json.dumps([url, parts, {"Idempotency-Key": os.urandom(8).hex()}]),
        check=True,
        capture_output=True,
        text=True,
    )
    status, body = json.loads(result.stdout)
    return status, body


CLIENTS = [with_curl, with_httpx, with_node]


def as_json_array(fields: Any) -> Parts:
    return [("fields", json.dumps(fields, ensure_ascii=False))]


def as_json_objects(fields: Any) -> Parts:
    return [("fields", json.dumps(item)) for item in fields]


def as_indexed_parts(fields: Any) -> Parts:
    return [
        part
        for number, item in enumerate(fields)
        for part in (
            (f"fields[{number}][id]", item["id"]),
            *((f"fields[{number}][values][{n}]", v) for n, v in enumerate(item["values"])),
        )
    ]


@pytest.mark.parametrize(
    ("client", "encoding"),
    [(with_curl, as_json_array), (with_httpx, as_json_objects), (with_node, as_indexed_parts)],
)
def test_contact_form_accepts_submission_through_gateway(
    forms: PublicForms, tmp_path: Path, client: Any, encoding: Any
) -> None:
    form_id = forms.cloud.demo["contactFormId"]
    view = forms.view("contact-form", form_id)
    before = forms.submissions("contact-form", form_id)
    parts = [("id", form_id), ("store", view["storeList"][0]["id"]), *encoding(forms.answers(view))]
    url = f"{forms.cloud.base_url}/public/contact-form/submit"
    assert client(url, parts, tmp_path) == (204, "")
    forms.wait_for(before + 1, "contact-form", form_id)


@pytest.mark.parametrize("client", CLIENTS)
def test_survey_accepts_submission_through_gateway(
    forms: PublicForms, tmp_path: Path, client: Any
) -> None:
    survey_id = forms.cloud.demo["surveyId"]
    view = forms.view("survey", survey_id)
    before = forms.submissions("survey", survey_id)
    parts = [("id", survey_id), *as_json_array(forms.answers(view))]
    status, body = client(f"{forms.cloud.base_url}/public/survey/submit", parts, tmp_path)
    assert status == 201, body
    assert set(json.loads(body)) == {"redirectTo"}
    forms.wait_for(before + 1, "survey", survey_id)


def test_browser_submits_plain_form_from_another_origin(forms: PublicForms) -> None:
    form_id = forms.cloud.demo["contactFormId"]
    view = forms.view("contact-form", form_id)
    before = forms.submissions("contact-form", form_id)
    inputs = "".join(
        f'<textarea name="{name}">{html.escape(text)}</textarea>'
        for name, text in [("id", form_id), *as_indexed_parts(forms.answers(view))]
    )
    page_source = f"""<!doctype html><meta charset="utf-8"><form method="post"
        enctype="multipart/form-data" action="{forms.cloud.base_url}/public/contact-form/submit">
        {inputs}<input name="homepage" hidden><button>Send</button></form>"""
    with serve(page_source) as address, open_page() as page:
        page.goto(address)
        with page.expect_response("**/submit") as response_info:
            page.click("button")
        assert response_info.value.status == 200
        assert page.get_by_role("heading").text_content() == view["submission"]["title"]
    forms.wait_for(before + 1, "contact-form", form_id)


def test_browser_script_reads_and_submits_form_from_another_origin(forms: PublicForms) -> None:
    demo = forms.cloud.demo
    survey_id = demo["surveyId"]
    before = forms.submissions("survey", survey_id)
    answers = forms.answers(forms.view("survey", survey_id))
    script = """async ([base, survey, answers, key]) => {
        const view = await fetch(`${base}/public/survey?survey=${survey}`);
        const tag = view.headers.get('ETag');
        const again = await fetch(`${base}/public/survey?survey=${survey}`,
            {headers: {'If-None-Match': tag}, cache: 'no-store'});
        const send = () => {
            const body = new FormData();
            body.append('id', survey);
            body.append('fields', JSON.stringify(answers));
            return fetch(`${base}/public/survey/submit`,
                {method: 'POST', body, headers: {'Idempotency-Key': key}});
        };
        const first = await send(), second = await send();
        const refused = await fetch(`${base}/public/survey/submit`,
            {method: 'POST', body: new FormData()});
        const nowhere = await fetch(`${base}/public/nowhere`);
        return {
            view: view.status, id: (await view.json()).id, tag, again: again.status,
            submitted: [first.status, second.status],
            redirects: [await first.json(), await second.json()],
            refused: (await refused.json()).status, nowhere: (await nowhere.json()).status,
        };
    }"""
    with serve("<!doctype html>") as address, open_page() as page:
        page.goto(address)
        arguments = [forms.cloud.base_url, survey_id, answers, os.urandom(8).hex()]
        results = page.evaluate(script, arguments)
        partner = page.evaluate(
            "url => fetch(url).then(() => 'read', () => 'blocked')",
            f"{forms.cloud.base_url}/partners/customer?id={demo['customerId']}",
        )
    assert results["tag"]
    assert (results["view"], results["id"], results["again"]) == (200, survey_id, 304)
    assert results["submitted"] == [201, 201]
    assert results["redirects"][0] == results["redirects"][1]
    assert (results["refused"], results["nowhere"]) == (400, 404)
    assert partner == "blocked"
    forms.wait_for(before + 1, "survey", survey_id)


@pytest.mark.parametrize("path", ["/public/contact-form", "/public/survey"])
@pytest.mark.parametrize(("suffix", "method"), [("", "GET"), ("/submit", "POST")])
def test_preflight_request_is_accepted(cloud: Cloud, path: str, suffix: str, method: str) -> None:
    headers = {
        "Origin": "https://shop.example",
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": "idempotency-key",
    }
    response = cloud.http.options(path + suffix, headers=headers)
    assert response.is_success
    assert response.headers["access-control-allow-origin"] == "*"
    assert method in response.headers["access-control-allow-methods"]
    assert "Idempotency-Key" in response.headers["access-control-allow-headers"]


def test_tracker_accepts_one_of_many_concurrent_submissions(forms: PublicForms) -> None:
    demo = forms.cloud.demo
    survey_id = demo["privateSurveyId"]
    tracker = forms.unused_tracker()
    view = forms.view("survey", survey_id, tracker=tracker)
    assert view["order"]
    before = forms.submissions("survey", survey_id)
    parts = [("id", survey_id), ("tracker", tracker), *as_json_array(forms.answers(view))]
    url = f"{forms.cloud.base_url}/public/survey/submit"
    files = [(name, (None, text.encode())) for name, text in parts]

    def submit(number: int) -> tuple[int, str]:
        headers = {"Idempotency-Key": f"{tracker}-{number % 6}"}
        response = httpx.post(url, files=files, headers=headers, timeout=TIMEOUT_S, trust_env=False)
        return response.status_code, headers["Idempotency-Key"]

    with ThreadPoolExecutor(12) as pool:
        outcomes = list(pool.map(submit, range(12)))
    accepted_keys = [key for status, key in outcomes if status == 201]
    assert {status for status, _ in outcomes} == {201, 409}
    assert len(set(accepted_keys)) == 1, "more than one submission was accepted"
    assert submit(int(accepted_keys[0][-1]))[0] == 201
    used = forms.cloud.http.get("/public/survey", params={"survey": survey_id, "tracker": tracker})
    assert used.status_code == 409
    forms.wait_for(before + 1, "survey", survey_id)
