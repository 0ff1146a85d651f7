"""Spark itself: session, catalog, jars, tuning; the only folder that touches JVM internals."""
