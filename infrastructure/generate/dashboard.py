"""The CloudWatch dashboard of a stage."""

import json
from typing import Any, Final

from infrastructure.functions import FUNCTIONS, MAX_WORK_AGE_S
from infrastructure.generate.alarms import Json, for_stage

_OUTCOMES: Final = ("sent", "skipped", "deferred", "rejected", "unknown")


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
        "Properties": {"DashboardName": for_stage(), "DashboardBody": {"Fn::Sub": body}},
    }
