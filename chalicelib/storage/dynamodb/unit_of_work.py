"""Run a use case on rows, and write its changes in one transaction.

The conditions of the transaction follow from what the use case has read, and how. If one of them
fails, the use case runs again. docs/decisions/unit-of-work.md states the reasons and the costs.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast

from botocore.exceptions import ClientError
from pynamodb.attributes import Attribute
from pynamodb.exceptions import VerboseClientError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.backoff import Backoff
from chalicelib.domain.errors import Blocked, NoResponse, Unavailable
from chalicelib.domain.paging import in_groups
from chalicelib.domain.work import MAX_WAIT
from chalicelib.storage.dynamodb.client import Item
from chalicelib.storage.dynamodb.table import (
    MAX_BATCH_READS,
    THROTTLING_REASONS,
    Key,
    Row,
    Table,
    Value,
    connection,
    put_of_new,
    read_items,
    serialized,
    time_of,
)

CONDITION_FAILED: Final = "ConditionalCheckFailed"
"""The reason code that DynamoDB returns for a write whose condition failed."""

CONDITION_FAILED_ERROR: Final = "ConditionalCheckFailedException"
_CONTENTION_REASONS: Final = THROTTLING_REASONS | {CONDITION_FAILED, "TransactionConflict"}
_ORDER: Final = ("ConditionCheck", "Delete", "Put", "Update")

VERSION: Final = "revision"
"""The attribute with the version of a row. A change of the row increments it, except an addition to
another attribute, and a change of `_TIME` alone.
"""

_TIME: Final = "updated_at"

Result = TypeVar("Result")


class Failure(NamedTuple):
    """A write of a cancelled transaction that was a reason for the cancellation.

    Attributes:
        row: the row as it is stored, if its condition failed; None if it does not exist.
    """

    key: Key[Table]
    reason: str
    row: Item | None


class Contention(Exception):
    """A transaction was cancelled: a condition failed, other transactions write the same rows, or
    DynamoDB throttled a table on which the caller expects contention.

    Nothing was written. The caller must read the rows again before it retries.

    Attributes:
        failures: the keys of the rows whose writes failed, each with the reason code and the row
            that DynamoDB returned. Empty if unknown.
        blocked: the error of an operation whose last attempt ended with this contention. None if
            other processes are changing the rows.
    """

    def __init__(self, failures: Sequence[Failure] = (), *, blocked: Blocked | None = None) -> None:
        super().__init__()
        self.failures, self.blocked = failures, blocked


def current_item(error: VerboseClientError) -> Item | None:
    """Return the row for which the condition of a single write failed; None without a row."""
    # Only botocore's exception contains the row; PynamoDB's exception does not.
    cause = error.__cause__
    response: Item = {**cause.response} if isinstance(cause, ClientError) else {}
    return response.get("Item")


class _Write(NamedTuple):
    """A write of a transaction: the row, the action, and its parameters."""

    key: Key[Table]
    action: str
    kwargs: Item


@dataclass(slots=True)
class _Tracked(Generic[Row]):
    """A row of a unit of work.

    Attributes:
        known: the row as it was read or returned; None if it does not exist.
        is_known: whether it was read or returned.
        row: the row as the use case changes it, and ``before`` its attributes as they were read.
        exists: whether the transaction requires that the row exists or does not exist.
        relied_on: the attributes whose values must be unchanged.
        expected: the values that attributes must have, in the form of DynamoDB.
        values: the attributes to set, and ``additions`` those to add to.
        defaults: the attributes among ``values`` that are set only if they have no value.
    """

    key: Key[Row]
    known: Item | None = None
    is_known: bool = False
    row: Row | None = None
    before: Mapping[str, object] = field(default_factory=dict)
    exists: bool | None = None
    relied_on: dict[str, None] = field(default_factory=dict)
    expected: dict[str, Item | None] = field(default_factory=dict)
    values: dict[str, object] = field(default_factory=dict)
    defaults: set[str] = field(default_factory=set)
    additions: dict[str, Any] = field(default_factory=dict)
    is_new: bool = False
    is_removed: bool = False

    def learn(self, item: Item | None, row: Row | None = None) -> None:
        self.known, self.is_known, self.row, self.before = item, True, row, {}
        if row:
            # The use case can return the row, and another unit can start with it.
            row.item, self.before = item, {**row.attribute_values}

    def as_read(self) -> Row | None:
        """Return a copy of the row without changes. None if no use case has looked at the row."""
        return self.key.model.copy_of(self.before) if self.before else None

    def loaded(self) -> Row | None:
        if self.row is None and self.known is not None:
            self.learn(self.known, self.key.model.from_raw_data(self.known))
        return self.row

    def rely_on_existence(self) -> None:
        self.exists = self.known is not None

    def is_checked(self) -> bool:
        return self.exists is not None or bool(self.relied_on or self.expected)

    def write(self) -> _Write | None:
        """Return the write of the row; None if there is none."""
        model, changes = self.key.model, self._changes()
        additions = {name: by for name, by in self.additions.items() if by}
        if self.is_new:
            changes |= {name: _sum(changes.get(name), by) for name, by in additions.items()}
            put = put_of_new(model, changes)
            return _Write(self.key, "Put", put | {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"})
        if not (changes or additions or self.is_removed or self.is_checked()):
            return None
        names: dict[str, str] = {}
        values: dict[str, Item] = {}
        kwargs: Item = {"TableName": model.table_name(), "Key": self.key.item}
        action = "Delete" if self.is_removed else "ConditionCheck"
        if (changes or additions) and not self.is_removed:
            action = "Update"
            if changes.keys() - {_TIME} and VERSION in model.get_attributes():
                additions.setdefault(VERSION, 1)
            kwargs["UpdateExpression"] = _update(
                model, changes, self.defaults, additions, names, values
            )
            if self.known is not None and self.exists is None:
                self.exists = True  # An update would create the row again.
        if condition := self._condition(names, values):
            kwargs["ConditionExpression"] = condition
            kwargs["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        if names:
            kwargs["ExpressionAttributeNames"] = names
        if values:
            kwargs["ExpressionAttributeValues"] = values
        return _Write(self.key, action, kwargs)

    def _changes(self) -> dict[str, object]:
        if self.row is None:
            return self.values
        now, before = self.row.attribute_values, self.before
        if self.is_new:
            return now | self.values
        changes = {name: value for name, value in now.items() if value != before.get(name)}
        removed: dict[str, object] = {name: None for name in before if name not in now}
        if (changes or removed) and not self.relied_on:
            # Others may have changed the row, so that the comparison finds the wrong changes.
            table = self.key.model.Meta.name
            raise AssertionError(f"a row of {table} was changed and not relied on")
        return changes | removed | self.values

    def _condition(self, names: dict[str, str], values: dict[str, Item]) -> str:
        conditions, implied = [], False
        required = {name: (self.known or {}).get(name) for name in self.relied_on} | self.expected
        for name, value in required.items():
            names[f"#{name}"] = name
            if value is None:
                conditions.append(f"attribute_not_exists(#{name})")
            else:
                values[f":was_{name}"] = value
                conditions.append(f"#{name} = :was_{name}")
                implied = True
        if self.exists is not None and not implied:
            name = self.key.hash_name
            names[f"#{name}"] = name
            function = "attribute_exists" if self.exists else "attribute_not_exists"
            conditions.append(f"{function}(#{name})")
        return " AND ".join(conditions)


def _sum(value: Any, by: Any) -> Any:
    """Return the value of a number or a set after an addition."""
    if value is None:
        return by
    return value | by if isinstance(by, set) else value + by


def _update(
    model: type[Table],
    changes: Mapping[str, object],
    defaults: Collection[str],
    additions: Mapping[str, object],
    names: dict[str, str],
    values: dict[str, Item],
) -> str:
    """Return the expression of an update, and add its names and values."""
    attributes = model.get_attributes()
    actions: dict[str, list[str]] = {"SET": [], "REMOVE": [], "ADD": []}
    names.update((f"#{name}", name) for name in (*changes, *additions))
    for name, value in changes.items():
        if value is None:
            actions["REMOVE"].append(f"#{name}")
        else:
            value_of = f"if_not_exists(#{name}, :{name})" if name in defaults else f":{name}"
            actions["SET"].append(f"#{name} = {value_of}")
            values[f":{name}"] = serialized(attributes[name], value)
    for name, value in additions.items():
        actions["ADD"].append(f"#{name} :by_{name}")
        values[f":by_{name}"] = serialized(attributes[name], value)
    return " ".join(f"{action} {', '.join(each)}" for action, each in actions.items() if each)


class Rows:
    """The rows that a use case reads and changes. They are written when the use case has returned.

    How a row is read states what the use case relies on: the transaction fails if this has changed.
    """

    def __init__(self) -> None:
        self._read_at: datetime | None = None
        self._tracked: dict[Key[Table], _Tracked[Any]] = {}
        self._shared: Rows | None = None
        self._by_hand: list[_Write] = []
        self._fetched: set[Key[Table]] = set()
        self._dispensable: set[Key[Table]] = set()
        self._given_up: set[Key[Table]] = set()
        self._failed: set[Key[Table]] = set()

    @property
    def read_at(self) -> datetime:
        """The time of DynamoDB's first response to this use case, in full seconds."""
        assert self._read_at  # noqa: S101 - the use case has read rows
        return self._read_at

    def prefetch(self, *keys: Key[Table]) -> None:
        """Read rows consistently: one request per 100 rows that are not known yet."""
        unknown = [key for key in dict.fromkeys(keys) if not self._at(key).is_known]
        for group in in_groups(unknown, MAX_BATCH_READS):
            items, response = read_items(group)
            for key, item in zip(group, items, strict=True):
                self._tracked[key].learn(item)
            self._fetched.update(group)
            self._read_at = self._read_at or time_of(response)

    def know(self, row: Table) -> None:
        """Add a row that an earlier request has returned as a whole."""
        self._at(row.own_key()).learn(row.item, row.copy_of(row.attribute_values))

    def get(self, key: Key[Row], *attributes: Attribute[Any]) -> Row | None:
        """Return a row, which can be changed. Return None if it does not exist.

        The use case relies on the version of the row or, if attributes are given, on their values.
        """
        tracked = self._read(key)
        tracked.rely_on_existence()
        if tracked.exists:
            names = [attribute.attr_name for attribute in attributes] or [VERSION]
            if not key.model.get_attributes().keys() >= {*names}:
                raise AssertionError(f"{key.model.Meta.name} has no version to rely on")
            tracked.relied_on.update(dict.fromkeys(names))
        return tracked.loaded()

    def value(self, key: Key[Table], attribute: Attribute[Value]) -> Value | None:
        """Return the value of an attribute, and rely on the value that was read.

        None without a value or a row. A value that the use case has set is returned.
        """
        tracked = self._read(key)
        tracked.relied_on[attribute.attr_name] = None
        if attribute.attr_name in tracked.values:
            return cast(Value | None, tracked.values[attribute.attr_name])
        row = tracked.loaded()
        return row.attribute_values.get(attribute.attr_name) if row else None

    def exists(self, key: Key[Table]) -> bool:
        """Return whether a row exists, and rely on it."""
        tracked = self._read(key)
        tracked.rely_on_existence()
        return tracked.known is not None

    def expect(self, key: Key[Table], attribute: Attribute[Value], value: Value | None) -> None:
        """Rely on a value of an attribute of a row that was not fetched, such as an index entry."""
        item = None if value is None else serialized(attribute, value)
        self._at(key).expected[attribute.attr_name] = item

    def known(self, key: Key[Row]) -> Row | None:
        """Return a row that was fetched, or returned with a failure, without relying on it.

        To change it, use `get`.
        """
        return self._at(key).loaded()

    def has_failed(self, key: Key[Table]) -> bool:
        """Return whether a condition of this row failed in an earlier attempt.

        A use case that creates what is missing, or that changes rows of an index, skips the row.
        """
        return key in self._failed

    def require(self, key: Key[Table]) -> None:
        """Rely on the existence of a row without reading it."""
        self._at(key).exists = True

    def peek(self, key: Key[Row], *, because: str) -> Row | None:
        """Return a row without relying on it. Do not change it.

        Args:
            because: why the use case is right even if the row has changed.
        """
        return self._read(key).loaded()

    def can_do_without(self, key: Key[Table]) -> bool:
        """Return whether an earlier attempt failed because of contention on this row alone."""
        self._dispensable.add(key)
        return key in self._given_up

    def create(self, key: Key[Row]) -> Row:
        """Return a row to fill, with its key only. The transaction fails if the row exists."""
        tracked, row = self._at(key), key.row()
        tracked.row, tracked.is_new, tracked.before = row, True, {}
        return row

    def set(self, key: Key[Table], attribute: Attribute[Value], value: Value | None) -> None:
        """Set an attribute, or remove it, without relying on its value."""
        self._at(key).values[attribute.attr_name] = value

    def set_default(self, key: Key[Table], attribute: Attribute[Value], value: Value) -> None:
        """Set an attribute if it has no value, without relying on it."""
        self.set(key, attribute, value)
        self._at(key).defaults.add(attribute.attr_name)

    def add(self, key: Key[Table], attribute: Attribute[Value], by: Value) -> None:
        """Add to a number or to a set, without relying on its value."""
        name, additions = attribute.attr_name, self._at(key).additions
        additions[name] = _sum(additions.get(name), by)

    def remove(self, key: Key[Table]) -> None:
        """Delete a row. Only what the use case relies on is checked."""
        self._at(key).is_removed = True

    # The following methods are for rows that the use case has not read.

    def update(self, row: Table, actions: list[Action], condition: Condition) -> None:
        """Update a row."""
        kwargs = row.get_update_kwargs_from_instance(actions, condition)
        self._by_hand.append(_Write(row.own_key(), "Update", kwargs))

    def save(self, row: Table) -> None:
        """Write a row as a whole, without a condition."""
        kwargs = row.get_save_kwargs_from_instance()
        self._by_hand.append(_Write(row.own_key(), "Put", kwargs))

    def condition_check(self, key: Key[Table], condition: Condition) -> None:
        """Check a row that is not written."""
        kwargs = key.model.get_operation_kwargs_from_class(
            key.hash_key, key.range_key, condition=condition
        )
        self._by_hand.append(_Write(key, "ConditionCheck", kwargs))

    def send(self, backoff: Backoff | None = None, *, as_transaction: bool = True) -> None:
        """Write all changes. Send nothing if there are none.

        Args:
            backoff: the pauses after which a transaction without a response is sent again. It has
                the same token, so it has no second effect.
            as_transaction: whether a single write is sent as a transaction, too.

        Raises:
            Contention: a condition failed, another transaction writes the same rows, or DynamoDB
                throttles only contended tables.
            Unavailable: DynamoDB throttles or does not respond.
        """
        derived = [w for tracked in self._tracked.values() if (w := tracked.write())]
        writes = sorted([*self._by_hand, *derived], key=lambda write: _ORDER.index(write.action))
        if not self._by_hand and all(write.action == "ConditionCheck" for write in writes):
            return
        for _, _, kwargs in self._by_hand:
            if "ConditionExpression" in kwargs:
                kwargs["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        operation = "TransactWriteItems"
        request: Item = {"TransactItems": [{write.action: write.kwargs} for write in writes]}
        if len(writes) == 1 and not as_transaction:
            ((_, action, request),) = writes
            operation, backoff = f"{action}Item", None
        while True:
            try:
                connection().dispatch(operation, request)
            except NoResponse:
                if backoff and backoff.pause():
                    continue
                raise
            except VerboseClientError as error:
                if operation == "PutItem" and current_item(error) == request["Item"]:
                    return  # An earlier request has written this row, and its response was lost.
                raise self._contention(error, writes) or error from error
            return

    def _contention(self, error: VerboseClientError, writes: Sequence[_Write]) -> Contention | None:
        failures = [
            Failure(write.key, reason.code, reason.raw_item)
            for write, reason in zip(writes, error.cancellation_reasons, strict=False)
            if reason
        ]
        if error.response["Error"]["Code"] == CONDITION_FAILED_ERROR:
            failures = [Failure(writes[0].key, CONDITION_FAILED, current_item(error))]
        reasons = {failed.reason for failed in failures}
        if not reasons & _CONTENTION_REASONS:
            return None
        blocked = self._blocked(failures) if reasons == {CONDITION_FAILED} else None
        return Contention(failures, blocked=blocked)

    def _blocked(self, failures: Sequence[Failure]) -> Blocked | None:
        """Return an error if all conditions failed for rows that no other process changes.

        Conditions that are false for the rows as they were read stay false. Rows that were not
        read, but returned with an earlier failure, may be those of an index that is out of date.
        """
        for failed in failures:
            tracked = self._tracked.get(failed.key)
            if tracked is None or not tracked.is_known or tracked.known != failed.row:
                return None
        is_read = all(failed.key in self._fetched for failed in failures)
        tables = sorted({failed.key.model.Meta.name for failed in failures})
        counts_after = timedelta(0) if is_read else MAX_WAIT
        return Blocked(f"blocked by a row of {', '.join(tables)}", counts_after)

    def after(self, contention: Contention) -> "tuple[Rows, bool]":
        """Return the rows of the next attempt, and whether it must wait.

        The next attempt knows the rows that were returned with the failure, and those on which this
        attempt relied. After a second failure it reads the failed rows again, because they are out
        of date after the pause. After a conflict with a running transaction it knows no row.
        """
        rows = Rows()
        rows._given_up, rows._dispensable = {*self._given_up}, self._dispensable
        rows._read_at = self._read_at
        rows._failed = self._failed | {
            each.key for each in contention.failures if each.reason == CONDITION_FAILED
        }
        failed = {each.key for each in contention.failures}
        if failed and failed <= self._dispensable - self._given_up:
            # The second time, give up all of them.
            rows._given_up |= self._dispensable if self._given_up else failed
            rows._keep(self, lambda _: True)
            return rows, False
        if {each.reason for each in contention.failures} != {CONDITION_FAILED}:
            return rows, True
        rows._keep(self, _Tracked.is_checked)
        for each in contention.failures:
            if self._failed and each.key in self._fetched:
                rows._tracked.pop(each.key, None)
            else:
                rows._at(each.key).learn(each.row)
        return rows, bool(self._failed)

    def start_from(self, read: "Rows") -> None:
        """Know the rows that another unit has read."""
        self._read_at, self._fetched, self._shared = read._read_at, {*read._fetched}, read

    def _keep(self, earlier: "Rows", is_kept: Callable[[_Tracked[Table]], bool]) -> None:
        self._fetched = {*earlier._fetched}
        for key, tracked in earlier._tracked.items():
            if tracked.is_known and is_kept(tracked):
                self._at(key).learn(tracked.known, tracked.as_read())

    def _at(self, key: Key[Row]) -> _Tracked[Row]:
        tracked = self._tracked.get(key)
        if tracked is None:
            tracked = self._tracked[key] = _Tracked(key)
            shared = self._shared._tracked.get(key) if self._shared else None
            if shared and shared.is_known:
                tracked.learn(shared.known, shared.as_read())
        return tracked

    def _read(self, key: Key[Row]) -> _Tracked[Row]:
        tracked = self._at(key)
        if not tracked.is_known:
            raise AssertionError(f"a row of {key.model.Meta.name} was used and not fetched")
        return tracked


def commit(use_case: Callable[[Rows], Result], *known: Table, read: Rows | None = None) -> Result:
    """Run a use case, and write its changes in one request. Repeat it after contention.

    Args:
        known: rows that an earlier request returned, such as a claimed one. Then the changes are
            written in a transaction in any case, so that a lost response causes no second effect.
        read: rows that one request has read for several use cases. Each of them reads rows again
            on its own after contention.

    Raises:
        Blocked: the time for retries ends, and the last attempt failed because of rows that no
            other process changes.
        Unavailable: the contention lasts until the time for retries ends, or DynamoDB throttles or
            does not respond.
    """
    rows, backoff = Rows(), Backoff()
    if read:
        rows.start_from(read)
    for row in known:
        rows.know(row)
    while True:
        try:
            result = use_case(rows)
            rows.send(backoff, as_transaction=bool(known))
        except Contention as contention:
            rows, waits = rows.after(contention)
            if waits and not backoff.pause():
                busy = Unavailable("Too many concurrent writes to this account.")
                raise contention.blocked or busy from contention
        else:
            return result
