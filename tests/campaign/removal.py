"""Remove each condition of a write, one at a time, and report what notices it.

Usage: ``python -m tests.campaign.removal [KIND …]``. The kinds of checks are ``tests``, ``pairs``
and ``seeds``, by default all of them in this order. Set ``PYTHONHASHSEED``, as for a campaign. The
program exits with status 1 if nothing notices the removal of a condition.

A write condition consists of terms that AND joins. A term is known by its table and attributes, and
by the function of storage, or else the use case, that builds the condition or relies on what it
reads. The program first runs all checks, and notes for each one the terms that decided about a
write: that were false while all other terms of the condition were true. Only these checks can
notice that a term is missing. Then it runs them again without the term, until one of them fails.
"""

import io
import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from itertools import groupby
from multiprocessing import get_context
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

import tests.conftest  # noqa: F401 - sets the environment before the project is imported
from chalicelib.storage.dynamodb.table import SharedConnection
from chalicelib.storage.dynamodb.unit_of_work import Rows, _Tracked
from tests.aws.expressions import Item, Scope, conditions_of, evaluate, leaves, parse_condition
from tests.aws.tables import Request, Tables
from tests.campaign.__main__ import report_of
from tests.campaign.pairs import Pairs
from tests.campaign.simulation import without_log
from tests.campaign.use_cases import open_shop

_ROOT: Final = Path(__file__).parents[2]
_STORAGE: Final = ("chalicelib/storage/", "admin/storage/")
_SERVICES: Final = ("chalicelib/services/", "admin/services/")
_SENDING: Final = "chalicelib/storage/dynamodb/"
_WORK_RECORDS: Final = f"{_SENDING}work_records.py"
"""The only module of this folder that builds conditions. The others send them."""
_TESTED: Final = ("storage", "services", "functions", "admin", "web")
_SEEDS: Final = 24
_MAX_SEEDS: Final = 3
"""The number of seeds that run without a term. A seed takes three seconds."""
_MAX_CHECK_S: Final = 60
"""The CPU time of a check. Without a condition, a loop can be endless."""


class Term(NamedTuple):
    """A part of a write condition, or the whole condition.

    Attributes:
        place: the file and the function.
        table: the table. The conditions of work records are about all tables of work.
        attributes: the attributes of the part, or an empty text.
    """

    place: str
    table: str
    attributes: str

    @property
    def whole(self) -> "Term":
        """The condition to which the term belongs."""
        return self._replace(attributes="")

    def __str__(self) -> str:
        return f"{self.place}  {self.table}.{self.attributes or '(all)'}"


