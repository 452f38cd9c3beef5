"""Tolerances and own scores in tables: every engine gives the certificate of arrays, to the last bit."""

import math

import numpy as np
import pandas as pd
import pytest

import pacband
from pacband import InvalidInput
from support.tables import ALL, IN_PROCESS, LAZY, libraries

N = 2000


@pytest.fixture
def frame(rng):
    return pd.DataFrame(
        {
            "y": rng.standard_normal(N).round(2),
            "p": np.zeros(N),
            "s": 0.5 + rng.random(N),
            "loss": rng.gamma(2.0, 0.5, N) - 1.0,
            "site": rng.choice(["a", "b"], N),
        }
    )


def stated(certificate):
    """What a certificate states, but for its date and its columns."""
    content = certificate.to_dict()
    return {name: value for name, value in content.items() if name not in ("created", "columns")}


@pytest.mark.parametrize("library", IN_PROCESS)
@pytest.mark.parametrize("side", ["both", "upper"])
def test_a_tolerance_gives_the_certificate_of_arrays(library, side, frame, in_engine, tmp_path):
    native = IN_PROCESS[library](frame, tmp_path)
    found = pacband.certify_frame(native, target="y", prediction="p", scale="s", tolerance=1.5, side=side, delta=1e-3)
    expected = pacband.certify_tolerance(frame.y, frame.p, 1.5, frame.s, side=side, delta=1e-3)
    assert stated(found) == stated(expected)
    assert found.verify(frame.y, frame.p, frame.s)


@pytest.mark.parametrize("library", IN_PROCESS)
@pytest.mark.parametrize("tolerance", [None, 0.7])
def test_own_scores_give_the_certificate_of_arrays(library, tolerance, frame, in_engine, tmp_path):
    native = IN_PROCESS[library](frame, tmp_path)
    found = pacband.certify_frame(native, score="loss", tolerance=tolerance, delta=1e-3)
    assert stated(found) == stated(pacband.certify_scores(frame.loss, tolerance=tolerance, delta=1e-3))
    assert (found.columns.target, found.columns.prediction) == (("loss",), ())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", [{"score": "loss"}, {"target": "y", "prediction": "p", "tolerance": 1.5}])
def test_dask_gives_the_same(options, frame, in_engine):
    found = pacband.certify_frame(LAZY["dask"](frame), **options)
    assert stated(found) == stated(pacband.certify_frame(frame, **options))


def test_a_tolerance_takes_one_pass(frame, in_engine):
    passes = []
    pacband.certify_frame(
        LAZY["duckdb"](frame), target="y", prediction="p", tolerance=1.5, progress=lambda *done: passes.append(done)
    )
    assert len(passes) == 1


@pytest.mark.parametrize("library", libraries(ALL))
def test_checks_use_the_column_of_the_certificate(library, frame, in_engine, tmp_path):
    cert = pacband.load(pacband.certify_frame(frame, score="loss", eps=0.1, delta=1e-3).save(tmp_path / "cert.json"))
    fresh = frame.assign(loss=frame.loss + 0.01, other=frame.loss + 3.0)
    verdict = pacband.check_frame(cert, ALL[library](fresh))
    assert verdict.counts[""].violations == int((fresh.loss > cert.gamma).sum())
    assert not pacband.check_frame(cert, ALL[library](fresh), target="other").holds
    with pytest.raises(InvalidInput, match="name the column of the scores only"):
        pacband.check_frame(cert, ALL[library](fresh), prediction="p")


@pytest.mark.parametrize("library", libraries(ALL))
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_scores_that_are_not_finite(library, bad, frame, in_engine):
    frame.loc[5, "loss"] = bad
    with pytest.raises(InvalidInput, match=r"(scores|column 'loss') must be finite"):
        pacband.certify_frame(ALL[library](frame), score="loss")
    found = pacband.certify_frame(ALL[library](frame), score="loss", nonfinite="violate")
    assert stated(found) == stated(pacband.certify_scores(frame.loss, nonfinite="violate"))


def test_own_scores_within_groups(frame, in_engine):
    near = pacband.certify_frame(frame, score="loss", group="site", eps=0.1, delta=0.01)
    far = pacband.certify_frame(LAZY["duckdb"](frame), score="loss", group="site", eps=0.1, delta=0.01)
    for label, part in near.groups.items():
        assert stated(part) == stated(far.groups[label])
        assert part.gamma == float(np.sort(frame.loss[frame.site == label])[-part.rank])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"score": "loss", "target": "y"},
            "score cannot be combined with target, prediction, scale, candidates, run or step",
        ),
        ({"score": "loss", "prediction": "p"}, "score cannot be combined with target"),
        ({"score": "loss", "side": "upper"}, "side, min_scale, gauge and clip are about errors"),
        ({"score": "loss", "min_scale": 1.0}, "side, min_scale, gauge and clip are about errors"),
        ({"score": "loss", "gauge": np.eye(2)}, "side, min_scale, gauge and clip are about errors"),
        ({"score": ["loss", "y"]}, r"score must be the name of a column, got \['loss', 'y'\]"),
        ({"score": ""}, "score must be the name of a column, got ''"),
        ({"score": "lost"}, "there is no column 'lost'. Did you mean 'loss'?"),
        ({"score": "site"}, "column 'site' must be numeric"),
        ({}, "target must be the name of a column, got None"),
        (
            {"target": "y", "prediction": "p", "tolerance": 1.0, "group": "site"},
            "a tolerance cannot be combined with g",
        ),
        (
            {"target": "y", "candidates": {"a": "p"}, "tolerance": 1.0},
            "a tolerance cannot be combined with group or ca",
        ),
        ({"target": "y", "prediction": "p", "tolerance": 1.0, "rank": 2}, "a tolerance cannot be combined with rank"),
        ({"target": "y", "prediction": "p", "tolerance": 1.0, "eps": 0.1}, "with a tolerance, eps is found"),
        ({"target": "y", "prediction": "p", "tolerance": 1.0, "eps": 0.05}, "with a tolerance, eps is found"),
        ({"score": "loss", "tolerance": 1.0, "eps": 0.05}, "with a tolerance, eps is found"),
        ({"target": "y", "prediction": "p", "tolerance": -1.0}, "tolerance must be zero or a positive finite number"),
        ({"target": "y", "prediction": "p", "tolerance": 1e-9}, None),
    ],
)
@pytest.mark.parametrize("library", ["pandas", "duckdb"])
def test_bad_options(library, options, message, frame, in_engine):
    if message is None:
        frame, message = frame.assign(y=1.0), f"all {N} calibration scores exceed the tolerance"
    with pytest.raises(InvalidInput, match=message):
        pacband.certify_frame(ALL[library](frame), **options)


@pytest.mark.parametrize("library", ["pandas", "duckdb", "polars lazy"])
def test_units_of_a_table(library, frame, in_engine):
    frame = frame.assign(machine=np.repeat(np.arange(N // 5), 5))
    units = pacband.draws.Units(frame.machine, name="machine")
    native = ALL[library](frame)
    scores = pacband.certify_frame(native, score="loss", eps=0.1, delta=1e-3, draws=pacband.draws.Units("machine"))
    assert stated(scores) == stated(pacband.certify_scores(frame.loss, eps=0.1, delta=1e-3, draws=units))
    given = pacband.certify_frame(
        native, target="y", prediction="p", tolerance=2.0, delta=1e-3, draws=pacband.draws.Units("machine")
    )
    assert stated(given) == stated(pacband.certify_tolerance(frame.y, frame.p, 2.0, delta=1e-3, draws=units))
