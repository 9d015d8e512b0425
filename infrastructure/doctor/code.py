"""Check the functions, their event sources and permissions, and the gateway's stage."""

from collections.abc import Iterator
from typing import Final

from infrastructure import generate
from infrastructure.deployment.code_package import PARTIAL_BATCH_RESPONSES
from infrastructure.doctor.deployed import DeployedStage, allowed_by
from infrastructure.doctor.findings import Problem, Skipped, differences, missing
from infrastructure.functions import FUNCTIONS, PUBLIC_SUBMITS

_EVERY_METHOD: Final = "*/*"


def check_functions(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that the functions exist with the settings of the manifest, such as the version."""
    stage = deployed.stage
    names = map(deployed.function_name, FUNCTIONS)
    yield from missing(names, deployed.functions, deployed.deploy_fix)
    for function, name, configuration in deployed.stage_functions:
        variables = configuration.get("Environment", {}).get("Variables", {})
        expected = {
            "MemorySize": stage.memory_mb.get(function.name, function.memory_mb),
            "Timeout": function.timeout_s,
            "ReservedConcurrentExecutions": stage.reserved_concurrency.get(function.name),
            "Tracing": "Active" if stage.tracing else "PassThrough",
            **dict.fromkeys(variables),
            **generate.environment(stage),
        }
        if not stage.is_emulated:
            expected["Runtime"] = f"python{stage.python}"
        actual = {
            **configuration,
            **variables,
            **_reserved_concurrency(deployed, name),
            "Tracing": configuration.get("TracingConfig", {}).get("Mode", "PassThrough"),
        }
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


def check_schedules(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that an enabled rule invokes each scheduled function."""
    events = deployed.client("events")
    for function, name, configuration in deployed.stage_functions:
        if function.schedule is None:
            continue
        arn = configuration["FunctionArn"]
        rules = [
            events.describe_rule(Name=rule)
            for rule in events.list_rule_names_by_target(TargetArn=arn)["RuleNames"]
        ]
        if not any(
            rule["State"] == "ENABLED" and rule.get("ScheduleExpression") == function.schedule
            for rule in rules
        ):
            detail = f"No enabled rule invokes the function at {function.schedule}."
            yield Problem(name, detail, f"Enable the rule in EventBridge. {deployed.deploy_fix}")


def check_policies(deployed: DeployedStage) -> Iterator[Problem]:
    """Check that the role of each function allows exactly what the manifest lists."""
    for function, name, configuration in deployed.stage_functions:
        expected = allowed_by(generate.policy(function, deployed.stage))
        actual = deployed.permissions(configuration)
        for word, permissions in {
            "lacks": expected - actual,
            "has the additional permission": actual - expected,
        }.items():
            for action, resource in sorted(permissions):
                yield Problem(name, f"The role {word} {action} on {resource}.", deployed.deploy_fix)


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
