"""Run every use case inside every other one, before each of its AWS requests.

Usage: ``python -m tests.campaign.pairs [EVERY [USE_CASE …]]``. ``EVERY`` is 2 to run only
each second pair. With use cases, only pairs that contain one of them run.

The result of two use cases consists of the changed rows of all tables, the messages to customers,
the webhooks, and the exceptions. It must be equal to the result of one of the two serial orders of
the same code, or differ from it exactly as `DECLARED` says. Times are compared in units of ten
minutes, and new random ids are equal. A use case runs inside another one only before requests that
share a row with it: one writes what the other one reads or writes.
"""

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import tests.conftest  # noqa: F401 - sets the environment before the project is imported
from chalicelib.services.caching import clear_caches
from chalicelib.services.webhooks.send import circuit_breaker
from tests.aws.capacity import Key as Partition
from tests.aws.capacity import Meter
from tests.aws.tables import Item, Key
from tests.campaign.simulation import without_log
from tests.campaign.use_cases import ROUNDED_S, USE_CASES, Shop, open_shop
from tests.campaign.world import text_of

Row = tuple[Any, ...]
"""The name of a table, and the attributes of one of its rows with their values as text. A message,
a webhook or an exception is a row, too."""
Result = Counter[Row]

_RANDOM: Final = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|fk_[0-9a-f]{24}"
)
_DATE_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d)\d:\d\d\.\d{3}Z")
_EPOCH: Final = re.compile(r'(?<=")(1[789]\d{8})(\d{3})?(?=")')
_SHARD: Final = re.compile(r"open-\d+")
_FALSE: Final = {"BOOL": False}
_NOT_COMPARED: Final = frozenset({"secret", "secret_hash", "revision", "position", "list_block"})
"""Random values, numbers of versions, and the order of records in lists. Positions are compared as
a set."""

VERSIONS: Final = frozenset({"record", "move", "repeat purchase"})
"""Versions of a purchase. A version that its partner sent before the stored one has no effect."""

_NEW_VERSION: Final = """-counters erasures.solicitations solicitations.due_at
    solicitations.ended_at solicitations.ready_at solicitations.reason solicitations.state
    solicitations.work_shard"""
_LATER_PASS: Final = """erasures.ended_at erasures.last_found_at erasures.ready_at +feedback-changes
    feedback-changes.changed_at feedback-changes.ids feedback-changes.last feedback.anonymized_at
    feedback.entry_number"""

DECLARED: Final[dict[tuple[str, str], str]] = {
    # A version that arrives during an erasure belongs to a new customer. The erasure does not
    # count what it no longer finds, and the survey about this version is decided later.
    ("erase wholly", "record"): f"{_NEW_VERSION} erasures.purchases",
    ("erase wholly", "repeat purchase"): _NEW_VERSION,
    ("erase wholly", "move"): "erasures.purchases",
    # The import discards the row of the person before the erasure does, and counts it as failed.
    ("erase wholly", "import"): "erasures.import_rows",
    # The first pass does not see the answer or the tap, so a later pass anonymizes it.
    ("erase wholly", "answer"): _LATER_PASS,
    ("erase wholly", "answer otherwise"): _LATER_PASS,
    ("erase wholly", "tap"): _LATER_PASS,
    # The first pass ends the time of the tap before it deletes the tracker.
    ("erase wholly", "tap again"): "-NotFound",
    ("erase wholly", "remove tap"): "-NotFound",
    ("erase wholly", "answer tapped"): "-NotFound +TrackerUsed",
    # The body of the webhook exists already, and names the tracker that the erasure deletes.
    ("end taps", "erase wholly"): "executions.body",
    # Readers of the feed skip the id of feedback that is not processed, wherever it stands.
    ("end taps", "republish"): "feedback-changes.ids",
    ("republish", "answer tapped"): "feedback-changes.ids",
    # The old address and the new one are suppressed. In order, it is one of them.
    ("erase wholly", "change address"): "+contacts -NotFound",
    ("erase wholly", "take pair"): "+contacts -NotFound",
    # The receipt lists the customers that had the address at the time of the request.
    ("erase wholly", "create Ann"): "erasures.other_count",
    ("erase wholly", "join pair"): "erasures.other_count",
    # The erasure skips the reminder for another reason than the function.
    ("erase wholly", "remind"): "solicitations.reason",
    # The erasure ends surveys whose message is sent, and whose outcome is not stored yet. The
    # reminder becomes UNKNOWN when its claim expires.
    ("send", "erase wholly"): """-counters +counters erasures.messages -solicitations
        solicitations.reason solicitations.sent_at solicitations.state""",
    ("remind", "erase wholly"): """erasures.messages solicitations.due_at solicitations.ended_at
        solicitations.leased_until solicitations.reminded_at solicitations.state
        solicitations.work_shard""",
}
"""By the names of the outer and of the inner use case: what differs from both serial orders. An
attribute, or, with a sign, a table or an exception of which the result has a row more or less."""


