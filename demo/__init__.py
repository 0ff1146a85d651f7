"""The demo, `python -m demo`: a shop's records become tables in three updates; after each, what moved where."""
