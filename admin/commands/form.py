"""The commands ``form`` and ``survey``, with the links, QR codes and posters of their pages."""

import io
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import urlencode

import segno
import typer

from admin.display.definitions import show_definition
from admin.display.forms import show_form
from admin.domain.selection import select
from admin.options import (
    AccountArgument,
    WideOption,
    example,
    id_option,
    name_option,
    show_times_of,
)
from admin.services.accounts.manage import require_account
from admin.services.definitions.definition import Kind
from admin.services.definitions.export import form_definition
from admin.services.forms.manage import (
    list_forms,
    public_base_url,
    require_form,
    set_form_enabled,
)
from admin.services.forms.poster import Poster
from admin.services.forms.select import form_id_of
from admin.terminal import notices, show_record, show_table
from chalicelib.domain.errors import Conflict, InvalidInput
from chalicelib.domain.feedback.feedback import FormKind
from chalicelib.domain.forms.access import FormDisabled, require_places
from chalicelib.domain.forms.form import SavedForm
from chalicelib.domain.forms.labels import label_errors
from chalicelib.domain.forms.public.contact_form import PublicContactForm
from chalicelib.domain.forms.public.survey import PublicSurvey
from chalicelib.domain.ids import parse_id
from chalicelib.domain.language import Language
from chalicelib.domain.solicitation.links import LABEL_PREFIX, short_form_link, with_parameters
from chalicelib.services.accounts.directory import current_directory
from chalicelib.services.forms.cached_forms import Respondent, get_contact_form, get_survey
from chalicelib.services.forms.public import (
    DisplayedForm,
    FormIds,
    get_public_contact_form,
    get_public_survey,
)

View = PublicContactForm | PublicSurvey

_PAGES: Final = {
    "form": "/public/contact-form/page?id=",
    "survey": "/public/survey/page?survey=",
}

_COST: Final = "three AWS requests."

StoreOption = Annotated[str | None, name_option("The store that the feedback is about.")]
LanguageOption = Annotated[
    str | None, typer.Option(help="The language of the page. Default: the browser's language.")
]
LabelsOption = Annotated[
    list[str] | None,
    typer.Option("--label", metavar="NAME=VALUE", help="A label of the link. Repeatable."),
]
BaseUrlOption = Annotated[
    str | None,
    typer.Option(help="The public base URL of the service. Default: the URL of the stage."),
]

FormArgument = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="The id. With --account also the key or name, or the beginning of one."
    ),
]
AccountOption = Annotated[
    str | None, id_option("The account, to name the form instead of its id.", "ACCOUNT")
]


def form_commands(noun: str, kind: Kind) -> typer.Typer:
    """Return the commands of contact forms or of surveys.

    Args:
        noun: the first word of the commands.
    """
    form_kind, word = FormKind[kind.name], kind.word
    app = typer.Typer(
        help=f"List, show, check, export, compare, enable and archive {word}s, and print links.",
        no_args_is_help=True,
    )

    def command(verb: str, arguments: str, text: str) -> Callable[[Callable[..., None]], Any]:
        return app.command(verb, help=text, epilog=example(f"{noun} {verb} {arguments}"))

    @command(
        "list",
        "ACCOUNT",
        f"List the account's {word}s, oldest first, without archived ones.\n\nCost: one AWS "
        f"request, and three per 100 {word}s.",
    )
    def list_all(
        account: AccountArgument,
        archived: Annotated[
            bool, typer.Option("--archived", help="List only archived ones.")
        ] = False,
        _wide: WideOption = False,
    ) -> None:
        require_account(account)
        unreadable: list[str] = []
        show_table(
            ["Id", "Name", "Language", "Enabled", "Submissions"],
            [
                [
                    form.saved.id,
                    form.saved.name,
                    form.saved.language.value,
                    form.saved.enabled,
                    form.submission_count,
                ]
                for form in list_forms(account, form_kind, unreadable.append)
                if form.saved.archived == archived
            ],
            wide=["Language"],
        )
        for form_id in unreadable:
            notices().print(f"Skipped {form_id}: this version of the service cannot read it.")

    @command(
        "show",
        "ID",
        f"Show the questions and the rules of a {word}.\n\nCost: two AWS requests.",
    )
    def show(form: FormArgument, account: AccountOption = None) -> None:
        found = require_form(form_kind, _id_of(form_kind, form, account), account_id=account)
        show_form(found, current_directory(show_times_of(found.account_id)))

    @command(
        "export",
        f"ID > {noun}.yaml",
        f"Print the definition of a {word} in the format of definition files.\n\n"
        "Cost: one AWS request.",
    )
    def export(form: FormArgument, account: AccountOption = None) -> None:
        found = require_form(form_kind, _id_of(form_kind, form, account), account_id=account)
        show_definition(form_definition(found.account_id, found.saved))

    @command(
        "enable",
        "ID",
        f"Enable a {word}. The change takes effect within a minute.\n\nCost: two AWS requests.",
    )
    def enable(form: FormArgument, account: AccountOption = None) -> None:
        _set_enabled(form, account, is_enabled=True)

    @command(
        "disable",
        "ID",
        f"Disable a {word}, so that it accepts no submissions. The change takes effect within a "
        "minute.\n\nCost: two AWS requests.",
    )
    def disable(form: FormArgument, account: AccountOption = None) -> None:
        _set_enabled(form, account, is_enabled=False)

    @command(
        "archive",
        "ID",
        f"Disable a {word}, and hide it from the list. Its responses stay. To undo it, enable the"
        f" {word}.\n\nCost: two AWS requests.",
    )
    def archive(form: FormArgument, account: AccountOption = None) -> None:
        form_id = _id_of(form_kind, form, account)
        name = set_form_enabled(form_kind, form_id, is_enabled=False, archives=True)
        notices().print(f"Archived the {word} {name}.")
        show_record({"id": form_id, "archived": True})

    def _set_enabled(form: str, account: str | None, *, is_enabled: bool) -> None:
        form_id = _id_of(form_kind, form, account)
        name = set_form_enabled(form_kind, form_id, is_enabled=is_enabled)
        notices().print(f"{'Enabled' if is_enabled else 'Disabled'} the {word} {name}.")
        show_record({"id": form_id, "enabled": is_enabled})

    _add_page_commands(app, noun, form_kind, word)
    return app


