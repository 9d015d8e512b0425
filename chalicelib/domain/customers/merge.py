"""Fill rule of imports: the effect of a row on the customer of its pair.

The rows of one pair form one group, in row order, with one joint effect: a created customer or
filled fields. The effect includes the outcome of each row.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from chalicelib.domain.customers.customer import CustomerBody, joined_name
from chalicelib.domain.customers.pair import pair_of

Fields = dict[str, Any]
"""Customer values by field name. The import's metadata is one field."""

IMPORT_METADATA: Final = "import_metadata"
_MAX_UNFOLDED: Final = 100_000
_NEVER_FILLED: Final = frozenset({"email_optin", "sms_optin"})


class RowOutcome(StrEnum):
    """Outcome of one row."""

    CREATED = "created"
    FILLED = "filled"
    UNCHANGED = "unchanged"
    FAILED = "failed"


@dataclass(frozen=True)
class GroupRow:
    """One row of a group.

    Attributes:
        index: the row's index in the batch, from 0.
        fields: the row's values.
    """

    index: int
    fields: Fields


@dataclass(frozen=True)
class RowGroup:
    """The rows of one pair in row order. A row without a pair forms its own group.

    Attributes:
        pair: the digest of the pair, or None.
    """

    pair: str | None
    rows: tuple[GroupRow, ...]

    @property
    def first_index(self) -> int:
        """The index of the group's first row."""
        return self.rows[0].index


@dataclass(frozen=True)
class GroupEffect:
    """The effect of a group on the customer of its pair.

    Attributes:
        creates: whether the group creates the customer.
        fields: the values of the new customer or the filled values; may be empty.
        outcomes: the outcome of each row, in row order.
    """

    creates: bool
    fields: Fields
    outcomes: tuple[RowOutcome, ...]


def fields_of(body: CustomerBody) -> Fields:
    """Return the row's values by field. Without a display name, the joined name is used.

    Opt-ins are included; they apply only if the row creates the customer.
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
    """Group the rows by pair, in the order of their first rows."""
    groups: dict[object, tuple[str | None, list[GroupRow]]] = {}
    for index, body in rows:
        pair = pair_of(body.email, body.phone_number)
        digest = pair.digest if pair else None
        groups.setdefault(digest or index, (digest, []))[1].append(GroupRow(index, fields_of(body)))
    return [RowGroup(digest, _bounded(group)) for digest, group in groups.values()]


def _bounded(rows: list[GroupRow]) -> tuple[GroupRow, ...]:
    """Return the rows. If they exceed one record, keep only each value's first occurrence.

    This bounds thousands of rows to the size of one customer. The only loss: a row cannot supply a
    value again after an earlier row with the same value failed.
    """
    if sum(text_length(row.fields) for row in rows) <= _MAX_UNFOLDED:
        return tuple(rows)
    folded: list[GroupRow] = []
    given_before: set[str] = set()
    for row in rows:
        known = given_before | _NEVER_FILLED if folded else given_before
        fresh = {name: value for name, value in row.fields.items() if name not in known}
        folded.append(GroupRow(row.index, fresh))
        given_before.update(fresh)
    return tuple(folded)


def text_length(fields: Fields) -> int:
    """Return the approximate number of characters of these fields, names included."""
    return sum(len(name) + len(str(value)) for name, value in fields.items())


def effect_of(
    group: RowGroup,
    existing: Iterable[str] | None,
    fits: Callable[[Fields], bool] = lambda _: True,
) -> GroupEffect:
    """Compute the effect of a group on a customer with these fields set, or None for no customer.

    ``fits`` decides whether the customer may have the fields so far. A row that exceeds the limit
    fails on its own.
    """
    creates = False
    set_fields = set(existing or ())
    fields: Fields = {}
    outcomes = []
    for row in group.rows:
        making = existing is None and not creates
        fresh = {
            name: value
            for name, value in row.fields.items()
            if making or (name not in set_fields and name not in _NEVER_FILLED)
        }
        if fresh and not fits(fields | fresh):
            outcomes.append(RowOutcome.FAILED)
            continue
        fields |= fresh
        set_fields.update(fresh)
        if making:
            creates = True
            outcomes.append(RowOutcome.CREATED)
        else:
            outcomes.append(RowOutcome.FILLED if fresh else RowOutcome.UNCHANGED)
    return GroupEffect(creates, fields, tuple(outcomes))
