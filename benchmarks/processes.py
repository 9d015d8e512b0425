"""Run benchmarks and contenders in child processes with a fixed environment."""

import multiprocessing
import os
import signal
import sys
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from typing import Any, Final

SPAWN: Final = multiprocessing.get_context("spawn")
STAGE: Final = "test"
_ENVIRONMENT: Final = {
    "STAGE": STAGE,
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_SESSION_TOKEN": "testing",
    "AWS_REGION": "eu-west-1",
    "AWS_DEFAULT_REGION": "eu-west-1",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}


def child_process() -> ProcessPoolExecutor:
    """Return an executor with one new process. Close the executor to end the process.

    The process has the environment variables of a deployed function, but invalid AWS credentials.
    Its output is discarded, so that a measurement includes the cost of formatting log lines.
    """
    return ProcessPoolExecutor(1, SPAWN, _isolate)


def measure(benchmark: str) -> Any:
    """Run a benchmark in this process. Import only its module."""
    return import_module(f"benchmarks.{benchmark}").measure()


def stop_children_on_signals() -> None:
    """On SIGTERM or SIGHUP, stop the child processes and exit normally."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)


def _isolate() -> None:
    for name in list(os.environ):
        if name.startswith("AWS_"):
            del os.environ[name]
    os.environ.update(_ENVIRONMENT)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())  # type: ignore[union-attr]
    stop_children_on_signals()


def _stop(number: int, _frame: Any) -> None:
    for child in multiprocessing.active_children():
        child.terminate()
    sys.exit(128 + number)
