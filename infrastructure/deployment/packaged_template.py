"""Package the app and write the generated template to a file, so that it can be linted."""

import json
import os
import sys
from pathlib import Path

from infrastructure.deployment import code_package
from infrastructure.deployment.dependencies import runtime_of
from infrastructure.deployment.progress import DeploymentError, fail
from infrastructure.functions import stage_named
from infrastructure.local_cloud import identity as local_identity


def main(arguments: list[str]) -> int:
    """Write the template to the path in the first argument.

    Return the exit status of the process.
    """
    output = Path(arguments[0])
    # Chalice requires a region. Any region works, because the template does not depend on it.
    os.environ.setdefault("AWS_DEFAULT_REGION", local_identity.REGION)
    try:
        prod = stage_named("prod")
        packaged = code_package.package(prod.name, output.parent / "build", runtime_of(prod))
    except DeploymentError as error:
        return fail(str(error))
    template = code_package.complete(packaged.template, "s3://artifacts/code.zip")
    output.write_text(json.dumps(template, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
