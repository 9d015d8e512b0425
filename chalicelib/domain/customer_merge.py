"""The fill rule of imports (interface, rule 4.2.2): what a row gives to the customer of its pair.

The rows of one pair are folded, in order, into one group. Each row keeps only what no row before
it gave, so the group is as large as one customer however many rows it has, and still tells for
each row what it did.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from chalicelib.domain.customer import CustomerBody, joined_name
from chalicelib.domain.customer_pair import pair_of

Fields = dict[str, Any]
"""Values of a customer by the name of its field; the import's own metadata is one field."""

IMPORT_METADATA: Final = "import_metadata"
_NEVER_FILLED: Final = frozenset({"email_optin", "sms_optin"})


class RowOutcome(StrEnum):
    """What a row of an import did."""

    CREATED = "created"
    FILLED = "filled"
    UNCHANGED = "unchanged"


@dataclass(frozen=True)
class GroupRow:
    """One row of a group.

    Attributes:
        index: the row's place in the batch, from 0.
        fields: what it gives that no earlier row of its group gave.
    """

    index: int
    fields: Fields


@dataclass(frozen=True)
class RowGroup:
    """The rows of one pair, in row order; a row without a pair is a group of its own.

    Attributes:
        pair: the pair's digest, None without a pair.
    """

    pair: str | None
    rows: tuple[GroupRow, ...]

    @property
    def first_index(self) -> int:
        """The place in the batch of the group's first row."""
        return self.rows[0].index


@dataclass(frozen=True)
class GroupEffect:
    """What a group does to the customer of its pair.

    Attributes:
        creates: whether it makes the customer.
        fields: what the customer is made of, or what is filled in; may be empty.
        outcomes: what each row did, in row order.
    """

    creates: bool
    fields: Fields
    outcomes: tuple[RowOutcome, ...]


def fields_of(body: CustomerBody) -> Fields:
    """What a row gives, by the customer's fields; a name makes a display name where none is given.

    Opt-ins are among them; they count only for the row that makes the customer.
    """
    given = {
        name: value
        for name in CustomerBody.model_fields
        if name != "metadata" and (value := getattr(body, name)) is not None
    }
    display_name = given.get("display_name") or joined_name(body.first_name, body.last_name)
    if display_name:
        given["display_name"] = display_name
    if body.metadata:
        given[IMPORT_METADATA] = body.metadata
    if body.language:
        given["language"] = body.language.value
    return given


def group_rows(rows: Iterable[tuple[int, CustomerBody]]) -> list[RowGroup]:
    """The rows folded by pair, groups in the order of their first rows."""
    groups: dict[object, tuple[str | None, list[GroupRow], set[str]]] = {}
    for index, body in rows:
        pair = pair_of(body.email, body.phone_number)
        digest = pair.digest if pair else None
        _, folded, given_before = groups.setdefault(digest or index, (digest, [], set()))
        known = given_before | _NEVER_FILLED if folded else given_before
        fields = {name: value for name, value in fields_of(body).items() if name not in known}
        folded.append(GroupRow(index, fields))
        given_before.update(fields)
    return [RowGroup(digest, tuple(folded)) for digest, folded, _ in groups.values()]


def effect_of(group: RowGroup, existing: Sequence[str] | None) -> GroupEffect:
    """What the group does to a customer who has these fields set; None: there is none yet."""
    creates = existing is None
    set_fields = set(existing or ())
    fields: Fields = {}
    outcomes = []
    for place, row in enumerate(group.rows):
        making = creates and place == 0
        fresh = {
            name: value
            for name, value in row.fields.items()
            if making or (name not in set_fields and name not in _NEVER_FILLED)
        }
        fields |= fresh
        set_fields |= fresh.keys()
        if making:
            outcomes.append(RowOutcome.CREATED)
        else:
            outcomes.append(RowOutcome.FILLED if fresh else RowOutcome.UNCHANGED)
    return GroupEffect(creates, fields, tuple(outcomes))
