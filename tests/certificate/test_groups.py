"""The certificate of groups: every row has the bound of its own group."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from pacband import CertificateError, GroupCertificate, InvalidInput, certify_groups
from pacband.certificate import groups_overlap
from pacband.certificate.inequality import symbols
from pacband.core.frozen import FrozenMap
from pacband.draws import Units, Weighted
from pacband.scores import ScoreRule
from support.certificates import ALL_KINDS, PROMISE, SITES, P, S, Y


def test_group_certificate_answers_with_the_rows_own_group():
    cert = ALL_KINDS["groups"]
    band = cert.interval([0.0, 0.0], ["south", "north"], scale=[1.0, 1.0])
    np.testing.assert_allclose(band[:, 1], [cert.groups["south"].gamma, cert.groups["north"].gamma], rtol=1e-14)
    assert (cert.eps, cert.delta, cert.n_samples) == (0.1, 0.01, 400)
    with pytest.raises(InvalidInput, match=r"labels without a certificate: 'west'. Certified are 'north', 'south'"):
        cert.interval([0.0], ["west"], scale=[1.0])
    with pytest.raises(InvalidInput, match="groups and y_pred must have one length, got 1 and 2"):
        cert.interval([0.0, 1.0], ["north"], scale=[1.0, 1.0])


def test_groups_cannot_use_more_than_delta():
    groups = ALL_KINDS["groups"].groups
    with pytest.raises(CertificateError, match="do not make one promise"):
        GroupCertificate(groups=FrozenMap({**groups, "west": groups["north"]}))


@pytest.mark.parametrize(
    "change",
    [{"scoring": ScoreRule(side="upper")}, {"scale_kind": "none"}, {"n_outputs": 2}, {"assumptions": ("none",)}],
    ids=lambda change: next(iter(change)),
)
def test_groups_that_score_rows_differently_make_no_promise(change):
    groups = ALL_KINDS["groups"].groups
    other = dataclasses.replace(groups["south"], basis=dataclasses.replace(groups["south"].basis, **change))
    with pytest.raises(CertificateError, match="must make one promise: they score rows differently"):
        GroupCertificate(groups=FrozenMap({**groups, "south": other}))
    # Equal ways of scoring are one promise, also as separate objects, such as from a file.
    equal = dataclasses.replace(groups["south"], basis=dataclasses.replace(groups["south"].basis))
    assert equal.basis is not groups["north"].basis
    assert GroupCertificate(groups=FrozenMap({**groups, "south": equal})) == ALL_KINDS["groups"]


def test_the_bound_of_a_row_is_that_of_its_group_and_has_no_single_certificate():
    cert = ALL_KINDS["groups"]
    gammas = {label: part.gamma for label, part in cert.groups.items()}
    assert cert.gamma(SITES).tolist() == [gammas[site] for site in SITES]
    assert cert.single is None
    assert cert.parts is cert.groups
    assert set(gammas) == {"north", "south"} == set(certify_groups(Y, P, SITES, S, **PROMISE).groups)


def many_draws():
    """Return the draws of 1200 rows in 300 units, and the group of every row."""
    rng = np.random.default_rng(0)
    unit, high = np.arange(300).repeat(4), rng.uniform(0.5, 1.0, 1200)
    draws = (Units(unit), Units(unit, "average"), Weighted((high - 0.2, high), at_most=1.0))
    return draws, np.where(unit % 2, "odd", "even"), rng.standard_normal(1200)


@pytest.mark.parametrize("which", range(3), ids=["units", "average", "interval"])
def test_groups_are_verified_with_the_draws_they_were_made_with(which):
    draws, groups, y = many_draws()
    p = np.zeros(len(y))
    cert = certify_groups(y, p, groups, eps=0.3, delta=0.1, draws=draws[which])
    assert cert.verify(y, p, groups, draws=draws[which])
    assert not cert.verify(np.append(y[:-1], 99.0), p, groups, draws=draws[which])
    assert not cert.verify(y, p, np.where(groups == "odd", "even", "odd"), draws=draws[which])
    with pytest.raises(InvalidInput, match="this certificate was made with other draws"):
        cert.verify(y, p, groups)


def test_overlapping_groups_of_units_are_verified():
    (units, *_), groups, y = many_draws()
    masks, p = {"all": np.full(len(y), True), "odd": groups == "odd"}, np.zeros(len(y))
    cert = certify_groups(y, p, masks, eps=0.3, delta=0.1, draws=units)
    assert cert.verify(y, p, masks, draws=units)
    assert cert.verify(y, p, {**masks, "odd": ~masks["odd"]}, draws=units) is False
    assert cert.verify(y, p, {**masks, "odd": np.full(len(y), False)}, draws=units) is False


def test_only_masks_make_groups_that_overlap_and_every_kind_can_be_asked():
    masks = {"all": np.full(400, True), "north": SITES == "north"}
    assert groups_overlap(certify_groups(Y, P, masks, **PROMISE))
    assert not any(map(groups_overlap, ALL_KINDS.values()))


def test_rows_and_groups_of_other_tables_are_refused_whatever_column_shows_it():
    cert = ALL_KINDS["groups"]
    columns = {"y": Y, "y_pred": P, "scale": S}
    labels = pd.Series(SITES, index=range(1, 401))
    assert cert.verify(**columns, groups=labels)
    for name, column in columns.items():
        with pytest.raises(InvalidInput, match="must have the same index"):
            cert.verify(**{**columns, name: pd.Series(column)}, groups=labels)


def test_masks_of_another_table_are_refused():
    masks = {"all": np.full(400, True), "north": SITES == "north"}
    cert = certify_groups(Y, P, masks, **PROMISE)
    for moved in masks:
        given = {**masks, moved: pd.Series(masks[moved], index=range(1, 401))}
        assert cert.verify(Y, P, given)
        with pytest.raises(InvalidInput, match="must have the same index"):
            cert.verify(pd.Series(Y), P, given)
        with pytest.raises(InvalidInput, match="must have the same index"):
            cert.interval(pd.Series(P), given)


def test_what_is_wrong_is_named_as_the_user_passed_it():
    cert = ALL_KINDS["groups"]
    with pytest.raises(InvalidInput, match=r"bounds 1 output\(s\), got y_pred with 2"):
        cert.interval(np.zeros((1, 2)), ["north"], scale=[1.0])
    overlapping = certify_groups(Y, P, {"all": np.full(400, True), "north": SITES == "north"}, **PROMISE)
    with pytest.raises(InvalidInput, match=r"groups has labels without a certificate: 'west'"):
        overlapping.masks({"all": [True], "north": [True], "west": [True]})


def test_groups_of_units_with_runs_promise_runs():
    units = Units(np.arange(100).repeat(4), within="one", name="machine")
    runs = Y.reshape(400, 1, 1)
    cert = certify_groups(runs, 0 * runs, np.arange(400) // 200, eps=0.3, delta=0.1, draws=units)
    assert "of future runs, with all machines counted equally, are within the bound of that group" in cert.promise


def test_the_card_explains_the_symbols():
    html = ALL_KINDS["groups"]._repr_html_()
    assert ">where<" in html
    assert symbols(ALL_KINDS["groups"].basis) in html
