"""Deploy the data stack: tables, queues and alarms."""

from pathlib import Path

from infrastructure.deployment import stacks

TEMPLATE = Path(__file__).resolve().parent.parent / "data.yaml"


def stack_name(stage: str) -> str:
    """Return the name of the data stack of a stage."""
    return f"feedback-{stage}-data"


def deploy(stage: str, *, alarm_email: str | None = None) -> str:
    """Deploy the data stack if its template changed.

    Return ``"created"``, ``"updated"`` or ``"unchanged"``.

    Args:
        alarm_email: the address that receives alarms. Default: the address of the previous
            deployment.

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
