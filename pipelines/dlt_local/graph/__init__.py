"""The dataflow graph: every query analysed and every dataset in order before anything runs."""
