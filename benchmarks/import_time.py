"""Measure the import time of the deployed app. Compare it with the import time of its libraries."""

import json
import subprocess
import sys
from statistics import median
from typing import Final

from benchmarks.processes import PROJECT
from benchmarks.report import Section, Table

BUDGET: Final = 1.3
ROUNDS: Final = 21

LIBRARIES: Final = "chalice, boto3, pydantic, pynamodb"
MODEL: Final = "the same and one pydantic model"
APP: Final = "this service"
STATEMENTS: Final = {
    LIBRARIES: "import chalice, boto3, pydantic, pynamodb.models",
    MODEL: "import chalice, boto3, pydantic, pynamodb.models; pydantic.BaseModel",
    APP: "import app",
}
_PROGRAM: Final = (
    "import sys, time; modules = len(sys.modules);"
    " wall, cpu = time.perf_counter(), time.process_time();"
    " {statement};"
    " wall, cpu = time.perf_counter() - wall, time.process_time() - cpu;"
    " print([wall * 1000, cpu * 1000, len(sys.modules) - modules])"
)


def measure() -> Section:
    """Execute each import statement once per round in a new interpreter, and return the times."""
    samples: dict[str, list[tuple[float, float, int]]] = {name: [] for name in STATEMENTS}
    for name in STATEMENTS:
        _import(name)  # the first run compiles the modules to byte code and is not measured
    for _ in range(ROUNDS):
        for name in STATEMENTS:
            samples[name].append(_import(name))
    wall, cpu, modules = (
        {name: median(sample[column] for sample in samples[name]) for name in STATEMENTS}
        for column in range(3)
    )
    ratio = wall[APP] / wall[LIBRARIES]
    rows = [(n, wall[n], cpu[n], modules[n], wall[n] / wall[LIBRARIES]) for n in STATEMENTS]
    return Section(
        "Import time",
        [
            "The time to import the deployed app in a new interpreter with compiled byte code,"
            f" compared with the time to import its libraries: medians of {ROUNDS} interleaved"
            " rounds. pydantic loads most of its modules when the first model is defined; the"
            " second row includes this time. A ratio compares the time with the first row.",
            Table(
                {"import": "", "ms": ".0f", "CPU ms": ".0f", "modules": ".0f", "ratio": ".2f"},
                rows,
            ),
            f"Budget: at most {BUDGET} times the time of the libraries alone. Measured:"
            f" {ratio:.2f}, {'within' if ratio <= BUDGET else 'over'} the budget. Compared with the"
            f" libraries and one model: {wall[APP] / wall[MODEL]:.2f}.",
        ],
    )


def _import(name: str) -> tuple[float, float, int]:
    command = [sys.executable, "-c", _PROGRAM.format(statement=STATEMENTS[name])]
    wall, cpu, modules = json.loads(subprocess.check_output(command, cwd=PROJECT, text=True))
    return wall, cpu, modules
