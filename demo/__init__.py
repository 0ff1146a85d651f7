"""The demo, `python -m demo`: a shop's records become tables in three updates, with a report after each."""
