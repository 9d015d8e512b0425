"""Entry point of ``python -m admin``, which ``bin/feedback-admin`` runs."""

import signal
import sys


def main() -> None:
    """Run the command line. Ctrl-C during the imports ends the process without a traceback.

    Standard output contains only results, so log lines go to standard error.
    """
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
    from admin.main import app
    from chalicelib.log import logger

    logger.registered_handler.setStream(sys.stderr)  # type: ignore[attr-defined]
    signal.signal(signal.SIGINT, handler)
    app(prog_name="feedback-admin")


main()
