"""The cells of a stream become the rows that a monitor counts: by columns of predictions, and by a model."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from pacband import CertifiedRegressor, InvalidInput, Monitor, certify_groups
from pacband.monitoring.readers import ColumnReader, ModelReader
from pacband.scores.columns import Columns


def rows(n_rows, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=n_rows), "site": rng.choice(["north", "7", "07"], n_rows)})
    frame.loc[::9, "site"] = np.nan
    return frame, 2 * frame.a + (frame.site == "north") + rng.normal(size=n_rows)


@pytest.fixture(scope="module")
def model():
    """A model of the user's own, which gets a category as it is written: 7 is not 07."""
    read = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["site"]), remainder="passthrough")
    found = CertifiedRegressor(make_pipeline(read, LinearRegression()), eps=0.1, delta=0.05, random_state=0)
    return found.fit(*rows(600, 0))


def test_a_model_reads_texts_of_a_stream_as_it_reads_a_table(model):
    X, y = rows(300, 1)
    late = y.where(np.arange(300) % 10 != 0)
    expected = Monitor(model)
    expected.update(X, late)
    texts = {"a": [repr(cell) for cell in X.a.tolist()], "site": X.site.fillna("NA").tolist(), "y": late.tolist()}
    values = {"a": X.a.tolist(), "site": [None if pd.isna(cell) else cell for cell in X.site], "y": late.tolist()}
    for cells in (texts, values):
        monitor = Monitor(model)
        reader = ModelReader(monitor, ["y"], None)
        assert (list(reader.numbers), list(reader.words), list(reader.late)) == (["y"], ["a", "site"], ["y"])
        # A batch may have gaps alone: row 0 has.
        for batch in (slice(0, 1), slice(1, 120), slice(120, 300)):
            reader.count({name: column[batch] for name, column in cells.items()})
        assert monitor.to_dict()["watches"] == expected.to_dict()["watches"]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"a": ["x"], "site": ["7"], "y": [0.0]}, "column 'a' must be numeric, got 'x'"),
        ({"a": ["-inf"], "site": ["7"], "y": [0.0]}, "column 'a' must be finite or missing, got '-inf'"),
        ({"a": [1], "site": [7], "y": [0.0]}, "column 'site' held texts in the fit, and holds 7 now"),
    ],
)
def test_cells_that_are_not_those_of_the_fit_are_refused(model, cells, words):
    monitor = Monitor(model)
    with pytest.raises(InvalidInput, match=words):
        ModelReader(monitor, ["y"], None).count(cells)
    assert (monitor.n_rows, monitor.n_unlabelled) == (0, 0)


def test_a_model_reads_one_target_for_each_output(model):
    with pytest.raises(InvalidInput, match=r"the model predicts 1 output\(s\): name as many target columns, got 2"):
        ModelReader(Monitor(model), ["y", "z"], None)


def test_labels_of_a_certificate_are_found_in_the_texts_of_a_stream(rng):
    y, site = rng.standard_normal(600), np.arange(600) % 2 + 1
    monitor = Monitor(certify_groups(y, np.zeros(600), site, eps=0.1, delta=0.05))
    reader = ColumnReader(monitor, Columns(target=("y",), prediction=("p",), group="site"), None)
    assert (list(reader.numbers), reader.words) == (["y", "p"], ["site"])
    reader.count({"y": [0.0, 9.0], "p": [0.0, 0.0], "site": ["1", "2.0"]})
    assert [(watch.n_rows, watch.n_violations) for watch in monitor.groups.values()] == [(1, 0), (1, 1)]
