"""HTTP: routes, credentials, request parsing, problem responses, OpenAPI."""
