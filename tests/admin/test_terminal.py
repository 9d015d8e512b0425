"""Test that the command line escapes control characters in the data that it prints."""

import subprocess
import sys
from datetime import UTC, datetime
from unicodedata import category
from zoneinfo import ZoneInfo

import pytest

from admin import terminal
from admin.services.webhooks import send_example
from admin.terminal import cell_text, notices, results, show_json, show_table
from chalicelib.domain.ids import new_id
from tests.admin.command import new_account, run
from tests.services.moved_time import Time
from tests.services.queues import WEBHOOK_QUEUE
from tests.services.webhooks.delivering import (
    Receiver,
    add_workflow,
    executions_of,
    response_with,
    trigger_webhooks,
)
from tests.web.partner_client import ROOT
from tests.web.seeded_account import seed_account

CONTROLS = [character for character in map(chr, range(0x110000)) if category(character) == "Cc"]
HOSTILE = "a\x1b]0;owned\x07b\x9b2Jc\rd\x00e\x7ff"
VISIBLE = r"a\x1b]0;owned\x07b\x9b2Jc\x0dd\x00e\x7ff"


def test_log_lines_are_written_to_standard_error() -> None:
    program = """
import runpy, sys
from contextlib import suppress
sys.argv = ["admin", "--help"]
with suppress(SystemExit):
    runpy.run_module("admin", run_name="__main__")
from chalicelib.log import logger
logger.error("form unreadable")
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert "form unreadable" in ended.stderr
    assert "Usage" in ended.stdout
    assert "form unreadable" not in ended.stdout


@pytest.mark.parametrize("surrogate", "\ud800\udcff\udfff", ids=ascii)
def test_lone_surrogate_is_escaped(surrogate: str, capsys: pytest.CaptureFixture[str]) -> None:
    results().print(f"a{surrogate}b")
    show_json([surrogate])
    escaped = f"\\u{ord(surrogate):04x}"
    assert capsys.readouterr().out == f'a{escaped}b\n[\n  "{escaped}"\n]\n'


@pytest.mark.parametrize("character", "\u2028\u2029\u202a\u202e\u2066\u2069", ids=ascii)
def test_unicode_direction_control_is_escaped(
    character: str, capsys: pytest.CaptureFixture[str]
) -> None:
    results().print(f"a{character}b")
    assert capsys.readouterr().out == f"a\\u{ord(character):04x}b\n"


def test_emoji_and_right_to_left_text_are_printed_unchanged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    family = "👩\u200d👧 Zoë עברית"
    results().print(family)
    assert capsys.readouterr().out == f"{family}\n"


def control_characters_in(shown: str) -> set[str]:
    return {character for character in shown if category(character) == "Cc"} - {"\n"}


@pytest.mark.parametrize("character", sorted(set(CONTROLS) - {"\n", "\t"}), ids=ascii)
def test_control_character_is_escaped(character: str, capsys: pytest.CaptureFixture[str]) -> None:
    results().print(f"a{character}b")
    notices().print(f"a{character}b")
    show_table([f"c{character}d"], [[f"a{character}b"]])
    shown = capsys.readouterr()
    number = f"\\x{ord(character):02x}"
    assert shown.out.split() == [f"a{number}b", f"c{number}d", f"a{number}b"]
    assert shown.err == f"a{number}b\n"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (False, "no"),
        (3, "3"),
        (["a", True], "a, yes"),
        ({"é": [1]}, '{"é": [1]}'),
        (datetime(2026, 11, 20, 10, tzinfo=UTC), "2026-11-20 10:00"),
    ],
)
def test_table_cell_shows_value_as_text(value: object, text: str) -> None:
    assert cell_text(value) == text


def test_redirected_table_has_one_line_per_row(capsys: pytest.CaptureFixture[str]) -> None:
    ids = [new_id() for _ in range(12)]
    show_table([f"Id {number}" for number in range(12)], [ids])
    _, row = capsys.readouterr().out.splitlines()
    assert row.split() == ids


def test_question_escapes_control_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    questions = []
    monkeypatch.setattr(terminal.sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(terminal.typer, "confirm", lambda text, **_: questions.append(text))
    terminal.confirm(lambda: f"Erase {HOSTILE}?", is_confirmed=False)
    assert questions == [f"Erase {VISIBLE}?"]


def test_line_breaks_and_markup_are_printed_unchanged(capsys: pytest.CaptureFixture[str]) -> None:
    results().print("a\nb\tc é 漢 [bold] :smile:")
    assert capsys.readouterr().out == "a\nb       c é 漢 [bold] :smile:\n"


@pytest.mark.usefixtures("cloud")
def test_workflow_test_escapes_receiver_response(monkeypatch: pytest.MonkeyPatch) -> None:
    account = new_account()
    workflow = add_workflow(account)
    monkeypatch.setattr(send_example, "post", Receiver([response_with(202, excerpt=HOSTILE)]).post)
    shown = run("workflow", "test", account, workflow.id).stdout
    assert VISIBLE in shown
    assert control_characters_in(shown) == set()


@pytest.mark.usefixtures("cloud")
def test_deliveries_show_escapes_receiver_response(receiver: Receiver, time: Time) -> None:
    seeded = seed_account()
    add_workflow(seeded.account_id)
    receiver.responses = [response_with(410, excerpt=HOSTILE)]
    WEBHOOK_QUEUE.deliver(trigger_webhooks(seeded))
    (row,) = executions_of(seeded.account_id)
    shown = run("delivery", "show", row.execution_id).stdout
    assert VISIBLE in shown
    assert control_characters_in(shown) == set()


IDS = [new_id() for _ in range(3)]
ROWS = [[id_, "Zoé Martin-Dupont", f"zoe{n}@example.com", "SENT", id_] for n, id_ in enumerate(IDS)]
TITLES = ["Id", "Name", "E-mail", "State", "Tracker id"]


HISTORY = [
    ["2026-11-20 10:00", "contactForm", IDS[0], "definition load", "ana", "Added Lyon Bellecour"],
    ["2026-11-20 10:05", "brand", IDS[1], "definition load of all files", "b", "Changed"],
]


@pytest.mark.parametrize("columns", [60, 80, 90, 100, *range(110, 134, 2)])
@pytest.mark.parametrize(("titles", "rows"), [(TITLES, ROWS), ([*"abcdef"], HISTORY)])
def test_table_fits_width_and_splits_no_word(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    titles: list[str],
    rows: list[list[str]],
    columns: int,
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    show_table(titles, rows, wraps=True)
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= columns
    for row in rows:
        assert {word for cell in row for word in str(cell).split()} <= set(printed.split())


def test_wide_columns_are_shown_on_request(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    show_table(TITLES, ROWS, wide=["Tracker id"])
    assert "Tracker" not in capsys.readouterr().out
    terminal.set_wide_output(True)
    try:
        show_table(TITLES, ROWS, wide=["Tracker id"])
    finally:
        terminal.set_wide_output(False)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["Id", *IDS]
    assert "Tracker id" in lines[0]


def test_long_text_is_wrapped_between_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    rows = [[IDS[0][:8], "The waiting time was long. " * 4]]
    show_table(["Id", "Comment"], rows, wraps=True)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 50
    assert " ".join(" ".join(lines).split()).count("waiting time was long.") == 4


@pytest.mark.parametrize("columns", [76, 80, 130])
def test_list_has_one_line_per_record_that_fits_and_keeps_ids(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    url = f"https://hooks.example.com/{'a' * 80}"
    rows = [[id_, "2026-11-20 10:05", "We waited too long. " * 9, url] for id_ in IDS]
    show_table(["Id", "Created", "Comment", "URL"], rows)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["Id", *IDS]
    assert all("2026-11-20 10:05" in line for line in lines[1:])
    assert max(map(len, lines)) <= columns
    assert "We w" in lines[1]
    assert "https:" in lines[1]


def test_times_are_shown_in_chosen_time_zone_and_named_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    summer, winter = (datetime(2026, month, 1, 23, 30, 59, tzinfo=UTC) for month in (7, 12))
    try:
        terminal.set_time_zone(lambda: ZoneInfo("Europe/Paris"))
        terminal.name_time_zone()
        assert [cell_text(time) for time in (summer, winter)] == [
            "2026-07-02 01:30",
            "2026-12-02 00:30",
        ]
        terminal.name_time_zone()
    finally:
        terminal.set_time_zone(None)
    assert capsys.readouterr().err == "Times are in Europe/Paris.\n"


def test_json_contains_exact_times(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.set_json_output(True)
    try:
        time = datetime(2026, 7, 1, 23, 30, 59, 120_000, tzinfo=UTC)
        show_table(["Created"], [[time]])
        assert cell_text(time) == "2026-07-01T23:30:59.120Z"
    finally:
        terminal.set_json_output(False)
    assert '"2026-07-01T23:30:59.120Z"' in capsys.readouterr().out
