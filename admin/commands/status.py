"""The command ``status``: show the queues and the parked work of the stage."""

from dataclasses import asdict

from admin.services.work.parked import read_status
from admin.terminal import prints_json, results, show_json, show_table


def status() -> None:
    """Show the messages in the queues and the number of parked work records of the stage.

    The numbers are approximate and up to a minute old. The age of the oldest message comes from
    CloudWatch; the age is "-" if CloudWatch has no value for the last ten minutes.

    Cost: about 40 AWS requests: four per queue, one per kind of work, and one to CloudWatch.
    """
    queues, parked = read_status()
    if prints_json():
        show_json({"queues": queues, "parked": parked})
        return
    show_table(
        ["Queue", "Waiting", "In process", "Delayed", "Dead letters", "Oldest message (s)"],
        [
            ["-" if value is None else str(value) for value in asdict(queue).values()]
            for queue in queues
        ],
    )
    results().print()
    show_table(["Work", "Parked"], [[kind, str(n)] for kind, n in parked.items()])
