"""Check properties of the service with random inputs for a limited time."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

SECONDS: Final = float(os.environ.get("FUZZ_SECONDS") or 10)
"""Time budget of the fuzz tests. Each of the `PROPERTIES` tests gets an equal share."""
SEED: Final = int(os.environ.get("FUZZ_SEED") or time.time())
PROPERTIES: Final = 6
MAX_CPU_S: Final = 5.0
"""Maximum CPU time of one request, with moto."""

_NAUGHTY: Final[list[str]] = json.loads(
    (Path(__file__).parent.parent / "naughty-strings.json").read_text()
)

texts: Final = st.one_of(st.text(max_size=300), st.sampled_from(_NAUGHTY))
scalars: Final = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), texts, st.just("\ud800")
)
json_values: Final = st.recursive(
    scalars,
    lambda values: st.one_of(
        st.lists(values, max_size=5),
        st.dictionaries(texts, values, max_size=5),
        # Long lists find slow code. Generating many different items takes too long.
        st.builds(lambda value, count: [value] * count, scalars, st.integers(0, 2_000)),
    ),
    max_leaves=8,
)


def objects(known: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """Return a strategy that generates JSON objects with known and unknown properties.

    The value of a known property comes from the property's strategy or is any JSON value. The
    strategy sometimes generates JSON values that are not objects.
    """
    some = st.fixed_dictionaries(
        {}, optional={name: st.one_of(value, json_values) for name, value in known.items()}
    )
    others = st.dictionaries(texts, json_values, max_size=2)
    return st.one_of(some, st.builds(lambda a, b: {**a, **b}, some, others), json_values)


def fuzz(check: Callable[[Any], None], inputs: st.SearchStrategy[Any]) -> None:
    """Check one property with random inputs until its share of the time budget is used.

    At least 20 inputs are checked.
    """
    ends_at = time.monotonic() + SECONDS / PROPERTIES
    number = SEED
    while number == SEED or time.monotonic() < ends_at:
        run = settings(
            max_examples=20,
            deadline=None,
            derandomize=False,
            database=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        )(given(inputs)(check))
        seed(number)(run)()
        number += 1


def within_cpu_limit(request: Callable[[], Any]) -> Any:
    """Send the request and return the response. Check that it takes less than `MAX_CPU_S`."""
    started = time.process_time()
    response = request()
    assert time.process_time() - started < MAX_CPU_S
    return response
