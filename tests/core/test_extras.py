"""Optional packages: one error, with the command that installs them."""

import sys

import pytest

import pacband
from pacband.core.extras import require


@pytest.mark.parametrize(
    ("module", "extra"), [("polars", "polars"), ("pyspark.sql", "spark"), ("distributed", "dask"), ("skops.io", "cli")]
)
def test_a_missing_package_is_named_with_its_extra(module, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(pacband.MissingExtra) as caught:
        require(module, purpose="a table")
    package = module.split(".")[0]
    assert str(caught.value) == f"a table needs the package {package!r}: pip install 'pacband[{extra}]'"
    # Callers that caught one of these before still do.
    assert isinstance(caught.value, pacband.InvalidInput)
    assert isinstance(caught.value, ImportError)


def test_a_figure_needs_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    cert = pacband.certify([1.0, 2.0, 3.0], [1.5, 2.0, 2.0], eps=0.5, delta=0.5)
    with pytest.raises(pacband.MissingExtra, match=r"needs the package 'matplotlib': pip install 'pacband\[cli\]'"):
        pacband.plot_scores(cert, [1.0, 2.0, 3.0], [1.5, 2.0, 2.0])
