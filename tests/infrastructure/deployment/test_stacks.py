"""Test what a deployment does with stacks in other states than moto's, which is always complete."""

from datetime import UTC, datetime
from itertools import chain, repeat
from typing import Any
from unittest.mock import Mock

import boto3
import pytest
from botocore.exceptions import ClientError

from infrastructure.deployment import stacks
from infrastructure.deployment.progress import DeploymentError

NAME = "feedback-prod-code"
ALARM = "arn:aws:cloudwatch:eu-west-1:123456789012:alarm:feedback-prod-deployment"


class CloudFormation:
    """A client whose stack has these states, one after the other. The last one remains."""

    def __init__(self, *states: str, events: list[tuple[str, str, str]] | None = None) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self._states = chain(states, repeat(states[-1]))
        # Events contain the logical id, the status and the reason, the newest first.
        self._events = [
            {"LogicalResourceId": name, "ResourceStatus": status, "ResourceStatusReason": reason}
            for name, status, reason in events or []
        ]

    def describe_stacks(self, StackName: str) -> Any:  # noqa: N803
        stack = {"StackName": StackName, "StackStatus": next(self._states), "Tags": []}
        return {"Stacks": [stack | {"CreationTime": datetime.now(UTC)}]}

    def get_paginator(self, _: str) -> Any:
        return self

    def paginate(self, **_: Any) -> Any:
        return [{"StackEvents": self._events}]

    def __getattr__(self, operation: str) -> Any:
        def request(**arguments: Any) -> None:
            self.requests.append((operation, arguments))

        return request

    @property
    def operations(self) -> list[str]:
        """The names of the requests that change the stack."""
        return [operation for operation, _ in self.requests]


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacks.time, "sleep", lambda _: None)


def use(monkeypatch: pytest.MonkeyPatch, client: CloudFormation) -> CloudFormation:
    monkeypatch.setattr(boto3, "client", lambda _: client)
    return client


def deploy(**options: Any) -> str:
    return stacks.deploy(NAME, "2", template="{}", **options)


def test_deployment_waits_for_interrupted_deployment(monkeypatch: pytest.MonkeyPatch) -> None:
    states = ["UPDATE_IN_PROGRESS"] * 3 + ["UPDATE_COMPLETE"] * 2 + ["UPDATE_IN_PROGRESS"]
    client = use(monkeypatch, CloudFormation(*states, "UPDATE_COMPLETE"))
    assert deploy() == "updated"
    assert client.operations == ["update_stack"]


def test_stack_without_updates_is_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    client = use(monkeypatch, CloudFormation("UPDATE_COMPLETE"))
    message = {"Code": "ValidationError", "Message": "No updates are to be performed."}
    error = ClientError({"Error": message}, "UpdateStack")
    monkeypatch.setattr(client, "update_stack", Mock(side_effect=error), raising=False)
    assert deploy() == "unchanged"


def test_check_of_content_waits_for_interrupted_deployment(monkeypatch: pytest.MonkeyPatch) -> None:
    client = use(monkeypatch, CloudFormation("CREATE_IN_PROGRESS", "CREATE_COMPLETE"))
    assert stacks.is_current(NAME, "2") is False
    assert client.operations == []


def test_deployment_continues_failed_rollback(monkeypatch: pytest.MonkeyPatch) -> None:
    failed, restored = "UPDATE_ROLLBACK_FAILED", "UPDATE_ROLLBACK_COMPLETE"
    states = [failed, "UPDATE_ROLLBACK_IN_PROGRESS", restored, restored, "UPDATE_COMPLETE"]
    client = use(monkeypatch, CloudFormation(*states))
    assert deploy() == "updated"
    assert client.operations == ["continue_update_rollback", "update_stack"]


def test_deployment_stops_if_rollback_fails_again(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [("Sweep", "UPDATE_FAILED", "The role does not exist.")]
    client = use(monkeypatch, CloudFormation("UPDATE_ROLLBACK_FAILED", events=events))
    with pytest.raises(DeploymentError, match=r"failed again: Sweep: The role does not exist\."):
        deploy()
    assert client.operations == ["continue_update_rollback"]


@pytest.mark.parametrize("state", ["ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "DELETE_FAILED"])
def test_stack_that_cannot_be_updated_is_created_again(
    monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    states = [state, state, "DELETE_COMPLETE", "CREATE_COMPLETE"]
    client = use(monkeypatch, CloudFormation(*states))
    assert deploy() == "created"
    assert client.operations == ["delete_stack", "create_stack"]


@pytest.mark.parametrize(
    ("events", "cause"),
    [
        (
            [
                (NAME, "UPDATE_ROLLBACK_COMPLETE", ""),
                (NAME, "UPDATE_ROLLBACK_IN_PROGRESS", "The following resource(s) failed"),
                ("Sweep", "UPDATE_FAILED", "Resource update cancelled"),
                ("APIHandler", "UPDATE_FAILED", "The archive does not exist."),
                (NAME, "UPDATE_IN_PROGRESS", "User Initiated"),
                ("Sweep", "UPDATE_FAILED", "An earlier deployment failed."),
            ],
            "APIHandler: The archive does not exist.",
        ),
        (
            [
                (NAME, "UPDATE_ROLLBACK_IN_PROGRESS", f"Rollback trigger {ALARM} is in ALARM."),
                (NAME, "UPDATE_IN_PROGRESS", "User Initiated"),
            ],
            f"Rollback trigger {ALARM} is in ALARM.",
        ),
    ],
)
def test_failed_update_names_cause_and_says_that_previous_state_is_restored(
    monkeypatch: pytest.MonkeyPatch, events: list[tuple[str, str, str]], cause: str
) -> None:
    states = ["UPDATE_COMPLETE", "UPDATE_ROLLBACK_IN_PROGRESS", "UPDATE_ROLLBACK_COMPLETE"]
    use(monkeypatch, CloudFormation(*states, events=events))
    with pytest.raises(DeploymentError) as error:
        deploy()
    restored = "CloudFormation has restored the previous state of the stack."
    assert str(error.value) == f"The stack {NAME} failed: {cause} {restored}"


@pytest.mark.parametrize(
    ("alarms", "watched"),
    [
        (
            [ALARM],
            {
                "RollbackTriggers": [{"Arn": ALARM, "Type": "AWS::CloudWatch::CompositeAlarm"}],
                "MonitoringTimeInMinutes": 5,
            },
        ),
        ([], {"RollbackTriggers": [], "MonitoringTimeInMinutes": 0}),
    ],
)
def test_update_watches_alarms_of_this_deployment_only(
    monkeypatch: pytest.MonkeyPatch, alarms: list[str], watched: dict[str, Any]
) -> None:
    client = use(monkeypatch, CloudFormation("UPDATE_COMPLETE"))
    deploy(alarms=alarms)
    ((_, request),) = client.requests
    assert request["RollbackConfiguration"] == watched


def test_role_is_passed_only_if_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    client = use(monkeypatch, CloudFormation("UPDATE_COMPLETE"))
    deploy(role="arn:aws:iam::123456789012:role/feedback-prod-cloudformation")
    deploy()
    first, second = [request for _, request in client.requests]
    assert first["RoleARN"].endswith("role/feedback-prod-cloudformation")
    # CloudFormation uses the role of the previous deployment.
    assert "RoleARN" not in second
