"""The domain: pure rules on the standard library and pydantic, without AWS and HTTP."""
