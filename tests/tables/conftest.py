import pandas as pd
import pytest

from support.spark import start_spark


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
    session = start_spark()
    yield session
    session.stop()
