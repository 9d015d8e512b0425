"""Display the receipts of erasures."""

from pydantic.alias_generators import to_snake

from admin.terminal import show_record
from chalicelib.domain.erasure.erasure import Erasure, build_receipt


def show_receipt(erasure: Erasure) -> None:
    """Print the receipt of an erasure."""
    receipt = build_receipt(erasure)
    others = receipt["otherCustomers"]
    ids = f": {', '.join(others['ids'])}" if others["ids"] else ""
    lines = [
        f"Erasure {receipt['erasureId']}",
        f"State: {receipt['state']}, requested at {receipt['erasedAt']} by"
        f" {receipt['requestedBy'] or 'an unknown operator'}",
        *(
            f"Erased {to_snake(name).replace('_', ' ')}: {number}"
            for name, number in receipt["erased"].items()
        ),
        *(
            [f"Other customers with the same address, not erased: {others['count']}{ids}"]
            if others["count"]
            else ()
        ),
        f"Suppressed channels: {', '.join(receipt['suppressedChannels']) or 'none'}",
        "Remaining copies:",
        *(
            f"  {copy['copy']}: {copy['expiresAt'] or str(copy['retentionDays']) + ' days'}"
            for copy in receipt["remainingCopies"]
        ),
    ]
    show_record(receipt, "\n".join(lines))
