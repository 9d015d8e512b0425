"""The labels that fixed options have by default, in the language of the form's texts.

All source strings are in this module, in English, as calls of gettext functions. Pages have the
same catalogues (`infrastructure/catalogues`), compiled without these labels. A language without a
catalogue in `locale/` uses the source strings. The labels of a form take precedence.
"""

import gettext
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from chalicelib.domain.forms.field_types import AnswerRules, Control
from chalicelib.domain.language import Language

DOMAIN: Final = "options"
LOCALES: Final = Path(__file__).with_name("locale")


class OptionWords:
    """The default labels of fixed options in one language.

    Attributes:
        ends: the labels of both ends of a scale, by the meaning of its ends.
    """

    def __init__(self, language: Language) -> None:
        name = str(language).replace("-", "_")
        _ = gettext.translation(DOMAIN, LOCALES, [name], fallback=True).gettext
        self.ends = {
            "": ("", ""),
            "likelihood": (_("Not at all likely"), _("Extremely likely")),
            "quality": (_("Very bad"), _("Very good")),
        }
        self._labels = {
            Control.SMILEYS: (_("Very bad"), _("Bad"), _("Fair"), _("Good"), _("Very good")),
            Control.CHECKBOX: (_("Yes"), _("No")),
            Control.BINARY: (_("Satisfied"), _("Not satisfied")),
        }

    def labels(self, rules: AnswerRules) -> Mapping[str, str]:
        """Return the label of each fixed option of a field type. Stars and scales have numbers."""
        labels = self._labels.get(rules.display.control, tuple(rules.options))
        return dict(zip(rules.options, labels, strict=True))


@cache
def option_words_in(language: Language) -> OptionWords:
    """Return the labels in this language, or in English if it has no catalogue."""
    return OptionWords(language)
