"""Generate the OpenAPI document, or check that it is up to date."""

import logging
import os
import sys
import warnings


def main(arguments: list[str]) -> int:
    """Write the document or, with `--check`, only check that it is up to date.

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
    # Ignore moto's warnings about the resources that it cannot create, such as alarms: the examples
    # need only tables and queues.
    logging.getLogger("moto").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", "Tried to parse", UserWarning)
    from app import app
    from chalicelib.web.openapi.routes import DOCUMENT
    from infrastructure.openapi.docs_examples import in_lines
    from infrastructure.openapi.document import DocumentBuilder
    from infrastructure.openapi.examples import recorder

    with recorder() as recording:
        document = DocumentBuilder(recording).document(app.routes)
    text = in_lines(document) + "\n"
    if "--check" not in arguments:
        DOCUMENT.write_text(text, encoding="utf-8")
    elif DOCUMENT.read_text(encoding="utf-8") != text:
        print(f"{DOCUMENT.name} is out of date. Run make generate.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
