"""Generate files from the function manifest, or check with ``--check`` that they are up to date.

The generated files are `.chalice/config.json` and, in `.chalice/policies`, a policy for each
function and stage. The end of `data.yaml` is generated too: tables, queues, dead-letter queues, log
groups and alarms, and the dashboard. The reference of definition files is generated from the models
of definitions, and the policies of a deployer from `infrastructure/deployment/permissions.py`.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Final

import yaml

from chalicelib import __version__
from chalicelib.queues import MAX_RECEIVES, Queue
from infrastructure.definition_reference import definition_files
from infrastructure.deployment import permissions
from infrastructure.functions import FUNCTIONS, MAX_WORK_AGE_S, STAGES, Function, Stage
from infrastructure.tables import table_resources

_PROJECT: Final = Path(__file__).resolve().parent.parent
CONFIG: Final = _PROJECT / ".chalice" / "config.json"
POLICIES: Final = _PROJECT / ".chalice" / "policies"
TEMPLATE: Final = _PROJECT / "infrastructure" / "data.yaml"
_MARKER: Final = "Do not edit below this line.\n"

_RETENTION_S: Final = 14 * 24 * 3600
_LOG_RETENTION_DAYS: Final = 30
_OUTCOMES: Final = ("sent", "skipped", "deferred", "rejected", "unknown")

Json = dict[str, Any]


def main(arguments: list[str]) -> int:
    """Generate or check the files. Return the exit status of the process."""
    parser = argparse.ArgumentParser(prog="generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write no file")
    if not parser.parse_args(arguments).check:
        write_files()
        return 0
    stale = stale_files()
    for path in stale:
        print(f"{path} is out of date. Run make generate.", file=sys.stderr)
    return int(bool(stale))


def generated_files() -> dict[Path, str]:
    """Return a map from the path of each generated file to its expected text."""
    policies = {
        policy_file(function, stage): _json(policy(function, stage))
        for function in FUNCTIONS
        for stage in STAGES
    }
    manual_part, marker, _ = TEMPLATE.read_text().partition(_MARKER)
    template = manual_part + marker + _yaml(function_resources())
    files = {CONFIG: _json(chalice_config()), TEMPLATE: template, **policies}
    return files | definition_files() | permissions.files() | permissions.page()


def stale_files() -> list[Path]:
    """Return the paths of generated files that are missing, out of date or no longer needed."""
    expected = generated_files()
    different = [
        path for path, text in expected.items() if not path.exists() or path.read_text() != text
    ]
    return sorted([*different, *(set(POLICIES.glob("*.json")) - set(expected))])


def write_files() -> None:
    """Write all generated files. Delete policies of functions and stages that no longer exist."""
    expected = generated_files()
    POLICIES.mkdir(parents=True, exist_ok=True)
    for path in set(POLICIES.glob("*.json")) - set(expected):
        path.unlink()
    for path, text in expected.items():
        path.write_text(text)


def policy_file(function: Function, stage: Stage) -> Path:
    """Return the path of the policy file of a function in a stage."""
    return POLICIES / f"{stage.name}-{function.name}.json"


def chalice_config() -> Json:
    """Return Chalice's configuration."""
    return {
        "version": "2.0",
        "app_name": "feedback",
        "autogen_policy": False,
        # Without this setting, the emulator cannot create the REST API.
        "minimum_compression_size": 1024,
        "api_gateway_endpoint_type": "REGIONAL",
        "stages": {
            stage.name: {
                "api_gateway_stage": stage.name,
                "environment_variables": environment(stage),
                "lambda_functions": {
                    function.name: _function_config(function, stage) for function in FUNCTIONS
                },
            }
            for stage in STAGES
        },
    }


def environment(stage: Stage) -> dict[str, str]:
    """Return the environment variables of all functions in a stage."""
    return {"STAGE": stage.name, "VERSION": __version__, **stage.environment}


def policy(function: Function, stage: Stage) -> Json:
    """Return the IAM policy of a function in a stage.

    The AWS account and region in resource names are wildcards, because they are unknown when the
    policy is generated. The wildcards give no access to another AWS account, because that account
    would have to allow the access too.
    """
    prefix = f"feedback-{stage.name}"
    logs = [
        f"arn:aws:logs:*:*:log-group:/aws/lambda/{prefix}:*",
        f"arn:aws:logs:*:*:log-group:/aws/lambda/{prefix}-*:*",
    ]
    statements = [_allow("logs", ("CreateLogStream", "PutLogEvents"), logs)]
    for name, actions in function.tables.items():
        table, _, index = name.partition("/")
        resource = f"arn:aws:dynamodb:*:*:table/{prefix}-{table}"
        statements.append(
            _allow("dynamodb", actions, [f"{resource}/index/{index}" if index else resource])
        )
    for queue, actions in function.queues.items():
        statements.append(_allow("sqs", actions, [f"arn:aws:sqs:*:*:{prefix}-{queue}"]))
    if function.reads_stage_values:
        # Secrets Manager appends six random characters to the name in the ARN.
        secret = f"arn:aws:secretsmanager:*:*:secret:{prefix}-stage-secret-*"
        statements.append(_allow("secretsmanager", ("GetSecretValue",), [secret]))
        parameter = f"arn:aws:ssm:*:*:parameter/{prefix}-public-base-url"
        statements.append(_allow("ssm", ("GetParameter",), [parameter]))
    if function.sends_messages:
        statements += _messages()
    if stage.tracing:
        # X-Ray has no resources.
        statements.append(_allow("xray", ("PutTraceSegments", "PutTelemetryRecords"), ["*"]))
    return {"Version": "2012-10-17", "Statement": statements}


