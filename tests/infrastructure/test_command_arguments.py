"""Test that commands of developers reject unknown arguments."""

import pytest

from infrastructure.generate import __main__ as generate
from infrastructure.local_cloud import __main__ as local_cloud


def test_local_cloud_rejects_words_after_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(local_cloud, "up", lambda _: None)
    with pytest.raises(SystemExit):
        local_cloud.main(["up", "--port", "5000"])
    assert "unrecognized arguments: --port 5000" in capsys.readouterr().err


@pytest.mark.parametrize("argument", ["--help", "--chekc", "check"])
def test_generate_writes_nothing_with_other_arguments(
    argument: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[bool] = []
    monkeypatch.setattr(generate, "write_files", lambda: written.append(True))
    with pytest.raises(SystemExit):
        generate.main([argument])
    assert not written
