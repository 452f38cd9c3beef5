"""The certificate of groups: every row has the bound of its own group."""

import numpy as np
import pytest

from pacband import InvalidInput
from support.certificates import ALL_KINDS


def test_group_certificate_answers_with_the_rows_own_group():
    cert = ALL_KINDS["groups"]
    band = cert.interval([0.0, 0.0], ["south", "north"], scale=[1.0, 1.0])
    np.testing.assert_allclose(band[:, 1], [cert.groups["south"].gamma, cert.groups["north"].gamma], rtol=1e-14)
    assert (cert.eps, cert.delta, cert.n_samples) == (0.1, 0.01, 400)
    with pytest.raises(InvalidInput, match=r"labels without a certificate: 'west'. Certified are 'north', 'south'"):
        cert.interval([0.0], ["west"], scale=[1.0])
    with pytest.raises(InvalidInput, match="groups and y_pred must have one length, got 1 and 2"):
        cert.interval([0.0, 1.0], ["north"], scale=[1.0, 1.0])
