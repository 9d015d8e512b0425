"""The colours of the options of a rating question, from the worst to the best answer.

Pages and e-mails mix them with the background. The style sheet `page.css` contains the same
colours; a test compares them.
"""

from collections.abc import Iterable
from typing import Final

TONES: Final = ("#d64550", "#e8833a", "#d9a520", "#7fae3c", "#2f9e63")


def levels(ratings: Iterable[int]) -> list[int]:
    """Return the index of the tone of each option of a question, by its rating."""
    given = list(ratings)
    order = sorted(given)
    return [round(order.index(rating) / (len(order) - 1) * (len(TONES) - 1)) for rating in given]
