"""Test that the function manifest is complete, grants minimal permissions and matches the app."""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from chalice.app import ScheduledEventConfig, SQSEventConfig

from app import app
from chalicelib.aws_calls import aws_client
from chalicelib.domain.work import MAX_DELAY, MAX_RUN
from chalicelib.queues import WEBHOOKS
from chalicelib.services.webhooks.send import MIN_ATTEMPT_S
from chalicelib.services.work.kinds import ALL_WORK
from chalicelib.storage.dynamodb.client import dynamodb_client
from chalicelib.time_limits import MAX_CALL_S, MIN_CALL_S, MIN_WORK_S
from infrastructure.deployment import data_stack
from infrastructure.functions import FUNCTIONS, MAX_WORK_AGE_S, STAGES, Function, Stage
from infrastructure.generate import __main__ as generate
from infrastructure.generate import configuration, data_template

MESSAGING = ("ses:SendRawEmail", "sns:Publish")
POLICIES = [(function, stage) for function in FUNCTIONS for stage in STAGES]


def statements(function: Function, stage: Stage) -> list[dict[str, Any]]:
    policy_statements: Any = configuration.policy(function, stage)["Statement"]
    return list(policy_statements)


def test_generated_files_match_manifest() -> None:
    assert generate.stale_files() == [], "run make generate"


def test_app_binds_each_function_to_its_event_source() -> None:
    queues, schedules = {}, {}
    for source in app.event_sources:
        if isinstance(source, SQSEventConfig):
            queues[source.name] = (
                source.queue,
                source.batch_size,
                source.maximum_batching_window_in_seconds,
                source.maximum_concurrency,
            )
        else:
            assert isinstance(source, ScheduledEventConfig)
            schedules[source.name] = source.schedule_expression.to_string()
    assert queues == {
        function.name: (
            f"feedback-test-{queue.name}",
            queue.batch_size,
            queue.batch_window_s,
            queue.max_concurrency,
        )
        for function in FUNCTIONS
        if (queue := function.queue)
    }
    assert schedules == {f.name: f.schedule for f in FUNCTIONS if f.schedule}


def test_policies_contain_only_resources_of_their_stage_and_no_wildcard_action() -> None:
    for function, stage in POLICIES:
        allowed_resource = re.compile(
            rf"arn:aws:(dynamodb:\*:\*:table/|sqs:\*:\*:)feedback-{stage.name}-[a-z.-]+(/index/[a-z_]+)?"
            rf"|arn:aws:logs:\*:\*:log-group:/aws/lambda/feedback-{stage.name}(-\*)?:\*"
            rf"|arn:aws:secretsmanager:\*:\*:secret:feedback-{stage.name}-stage-secret-\*"
            rf"|arn:aws:ssm:\*:\*:parameter/feedback-{stage.name}-public-base-url"
        )
        actions = [action for s in statements(function, stage) for action in s["Action"]]
        assert actions
        # AWS has no actions for batches of messages.
        assert not [a for a in actions if "*" in a or "CreateLogGroup" in a or "MessageBatch" in a]
        others = [s for s in statements(function, stage) if s["Action"][0] not in MESSAGING]
        resources = [resource for s in others for resource in s["Resource"]]
        assert not [resource for resource in resources if not allowed_resource.fullmatch(resource)]


def test_only_send_survey_may_send_messages_and_not_to_topics() -> None:
    for function, stage in POLICIES:
        allowed = [s for s in statements(function, stage) if s["Action"][0] in MESSAGING]
        assert [(s["Effect"], s["Action"], s["Resource"]) for s in allowed] == (
            [
                ("Allow", ["ses:SendRawEmail"], ["arn:aws:ses:*:*:identity/*"]),
                ("Allow", ["sns:Publish"], ["*"]),
                ("Deny", ["sns:Publish"], ["arn:aws:sns:*:*:*"]),
            ]
            if function.name == "send_survey"
            else []
        )


def test_permissions_reference_only_tables_indexes_and_queues_of_data_stack() -> None:
    resources = json.loads(data_stack.template_body())["Resources"].values()
    prefix = "feedback-${Stage}-"
    known = set()
    for properties in (resource["Properties"] for resource in resources):
        name = properties.get("TableName") or properties.get("QueueName")
        if name is None:
            continue
        known.add(name["Fn::Sub"].removeprefix(prefix))
        for index in properties.get("GlobalSecondaryIndexes", []):
            known.add(f"{name['Fn::Sub'].removeprefix(prefix)}/{index['IndexName']}")
    assert {name for f in FUNCTIONS for name in (*f.tables, *f.queues)} <= known


def test_every_configured_function_has_its_own_policy() -> None:
    config = json.loads(configuration.CONFIG.read_text())
    for stage in STAGES:
        functions = config["stages"][stage.name]["lambda_functions"]
        assert set(functions) == {function.name for function in FUNCTIONS}
        for function in FUNCTIONS:
            settings = functions[function.name]
            path = configuration.CONFIG.parent / settings["iam_policy_file"]
            assert path == configuration.policy_file(function, stage)
            assert settings["lambda_timeout"] > 0
            assert settings["lambda_memory_size"] > 0


