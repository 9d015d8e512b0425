"""What the service means: the standard library and pydantic, no AWS, no HTTP."""
