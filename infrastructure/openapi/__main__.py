"""Generate the OpenAPI document and the documentation page, or check that both are up to date."""

import logging
import os
import sys
import warnings


def main(arguments: list[str]) -> int:
    """Write both files or, with `--check`, only check that they are up to date.

    Return the exit status.
    """
    # Set the environment before the service is imported, so that its AWS client uses only moto.
    os.environ.update(
        STAGE="test",
        AWS_ACCESS_KEY_ID="testing",
        AWS_SECRET_ACCESS_KEY="testing",  # noqa: S106
        AWS_REGION="eu-west-1",
        AWS_DEFAULT_REGION="eu-west-1",
        POWERTOOLS_METRICS_NAMESPACE="feedback",
        POWERTOOLS_SERVICE_NAME="feedback",
        POWERTOOLS_LOG_LEVEL="CRITICAL",
    )
    for name in ("AWS_ENDPOINT_URL", "AWS_PROFILE"):
        os.environ.pop(name, None)
    # Ignore moto's warning about each alarm in the template: the examples need only tables and
    # queues.
    logging.getLogger("moto").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", "Tried to parse", UserWarning)
    from app import app
    from chalicelib.web.openapi.routes import DOCUMENT, PAGE
    from infrastructure.openapi.docs_examples import in_lines
    from infrastructure.openapi.docs_page import render
    from infrastructure.openapi.document import DocumentBuilder
    from infrastructure.openapi.examples import recorder

    with recorder() as recording:
        document = DocumentBuilder(recording).document(app.routes)
    generated = {DOCUMENT: in_lines(document) + "\n", PAGE: render(document)}
    if "--check" not in arguments:
        for file, text in generated.items():
            file.write_text(text, encoding="utf-8")
        return 0
    outdated = [
        file.name
        for file, text in generated.items()
        if not file.exists() or file.read_text(encoding="utf-8") != text
    ]
    for name in outdated:
        print(f"{name} is out of date. Run make openapi.", file=sys.stderr)
    return int(bool(outdated))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
