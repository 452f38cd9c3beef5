import pytest


@pytest.fixture(scope="module")
def spark():
    session_of = pytest.importorskip("pyspark.sql").SparkSession
    import shutil

    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    session = (
        session_of.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    yield session
    session.stop()
