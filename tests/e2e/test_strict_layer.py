"""Test that the local cloud rejects oversized requests and requests from foreign hosts or pages."""

from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from botocore.exceptions import ClientError

from infrastructure.local_cloud.strict.layer import FAULTS_PATH
from tests.chromium.browser import open_page, serve
from tests.e2e.cloud import TIMEOUT_S, Cloud

FUNCTIONS_PATH = "/2015-03-31/functions"
FOREIGN = (
    {"Host": "shop.example"},
    {"Origin": "https://shop.example"},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "cross-site"},
)


def request(cloud: Cloud, path: str, headers: dict[str, str]) -> httpx.Response:
    return httpx.get(f"{cloud.endpoint}{path}", headers=headers, timeout=TIMEOUT_S, trust_env=False)


@pytest.mark.parametrize("headers", FOREIGN)
@pytest.mark.parametrize("path", [FUNCTIONS_PATH, "/_ministack/health", FAULTS_PATH])
def test_foreign_request_does_not_reach_emulator(
    cloud: Cloud, path: str, headers: dict[str, str]
) -> None:
    assert request(cloud, path, headers).status_code == 403


@pytest.mark.parametrize("headers", FOREIGN)
def test_public_endpoint_accepts_other_origins_but_rejects_other_hosts(
    cloud: Cloud, headers: dict[str, str]
) -> None:
    path = f"{urlsplit(cloud.base_url).path}/public/survey?survey={cloud.demo['surveyId']}"
    assert request(cloud, path, headers).status_code == (403 if "Host" in headers else 200)


def test_other_users_cannot_read_files_of_local_cloud(cloud: Cloud) -> None:
    assert cloud.folder.stat().st_mode & 0o777 == 0o700
    created = (cloud.folder / "demo.json", cloud.emulator.log, cloud.folder / "mail")
    files = [*created, *(cloud.folder / "mail").iterdir()]
    assert [file for file in files if file.lstat().st_mode & 0o077] == []


# The page sends requests with and without a preflight request, and submits a form.
_ATTEMPTS = """async ([endpoint, name]) => {
    const simple = {method: 'POST', mode: 'no-cors', body: '{}'};
    const send = (path, options) =>
        fetch(endpoint + path, options).then(response => response.type, () => 'blocked');
    const outcomes = {
        run: await send(`/2015-03-31/functions/${name}/invocations`, simple),
        create: await send('/2015-03-31/functions', {...simple, body: JSON.stringify({
            FunctionName: 'attack', Runtime: 'python3.11', Handler: 'a.b', Code: {},
            Role: 'arn:aws:iam::000000000000:role/r'})}),
        query: await send('/?Action=CreateQueue&QueueName=attack&Version=2012-11-05', simple),
        signed: await send('/', {method: 'POST', headers: {
            'X-Amz-Target': 'AmazonSQS.CreateQueue',
            'Authorization': 'AWS4-HMAC-SHA256 Credential=test/20260101/eu-west-1/sqs/aws4_request',
        }, body: JSON.stringify({QueueName: 'attack'})}),
        read: await send('/2015-03-31/functions', {}),
        reset: await send('/_ministack/reset', simple),
        faults: await send('/_local/faults', {method: 'PUT', body: '{"throttling": 1}'}),
    };
    const form = document.createElement('form');
    form.method = 'post';
    form.target = 'frame';
    form.action = `${endpoint}/2015-03-31/functions/${name}/invocations`;
    const frame = document.createElement('iframe');
    frame.name = 'frame';
    document.body.append(frame, form);
    const loaded = new Promise(resolve => { frame.onload = resolve; });
    form.submit();
    await loaded;
    return outcomes;
}"""


def test_page_of_another_origin_cannot_create_or_run_functions(cloud: Cloud) -> None:
    name = next(
        function["FunctionName"]
        for function in cloud.client("lambda").list_functions()["Functions"]
        if function["FunctionName"].endswith("-sweep")
    )
    statuses: dict[str, set[int]] = {}
    with serve("<!doctype html><body></body>") as address, open_page() as page:
        page.on(
            "response",
            lambda response: statuses.setdefault(urlsplit(response.url).path, set()).add(
                response.status
            ),
        )
        page.goto(address)
        outcomes: dict[str, Any] = page.evaluate(_ATTEMPTS, [cloud.endpoint, name])
        view = page.evaluate(
            "url => fetch(url).then(response => response.json())",
            f"{cloud.base_url}/public/survey?survey={cloud.demo['surveyId']}",
        )
    assert {outcomes[attempt] for attempt in ("signed", "read", "faults")} == {"blocked"}
    statuses.pop("/")  # the page itself and the rejected requests to the root path
    statuses.pop("/favicon.ico", None)
    view_path = f"{urlsplit(cloud.base_url).path}/public/survey"
    assert statuses.pop(view_path) == {200}
    assert f"{FUNCTIONS_PATH}/{name}/invocations" in statuses
    assert set().union(*statuses.values()) == {403}
    assert view["id"] == cloud.demo["surveyId"]
    functions = cloud.client("lambda").list_functions()["Functions"]
    assert "attack" not in {function["FunctionName"] for function in functions}
    assert not cloud.client("sqs").list_queues(QueueNamePrefix="attack").get("QueueUrls")
    rates = request(cloud, FAULTS_PATH, {}).json()["rates"]
    assert rates["throttling"] == 0


def test_body_larger_than_gateway_limit_returns_problem_details(cloud: Cloud) -> None:
    response = cloud.http.post("/partners/customer/batch", content=b"x" * (10 * 1024 * 1024 + 1))
    assert response.status_code == 413
    assert response.headers["content-type"] == "application/problem+json"


def test_request_with_event_larger_than_lambda_limit_is_rejected(cloud: Cloud) -> None:
    response = cloud.http.post("/partners/customer/batch", content=b'"' * (3 * 1024 * 1024 + 200))
    assert response.status_code == 413


def test_message_over_1_mb_is_rejected(cloud: Cloud) -> None:
    sqs = cloud.client("sqs")
    url = sqs.get_queue_url(QueueName=cloud.resource_name("feedback"))["QueueUrl"]
    with pytest.raises(ClientError, match="must be shorter than 1048576 bytes"):
        sqs.send_message(QueueUrl=url, MessageBody="x" * (1024 * 1024 + 1))
