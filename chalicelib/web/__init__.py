"""HTTP in and out: routes, credentials, parsing, problems, the interface description."""
