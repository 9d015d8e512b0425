"""The table of mail domains: the account that owns the domain of each support address.

One row contains the owners of all domains with the same last two labels. Only these domains can
overlap, so one conditional write decides about a new owner.
"""

from collections.abc import Mapping

from pynamodb.attributes import UnicodeAttribute

from admin.domain.mail_domain import last_labels
from chalicelib.storage.dynamodb.attributes import JsonAttribute
from chalicelib.storage.dynamodb.table import Key, Table
from chalicelib.storage.dynamodb.unit_of_work import Rows


class MailDomainRow(Table):
    """The table row of all domains with the same last two labels. ``owners`` are account ids."""

    class Meta:
        name = "mail-domains"

    last_labels = UnicodeAttribute(hash_key=True)
    owners = JsonAttribute[Mapping[str, str]]()


def owners(rows: Rows, domain: str) -> Mapping[str, str]:
    """Return the owners by domain, of all domains that can overlap this domain. One request.

    The unit of work relies on them.
    """
    key = _key(domain)
    rows.prefetch(key)
    return rows.value(key, MailDomainRow.owners) or {}


def set_owners(rows: Rows, domain: str, changed: Mapping[str, str]) -> None:
    """Replace the owners by domain, of all domains that can overlap this domain."""
    rows.set(_key(domain), MailDomainRow.owners, changed)


def _key(domain: str) -> Key[MailDomainRow]:
    return Key(MailDomainRow, last_labels(domain))