def _id_of(kind: FormKind, text: str, account_id: str | None) -> str:
    if account_id:
        return form_id_of(account_id, kind, text)
    if parsed := parse_id(text):
        return parsed
    raise typer.BadParameter("Must be a UUID. Add --account to name the form.", param_hint="ID")


def _add_page_commands(app: typer.Typer, noun: str, kind: FormKind, word: str) -> None:
    """Add the commands `link` and `qr` of contact forms or surveys; see `form_commands`."""

    @app.command(
        help=f"Print the URL of the page of a {word}.\n\nCost: {_COST}",
        epilog=example(f"{noun} link ID"),
    )
    def link(
        form: FormArgument,
        base_url: BaseUrlOption = None,
        store: StoreOption = None,
        language: LanguageOption = None,
        account: AccountOption = None,
        label: LabelsOption = None,
    ) -> None:
        form = _id_of(kind, form, account)
        store = _store_of(_view(noun, form, language), store)
        _view(noun, form, language, store)
        labels = _labels(noun, form, label)
        url = _link(noun, base_url, form, store, language, labels)
        show_record({"url": url}, url)

    @app.command(
        help=f"Print the QR code of the page of a {word}, or write it to files.\n\n"
        "With --svg, the command writes an image; with --poster, a poster and a table tent to print"
        " on A4 paper. Without --store, it also writes a file for each store of the form. The"
        " commands report a disabled or closed form or a private survey as an error."
        f"\n\nCost: {_COST}",
        epilog=example(
            f"{noun} qr ID",
            f"{noun} qr ID --poster --output posters",
        ),
    )
    def qr(
        form: FormArgument,
        base_url: BaseUrlOption = None,
        store: StoreOption = None,
        language: LanguageOption = None,
        label: LabelsOption = None,
        svg: Annotated[bool, typer.Option("--svg", help="Write SVG images.")] = False,
        poster: Annotated[bool, typer.Option("--poster", help="Write posters as HTML.")] = False,
        output: Annotated[
            Path, typer.Option(file_okay=False, help="The folder to write the files to.")
        ] = Path(),
        account: AccountOption = None,
    ) -> None:
        form = _id_of(kind, form, account)
        view = _view(noun, form, language)
        store = _store_of(view, store)
        _view(noun, form, language, store)
        languages = _languages(noun, form, language)
        labels = _labels(noun, form, label)
        renderers: dict[str, Callable[[Poster], str]] = {}
        renderers |= {"svg": Poster.svg} if svg else {}
        renderers |= (
            {"html": Poster.html, "tent.html": partial(Poster.html, is_tent=True)} if poster else {}
        )
        if not renderers:
            _print_code(_link(noun, base_url, form, store, language, labels))
            return
        stores = [store] if store else [None, *(place.id for place in view.store_list)]
        names = {place.id: place.name for place in view.store_list}
        posters: dict[str, Poster] = {}
        for place in stores:
            name = names.get(place or "", "")
            url = _link(noun, base_url, form, place, language, labels)
            poster_of_place = Poster(_view(noun, form, language, place), name, url, languages)
            file = _file_name(poster_of_place.owner, name, labels) or form
            if file in posters:
                file += f"-{(place or form)[:8]}"
            posters[file] = poster_of_place
        show_table(["File", "Place", "URL"], [*_write(posters, renderers, output)])


