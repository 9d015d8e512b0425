"""The import time of the deployed app, compared with the libraries that it needs."""

import json
from statistics import median
from typing import Final

from benchmarks.processes import run
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


def measure(rounds: int = ROUNDS) -> Section:
    """Import each in fresh interpreters, in turn."""
    metric_fields: dict[str, list[tuple[float, float, int]]] = {name: [] for name in STATEMENTS}
    for name in STATEMENTS:
        _imported(name)  # write the byte code
    for _ in range(rounds):
        for name in STATEMENTS:
            metric_fields[name].append(_imported(name))
    wall, cpu, modules = (
        {name: median(figures[place] for figures in all_) for name, all_ in metric_fields.items()}
        for place in range(3)
    )
    ratio = wall[APP] / wall[LIBRARIES]
    return Section(
        "Import time",
        [
            "Milliseconds to import the deployed app in a fresh interpreter with compiled byte"
            f" code, compared with its libraries: medians of {rounds} interleaved rounds. pydantic"
            " imports most of itself when the first model is defined; the second row includes"
            " this.",
            Table(
                ("import", "ms", "CPU ms", "modules", "ratio"),
                [
                    (
                        name,
                        f"{wall[name]:.0f}",
                        f"{cpu[name]:.0f}",
                        f"{modules[name]:.0f}",
                        f"{wall[name] / wall[LIBRARIES]:.2f}",
                    )
                    for name in STATEMENTS
                ],
            ),
            f"Budget: at most {BUDGET} times the libraries alone: {ratio:.2f},"
            f" {'within' if ratio <= BUDGET else 'over'} the budget. Ratio to the libraries and one"
            f" model: {wall[APP] / wall[MODEL]:.2f}.",
        ],
    )


def _imported(name: str) -> tuple[float, float, int]:
    wall, cpu, modules = json.loads(run("-c", _PROGRAM.format(statement=STATEMENTS[name])))
    return wall, cpu, modules
