"""Deploy the data stack: tables, queues, alarms."""

from pathlib import Path

from infrastructure.deployment import stacks

TEMPLATE = Path(__file__).resolve().parent.parent / "data.yaml"


def stack_name(stage: str) -> str:
    """Return the name of the stack in one stage."""
    return f"feedback-{stage}-data"


def deploy(stage: str, *, alarm_email: str | None = None) -> str:
    """Deploy the template if it changed; return what was done.

    Without an alarm e-mail, the previous one stays.

    Raises:
        DeploymentError: the deployment failed.
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
