"""What a family in an engine compares its candidates by is what arrays give, to the last bit."""

import numpy as np
import pytest

import pacband
from support.jobs import PROMISE, stated, table
from support.tables import IN_PROCESS, LAZY


@pytest.mark.parametrize("library", IN_PROCESS)
@pytest.mark.parametrize("side", ["both", "upper"])
def test_candidates_that_do_not_answer_are_ranked_as_in_arrays(library, side, rng, in_engine, tmp_path):
    frame = table(rng)
    frame.loc[5::400, "p"] = np.nan
    frame.loc[6:60, "q"] = np.inf
    options = {"nonfinite": "violate", "side": side, "eps": 0.1, "delta": 0.01}
    for candidates in ({"p": ("p", "s"), "z": "z"}, {"p": "p", "scaled": ("p", "s"), "q": "q"}):
        found = pacband.certify_frame(
            IN_PROCESS[library](frame, tmp_path), target="y", candidates=candidates, **options
        )
        arrays = {
            name: tuple(frame[part].to_numpy() for part in parts) if isinstance(parts, tuple) else frame[parts]
            for name, parts in candidates.items()
        }
        expected = pacband.certify_family(frame["y"], arrays, **options)
        assert found.best == expected.best
        assert found.mean_bound == expected.mean_bound
        assert found.sharpness == expected.sharpness
        assert found.mean_bound["p"] == np.inf


@pytest.mark.parametrize("side", ["upper", "lower"])
@pytest.mark.parametrize("library", LAZY)
def test_a_one_sided_family_takes_predictions_that_are_no_numbers(library, side, rng, limit):
    limit(sample=300)
    frame = table(rng)
    frame.loc[5::40, "p"] = np.nan
    options = {"candidates": {"a": "p", "b": ("q", "s")}, "side": side, "nonfinite": "violate", **PROMISE}
    found = pacband.certify_frame(LAZY[library](frame), target="y", **options)
    assert stated(found) == stated(pacband.certify_frame(frame, target="y", **options))
