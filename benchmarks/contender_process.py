"""Run a contender: execute commands from standard input and write results to standard output.

Each command and each result is one JSON line. The handler's own output is discarded.
"""

import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.lambda_context import LambdaContext
from benchmarks.recorded_request import read_recording
from benchmarks.replay import Replay


def main(module: str, recording: Path) -> None:
    """Read commands from standard input and execute them until the input ends.

    Args:
        module: the module that contains the handler.
        recording: the file that contains the recorded requests.
    """
    results = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    requests = {request.name: request for request in read_recording(recording)}
    replay = Replay()
    replay.install()
    handler = importlib.import_module(module).handler
    context = LambdaContext()

    def respond(event: Any) -> dict[str, Any]:
        handler(event, context)  # fill the caches before the measured requests
        replay.calls.clear()
        response = handler(event, context)
        return {
            "status": response["statusCode"],
            "body": json.loads(response["body"]),
            "calls": dict(replay.calls),
        }

    def measure(event: Any, times: int) -> int:
        started = time.process_time_ns()
        for _ in range(times):
            handler(event, context)
        return (time.process_time_ns() - started) // times

    for line in sys.stdin:
        command = json.loads(line)
        request = requests[command["request"]]
        replay.select(request)
        result = (
            measure(request.event, command["times"])
            if "times" in command
            else respond(request.event)
        )
        print(json.dumps(result), file=results)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