def alarmed_functions(metric: str) -> set[str]:
    """Return the names of the functions that have an alarm on a metric."""
    return {
        alarm["Properties"]["Dimensions"][0]["Value"]["Fn::Sub"]
        for alarm in data_template.function_resources().values()
        if alarm["Properties"].get("MetricName") == metric
    }


def deployed_name(function: Function) -> str:
    return "feedback-${Stage}" + ("" if function.name == "api_handler" else f"-{function.name}")


@pytest.mark.parametrize("metric", ["Errors", "Throttles"])
def test_every_function_has_alarm_on_errors_and_throttles(metric: str) -> None:
    assert alarmed_functions(metric) == {deployed_name(function) for function in FUNCTIONS}


def test_every_scheduled_function_has_alarm_on_missing_invocations() -> None:
    assert alarmed_functions("Invocations") == {deployed_name(f) for f in FUNCTIONS if f.schedule}
    for alarm in data_template.function_resources().values():
        if alarm["Properties"].get("MetricName") == "Invocations":
            assert alarm["Properties"]["TreatMissingData"] == "breaching"
            assert alarm["Properties"]["ComparisonOperator"] == "LessThanThreshold"
            assert alarm["Properties"]["Threshold"] == 1


@pytest.mark.parametrize("metric", ["exceptions", "parked"])
def test_every_kind_of_work_has_alarm_on_exceptions_and_parked_work(metric: str) -> None:
    alarms = [
        alarm["Properties"]["Dimensions"]
        for alarm in data_template.function_resources().values()
        if alarm["Properties"].get("MetricName") == metric
    ]
    service = {"Name": "service", "Value": "feedback"}
    assert alarms == [[service, {"Name": "work", "Value": f.work}] for f in FUNCTIONS if f.work]


def test_every_kind_of_work_has_alarm_on_age_of_oldest_record() -> None:
    thresholds = {
        alarm["Properties"]["Dimensions"][1]["Value"]: alarm["Properties"]["Threshold"]
        for alarm in data_template.function_resources().values()
        if alarm["Properties"].get("MetricName") == "oldest"
    }
    assert thresholds == MAX_WORK_AGE_S
    assert set(thresholds) == {work.records.kind for work in ALL_WORK} | {"listing", "retention"}
    # The longest delay after a failure is within the period, so each record is measured in it.
    period_s = data_template.function_resources()["OldImportAlarm"]["Properties"]["Period"]
    assert period_s >= MAX_DELAY.total_seconds()


def test_every_function_has_log_group_that_expires() -> None:
    groups = {
        group["Properties"]["LogGroupName"]["Fn::Sub"]: group["Properties"]["RetentionInDays"]
        for group in data_template.function_resources().values()
        if group["Type"] == "AWS::Logs::LogGroup"
    }
    assert groups == {f"/aws/lambda/{deployed_name(function)}": 30 for function in FUNCTIONS}


def longest_call_s(client: Any) -> float:
    """Return the duration of a call in which all attempts time out, including pauses.

    Botocore pauses for one second after the first attempt and doubles each further pause.
    """
    config = client.meta.config
    attempts = config.retries["total_max_attempts"]
    pauses_s: int = sum(2**number for number in range(attempts - 1))
    return float(attempts * (config.connect_timeout + config.read_timeout) + pauses_s)


@pytest.mark.parametrize("create_client", [dynamodb_client, partial(aws_client, "sqs")])
def test_longest_call_of_every_client_is_within_time_limit(create_client: Any) -> None:
    assert longest_call_s(create_client()) <= MAX_CALL_S


def test_timeout_of_every_function_leaves_time_for_slowest_call() -> None:
    assert MIN_CALL_S > MAX_CALL_S
    for function in FUNCTIONS:
        # A quarter of the time remains for work before the last call may start.
        needed_s = MIN_ATTEMPT_S if function.queue is WEBHOOKS else MIN_WORK_S
        if function.queue or function.schedule:
            assert function.timeout_s - needed_s >= 5
        else:
            assert function.timeout_s - MIN_CALL_S >= function.timeout_s / 4


@pytest.mark.parametrize(
    "name", ["import_customers", "process_feedback", "send_survey", "erase_customer"]
)
def test_start_counts_as_failure_after_function_timeout_and_before_visibility_timeout(
    name: str,
) -> None:
    (function,) = (function for function in FUNCTIONS if function.name == name)
    assert function.queue
    queue = data_template.function_resources()[f"{function.queue.name.split('.')[0].title()}Queue"]
    run_s = MAX_RUN.total_seconds()
    assert function.timeout_s < run_s <= queue["Properties"]["VisibilityTimeout"]


def test_stale_policy_file_is_reported_and_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(configuration, "POLICIES", tmp_path / ".chalice" / "policies")
    monkeypatch.setattr(configuration, "CONFIG", tmp_path / ".chalice" / "config.json")
    template = tmp_path / "data.yaml"
    template.write_text(data_template.TEMPLATE.read_text())
    monkeypatch.setattr(data_template, "TEMPLATE", template)
    monkeypatch.setattr(generate, "_PARTS", (configuration, data_template))
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    stale_file = configuration.POLICIES / "dev-gone.json"
    stale_file.write_text("{}")
    assert generate.stale_files() == [stale_file]
    assert generate.main(["--check"]) == 1
    generate.write_files()
    assert len(list(configuration.POLICIES.iterdir())) == len(POLICIES)
