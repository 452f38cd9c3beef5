import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    """The systems here are tiny: threads inside them only wait for each other."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield
