"""What a message says of an error that a user's Python function raised in Spark."""

from dlt_local.spark import root_cause

IN_A_WORKER = """An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "/opt/spark/python/lib/pyspark.zip/pyspark/worker.py", line 1956, in main
    process()
  File "/shop/pipelines/orders.py", line 12, in net
    return share(total, count)
           ^^^^^^^^^^^^^^^^^^^
  File "/shop/pipelines/rules.py", line 3, in share
    return total / count
           ~~~~~~^~~~~~~
ZeroDivisionError: division by zero

\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:1)
"""


def test_the_error_of_a_python_function_is_told_as_python_tells_it() -> None:
    assert root_cause.of_python(RuntimeError(IN_A_WORKER)) == (
        "ZeroDivisionError: division by zero\n"
        "    /shop/pipelines/orders.py:12 in net: return share(total, count)\n"
        "    /shop/pipelines/rules.py:3 in share: return total / count"
    )


def test_another_error_has_no_python_traceback() -> None:
    assert root_cause.of_python(ValueError("[DIVIDE_BY_ZERO] Division by zero.")) is None
