"""A certificate that is applied to other columns, or with another model, than it was made for."""

import warnings

import numpy as np
import pandas as pd
import pytest

import pacband
from pacband import InvalidInput, PromiseWarning
from pacband.draws import Units
from pacband.tables.known_columns import chosen_columns, labelled_columns
from pacband.tables.mismatches import describe_other_columns

RNG = np.random.default_rng(0)
ROWS = pd.DataFrame({"y": RNG.normal(size=600), "p": 0.0, "s": 1.0, "site": ["n", "s"] * 300})
ROWS = ROWS.assign(p2=ROWS.p, s2=ROWS.s, site2=ROWS.site, row=[f"r{k}" for k in range(600)])
PROMISE = {"target": "y", "prediction": "p", "eps": 0.1, "delta": 0.05}
DIGEST = "ab" * 32


def said(cert, **options):
    """The warnings of applying a certificate; the bands come all the same."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bands = pacband.apply_frame(cert, ROWS, **options)
    assert list(bands.columns[-2:]) == ["lower", "upper"]
    assert all(issubclass(warning.category, PromiseWarning) for warning in caught)
    # The warning is at the line that asked for the bands.
    assert all(warning.filename == __file__ for warning in caught)
    return [str(warning.message) for warning in caught]


def described(cert, **options):
    columns = chosen_columns(cert.basis, **{"prediction": None, "scale": None, "group": None, **options})
    # Whoever names columns in Python has named them: the bands come without a word.
    assert said(cert, **options) == []
    return describe_other_columns(cert.basis, columns)


def test_the_certified_columns_need_no_word():
    cert = pacband.certify_frame(ROWS, scale="s", **PROMISE)
    assert described(cert) is None
    assert described(cert, prediction="p", scale="s") is None


@pytest.mark.parametrize(
    ("made", "options", "words"),
    [
        ({}, {"prediction": "p2"}, "prediction 'p2' in place of 'p'"),
        ({"scale": "s"}, {"scale": "s2"}, "scale 's2' in place of 's'"),
        (
            {"scale": "s"},
            {"scale": "s2", "prediction": "p2"},
            "prediction 'p2' in place of 'p'; scale 's2' in place of 's'",
        ),
        ({"group": "site"}, {"group": "site2"}, "group 'site2' in place of 'site'"),
    ],
)
def test_other_columns_are_described(made, options, words):
    message = described(pacband.certify_frame(ROWS, **made, **PROMISE), **options)
    assert message.startswith(f"these are not the columns that were certified: {words}. ")


NOTHING = dict.fromkeys(("target", "prediction", "scale", "group"))


def test_another_target_and_another_unit_are_described():
    cert = pacband.certify_frame(ROWS, draws=Units("row"), **PROMISE)
    same = labelled_columns(cert.basis, **NOTHING)
    assert describe_other_columns(cert.basis, same) is None
    assert describe_other_columns(cert.basis, same, "row") is None
    other = labelled_columns(cert.basis, **{**NOTHING, "target": "s"})
    message = describe_other_columns(cert.basis, other, "site")
    assert "certified: target 's' in place of 'y'; unit 'site' in place of 'row'. " in message


def test_units_of_arrays_may_have_a_name():
    given = {**NOTHING, "target": "y", "prediction": "p"}
    for name, words in (("machine", "unit 'row' in place of 'machine'"), ("unit", None)):
        cert = pacband.certify(ROWS.y, ROWS.p, eps=0.1, delta=0.05, draws=Units(ROWS.row, name=name))
        message = describe_other_columns(cert.basis, labelled_columns(cert.basis, **given), "row")
        assert (words is None) == (message is None)
        assert words is None or words in message


def test_a_target_is_no_prediction_and_no_scale():
    words = "must be different columns: 'p' is the target, and it is also the prediction"
    cert = pacband.certify_frame(ROWS, scale="s", **PROMISE)
    with pytest.raises(InvalidInput, match=words):
        pacband.check_frame(cert, ROWS, target="p")
    with pytest.raises(InvalidInput, match="'y' is the target, and it is also the prediction"):
        pacband.check_frame(cert, ROWS, prediction="y")
    with pytest.raises(InvalidInput, match="'y' is the target, and it is also the scale"):
        pacband.check_frame(cert, ROWS, scale="y")
    with pytest.raises(InvalidInput, match=words):
        pacband.certify_frame(ROWS, **{**PROMISE, "target": "p"})
    with pytest.raises(InvalidInput, match="'y' is the target, and it is also the scale"):
        pacband.certify_frame(ROWS, scale=("s", "y"), **PROMISE)
    with pytest.raises(InvalidInput, match="'y' is the target, and it is also the prediction"):
        pacband.certify_frame(ROWS, target="y", candidates={"a": "p", "b": "y"}, eps=0.1, delta=0.05)
    # The errors relative to a prediction are bounded by it as a scale.
    assert pacband.certify_frame(ROWS.assign(p=1.0), scale="p", **PROMISE).gamma > 0


def test_a_certificate_of_arrays_knows_no_names():
    assert described(pacband.certify(ROWS.y, ROWS.p, eps=0.1, delta=0.05), prediction="p2") is None


def test_another_model_is_a_warning():
    about = {"model": {"name": "forest", "digest": DIGEST}}
    cert = pacband.certify_frame(ROWS, about=about, **PROMISE)
    assert said(cert, model_digest=DIGEST) == []
    assert said(cert) == []
    (message,) = said(cert, model_digest="cd" * 32)
    assert message.startswith(f"PB012 the SHA-256 of this model is {'cd' * 32}, and the certificate is about")
    assert f"about the model forest, SHA-256 {DIGEST}. The promise does not hold for this model." in message


@pytest.mark.parametrize("about", [None, {"model": {"name": "forest"}}])
def test_a_model_cannot_be_compared_with_nothing(about):
    cert = pacband.certify_frame(ROWS, about=about, **PROMISE)
    with pytest.raises(InvalidInput, match="the certificate states no digest of its model"):
        pacband.apply_frame(cert, ROWS, model_digest=DIGEST)
