"""The languages of reports: English, and those with compiled catalogues."""

from pathlib import Path
from typing import Final

LOCALES: Final = Path(__file__).with_name("locale")
LANGUAGES: Final = sorted(["en", *(folder.name.replace("_", "-") for folder in LOCALES.glob("*"))])
