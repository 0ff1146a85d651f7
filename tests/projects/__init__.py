"""Small projects as others write them; `python -m tests.projects` runs all of them and prints a table."""
