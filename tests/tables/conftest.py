import pandas as pd
import pytest


@pytest.fixture
def in_engine(limit):
    """Let tables in engines be too large to be fetched whole, and their windows too large to be fetched at once."""
    limit(sample=300, few=400)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Work in a folder of one's own."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def rows(rng):
    """Rows for files."""
    y = rng.standard_normal(400)
    return pd.DataFrame({"y": y, "yhat": y + 0.1 * rng.standard_normal(400), "s": 1.0 + rng.random(400)})


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
