"""Run campaigns and pairs of use cases in another process. `make campaign` runs many more."""

import os
import subprocess
import sys
from pathlib import Path


def output_of(module: str, *arguments: str) -> str:
    # The order of sets depends on the hash seed.
    result = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    return result.stdout + result.stderr


def test_eight_campaigns_break_no_invariant() -> None:
    # Two seeds restore a backup, and two damage records. Seed 10 fails if the head of a feed is
    # changed without its condition.
    output = output_of("tests.campaign", "8", "6")
    assert "8 seeds, 0 with violations" in output, output


def test_copies_of_feed_are_equal_to_store_after_faults_and_changes() -> None:
    output = output_of("tests.campaign.feed", "60")
    assert output.endswith("\n0 differences\n"), output


def test_interleaved_use_cases_have_the_result_of_a_serial_order() -> None:
    output = output_of("tests.campaign.pairs", "2")
    assert output.endswith(" pairs, 0 with violations\n"), output
