"""Generate the OpenAPI document, or check that it is up to date."""

import os
import sys


def main(arguments: list[str]) -> int:
    """Write the document or, with `--check`, only check that it is up to date.

    Return the exit status.
    """
    # The service reads these variables when it is imported.
    os.environ.update(
        STAGE="test",
        AWS_REGION="eu-west-1",
        POWERTOOLS_METRICS_NAMESPACE="feedback",
        POWERTOOLS_SERVICE_NAME="feedback",
    )
    from app import app
    from chalicelib.web.openapi.routes import DOCUMENT
    from infrastructure.openapi.docs_examples import in_lines
    from infrastructure.openapi.document import build_document

    text = in_lines(build_document(app.routes)) + "\n"
    if "--check" not in arguments:
        DOCUMENT.write_text(text, encoding="utf-8")
    elif DOCUMENT.read_text(encoding="utf-8") != text:
        print(f"{DOCUMENT.name} is out of date. Run make generate.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
