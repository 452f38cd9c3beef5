"""The certificate of groups that overlap."""

import numpy as np
import pandas as pd
import pytest

import pacband
from pacband import InvalidInput, NotEnoughSamples, certify, certify_groups
from pacband.draws import Spaced, Units, Weighted

PROMISE = {"eps": 0.1, "delta": 0.01}
N = 2000


@pytest.fixture
def rows(rng):
    night, north = rng.random(N) < 0.4, rng.random(N) < 0.5
    return rng.standard_normal(N) * (1 + night + 2 * north), {"all": np.ones(N, bool), "night": night, "north": north}


@pytest.fixture
def cert(rows):
    return certify_groups(rows[0], np.zeros(N), rows[1], **PROMISE)


def test_each_group_is_the_certificate_of_its_rows_at_an_even_part_of_delta(rows, cert):
    y, masks = rows
    assert cert.overlapping
    for name, mask in masks.items():
        alone = certify(y[mask], np.zeros(mask.sum()), n_candidates=3, **PROMISE)
        part = cert.groups[name]
        assert (part.gamma, part.rank, part.n_samples, part.data_digest) == (
            alone.gamma, alone.rank, alone.n_samples, alone.data_digest
        )  # fmt: skip
        assert part.share == alone.share


def test_a_row_has_the_largest_bound_of_its_groups(rows, cert):
    masks = rows[1]
    wanted = [max(cert.groups[name].gamma for name, mask in masks.items() if mask[k]) for k in range(N)]
    np.testing.assert_array_equal(cert.gamma(masks), wanted)
    np.testing.assert_allclose(cert.interval(np.zeros(N), masks)[:, 1], wanted, rtol=1e-14)


def test_one_sided_bounds_may_be_negative(rng):
    y = rng.standard_normal(1000) - 9.0
    masks = {"a": np.arange(1000) < 600, "b": np.arange(1000) >= 400}
    cert = certify_groups(y, np.zeros(1000), masks, side="upper", **PROMISE)
    assert (cert.gamma(masks) < 0.0).all()
    assert cert.gamma(masks)[500] == max(part.gamma for part in cert.groups.values())


def test_a_file_keeps_the_overlap_and_files_of_before_state_none(rows, cert, tmp_path):
    loaded = pacband.load(cert.save(tmp_path / "cert.json"))
    assert loaded == cert
    assert loaded.digest == cert.digest
    assert loaded.verify(rows[0], np.zeros(N), rows[1])
    assert not loaded.verify(1.01 * rows[0], np.zeros(N), rows[1])
    assert not loaded.verify(rows[0], np.zeros(N), rows[1]["night"])
    plain = certify_groups(rows[0], np.zeros(N), rows[1]["night"], **PROMISE)
    assert "overlapping" not in plain.to_dict()
    assert "A row in several groups has the largest of their bounds." in str(loaded)
    assert "several groups" not in str(plain)
    assert "night" in loaded._repr_html_()


def test_check_tests_each_groups_own_promise(rows, cert, rng):
    y, masks = rows
    verdict = pacband.check(cert, y, np.zeros(N), groups=masks)
    assert verdict.reused
    assert {name: (count.n_samples, count.violations) for name, count in verdict.counts.items()} == {
        name: (int(mask.sum()), int((np.abs(y[mask]) > cert.groups[name].gamma).sum())) for name, mask in masks.items()
    }
    worse = pacband.check(cert, np.where(masks["night"], 3.0, 1.0) * y, np.zeros(N), groups=masks)
    assert "night" in worse.contradicted
    nobody = {**masks, "night": np.zeros(N, bool)}
    assert list(pacband.check(cert, y, np.zeros(N), groups=nobody).counts) == ["all", "north"]