def _view(noun: str, form_id: str, language: str | None, store_id: str | None = None) -> View:
    """Return the public view of a form. Check that respondents can open the form, now or later.

    Raises:
        FeedbackError: the form does not exist, or is disabled, closed or private, or the store is
            unknown.
    """
    respondent = Respondent(language=language)
    shown: DisplayedForm[Any] = (
        get_public_survey(FormIds(form_id, store_id=store_id), respondent)
        if noun == "survey"
        else get_public_contact_form(form_id, respondent, store_id)
    )
    require_places(shown.cached.saved, shown.cached.directory, store_id=store_id, brand_id=None)
    if not shown.view.enabled and shown.until is None:
        raise FormDisabled(shown.cached.saved)
    view: View = shown.view
    return view


def _store_of(view: View, text: str | None) -> str | None:
    """Return the id of the store of the form that the operator names; see `select`."""
    if text is None:
        return None
    if parsed := parse_id(text):
        if view.store_list and parsed not in {place.id for place in view.store_list}:
            raise Conflict("This store is not a target of the survey, or not a store of the brand.")
        return parsed
    return select(text, view.store_list, lambda store: (store.id, store.name), "store").id


def _languages(noun: str, form_id: str, language: str | None) -> list[Language]:
    """Return the languages of a form, its own first; only one if the page has a fixed language."""
    saved = _saved(noun, form_id)
    if language or not saved.auto_translate:
        return [_view(noun, form_id, language).language]
    return list(dict.fromkeys([saved.language, *saved.translations]))


def _saved(noun: str, form_id: str) -> SavedForm:
    return (get_survey(form_id) if noun == "survey" else get_contact_form(form_id)).saved


def _labels(noun: str, form_id: str, given: list[str] | None) -> dict[str, str]:
    """Return the labels of a link by name.

    Raises:
        InvalidInput: the form does not declare or allow a label.
    """
    pairs = (each.partition("=") for each in given or ())
    labels = {name: value for name, _, value in pairs}
    if errors := label_errors(_saved(noun, form_id).labels, labels):
        raise InvalidInput(errors)
    return labels


def _file_name(owner: str, place: str, labels: Mapping[str, str]) -> str:
    """Return the name of a file from the names of the brand and the store, and from the labels.

    Names of stores often start with the name of the brand.
    """
    names = [place] if place.startswith(f"{owner} ") else [owner, place]
    names += [f"{name} {value}" for name, value in labels.items()]
    words = [re.sub(r"[^\w]+", "-", name.casefold()).strip("-") for name in names]
    return "-".join(filter(None, words))[:100]


def _link(
    noun: str,
    base_url: str | None,
    form_id: str,
    store: str | None,
    language: str | None,
    labels: Mapping[str, str],
) -> str:
    base = (base_url or public_base_url()).rstrip("/")
    if language is None:
        link = short_form_link(base, form_id, store, is_survey=noun == "survey")
        return with_parameters(link, LABEL_PREFIX, labels)
    parameters = {"store": store, "language": language}
    query = urlencode({name: value for name, value in parameters.items() if value})
    link = base + _PAGES[noun] + form_id + (f"&{query}" if query else "")
    return with_parameters(link, LABEL_PREFIX, labels)


def _print_code(url: str) -> None:
    code = io.StringIO()
    segno.make(url, micro=False).terminal(code, compact=True)
    show_record({"url": url}, code.getvalue() + url)


def _write(
    posters: dict[str, Poster], renderers: dict[str, Callable[[Poster], str]], folder: Path
) -> Iterator[tuple[str, str, str]]:
    """Write the files and yield path, place and URL of each file."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, poster in posters.items():
            for suffix, render in renderers.items():
                file = folder / f"{name}.{suffix}"
                file.write_text(render(poster), encoding="utf-8")
                yield str(file), poster.place or poster.owner, poster.link
    except OSError as error:
        notices().print(f"Error: Cannot write to {folder}: {error.strerror}.")
        raise typer.Exit(1) from None
