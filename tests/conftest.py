import numpy as np
import pytest
from hypothesis import settings

# Doctests are looked for in every module, and of these there is more than one of the same name.
collect_ignore_glob = ["**/conftest.py", "conftest.py"]

settings.register_profile("reproducible", derandomize=True, deadline=None)
settings.load_profile("reproducible")


@pytest.fixture
def rng():
    return np.random.default_rng(20240501)
