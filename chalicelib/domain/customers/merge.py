"""The fill rule of imports (interface, rule 4.2.2): what a row gives to the customer of its pair.

The rows of one pair are one group, in their order, and have one effect together: a customer made,
or fields of one filled. The effect still tells for each row what it did.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from chalicelib.domain.customers.customer import CustomerBody, joined_name
from chalicelib.domain.customers.pair import pair_of

Fields = dict[str, Any]
"""Values of a customer by the name of its field; the import's own metadata is one field."""

IMPORT_METADATA: Final = "import_metadata"
_MAX_UNFOLDED: Final = 100_000
_NEVER_FILLED: Final = frozenset({"email_optin", "sms_optin"})


class RowOutcome(StrEnum):
    """What a row of an import did."""

    CREATED = "created"
    FILLED = "filled"
    UNCHANGED = "unchanged"
    FAILED = "failed"


@dataclass(frozen=True)
class GroupRow:
    """One row of a group.

    Attributes:
        index: the row's place in the batch, from 0.
        fields: what it gives.
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
    """The rows by pair, groups in the order of their first rows."""
    groups: dict[object, tuple[str | None, list[GroupRow]]] = {}
    for index, body in rows:
        pair = pair_of(body.email, body.phone_number)
        digest = pair.digest if pair else None
        groups.setdefault(digest or index, (digest, []))[1].append(GroupRow(index, fields_of(body)))
    return [RowGroup(digest, _bounded(group)) for digest, group in groups.values()]


def _bounded(rows: list[GroupRow]) -> tuple[GroupRow, ...]:
    """The rows, or, where they are too many for one record, what each gives that none before gave.

    Folded like this, thousands of rows take no more room than one customer. What is lost is that
    a row cannot give again what one before it gave and failed with.
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
    """About how many characters these fields have, names included."""
    return sum(len(name) + len(str(value)) for name, value in fields.items())


def effect_of(
    group: RowGroup,
    existing: Iterable[str] | None,
    fits: Callable[[Fields], bool] = lambda _: True,
) -> GroupEffect:
    """What the group does to a customer who has these fields set; None: there is none yet.

    ``fits`` says whether the customer may have the fields given so far; a row that would give too
    much fails alone.
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
