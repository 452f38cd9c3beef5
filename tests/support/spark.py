"""A session of Spark on this machine, for tests."""

import shutil

import pytest


def start_spark():
    """Return a session with two threads that listens on loopback only; skip the test where Spark cannot run."""
    session_of = pytest.importorskip("pyspark.sql").SparkSession
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    return (
        session_of.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
