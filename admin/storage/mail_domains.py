"""The table of mail domains: the account that owns the domain of each support address.

One row contains the owners of all domains with the same last two labels. Only these domains can
overlap, so one conditional write decides about a new owner.
"""

from collections.abc import Mapping

from pynamodb.attributes import UnicodeAttribute

from admin.domain.mail_domain import last_labels
from chalicelib.storage.dynamodb.attributes import JsonAttribute
from chalicelib.storage.dynamodb.table import Table, read_together
from chalicelib.storage.dynamodb.unit_of_work import transaction


class MailDomainRow(Table):
    """The table row of all domains with the same last two labels. ``owners`` are account ids."""

    class Meta:
        name = "mail-domains"

    last_labels = UnicodeAttribute(hash_key=True)
    owners = JsonAttribute()


def load_owners(domain: str) -> dict[str, str]:
    """Load the owners by domain, of all domains that can overlap this domain. One request."""
    (row,) = read_together((MailDomainRow, last_labels(domain)))
    return dict(row.owners) if row else {}


def replace_owners(domain: str, read: Mapping[str, str], changed: Mapping[str, str]) -> None:
    """Replace the owners by domain, of all domains that can overlap this domain. One request.

    Args:
        read: the owners that `load_owners` returned.

    Raises:
        Contention: the stored owners differ from these.
    """
    owners = MailDomainRow.owners
    with transaction() as write:
        write.update(
            MailDomainRow(last_labels(domain)),
            actions=[owners.set(changed)],
            condition=owners == read if read else owners.does_not_exist() | (owners == {}),
        )