def function_resources() -> Json:
    """Return the tables, the queues, log groups and alarms of all functions, and the dashboard."""
    resources = {f"{_title(name)}Table": table for name, table in table_resources().items()}
    for function in FUNCTIONS:
        if function.queue:
            resources |= _queue_resources(function, function.queue)
        resources |= _log_group(function) | _invocation_alarms(function)
    resources |= _age_alarms() | _rate_alarms()
    return resources | {"DeploymentAlarm": _deployment_alarm(), "Dashboard": dashboard()}


def _function_config(function: Function, stage: Stage) -> Json:
    config: Json = {
        "lambda_memory_size": stage.memory_mb.get(function.name, function.memory_mb),
        "lambda_timeout": function.timeout_s,
        "iam_policy_file": str(policy_file(function, stage).relative_to(CONFIG.parent)),
    }
    if function.name in stage.reserved_concurrency:
        config["reserved_concurrency"] = stage.reserved_concurrency[function.name]
    return config


def _allow(service: str, actions: tuple[str, ...], resources: list[str]) -> Json:
    return {
        "Effect": "Allow",
        "Action": [f"{service}:{action}" for action in actions],
        "Resource": resources,
    }


def _messages() -> list[Json]:
    """Return the statements that allow e-mails and text messages, but no messages to topics.

    A phone number has no ARN, so the resource of text messages is a wildcard.
    """
    topics = _allow("sns", ("Publish",), ["arn:aws:sns:*:*:*"]) | {"Effect": "Deny"}
    return [
        _allow("ses", ("SendRawEmail",), ["arn:aws:ses:*:*:identity/*"]),
        _allow("sns", ("Publish",), ["*"]),
        topics,
    ]


