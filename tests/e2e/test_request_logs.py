"""Test of the command that prints the log lines of a request."""

import json
import os
import subprocess
import sys

from infrastructure.deployment.code_package import PROJECT
from tests.e2e.cloud import Cloud


def test_log_lines_are_found_by_request_id_of_problem_response(cloud: Cloud) -> None:
    response = cloud.http.get("/public/survey", params={"survey": "x"})
    result = subprocess.run(
        [sys.executable, "-m", "infrastructure.request_logs", response.json()["requestId"]],
        cwd=PROJECT,
        env={**os.environ, "STATE_DIR": str(cloud.folder)},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    (line,) = map(json.loads, result.stdout.splitlines())
    assert (line["message"], line["status"]) == ("request", 400)
