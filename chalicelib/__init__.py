"""The feedback service: all code that is deployed to Lambda."""

from typing import Final

__version__: Final = "1.0.0"
"""The version of the product. The interface for partners has a version of its own."""
