"""Environment of in-process tests: the stage ``test``, tables in memory, and moto for the rest."""

import gc
import os
import sys
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from botocore.hooks import EventAliaser
from botocore.loaders import JSONFileLoader
from hypothesis import settings as hypothesis_settings
from moto import mock_aws

if TYPE_CHECKING:
    from tests.aws.requests import Request
    from tests.services.moved_time import Time
    from tests.services.solicitation.provider import Provider
    from tests.services.solicitation.soliciting import Shop
    from tests.services.webhooks.delivering import Receiver

# Set these variables before any project import, so that no test can reach a real AWS account.
os.environ.update(
    {
        "STAGE": "test",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_SESSION_TOKEN": "testing",
        "AWS_REGION": "eu-west-1",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "POWERTOOLS_METRICS_NAMESPACE": "feedback",
        "POWERTOOLS_SERVICE_NAME": "feedback",
    }
)
# The exports of `make env` select the local cloud.
for _name in ("AWS_ENDPOINT_URL", "PRIVATE_WEBHOOKS"):
    os.environ.pop(_name, None)

hypothesis_settings.register_profile("project", deadline=None, derandomize=True, max_examples=50)
hypothesis_settings.load_profile("project")


_LONGEST = ("campaign", "schemathesis", "test_deploy.py", "test_restore", "generated", "commands")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the files with the longest tests first, so that no process ends with one of them."""
    items.sort(key=lambda item: not any(part in item.path.name for part in _LONGEST))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """Remove the log and the keywords of passed tests, which processes would send to each other."""
    report = yield
    if report.passed and "PYTEST_XDIST_WORKER" in os.environ:
        report.sections, report.keywords = [], {}
    return report


def pytest_sessionfinish() -> None:
    """Save the requests to the tables in memory."""
    if stage := sys.modules.get("tests.aws.stage"):
        stage.save_recorded_requests()


def pytest_collection_finish() -> None:
    """Make garbage collection rare and cheap.

    The imported libraries consist of a million objects, and a collection would visit all of them.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 10, 100)


# Botocore reads its models again for each session, and moto starts a session for each test module.
_load_model = cache(JSONFileLoader().load_file)
JSONFileLoader.load_file = lambda _, path: _load_model(path)  # type: ignore[assignment]

# Moto parses templates in Python, which takes most of the time of a deployment.
yaml.Loader = yaml.loader.Loader = yaml.CLoader  # type: ignore[assignment,misc]

# Botocore translates the same names of events again for each session.
_translate = EventAliaser._alias_event_name
_event_names: dict[str, str] = {}


def _translated(aliaser: EventAliaser, name: str) -> str:
    if name not in _event_names:
        _event_names[name] = _translate(aliaser, name)
    return _event_names[name]


EventAliaser._alias_event_name = _translated


_may_send_requests = False


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Note whether the test requests the fixture ``cloud``, itself or through other fixtures."""
    global _may_send_requests
    _may_send_requests = "cloud" in item.fixturenames  # type: ignore[attr-defined]


def _reject_unprepared(request: "Request") -> Any:
    """Fail a test that would only work after another test of its module."""
    assert _may_send_requests, "This test sends AWS requests: let it request the fixture cloud."
    return request.send()


@pytest.fixture(scope="module")
def tables(request: pytest.FixtureRequest) -> Iterator[None]:
    """Keep the tables of the stage in memory, for `cloud` or for another data stack on moto.

    Moto keeps the tables of a module that sets ``USES_TABLES_OF_MOTO``.
    """
    from tests.aws.stage import PLAIN_MOTO, memory_tables

    is_plain = PLAIN_MOTO or hasattr(request.module, "USES_TABLES_OF_MOTO")
    with memory_tables(is_plain=is_plain):
        yield


@pytest.fixture(scope="module")
def cloud(tables: None) -> Iterator[None]:
    """Create empty tables and queues of the data stack for each test module.

    The tests of a module share the tables and use separate accounts.
    """
    from chalicelib.outbound.queues import forget_urls
    from chalicelib.storage.dynamodb.table import forget_connection
    from chalicelib.storage.stage_values import forget_stage_secret
    from tests.aws.requests import responding
    from tests.aws.stage import create_data_stack
    from tests.moto_ses import accept_headers_in_notifications
    from tests.policies import check_request

    with (
        mock_aws(),
        pytest.MonkeyPatch.context() as patch,
        responding(check_request),
        responding(_reject_unprepared),
    ):
        accept_headers_in_notifications(patch)
        # Tests select requests by their number, so requests have the same order in each run.
        patch.setattr("chalicelib.services.work.sweep.MAX_CONCURRENCY", 1)
        patch.setattr("chalicelib.services.purchases.report.MAX_WRITERS", 1)
        patch.setattr(
            "chalicelib.services.work.partial_batch.map_concurrently",
            lambda function, items, _: [function(item) for item in items],
        )
        # A deployment stores this URL.
        base_url = "https://api.example.com/test"
        patch.setattr("chalicelib.storage.stage_values._stored_url", lambda: base_url)
        forget_connection()
        forget_urls()
        forget_stage_secret()
        create_data_stack()
        yield
        forget_connection()
        forget_urls()


@pytest.fixture
def account(cloud: None) -> str:
    """Clear all caches and return the id of a new account."""
    from chalicelib.domain.ids import new_id
    from chalicelib.services.caching import clear_caches

    clear_caches()
    return new_id()


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> "Time":
    """Replace the service's clock with a clock that the test can move."""
    from tests.services.moved_time import move_time

    return move_time(monkeypatch)


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> "Receiver":
    """Replace the function that posts webhooks. The receiver responds with 200 by default."""
    from chalicelib.services.webhooks import send
    from tests.services.webhooks.delivering import Receiver, response_with

    receiver = Receiver([response_with(200)])
    monkeypatch.setattr(send, "post", receiver.post)
    send.circuit_breaker.close_all()
    return receiver


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> "Provider":
    """Replace the provider of messages. It accepts each message by default."""
    from chalicelib.services.solicitation import send_survey
    from tests.services.solicitation.provider import Provider

    provider = Provider()
    monkeypatch.setattr(send_survey, "send_invitation", provider.send)
    return provider


@pytest.fixture
def shop(account: str, time: "Time", provider: "Provider") -> "Shop":
    """Create an account with one store and one survey. The test's provider gets its messages."""
    from tests.services.solicitation.soliciting import open_shop

    return open_shop(provider, time)
