"""Run Chalice's command line for functions with another Python than this process.

Usage: ``python chalice_for_python.py 3.13 package …``. Chalice has no setting for the runtime of
functions: it chooses the version of the interpreter in which it runs.

Chalice has no setting for other methods of a path either: without one, the gateway itself responds
to them with the status 404. The module lets the gateway forward every method of a known path to the
app, which responds with 405 and the header ``Allow``.
"""

import sys
from copy import deepcopy
from typing import Any

from chalice.cli import main
from chalice.config import Config
from chalice.deploy.swagger import SwaggerGenerator

_generate = SwaggerGenerator.generate_swagger


def generate_with_other_methods(generator: Any, app: Any, rest_api: Any = None) -> dict[str, Any]:
    """Generate the definition of the API, in which each path has an operation for other methods."""
    definition: dict[str, Any] = _generate(generator, app, rest_api)
    for methods in definition["paths"].values():
        methods["x-amazon-apigateway-any-method"] = deepcopy(next(iter(methods.values())))
    return definition


if __name__ == "__main__":
    SwaggerGenerator.generate_swagger = generate_with_other_methods  # type: ignore[assignment,method-assign]
    Config.lambda_python_version = f"python{sys.argv.pop(1)}"  # type: ignore[assignment,method-assign]
    sys.exit(main())
