"""Display records on the terminal."""
