"""The stack that holds the data: tables, queues, alarms."""

from pathlib import Path

from infrastructure.deployment import stacks

TEMPLATE = Path(__file__).resolve().parent.parent / "data.yaml"


def stack_name(stage: str) -> str:
    """The stack's name in one stage."""
    return f"feedback-{stage}-data"


def deploy(stage: str, *, alarm_email: str | None = None) -> str:
    """Bring the stack up to the template; answer what was done.

    Without an alarm e-mail, the one given before stays.

    Raises:
        DeploymentError: the stack did not come up.
    """
    content = stacks.content_hash([TEMPLATE])
    if alarm_email is None and stacks.is_current(stack_name(stage), content):
        return "unchanged"
    return stacks.deploy(
        stack_name(stage),
        content,
        template=TEMPLATE.read_text(),
        parameters={"Stage": stage, "AlarmEmail": alarm_email},
    )
