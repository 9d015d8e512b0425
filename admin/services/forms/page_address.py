"""Return the base URL of pages."""

from chalicelib.storage.public_base_url import public_base_url


def page_base_url() -> str:
    """Return the public base URL of the stage. One AWS request if it is not cached.

    Raises:
        Unavailable: no URL is stored, or Systems Manager does not respond.
    """
    return public_base_url()