def test_a_unit_is_in_a_group_as_a_whole(rng):
    machine = np.repeat(np.arange(300), 4)
    y = rng.standard_normal(300)[machine] + rng.standard_normal(1200)
    old = machine < 200
    masks = {"old": old, "any": np.ones(1200, bool)}
    cert = certify_groups(y, 0 * y, masks, draws=Units(machine), **PROMISE)
    assert {name: part.n_samples for name, part in cert.groups.items()} == {"old": 200, "any": 300}
    assert pacband.check(cert, y, 0 * y, groups=masks, draws=Units(machine)).counts["old"].n_samples == 200
    with pytest.raises(
        InvalidInput, match=r"every unit must be in one group.* wholly inside or wholly outside of each"
    ):
        certify_groups(y, 0 * y, {"old": np.arange(1200) < 798, "any": np.ones(1200, bool)}, draws=Units(machine))
    average = certify_groups(y, 0 * y, masks, draws=Units(machine, "average"), eps=0.2, delta=0.1)
    verdict = pacband.check(average, y, 0 * y, groups=masks, draws=Units(machine, "average"))
    assert {name: count.n_samples for name, count in verdict.counts.items()} == {"old": 200, "any": 300}
    assert verdict.reused
    independent = rng.standard_normal(1200)
    accepted = certify_groups(independent, 0 * y, masks, draws=Weighted(np.full(1200, 0.9), at_most=1.0), **PROMISE)
    assert accepted.groups["any"].n_samples < 1200


def test_a_successor_has_the_same_groups(rows, cert, rng):
    y, masks = rows
    after = pacband.recalibrate(cert, 1.1 * y, np.zeros(N), groups=masks)
    assert after.overlapping
    assert after.groups["all"].predecessor == cert.digest
    with pytest.raises(pacband.ReusedData):
        pacband.recalibrate(cert, y, np.zeros(N), groups=masks)
    with pytest.raises(InvalidInput, match="pass a mapping of every group to its mask"):
        pacband.recalibrate(cert, y, np.zeros(N), groups=masks["night"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c, y, m: c.interval([0.0], ["night"]), "the groups of this certificate overlap: pass a mapping"),
        (lambda c, y, m: c.interval([0.0], {"all": [True]}), "'night', 'north' are missing"),
        (lambda c, y, m: c.interval([0.0], {"all": [True], "night": [False], "north": [True], "west": [True]}), "labels without a certificate: 'west'"),
        (lambda c, y, m: c.interval([0.0], {name: [False] for name in m}), "outside of all groups are 1 row, row 0"),
        (lambda c, y, m: c.interval([0.0, 1.0], {name: [True] for name in m}), "groups and y_pred must have one length"),
        (lambda c, y, m: pacband.check(c, y, 0 * y, groups=m["night"]), "pass a mapping of every group"),
        (lambda c, y, m: pacband.check(c, y, 0 * y), "pass a mapping of every group"),
        (lambda c, y, m: pacband.check(c, y[:-1], 0 * y[:-1], groups=m), "y and groups must have one length, got 1999 and 2000"),
        (lambda c, y, m: pacband.check(certify(y, 0 * y, **PROMISE), y, 0 * y, groups=m), "masks are for certificates whose groups overlap"),
        (lambda c, y, m: certify_groups(y, 0 * y, m["night"], **PROMISE).interval(y, m), "do not overlap: pass one label for every row"),
        (lambda c, y, m: certify_groups(y, 0 * y, {"night": m["night"]}, **PROMISE), "every row must be in a group"),
        (lambda c, y, m: certify_groups(y, 0 * y, {"all": m["all"], "none": ~m["all"]}, **PROMISE), "every group needs rows: 'none' has none"),
        (lambda c, y, m: certify_groups(y, 0 * y, {"all": m["all"][:9]}, **PROMISE), "y and groups must have one length, got 2000 and 9"),
        (lambda c, y, m: certify_groups(y, 0 * y, m, draws=Spaced(3), **PROMISE), "Spaced draws cannot be combined with groups"),
        (lambda c, y, m: certify_groups(pd.Series(y), 0 * y, {"all": pd.Series(m["all"], index=range(1, N + 1))}, **PROMISE), "must have the same index"),
        (lambda c, y, m: pacband.Monitor(c), "watch each of its 3 groups by a monitor of its own, at alpha/3"),
        (lambda c, y, m: pacband.report(c, y, 0 * y, groups=m), "this certificate is about groups that overlap"),
    ],
)  # fmt: skip
def test_bad_input(call, message, rows, cert):
    with pytest.raises(InvalidInput, match=message):
        call(cert, *rows)


def test_a_group_with_too_few_rows_is_named(rows):
    y, masks = rows
    few = {**masks, "rare": np.arange(N) < 5}
    with pytest.raises(NotEnoughSamples, match="group 'rare'"):
        certify_groups(y, np.zeros(N), few, **PROMISE)


def test_each_group_can_be_watched_and_a_report_without_rows_explains_them(cert):
    assert pacband.Monitor(cert.groups["night"]).state == "ok"
    assert "several groups" in pacband.report(cert).to_markdown()
