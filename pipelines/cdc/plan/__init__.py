"""The change planner: what an edit of a conf folder does to the tables that were built by it before."""