def _queue_resources(function: Function, queue: Queue) -> Json:
    name = queue.name.removesuffix(".fifo")
    title = _title(name)
    fifo: Json = {"FifoQueue": True} if queue.is_fifo else {}
    # The message group is the account, so order and throughput limits apply per account.
    by_group: Json = {
        "ContentBasedDeduplication": False,
        "DeduplicationScope": "messageGroup",
        "FifoThroughputLimit": "perMessageGroupId",
    }
    return {
        f"{title}Queue": _queue(
            queue.name,
            **fifo,
            **(by_group if queue.is_fifo else {}),
            # AWS recommends a visibility timeout of six times the function's time-out.
            VisibilityTimeout=6 * function.timeout_s,
            RedrivePolicy={
                "deadLetterTargetArn": {"Fn::GetAtt": [f"{title}DeadQueue", "Arn"]},
                "maxReceiveCount": MAX_RECEIVES,
            },
        ),
        f"{title}DeadQueue": _queue(queue.dead_letter_name, **fifo),
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
        f"Old{_title(kind)}Alarm": _work_alarm(
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
        f"{_title(name)}Alarm": _work_alarm(name, description, name, metric, **properties)
        for name, (description, metric, properties) in alarms.items()
    }


def _log_group(function: Function) -> Json:
    # Lambda creates a missing log group without an expiry.
    return {
        f"{_function_title(function)}Logs": {
            "Type": "AWS::Logs::LogGroup",
            "Properties": {
                "LogGroupName": {"Fn::Sub": f"/aws/lambda/{function.deployed_name('${Stage}')}"},
                "RetentionInDays": _LOG_RETENTION_DAYS,
            },
        }
    }


def _invocation_alarms(function: Function) -> Json:
    name = "api" if function.name == "api_handler" else function.name
    title = _function_title(function)

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
    watched = ["GatewayErrorsAlarm", *(f"{_function_title(f)}ErrorsAlarm" for f in FUNCTIONS)]
    rule = " OR ".join(f'ALARM("${{{alarm}}}")' for alarm in watched)
    return {
        "Type": "AWS::CloudWatch::CompositeAlarm",
        "Condition": "IsProduction",
        "Properties": {
            "AlarmName": _for_stage("deployment"),
            "AlarmDescription": (
                "A function or the gateway fails. Rolls back a deployment that is running."
                " Runbook: docs/upgrading.md#rolling-back"
            ),
            "AlarmRule": {"Fn::Sub": rule},
        },
    }


def dashboard() -> Json:
    """Return the CloudWatch dashboard of a stage as a CloudFormation resource."""
    stage = "feedback-${Stage}"
    api = ["ApiName", "feedback", "Stage", "${Stage}"]
    queues = [function.queue for function in FUNCTIONS if function.queue]
    kinds = [function.work for function in FUNCTIONS if function.work]
    tables = sorted({name.partition("/")[0] for f in FUNCTIONS for name in f.tables})

    def gateway(metric: str, statistic: str = "Sum") -> list[Any]:
        return ["AWS/ApiGateway", metric, *api, {"stat": statistic}]

    def functions(metric: str, statistic: str = "Sum") -> list[list[Any]]:
        return [
            ["AWS/Lambda", metric, "FunctionName", f.deployed_name("${Stage}"), {"stat": statistic}]
            for f in FUNCTIONS
        ]

    def queue(metric: str, name: str) -> list[Any]:
        return ["AWS/SQS", metric, "QueueName", f"{stage}-{name}", {"stat": "Maximum"}]

    def work(metric: str, kind: str) -> list[Any]:
        return [stage, metric, "service", "feedback", "work", kind]

    charts = {
        "Requests and errors": [gateway("Count"), gateway("4XXError"), gateway("5XXError")],
        "Response time (ms)": [gateway("Latency", "p50"), gateway("Latency", "p99")],
        "Function errors": functions("Errors"),
        "Throttled invocations": functions("Throttles"),
        "Function duration, p50 (ms)": functions("Duration", "p50"),
        "Function duration, p99 (ms)": functions("Duration", "p99"),
        "Age of the oldest message (s)": [
            queue("ApproximateAgeOfOldestMessage", q.name) for q in queues
        ],
        "Dead letters": [
            queue("ApproximateNumberOfMessagesVisible", q.dead_letter_name) for q in queues
        ],
        "Deliveries": [work("delivered", "webhook"), work("failed", "webhook")],
        "Surveys": [work(outcome, "solicitation") for outcome in _OUTCOMES],
        "Exceptions of work": [work("exceptions", kind) for kind in kinds],
        "Parked work": [work("parked", kind) for kind in kinds],
        "Age of the oldest work (s)": [
            [*work("oldest", kind), {"stat": "Maximum"}] for kind in MAX_WORK_AGE_S
        ],
        "Requeued work": [work("swept", kind) for kind in kinds],
        "Transaction conflicts": [
            ["AWS/DynamoDB", "TransactionConflict", "TableName", f"{stage}-{name}"]
            for name in tables
        ],
    }
    widgets = [
        {
            "type": "metric",
            "x": 12 * (number % 2),
            "y": 6 * (number // 2),
            "width": 12,
            "height": 6,
            "properties": {
                "title": title,
                "region": "${AWS::Region}",
                "stat": "Sum",
                "period": 60,
                "metrics": metrics,
            },
        }
        for number, (title, metrics) in enumerate(charts.items())
    ]
    body = json.dumps({"widgets": widgets}, separators=(",", ":"))
    return {
        "Type": "AWS::CloudWatch::Dashboard",
        "Properties": {"DashboardName": _for_stage(), "DashboardBody": {"Fn::Sub": body}},
    }


def _queue(name: str, **properties: Any) -> Json:
    return {
        "Type": "AWS::SQS::Queue",
        "UpdateReplacePolicy": "Retain",
        "DeletionPolicy": "RetainExceptOnCreate",
        "Properties": {
            "QueueName": _for_stage(name),
            "MessageRetentionPeriod": _RETENTION_S,
            "SqsManagedSseEnabled": True,
            **properties,
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
    source = (_for_stage(), metric, {"service": "feedback", "work": work})
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
            "AlarmName": _for_stage(name),
            "AlarmDescription": f"{description} Runbook: docs/operating.md#{runbook}",
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


def _function_title(function: Function) -> str:
    return "Api" if function.name == "api_handler" else _title(function.name)


def _for_stage(name: str = "") -> Json:
    return {"Fn::Sub": "feedback-${Stage}" + (f"-{name}" if name else "")}


def _title(name: str) -> str:
    return name.title().replace("-", "").replace("_", "")


def _json(document: Json) -> str:
    return json.dumps(document, indent=2) + "\n"


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        """Return True to write no YAML aliases, because CloudFormation rejects them."""
        return True


def _yaml(resources: Json) -> str:
    text: str = yaml.dump(
        resources, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=1000
    )
    return "".join(f"  {line}" for line in text.splitlines(keepends=True))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
