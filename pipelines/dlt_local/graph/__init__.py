"""The dataflow graph: every query is analysed and the datasets are ordered before anything runs."""