@dataclass(frozen=True)
class Access:
    """The partition keys of tables and indexes that one or more requests access.

    Attributes:
        touched: the keys of rows that are read or written.
        written: the keys of rows that are written, or that must be unchanged.
    """

    touched: frozenset[Partition]
    written: frozenset[Partition]

    def shares(self, other: "Access") -> bool:
        """Return whether one of them writes a partition that the other one reads or writes."""
        return bool(self.written & other.touched or other.written & self.touched)


@dataclass(frozen=True)
class Trace:
    """What a use case does when it runs alone.

    Attributes:
        requests: the access of each AWS request.
        all: the access of all requests together.
        errors: its name and the type of each exception that it raises.
    """

    requests: tuple[Access, ...]
    all: Access
    errors: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Violation:
    """A result that neither of the two serial orders has.

    Attributes:
        number: the number of the request of the first use case before which the second one ran.
        differences: the attributes that differ from the closer serial order.
    """

    first: str
    second: str
    number: int
    differences: frozenset[str]
    details: str

    def __str__(self) -> str:
        where = f"{self.second} before request {self.number} of {self.first}"
        return f"{where}: {', '.join(sorted(self.differences))}\n{self.details}"


class Pairs:
    """Runs use cases, each time from the same state.

    Attributes:
        traces: what each use case does when it runs alone.
        differing: what differed from both serial orders, by pair.
    """

    def __init__(self, shop: Shop) -> None:
        self.shop, self.stage = shop, shop.stage
        self._rows = {name: dict(shop.stage.tables.rows(name)) for name in shop.stage.tables.names}
        self._now, self._mails = shop.stage.now, [*shop.stage.mails]
        texts = (
            text for _, row in self.stage.tables.all_rows() for text in map(text_of, row.values())
        )
        self._known = {each for text in texts for each in _RANDOM.findall(text)}
        self._known |= {
            each
            for ids in self._rows.values()
            for key in ids
            for each in _RANDOM.findall(" ".join(key))
        }
        self._errors: list[tuple[str, str]] = []
        self.traces = {name: self._trace(name) for name in USE_CASES}
        self.differing: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        self._serial: dict[tuple[tuple[str, ...], bool], Result] = {}

    def forget_results(self) -> None:
        """Forget the results of serial orders, which a change of the service changes."""
        self._serial.clear()

    def sharing(self) -> Iterator[tuple[str, str]]:
        """Yield the pairs that share a row. Each use case also runs inside itself."""
        for first, one in self.traces.items():
            for second, other in self.traces.items():
                if one.all.shares(other.all):
                    yield first, second

    def violations(self, first: str, second: str) -> Iterator[Violation]:
        """Run a use case before the requests of another one. Yield undeclared results."""
        for number, request in enumerate(self.traces[first].requests, 1):
            if not request.shares(self.traces[second].all):
                continue  # The result is that before the next request.
            orders = [(first, second), (second, first)]
            if {first, second} <= VERSIONS:
                orders.append((second,))
            result = self._interleaved(first, second, number)
            if result in [self._in_order(*order) for order in orders]:
                continue
            self.shop.settle()
            result = self._result()
            settled = [self._in_order(*order, settled=True) for order in orders]
            names, details = min(
                (_differences(result, order) for order in settled), key=lambda found: len(found[0])
            )
            self.differing[first, second] |= names
            if not names <= _declared(first, second):
                yield Violation(first, second, number, names, details)

    def _in_order(self, *names: str, settled: bool = False) -> Result:
        if (names, settled) not in self._serial:
            self._restore()
            for name in names:
                self._call(name)
            if settled:
                self.shop.settle()
            self._serial[names, settled] = self._result()
        return self._serial[names, settled]

    def _interleaved(self, first: str, second: str, number: int) -> Result:
        self._restore()
        requests = 0

        def interrupt() -> None:
            nonlocal requests
            requests += 1
            if requests == number:
                self._call(second)

        self.stage.before = interrupt
        self._call(first)
        self.stage.before = lambda: None
        return self._result()

    def _trace(self, name: str) -> Trace:
        self._restore()
        meters: list[Meter] = []

        def measure() -> None:
            meters.append(Meter())
            self.stage.tables.meters = [meters[-1]]

        self.stage.before = measure
        self._call(name)
        self.stage.before, self.stage.tables.meters = lambda: None, []
        requests = tuple(_access(meter) for meter in meters)
        return Trace(requests, _access(*meters), tuple(self._errors))

    def _call(self, name: str) -> None:
        try:
            USE_CASES[name](self.shop)
        except Exception as error:  # part of the result
            self._errors.append((name, type(error).__name__))

    def _restore(self) -> None:
        stage, shop = self.stage, self.shop
        stage.now = self._now
        for name, rows in self._rows.items():
            stored = stage.tables.rows(name)
            for key in rows.keys() | stored.keys():
                if stored.get(key) is not rows.get(key):
                    stage.tables.replace(name, key, rows.get(key))
        for name, queue in stage.queues.items():
            queue.messages[:] = shop.received[name]
        stage.mails[:] = self._mails
        shop.posts.clear()
        self._errors.clear()
        circuit_breaker.close_all()
        clear_caches()

    def _result(self) -> Result:
        """Return the rows that exist only now, and those that exist no longer."""
        result: Result = Counter()
        for name, rows in self._rows.items():
            stored = self.stage.tables.rows(name)
            for key in rows.keys() | stored.keys():
                row, earlier = stored.get(key), rows.get(key)
                if row is not earlier:
                    change = self._described(name, key, row)
                    result[change] += change != self._described(name, key, earlier)
        for name, row in self.stage.tables.all_rows():
            if "position" in row:
                block = row["list_block"]["S"]
                result[
                    (
                        "position",
                        ("table", name),
                        ("block", block),
                        ("number", row["position"]["N"]),
                    )
                ] += 1
        for mail in self.stage.mails[len(self._mails) :]:
            result["message", ("to", mail.to), ("channel", mail.channel)] += 1
        for execution_id in self.shop.posts:
            result["webhook", ("id", execution_id)] += 1
        for name, error in self._errors:
            result[error, ("of", name)] += 1
        return +result

    def _described(self, table: str, key: Key, row: Item | None) -> Row:
        values = {"key": self._normal(" ".join(key))}
        for name, value in (row or {}).items():
            if name not in _NOT_COMPARED and value != _FALSE:
                values[name] = self._normal(text_of(value))
        return table, *sorted(values.items())

    def _normal(self, text: str) -> str:
        text = _RANDOM.sub(lambda found: found[0] if found[0] in self._known else "?", text)
        text = _SHARD.sub("open", text)
        text = _DATE_TIME.sub(r"\1", text)
        return _EPOCH.sub(lambda found: str(int(found[1]) // ROUNDED_S), text)


def _declared(first: str, second: str) -> set[str]:
    return set(DECLARED.get((first, second), "").split())


def _access(*meters: Meter) -> Access:
    written = frozenset(key for meter in meters for key in meter.writes)
    return Access(written.union(*(meter.reads for meter in meters)), written)


def _differences(result: Result, order: Result) -> tuple[frozenset[str], str]:
    """Return the attributes in which a result differs from that of an order, and describe them."""
    names: set[str] = set()
    lines = []
    left, right = [*(result - order).elements()], [*(order - result).elements()]
    for row in left:
        same = next(
            (each for each in right if each[:1] == row[:1] and _key(each) == _key(row)), None
        )
        if same is None:
            names.add(f"+{row[0]}")
            lines.append(f"  only interleaved: {row}")
            continue
        right.remove(same)
        one, other = dict(row[1:]), dict(same[1:])
        for name in sorted(one.keys() | other.keys()):
            if one.get(name) != other.get(name):
                names.add(f"{row[0]}.{name}")
                lines.append(
                    f"  {row[0]}.{name} of {_key(row)}: {one.get(name)}, in order {other.get(name)}"
                )
    for row in right:
        names.add(f"-{row[0]}")
        lines.append(f"  only in order: {row}")
    return frozenset(names), "\n".join(line[:300] for line in lines)


def _key(row: Row) -> str:
    return dict(row[1:]).get("key", str(row))


def main(every: str = "1", *wanted: str) -> int:
    """Run the pairs, and return the number of those with violations."""
    with without_log(), open_shop() as shop:
        pairs = Pairs(shop)
        for name, trace in pairs.traces.items():
            if trace.errors:
                _write(f"{name} alone raises {trace.errors}")
        chosen = [
            pair for pair in pairs.sharing() if not wanted or not set(wanted).isdisjoint(pair)
        ][:: int(every)]
        failed = 0
        for pair in chosen:
            found = [*map(str, pairs.violations(*pair))]
            if not_found := _declared(*pair) - pairs.differing[pair]:
                found.append(f"{' / '.join(pair)}: declared, but not found: {sorted(not_found)}")
            failed += bool(found)
            for each in found:
                _write(each)
    _write(f"{len(chosen)} pairs, {failed} with violations")
    return failed


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(min(1, main(*sys.argv[1:])))
