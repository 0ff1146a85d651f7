"""The small shops of `make demo CONNECTOR=...`: one scenario, played to each kind's real connector.

demo/kinds/README.md says what made which capture, and how to make them again.
"""
