"""The HTTP layer: routes, credentials, request parsing, problem responses, OpenAPI."""
