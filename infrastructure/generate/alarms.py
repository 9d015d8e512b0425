"""The alarms of the data template."""

from typing import Any

from chalicelib.queues import Queue
from infrastructure.functions import FUNCTIONS, MAX_WORK_AGE_S, Function

Json = dict[str, Any]


def alarms_of_stage() -> Json:
    """Return the alarms that belong to no single function."""
    return _age_alarms() | _rate_alarms() | {"DeploymentAlarm": _deployment_alarm()}


def for_stage(name: str = "") -> Json:
    """Return the name of a resource: ``feedback-STAGE``, or ``feedback-STAGE-NAME``."""
    return {"Fn::Sub": "feedback-${Stage}" + (f"-{name}" if name else "")}


def title_of(name: str) -> str:
    """Return the start of the logical id of a resource."""
    return name.title().replace("-", "").replace("_", "")


def function_title(function: Function) -> str:
    """Return the start of the logical ids of the resources of a function."""
    return "Api" if function.name == "api_handler" else title_of(function.name)


def queue_alarms(function: Function, queue: Queue) -> Json:
    """Return the alarms of a queue, its dead-letter queue and its work."""
    name = queue.name.removesuffix(".fifo")
    title = title_of(name)
    return {
        f"{title}DeadAlarm": _queue_alarm(
            f"{name}-dead",
            f"The dead-letter queue of {name} contains an invalid message.",
            "dead-letters",
            "ApproximateNumberOfMessagesVisible",
            f"{title}DeadQueue",
        ),
        f"{title}DelayAlarm": _queue_alarm(
            f"{name}-delay",
            f"The oldest message in the {name} queue is older than {function.max_message_age_s}"
            " seconds.",
            "old-messages",
            "ApproximateAgeOfOldestMessage",
            f"{title}Queue",
            EvaluationPeriods=5,
            Threshold=function.max_message_age_s,
        ),
        **(_work_alarms(title, name, function.work) if function.work else {}),
    }


def _work_alarms(title: str, name: str, work: str) -> Json:
    return {
        f"Failing{title}Alarm": _work_alarm(
            f"failing-{name}",
            f"Work of kind {work} raised an unhandled exception.",
            "failing-work",
            ("exceptions", work),
        ),
        f"Parked{title}Alarm": _work_alarm(
            f"parked-{name}",
            f"Work of kind {work} failed eight times and was parked.",
            "parked-work",
            ("parked", work),
        ),
    }


def _age_alarms() -> Json:
    # A record that failed several times is due, and therefore measured, once per hour.
    return {
        f"Old{title_of(kind)}Alarm": _work_alarm(
            f"old-{kind}",
            f"The oldest unfinished work of kind {kind} is older than {max_age_s} seconds.",
            "old-work",
            ("oldest", kind),
            Statistic="Maximum",
            Period=3600,
            Threshold=max_age_s,
        )
        for kind, max_age_s in MAX_WORK_AGE_S.items()
    }


def _rate_alarms() -> Json:
    alarms: dict[str, tuple[str, tuple[str, str], Json]] = {
        "failing-deliveries": (
            "More than 10 webhook executions failed for good within five minutes.",
            ("failed", "webhook"),
            {"Period": 300, "Threshold": 10},
        ),
        "failing-surveys": (
            "More than 10 surveys got the outcome REJECTED or UNKNOWN within five minutes.",
            ("failed", "solicitation"),
            {"Period": 300, "Threshold": 10},
        ),
        "deferred-surveys": (
            "Surveys were deferred in each quarter of the last hour.",
            ("deferred", "solicitation"),
            {"Period": 900, "EvaluationPeriods": 4},
        ),
    }
    return {
        f"{title_of(name)}Alarm": _work_alarm(name, description, name, metric, **properties)
        for name, (description, metric, properties) in alarms.items()
    }


def invocation_alarms(function: Function) -> Json:
    """Return the alarms on the errors, the throttling and the missing invocations of a function."""
    name = "api" if function.name == "api_handler" else function.name
    title = function_title(function)

    def alarm(suffix: str, description: str, runbook: str, metric: str, **properties: Any) -> Json:
        dimensions = {"FunctionName": {"Fn::Sub": function.deployed_name("${Stage}")}}
        source = ("AWS/Lambda", metric, dimensions)
        return _alarm(f"{name}-{suffix}", description, runbook, source, **properties)

    alarms = {
        f"{title}ErrorsAlarm": alarm(
            "errors",
            f"The function {function.name} failed with an error or a time-out.",
            "function-errors",
            "Errors",
        ),
        f"{title}ThrottlesAlarm": alarm(
            "throttles",
            f"Lambda throttled the function {function.name}.",
            "throttled-functions",
            "Throttles",
        ),
    }
    if function.schedule:
        alarms[f"{title}NotRunningAlarm"] = alarm(
            "not-running",
            f"The scheduled function {function.name} was not invoked for five minutes.",
            "scheduled-function-does-not-run",
            "Invocations",
            Period=300,
            Threshold=1,
            ComparisonOperator="LessThanThreshold",
            TreatMissingData="breaching",
        )
    return alarms


def _deployment_alarm() -> Json:
    """Return the alarm that rolls a deployment of the code back in production."""
    watched = ["GatewayErrorsAlarm", *(f"{function_title(f)}ErrorsAlarm" for f in FUNCTIONS)]
    rule = " OR ".join(f'ALARM("${{{alarm}}}")' for alarm in watched)
    return {
        "Type": "AWS::CloudWatch::CompositeAlarm",
        "Condition": "IsProduction",
        "Properties": {
            "AlarmName": for_stage("deployment"),
            "AlarmDescription": (
                "A function or the gateway fails. Rolls back a deployment that is running."
                " Runbook: docs/upgrading.md#rolling-back"
            ),
            "AlarmRule": {"Fn::Sub": rule},
        },
    }


def _queue_alarm(
    name: str, description: str, runbook: str, metric: str, queue: str, **properties: Any
) -> Json:
    source = ("AWS/SQS", metric, {"QueueName": {"Fn::GetAtt": [queue, "QueueName"]}})
    return _alarm(name, description, runbook, source, **{"Statistic": "Maximum", **properties})


def _work_alarm(
    name: str, description: str, runbook: str, metric_of_work: tuple[str, str], **properties: Any
) -> Json:
    metric, work = metric_of_work
    source = (for_stage(), metric, {"service": "feedback", "work": work})
    return _alarm(name, description, runbook, source, **properties)


def _alarm(
    name: str,
    description: str,
    runbook: str,
    source: tuple[str | Json, str, Json],
    **properties: Any,
) -> Json:
    """Return an alarm for a metric, which the source's namespace, name and dimensions identify."""
    namespace, metric, dimensions = source
    return {
        "Type": "AWS::CloudWatch::Alarm",
        "Properties": {
            "AlarmName": for_stage(name),
            "AlarmDescription": f"{description} Runbook: docs/runbook.md#{runbook}",
            "Namespace": namespace,
            "MetricName": metric,
            "Dimensions": [{"Name": key, "Value": value} for key, value in dimensions.items()],
            "Statistic": "Sum",
            "Period": 60,
            "EvaluationPeriods": 1,
            "Threshold": 0,
            "ComparisonOperator": "GreaterThanThreshold",
            "TreatMissingData": "notBreaching",
            "ActionsEnabled": True,
            "AlarmActions": [{"Ref": "AlarmTopic"}],
            "OKActions": [{"Ref": "AlarmTopic"}],
            **properties,
        },
    }
