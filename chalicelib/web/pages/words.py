"""The words of pages that do not come from a form's definition, in the language of the page.

All source strings are in this module, in English, as calls of gettext functions. A language without
a catalogue in `locale/` uses the source strings.
"""

import gettext
from functools import cache
from pathlib import Path
from typing import Final

from chalicelib.domain.forms.language_choice import choose_language
from chalicelib.domain.forms.option_words import option_words_in
from chalicelib.domain.language import Language

DOMAIN: Final = "pages"
_LOW: Final = 4
_HIGH: Final = 8
LOCALES: Final = Path(__file__).with_name("locale")
_SOURCE_LANGUAGE: Final = Language("en")


class PageWords:
    """The words of all pages in one language."""

    def __init__(self, catalogue: gettext.NullTranslations, language: Language) -> None:
        _ = catalogue.gettext
        self.language = language
        self._catalogue = catalogue
        self.send = _("Send")
        self.sending = _("Sending …")
        self.update = _("Update the questions")
        self.update_hint = _("Your answers can change which questions follow.")
        self.continue_ = _("Continue")
        self.back = _("Back")
        self._progress = _("Question %(n)d of %(total)d"), _("Question %(n)d")
        self.clear = _("Remove my answer")
        self.to_survey = _("Answer our own questions instead")
        self.required = _("Required")
        self.required_note = _("Questions marked with * need an answer.")
        self.store = _("Which place is your feedback about?")
        self.no_store = _("No particular place")
        self.choose = _("Choose an answer")
        self.find = _("Find an answer")
        self.other = _("Other")
        self.other_answer = _("Your own answer")
        self.honeypot = _("Leave this field empty")
        self.links = _("Links")
        self.website = _("Website")
        self.survey = _("Survey")
        self.contact = _("Contact form")
        self.thanks = _("Thank you!")
        self._received = _("Your answer has reached the team.")
        self._sorry = _("We are sorry that it was not better. The team will read your answer.")
        self._delighted = _("We are delighted. See you soon!")
        self.review = _("Write a public review")
        self.saves_taps = _(
            "Ratings and choices are saved as soon as you touch the page. Texts are saved only when"
            " you send them."
        )
        self.saved = _("Your answer is saved.")
        self.saved_rating = _("Your %(rating)s is saved.")
        self.errors_title = _("Please check your answers")
        self.not_sent_title = _("Not sent yet")
        self.not_sent = _("Your answers could not be sent. Please send them again.")
        self.offline = _("No connection. Your answers are kept and will be sent again.")
        self.busy = _("The service is busy. Your answers are kept and will be sent again.")
        self.too_many_requests = _("Too many answers in a short time. Please send again later.")
        self.already_received = _(
            "We have already received your earlier answers."
            " Send the form again if you want to send these answers too."
        )
        self.options = option_words_in(language)
        self.errors = {
            "required": _("Enter an answer."),
            "choose": _("Choose an answer."),
            "tick": _("Tick this box."),
            "one": _("Choose only one answer."),
            "not_allowed": _("Choose one of the answers."),
            "duplicate": _("Give each answer only once."),
            "too_long": _("Use at most 10,000 characters."),
            "invalid_email": _("Enter an e-mail address, such as name@example.com."),
            "invalid_phone": _("Enter a phone number, such as +33 6 12 34 56 78."),
            "invalid_number": _("Enter a number, such as 12."),
            "invalid_date": _("Enter a date."),
            "invalid": _("Check this answer."),
        }
        later = (_("The service is busy"), _("Please try again in a few moments."))
        self.failures = {
            "form_disabled": (_("This form is closed"), _("It no longer accepts answers.")),
            "form_not_open": (_("This form is not open yet"), _("Please try again later.")),
            "tracker_used": (
                _("You have already answered"),
                _("We have received your answers to this survey. Thank you!"),
            ),
            "tracker_required": (
                _("This survey needs a personal link"),
                _("Open the link in your invitation."),
            ),
            "not_found": (
                _("This page does not exist"),
                _("Check the link, or ask the person who sent it to you."),
            ),
            "invalid_input": (
                _("This link is not complete"),
                _("Check the link, or ask the person who sent it to you."),
            ),
            "too_large": (_("Your answers are too long"), _("Shorten them and send them again.")),
            "too_many_requests": later,
            "unavailable": later,
            "error": (_("Something went wrong"), _("Please try again later.")),
        }
        """The title and the text of the page for an error, by the code of the error."""

    def _plural(self, one: str, many: str, n: int) -> str:
        return self._catalogue.ngettext(one, many, n) % {"n": n}

    def at_least(self, n: int) -> str:
        """Return the error for too few values."""
        return self._plural("Choose at least %(n)d answer.", "Choose at least %(n)d answers.", n)

    def at_most(self, n: int) -> str:
        """Return the error for too many values."""
        return self._plural("Choose at most %(n)d answer.", "Choose at most %(n)d answers.", n)

    def progress(self, *, is_conditional: bool) -> str:
        """Return the text with the placeholders `n` and, if it cannot change, `total`."""
        return self._progress[is_conditional]

    def received_rating(self, rating: int | None) -> str:
        """Return the text of the thank-you page for a rating from 0 to 10, or for no rating."""
        if rating is None or _LOW < rating < _HIGH:
            return self._received
        return self._delighted if rating >= _HIGH else self._sorry

    def revealed(self, n: int) -> str:
        """Return the announcement that more questions are displayed."""
        return self._plural(
            "%(n)d more question is displayed.", "%(n)d more questions are displayed.", n
        )

    def stars(self, n: int) -> str:
        """Return the label of the option with this number of stars."""
        return self._plural("%(n)d star", "%(n)d stars", n)


@cache
def page_words(language: Language) -> PageWords:
    """Return the words in this language, or in English if it has no catalogue."""
    names = [str(language).replace("-", "_")]
    return PageWords(gettext.translation(DOMAIN, LOCALES, names, fallback=True), language)


@cache
def catalogue_languages() -> frozenset[Language]:
    """Return the languages that have a catalogue."""
    found = (file.parent.parent.name for file in LOCALES.glob(f"*/LC_MESSAGES/{DOMAIN}.mo"))
    codes = {name.replace("_", "-") for name in found}
    return frozenset(language for language in Language if str(language) in codes)


def page_language(requested_range: str | None, accept_language: str | None) -> Language:
    """Return the language of a page without a form; see `choose_language`."""
    return choose_language(
        _SOURCE_LANGUAGE,
        catalogue_languages(),
        requested_range=requested_range,
        accept_language=accept_language,
    )
