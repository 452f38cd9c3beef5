import pytest

import pacband
from pacband import CertificateError
from support.forge import Forged, holding


@pytest.fixture
def forge(tmp_path):
    """Return a function that takes apart the file of a model."""
    return lambda model: Forged(holding(model, tmp_path / "model.pacband").read_bytes())


@pytest.fixture
def refused(tmp_path):
    """Return a function that sees a forged file refused, with what is said of it."""

    def check(forged, said, **changes):
        path = tmp_path / "forged.pacband"
        path.write_bytes(forged if isinstance(forged, bytes) else forged.data(**changes))
        with pytest.raises(CertificateError, match=said) as caught:
            pacband.load(path)
        assert str(caught.value).isprintable()

    return check
