"""Run Chalice's command line for functions with another Python than this process.

Usage: ``python chalice_for_python.py 3.13 package …``. Chalice has no setting for the runtime of
functions: it chooses the version of the interpreter in which it runs.
"""

import sys

from chalice.cli import main
from chalice.config import Config

if __name__ == "__main__":
    Config.lambda_python_version = f"python{sys.argv.pop(1)}"  # type: ignore[assignment,method-assign]
    sys.exit(main())
