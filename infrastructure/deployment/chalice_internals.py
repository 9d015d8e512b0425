"""Everything that replaces or reads private parts of Chalice, for the locked version of Chalice.

``python chalice_internals.py 3.13 package …`` runs Chalice's command line in a copy of the app, so
this module imports nothing of the project. The functions can have another Python than this process;
Chalice alone chooses the version of the interpreter in which it runs. The gateway forwards every
method of a known path to the app, which responds with 405 and the header ``Allow``; Chalice alone
lets the gateway respond to other methods with the status 404.
"""

import sys
from collections.abc import Callable, Iterable
from copy import deepcopy
from pathlib import Path
from typing import Any

from chalice.cli import main
from chalice.cli.filewatch.stat import StatFileWatcher
from chalice.config import Config, DeployedResources
from chalice.deploy.swagger import SwaggerGenerator

_generate = SwaggerGenerator.generate_swagger


def generate_with_other_methods(generator: Any, app: Any, rest_api: Any = None) -> dict[str, Any]:
    """Generate the definition of the API, in which each path has an operation for other methods."""
    definition: dict[str, Any] = _generate(generator, app, rest_api)
    for methods in definition["paths"].values():
        methods["x-amazon-apigateway-any-method"] = deepcopy(next(iter(methods.values())))
    return definition


def replace_record(resources: list[dict[str, str]]) -> None:
    """Replace Chalice's record of deployed resources."""
    record = DeployedResources({"resources": resources})
    config: Any = Config
    config.deployed_resources = lambda _config, _stage: record


def watch_only(files: Callable[[], Iterable[Path]]) -> None:
    """Make Chalice's reloader watch only these files.

    Otherwise each log line of the local cloud, and each module that Python compiles, would restart
    the server.
    """

    def remember_times(watcher: Any, _folder: str) -> None:
        watcher._mtime_cache = {str(file): file.stat().st_mtime for file in files()}

    watchers: Any = StatFileWatcher
    watchers._seed_mtime_cache = remember_times
    watchers._recursive_walk_files = lambda _watcher, _folder: map(str, files())


if __name__ == "__main__":
    SwaggerGenerator.generate_swagger = generate_with_other_methods  # type: ignore[assignment,method-assign]
    Config.lambda_python_version = f"python{sys.argv.pop(1)}"  # type: ignore[assignment,method-assign]
    sys.exit(main())
