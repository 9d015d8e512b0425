"""The command ``definition``: write and load definitions, and go back to earlier ones.

The commands of forms and workflows check, compare and print definitions with the same functions.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from admin.display.definitions import count_list, number_of
from admin.identity import operator_identity
from admin.options import AccountArgument, YesOption, example, id_argument, id_option, time_option
from admin.services.accounts.manage import add_change, require_account
from admin.services.definitions.check import check as check_definitions
from admin.services.definitions.check import warnings
from admin.services.definitions.compare import Effect, Outcome, differences, effects
from admin.services.definitions.definition import Definition, Kind, Problem, RawDefinition
from admin.services.definitions.files import read_files
from admin.services.definitions.kinds import RESOURCES, Replaced
from admin.services.definitions.plain_yaml import read_yaml
from admin.services.definitions.previous import previous_definition
from admin.services.definitions.references import StoredResources
from admin.services.definitions.save import ChangedMeanwhile, write
from admin.services.definitions.templates import Template, new_definition
from admin.terminal import confirm, notices, progress, show_record
from chalicelib.services.accounts.directory import current_directory

_SHOWN_CHANGES: Final = 20
"""The maximum number of changed resources of a kind whose changes are shown."""

app = typer.Typer(
    help="Write and load definitions, and go back to earlier ones.", no_args_is_help=True
)


def _readable_file(metavar: str, help_text: str) -> Any:
    return typer.Argument(
        metavar=metavar, help=help_text, exists=True, dir_okay=False, readable=True
    )


FileArgument = Annotated[Path, _readable_file("FILE", "A YAML, JSON or JSON Lines file.")]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")
]
RetypeOption = Annotated[
    bool,
    typer.Option(
        "--retype-answered-fields",
        help="Change the type of fields that responses already answer. These responses keep their "
        "answers; statistics and exports then contain answers of both types.",
    ),
]

AccountOption = Annotated[
    str | None,
    id_option("The id of the account. Without it, each definition needs an `account` field."),
]


@app.command(epilog=example("definition load places.yaml forms.yaml --account ACCOUNT"))
def load(
    files: Annotated[
        list[Path],
        _readable_file("FILE…", "YAML, JSON or JSON Lines files."),
    ],
    account: AccountOption = None,
    dry_run: DryRunOption = False,
    retypes: RetypeOption = False,
    yes: YesOption = False,
) -> None:
    """Create or change the resources that definitions describe.

    Each definition has a `kind` field (brand, store, customer, contactForm, survey or workflow) and
    can have an `account` field. If --account is set, the field must have the same value. A file can
    contain several definitions: as YAML documents, as items of a list, or as lines of a JSON Lines
    file. All definitions are validated first. If any definition is invalid, nothing is written.
    Loading the same definitions again changes nothing.

    The command shows what it creates, changes and removes, and asks for confirmation. A customer
    is merged: absent fields stay, null clears. Other resources are replaced, but `enabled` and the
    support address of a survey stay if they are absent.

    A resource that changes after the command showed its change is not overwritten: the command
    shows the new difference and asks again. With --yes, the exit status is 1.
    """
    raw_definitions, unreadable = read_files(files)
    _load(raw_definitions, account, unreadable, dry_run=dry_run, retypes=retypes, yes=yes)


@app.command(epilog=example("definition revert ACCOUNT survey SURVEY --dry-run"))
def revert(
    account: AccountArgument,
    kind: Annotated[
        Kind, typer.Argument(help="brand, store, contactForm, survey or workflow.", metavar="KIND")
    ],
    resource: Annotated[str, id_argument("The id of the resource.")],
    at: Annotated[
        datetime | None,
        time_option(
            "Go back to the definition of this time. Default: the one before the last load."
        ),
    ] = None,
    dry_run: DryRunOption = False,
    retypes: RetypeOption = False,
    yes: YesOption = False,
) -> None:
    """Go back to an earlier definition of a brand, store, contact form, survey or workflow.

    The earlier definitions are in the account's history. The command loads one of them as
    `definition load` does: it shows what changes and asks, and the history records it. To undo it,
    run it again.

    Cost: two AWS requests, one per 3,000 changes of the account, and those of a load.
    """
    row = RESOURCES[kind]
    if not isinstance(row, Replaced):
        raise typer.BadParameter("The history contains no customers.", param_hint="KIND")
    content = previous_definition(account, row, resource, at)
    raw = RawDefinition(f"history of {kind.value} {resource}", content)
    _load([raw], account, dry_run=dry_run, retypes=retypes, yes=yes)


@app.command(epilog=example("definition new survey ACCOUNT > survey.yaml"))
def new(
    kind: Annotated[
        Template, typer.Argument(metavar="KIND", help="store, contact-form, survey or workflow.")
    ],
    account: AccountArgument,
) -> None:
    """Print a short commented definition that loads as it is, with the ids of your brands.

    Surveys and workflows are disabled, until you set `enabled` to true or enable them.

    Cost: two AWS requests.
    """
    require_account(account)
    text = new_definition(kind, current_directory(account).places)
    show_record(list(read_yaml(text)), text.rstrip("\n"))


def _load(
    raw_definitions: Sequence[RawDefinition],
    account: str | None,
    unreadable: Sequence[Problem] = (),
    *,
    dry_run: bool,
    retypes: bool,
    yes: bool,
) -> None:
    """Validate definitions, show their effects, ask, and save them."""
    known = StoredResources()
    definitions, problems = check_definitions(raw_definitions, account, known, unreadable)
    if problems:
        _reject(problems)
    _show_warnings(definitions)
    found = _compare(definitions, known)
    if refused := _refused(found, retypes=retypes):
        _reject(refused)
    if dry_run:
        changes = [
            {
                "kind": effect.definition.kind,
                "id": effect.definition.resource_id,
                "name": effect.name,
                "diff": effect.diff,
            }
            for effect in _shown(found)
        ]
        text = "\n".join([*_effect_lines(found), "Nothing was changed."])
        show_record({**_counts(found), "changes": changes}, text)
        return
    if not _changing(found):
        notices().print("The definitions are loaded already. Nothing to change.")
        show_record({"loaded": {}, "rejected": 0})
        return
    _ask_and_save(found, retypes=retypes, yes=yes)


def _ask_and_save(found: Sequence[Effect], *, retypes: bool, yes: bool) -> None:
    """Show the effects, ask, and save the definitions.

    A definition whose resource changed since its effect was shown is not saved. Its new effect is
    shown, and the operator is asked again. With ``yes``, the exit status is 1 instead.
    """
    written: dict[str, Counter[Kind]] = {}
    rejected: list[Problem] = []
    is_repeated = False
    while changing := _changing(found):
        for line in _effect_lines(found):
            notices().print(line)
        if is_repeated and yes:
            break
        confirm(partial(_load_question, len(changing)), is_confirmed=yes)
        problems, changed = _save(changing, written)
        rejected += problems
        if changed:
            notices().print(
                f"{number_of(len(changed), 'definition')} not loaded, because the stored resource"
                " has changed in the meantime:"
            )
        found = _compare(changed, StoredResources())
        rejected += _refused(found, retypes=retypes)
        found = [effect for effect in found if retypes or not effect.refusals]
        is_repeated = True
    _list(rejected)
    not_loaded = len(rejected) + len(changing)
    loaded = [
        f"Loaded{f' into account {account_id}' if len(written) > 1 else ''}: {count_list(counts)}"
        for account_id, counts in written.items()
    ]
    show_record({"loaded": written, "rejected": not_loaded}, "\n".join(loaded) or "Loaded: nothing")
    if not_loaded:
        raise typer.Exit(1)


def _compare(definitions: Sequence[Definition], known: StoredResources) -> list[Effect]:
    with progress("Reading responses") as advance:
        return effects(definitions, known, advance)


def _changing(found: Sequence[Effect]) -> list[Effect]:
    return [effect for effect in found if effect.outcome is not Outcome.UNCHANGED]


def _refused(found: Sequence[Effect], *, retypes: bool) -> list[Problem]:
    """Show the warnings about definitions, and return the changes that must not be made."""
    _list([warning for effect in found for warning in effect.warnings], "Warning: ")
    return [] if retypes else [p for effect in found for p in effect.refusals]


def _load_question(count: int) -> str:
    return f"Load {number_of(count, 'definition')}?"


def _save(
    changing: Sequence[Effect], written: dict[str, Counter[Kind]]
) -> tuple[list[Problem], list[Definition]]:
    """Save definitions, and count them in ``written``.

    Return the problems, and the definitions whose resources have changed since they were compared.
    """
    by_definition = {id(effect.definition): effect for effect in changing}
    changed: list[Definition] = []
    before = sum(map(Counter.total, written.values()))
    counted: dict[str, dict[str, Counter[str]]] = {}
    operator = operator_identity()
    try:
        with progress("Loading", len(changing)) as advance:

            def count(definition: Definition) -> None:
                account_id, kind = definition.account_id, definition.kind
                written.setdefault(account_id, Counter())[kind] += 1
                if kind is Kind.CUSTOMER:  # The history contains no personal data.
                    kinds = counted.setdefault(account_id, {})
                    outcome = by_definition[id(definition)].outcome
                    kinds.setdefault(kind.value, Counter())[outcome.value] += 1
                advance()

            def check(definition: Definition, stored: Any) -> None:
                if not by_definition[id(definition)].is_current(stored):
                    changed.append(definition)
                    raise ChangedMeanwhile

            definitions = [effect.definition for effect in changing]
            return write(definitions, count, operator, check), changed
    except BaseException:
        total = sum(map(Counter.total, written.values())) - before
        notices().print(
            f"{total} of {len(changing)} definitions were written. Load them again to continue."
        )
        raise
    finally:
        for account_id, counts in counted.items():
            add_change(account_id, "loaded definitions", operator, counts)


def _reject(problems: Sequence[Problem]) -> None:
    _list(problems)
    notices().print(f"{len(problems)} error(s); nothing was written.")
    show_record({"loaded": {}, "rejected": len(problems)})
    raise typer.Exit(1)


def _effect_lines(found: Sequence[Effect]) -> Iterable[str]:
    """Yield the numbers of new, changed and unchanged resources, and the changes."""
    for outcome, counts in _counts(found).items():
        if counts:
            yield f"{outcome.capitalize()}: {count_list(counts)}"
    shown: Counter[Kind] = Counter()
    for effect in _shown(found):
        kind = effect.definition.kind
        shown[kind] += 1
        if shown[kind] <= _SHOWN_CHANGES:
            yield f"{kind.word} {effect.name} ({effect.definition.resource_id})"
            yield from (f"  {line}" for line in effect.diff)
    for kind, count in shown.items():
        if count > _SHOWN_CHANGES:
            more = number_of(count - _SHOWN_CHANGES, f"more {kind.word}")
            yield f"The changes of {more} are not shown."


def _shown(found: Sequence[Effect]) -> list[Effect]:
    return [effect for effect in found if effect.outcome is Outcome.CHANGED and effect.diff]


def _counts(found: Sequence[Effect]) -> dict[str, Counter[Kind]]:
    counts: dict[str, Counter[Kind]] = {outcome: Counter() for outcome in Outcome}
    for effect in found:
        counts[effect.outcome][effect.definition.kind] += 1
    return counts


def add_file_commands(
    app: typer.Typer, noun: str, kind: Kind, requests: str, more: str = ""
) -> None:
    """Add the commands ``check`` and ``diff`` for files with definitions of a kind.

    Args:
        noun: the first word of the commands.
        requests: the number of AWS requests of a command.
        more: the further AWS requests of ``diff``.
    """
    word = kind.word
    arguments = f"{noun}s.yaml --account ACCOUNT"

    @app.command(
        epilog=example(f"{noun} check {arguments}"),
        help=f"Validate {word}s without saving them.\n\nCost: {requests} AWS requests.",
    )
    def check(file: FileArgument, account: AccountOption = None) -> None:
        definitions = _valid_definitions(kind, file, account, StoredResources())
        _show_warnings(definitions)
        count = sum(definition.kind is kind for definition in definitions)
        notices().print(f"Valid: {number_of(count, word)}. Nothing was saved.")
        show_record({"valid": count, "errors": []})

    @app.command(
        epilog=example(f"{noun} diff {arguments}"),
        help=f"Compare {word}s in a file with the saved {word}s. Exit with status 1 if they differ."
        f"\n\nCost: {requests} AWS requests{more}.",
    )
    def diff(file: FileArgument, account: AccountOption = None) -> None:
        known = StoredResources()
        definitions = _valid_definitions(kind, file, account, known)
        lines = list(differences(kind, definitions, known))
        show_record({"diff": lines}, "\n".join(lines) or None)
        if lines:
            raise typer.Exit(1)
        notices().print("No differences.")


def _valid_definitions(
    kind: Kind, file: Path, account: str | None, known: StoredResources
) -> list[Definition]:
    raw_definitions, unreadable = read_files([file])
    definitions, problems = check_definitions(raw_definitions, account, known, unreadable)
    errors = [str(problem) for problem in problems]
    if not errors and not any(definition.kind is kind for definition in definitions):
        errors = [f"{file}: Contains no definition of the kind {kind.value}."]
    if errors:
        for error in errors:
            notices().print(error)
        show_record({"valid": 0, "errors": errors})
        raise typer.Exit(1)
    return definitions


def _show_warnings(definitions: list[Definition]) -> None:
    """Print the warnings about valid definitions."""
    _list(warnings(definitions), "Warning: ")


def _list(problems: Sequence[Problem], prefix: str = "") -> None:
    for problem in problems:
        notices().print(f"{prefix}{problem}")
