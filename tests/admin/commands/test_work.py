"""Tests of the commands ``work list`` and ``work replay``."""

import json
from datetime import timedelta

import pytest

from admin.services.work.parked import list_parked_work, replay_matching
from chalicelib.aws_calls import counted_calls
from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.services.customers.accept_batch import read_import
from chalicelib.services.work.kinds import ALL_WORK
from tests.admin.command import new_account, run
from tests.services.customers.importing import accept_batch
from tests.services.queues import IMPORT_QUEUE

pytestmark = pytest.mark.usefixtures("cloud")


def park_import(account: str) -> str:
    """Create an import whose only chunk is parked. Return the id of the import."""
    accepted = accept_batch(account, {"batch": [{"firstName": "A"}, {"firstName": "B"}]})
    bodies = IMPORT_QUEUE.queued_messages(account)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("chalicelib.services.customers.import_chunk.next_position", _fail)
        for _ in range(8):
            IMPORT_QUEUE.deliver(bodies)
    return accepted.id


def _fail(*_: object, **__: object) -> None:
    raise RuntimeError("poison")


def test_work_list_shows_only_exception_type_of_parked_work() -> None:
    account = new_account()
    import_id = park_import(account)
    with counted_calls() as calls:
        listed = run("work", "list")
    assert listed.exit_code == 0
    assert calls.total() == len(ALL_WORK) + 1  # one kind has a parked record
    words = "".join(listed.output.split())
    assert "RuntimeError" in words
    assert import_id[:8] in words
    assert "poison" not in words


@pytest.mark.parametrize("with_part", [False, True])
def test_replay_completes_parked_work(with_part: bool) -> None:
    account = new_account()
    import_id = park_import(account)
    assert read_import(account, import_id).status == "FAILED"
    chunk_part = f"chunk#{_edition(import_id)}#00001"
    result = run("work", "replay", import_id, *([chunk_part] if with_part else []))
    assert (result.exit_code, result.stderr.strip()) == (0, "Requeued: 1.")
    IMPORT_QUEUE.deliver(IMPORT_QUEUE.queued_messages(account))
    assert read_import(account, import_id).created == 2


def parked_owners() -> set[str]:
    return {work.owner_id for work in list_parked_work()}


def test_replay_by_account_requeues_only_work_of_this_account() -> None:
    first, second = new_account(), new_account()
    imports = [park_import(first), park_import(first)]
    other = park_import(second)
    result = run("work", "replay", "--account", first, "--kind", "import")
    assert (result.exit_code, result.stderr.strip()) == (0, "Requeued: 2.")
    assert parked_owners().isdisjoint(imports)
    assert other in parked_owners()


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (("--kind", "webhook"), 0),
        (("--since", "2999-01-01"), 0),
        (("--since", "2000-01-01T00:00:00"), 1),
    ],
)
def test_replay_requires_all_filters_to_match(options: tuple[str, str], count: int) -> None:
    account = new_account()
    park_import(account)
    result = run("work", "replay", "--account", account, *options)
    assert (result.exit_code, result.stderr.splitlines()[0]) == (0, f"Requeued: {count}.")


@pytest.mark.parametrize(("later_us", "count"), [(0, 1), (1, 0)])
def test_replay_since_compares_exact_time_of_parking(later_us: int, count: int) -> None:
    account = new_account()
    import_id = park_import(account)
    (parked,) = (work for work in list_parked_work() if work.owner_id == import_id)
    since = parked.parked_at + timedelta(microseconds=later_us)
    assert replay_matching(None, account, since, lambda _: None) == count


@pytest.mark.parametrize("arguments", [(), (new_id(), "--kind", "import")])
def test_replay_requires_either_id_or_filter(arguments: tuple[str, ...]) -> None:
    result = run("work", "replay", *arguments)
    assert result.exit_code == 2
    assert "either an id or" in result.stderr


def test_replay_of_unknown_kind_is_rejected() -> None:
    result = run("work", "replay", "--kind", "listings")
    assert result.exit_code == 2
    assert "Must be one of: import, feedback, webhook" in result.stderr


def test_replay_requeues_all_parked_work_in_several_batches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("admin.services.work.parked._AT_ONCE", 2)
    monkeypatch.setattr("admin.storage.parked._READ_AT_ONCE", 2)
    account = new_account()
    imports = {park_import(account) for _ in range(5)}
    assert "Requeued: 5." in run("work", "replay", "--account", account).stderr
    queued = IMPORT_QUEUE.queued_messages(account)
    assert {json.loads(body)["importId"] for body in queued} == imports


def test_work_list_is_empty_without_parked_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("admin.storage.parked.PARKED_SHARD", "nowhere")
    with counted_calls() as calls:
        result = run("work", "list")
    assert result.exit_code == 0
    assert "dynamodb.BatchGetItem" not in calls  # AWS rejects a BatchGetItem request without keys


def test_replay_of_unparked_work_is_reported() -> None:
    result = run("work", "replay", new_id())
    assert result.exit_code == 1
    assert "no parked work" in result.stderr


def _edition(import_id: str) -> str:
    from chalicelib.storage import imports

    header = imports.find(import_id, clock.now())
    assert header
    return header.edition
