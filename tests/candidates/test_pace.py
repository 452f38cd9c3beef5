"""The pace of a search."""

import math

from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacband.candidates.pace import Pace
from pacband.candidates.smooth import SmoothProcess


def boosting(rounds, leaves=8):
    return HistGradientBoostingRegressor(max_iter=rounds, max_leaf_nodes=leaves)


def test_a_process_of_more_rows_takes_longer():
    pace = Pace(1000)
    assert pace.least_seconds(SmoothProcess(100)) == 0.0
    pace.record(SmoothProcess(100), 2.0)
    assert math.isclose(pace.least_seconds(make_pipeline(StandardScaler(), SmoothProcess(400))), 16.0)
    # There are only 1000 rows.
    assert pace.least_seconds(SmoothProcess(5000)) == pace.least_seconds(SmoothProcess(1000))
    assert pace.least_seconds(SmoothProcess(99)) == 0.0


def test_boosting_with_more_or_deeper_trees_takes_at_least_as_long():
    pace = Pace(1000)
    pace.record(boosting(100), 2.0)
    assert pace.least_seconds(boosting(100)) == 2.0
    assert 2.0 < pace.least_seconds(boosting(100, leaves=64)) < 2.0 * 2
    assert math.isclose(pace.least_seconds(TransformedTargetRegressor(boosting(1600))), 4.0)
    assert pace.least_seconds(boosting(100, leaves=None)) > pace.least_seconds(boosting(100, leaves=64))
    assert pace.least_seconds(boosting(99)) == 0.0


def test_after_one_that_had_too_little_time_no_costlier_one_is_tried():
    pace = Pace(1000)
    pace.record(boosting(100), math.inf)
    assert pace.least_seconds(boosting(100)) == pace.least_seconds(boosting(200)) == math.inf
    assert pace.least_seconds(boosting(50)) == pace.least_seconds(SmoothProcess(100)) == 0.0


def test_other_models_are_not_compared():
    pace = Pace(1000)
    pace.record(Ridge(), math.inf)
    assert pace.least_seconds(Ridge()) == 0.0
