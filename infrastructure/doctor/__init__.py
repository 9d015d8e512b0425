"""Compare a deployed stage with the function manifest and the data template."""