class Recorder:
    """Observes the conditions of this process, and removes one term.

    Attributes:
        removed: the term that is always true.
        terms: all terms that were evaluated.
        decisive: the terms that decided about a write of the current check.
    """

    def __init__(self) -> None:
        self.removed: Term | None = None
        self.terms, self.decisive = set[Term](), set[Term]()

    def start(self) -> None:
        """Start a check."""
        signal.setitimer(signal.ITIMER_VIRTUAL, _MAX_CHECK_S)
        self.decisive = set()

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Observe the conditions of the ``with`` block."""
        dispatch, check = SharedConnection.dispatch, Tables._check_condition
        at, derive = Rows._at, _Tracked.write
        places: dict[int, str] = {}
        used = 0

        def at_place(rows: Rows, key: Any) -> Any:
            nonlocal used
            is_new, tracked = key not in rows._tracked, at(rows, key)
            used = id(tracked)
            if is_new:
                places.pop(used, None)  # of a row that no longer exists
            return tracked

        def reading(read: Callable[..., Any]) -> Callable[..., Any]:
            def read_at_place(rows: Rows, *arguments: Any, **options: Any) -> Any:
                result = read(rows, *arguments, **options)
                places[used] = _place()
                return result

            return read_at_place

        def writing(write: Callable[..., Any]) -> Callable[..., Any]:
            def write_at_place(rows: Rows, *arguments: Any, **options: Any) -> None:
                write(rows, *arguments, **options)
                _locate(rows._by_hand[-1].kwargs)

            return write_at_place

        def derive_at_place(tracked: _Tracked[Any]) -> Any:
            if write := derive(tracked):
                _locate(write.kwargs, places.get(id(tracked), ""))
            return write

        def dispatch_located(shared: SharedConnection, operation: str, request: Any) -> Any:
            if operation != "TransactWriteItems":
                _locate(request)
            return dispatch(shared, operation, request)

        def check_without_term(tables: Tables, write: Request) -> tuple[Item | None, bool]:
            stored, is_allowed = check(tables, write)
            place = getattr(write.get("ConditionExpression"), "place", "")
            return stored, self._holds(place, write, stored) if place else is_allowed

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Rows, "_at", at_place)
            for name in ("get", "value", "exists", "expect", "require", "create"):
                patch.setattr(Rows, name, reading(getattr(Rows, name)))
            for name in ("update", "save", "condition_check"):
                patch.setattr(Rows, name, writing(getattr(Rows, name)))
            patch.setattr(_Tracked, "write", derive_at_place)
            patch.setattr(SharedConnection, "dispatch", dispatch_located)
            patch.setattr(Tables, "_check_condition", check_without_term)
            yield

    def _holds(self, place: str, write: Request, stored: Item | None) -> bool:
        """Return whether a condition is true without the removed term."""
        table = "work" if place.startswith(_SENDING) else write["TableName"].split("-", 2)[2]
        whole, scope = Term(place, table, ""), Scope(stored or {}, write)
        values: dict[Term, bool] = {}
        for tree in conditions_of(parse_condition(write["ConditionExpression"])):
            names = {scope.attribute(leaf) for leaf in leaves(tree) if leaf[0] != ":"}
            term = whole._replace(attributes=",".join(sorted(names)))
            values[term] = values.get(term, True) and evaluate(tree, scope)
        self.terms |= {whole, *values}
        false = {term for term, is_true in values.items() if not is_true}
        if false:
            self.decisive |= {whole} if len(false) > 1 else {whole, *false}
        return self.removed == whole or false <= {self.removed}


class _Located(str):
    """The text of a condition, with the place in the source that builds the write."""

    place: str


def _locate(write: dict[str, Any], place: str = "") -> None:
    condition = write.get("ConditionExpression")
    if condition is not None and not isinstance(condition, _Located):
        write["ConditionExpression"] = _Located(condition)
        write["ConditionExpression"].place = place or _place()


def _place() -> str:
    """Return the public function of storage that called, or else the function of a service."""
    frame = sys._getframe(1).f_back
    while frame:
        path = frame.f_code.co_filename.removeprefix(f"{_ROOT}/")
        name = frame.f_code.co_qualname.partition(".<locals>")[0]
        is_private = name.rpartition(".")[2].startswith("_")
        builds = path == _WORK_RECORDS or not path.startswith(_SENDING)
        if path.startswith(_SERVICES) or (path.startswith(_STORAGE) and builds and not is_private):
            return f"{path}:{name}"
        frame = frame.f_back
    return ""


_recorder: Final = Recorder()

Check = tuple[str, bool, set[Term]]
"""The name of a check that has run, whether it failed, and the terms that decided in it."""


class _Tests:
    """A plugin of pytest that collects the tests that have run."""

    def __init__(self) -> None:
        self.checks: list[Check] = []

    def pytest_runtest_logstart(self) -> None:
        _recorder.start()
        self._has_failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._has_failed |= report.failed
        if report.when == "teardown":
            self.checks.append((report.nodeid, self._has_failed, _recorder.decisive))


def _run_tests(names: Sequence[str]) -> Iterator[Check]:
    plugin, options = _Tests(), ["-x"] if _recorder.removed else []
    pytest.main(["--assert=plain", "-p", "no:randomly", *options, *names], [plugin])
    yield from plugin.checks


def _run_pairs(names: Sequence[str]) -> Iterator[Check]:
    pairs = _pairs()
    pairs.forget_results()
    return _run_each(names, lambda name: any(pairs.violations(*name.split(" / "))))


def _run_seeds(names: Sequence[str]) -> Iterator[Check]:
    return _run_each(names, lambda name: bool(report_of(int(name)).violations))


def _run_each(names: Sequence[str], fails: Callable[[str], bool]) -> Iterator[Check]:
    for name in names:
        _recorder.start()
        yield name, fails(name), _recorder.decisive


_opened: Final = ExitStack()


@cache
def _pairs() -> Pairs:
    """Return the pairs of this process, which runs no other checks."""
    _opened.enter_context(without_log())
    return Pairs(_opened.enter_context(open_shop()))


def _test_files() -> list[list[str]]:
    folders = (Path("tests", name) for name in _TESTED)
    return [[str(path)] for folder in folders for path in sorted(folder.rglob("test_*.py"))]


def _names_of_pairs() -> list[list[str]]:
    pairs = groupby(_pairs().sharing(), key=itemgetter(0))
    return [[" / ".join(pair) for pair in group] for _, group in pairs]


KINDS: Final = {
    "tests": (_test_files, _run_tests),
    "pairs": (_names_of_pairs, _run_pairs),
    "seeds": (lambda: [[f"{seed}"] for seed in range(_SEEDS)], _run_seeds),
}
"""The kinds of checks: the names of those that run together, and the function that runs checks."""


def _groups(kind: str) -> list[list[str]]:
    return KINDS[kind][0]()


def _run(task: tuple[str, Term | None, Sequence[str]]) -> tuple[list[Check], set[Term]]:
    """Run checks, without a term until one fails. Return those that have run, and all terms."""
    kind, _recorder.removed, names = task
    checks: list[Check] = []
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        try:
            for check in KINDS[kind][1](names):
                checks.append(check)
                if check[1] and task[1]:
                    break
        except (Exception, _TooLongError):
            checks.append((names[len(checks)], True, set()))
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return checks, _recorder.terms


class _TooLongError(BaseException):
    """A check takes too much time. The service does not catch the exception."""


def _stop(*_: object) -> None:
    raise _TooLongError


def main(*kinds: str) -> int:
    """Remove all terms. Return the number of those whose removal nothing noticed."""
    signal.signal(signal.SIGVTALRM, _stop)
    terms, noticed = set[Term](), set[Term]()
    for kind in kinds or KINDS:
        deciding: defaultdict[Term, list[str]] = defaultdict(list)
        with _recorder.installed(), get_context("fork").Pool() as pool:
            groups = pool.apply(_groups, [kind])
            for checks, evaluated in pool.imap(_run, [(kind, None, names) for names in groups]):
                terms |= evaluated
                for name, has_failed, decisive in checks:
                    if has_failed:
                        _write(f"{name} fails with all conditions")
                    for term in decisive if not has_failed else ():
                        deciding[term].append(name)
            at_most = _MAX_SEEDS if kind == "seeds" else None
            for is_whole in (False, True):  # A check that notices a part also notices the whole.
                tried = [t for t in sorted(deciding.keys() - noticed) if (t == t.whole) is is_whole]
                tasks = [(kind, term, deciding[term][:at_most]) for term in tried]
                for term, (checks, _) in zip(tried, pool.imap(_run, tasks), strict=True):
                    if checks[-1][1]:
                        noticed |= {term, term.whole}
                        _write(f"{term}  {kind}: {checks[-1][0]}")
    for term in sorted(terms - noticed):
        _write(f"{term}  NOTHING")
    _write(f"{len(terms)} terms, {len(terms - noticed)} without notice")
    return len(terms - noticed)


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(min(1, main(*sys.argv[1:])))
