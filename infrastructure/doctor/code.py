"""Check what the detection of drift does not compare: functions, event sources and rate limits."""

from collections.abc import Iterator
from typing import Final

from infrastructure.deployment.code_template import PARTIAL_BATCH_RESPONSES
from infrastructure.deployment.dependencies import runtime_of
from infrastructure.doctor.deployed import DeployedStage
from infrastructure.doctor.findings import Problem, Skipped, differences, missing
from infrastructure.functions import FUNCTIONS, PUBLIC_SUBMITS
from infrastructure.generate.configuration import environment

_EVERY_METHOD: Final = "*/*"


def check_functions(deployed: DeployedStage) -> Iterator[Problem]:
    """Check the versions, the environment and the reserved concurrency of the functions."""
    stage = deployed.stage
    names = map(deployed.function_name, FUNCTIONS)
    yield from missing(names, deployed.functions, deployed.deploy_fix)
    for function, name, configuration in deployed.stage_functions:
        variables = configuration.get("Environment", {}).get("Variables", {})
        expected = {
            "ReservedConcurrentExecutions": stage.reserved_concurrency.get(function.name),
            **dict.fromkeys(variables),
            **environment(stage),
        }
        expected["Runtime"] = f"python{runtime_of(stage).python_version}"
        actual = {**configuration, **variables, **_reserved_concurrency(deployed, name)}
        if actual.get("ReservedConcurrentExecutions") == 0:
            detail = "The reserved concurrency is 0, so the function does not run."
            yield Problem(name, detail, deployed.start_fix)
            del expected["ReservedConcurrentExecutions"]
        yield from differences(name, expected, actual, deployed.deploy_fix)


def check_event_sources(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that each queue invokes its function with partial batch responses."""
    for function in FUNCTIONS:
        if function.queue is None:
            continue
        name = deployed.function_name(function)
        mapping = deployed.event_source(function.queue)
        resource = deployed.resource_name(function.queue.name)
        if mapping is None or mapping["FunctionArn"].rpartition(":")[2] != name:
            yield Problem(resource, f"The queue does not invoke {name}.", deployed.deploy_fix)
            continue
        expected = {
            "State": "Enabled",
            "BatchSize": function.queue.batch_size,
            "MaximumBatchingWindowInSeconds": function.queue.batch_window_s,
            "FunctionResponseTypes": PARTIAL_BATCH_RESPONSES,
            "MaximumConcurrency": function.queue.max_concurrency,
        }
        actual = {
            "MaximumBatchingWindowInSeconds": 0,
            **mapping,
            **mapping.get("ScalingConfig", {}),
        }
        if mapping["State"] == "Disabled":
            detail = f"The event source is disabled, so the queue does not invoke {name}."
            yield Problem(resource, detail, deployed.start_fix)
            del expected["State"]
        yield from differences(resource, expected, actual, deployed.deploy_fix)


def check_throttling(deployed: DeployedStage) -> Iterator[Problem]:
    """Check the rate limits of the gateway's stage."""
    limits = deployed.stage.throttling
    if limits is None:
        raise Skipped("The stage has no rate limits.")
    resource = f"gateway stage {deployed.stage.name}"
    settings = deployed.method_settings
    if settings is None:
        yield Problem(resource, "The gateway's stage does not exist.", deployed.deploy_fix)
        return
    submit = (limits.submit_rate, limits.submit_burst)
    expected = {
        _EVERY_METHOD: (limits.rate, limits.burst),
        **{f"{path.strip('/')}/POST": submit for path in PUBLIC_SUBMITS},
    }
    for method, (rate, burst) in expected.items():
        wanted = {"throttlingRateLimit": rate, "throttlingBurstLimit": burst}
        actual = settings.get(method, {})
        yield from differences(f"{resource}, {method}", wanted, actual, deployed.deploy_fix)


def _reserved_concurrency(deployed: DeployedStage, function: str) -> dict[str, int]:
    concurrency = deployed.client("lambda").get_function_concurrency(FunctionName=function)
    return {name: value for name, value in concurrency.items() if name.startswith("Reserved")}
