"""A certificate states the range of y: in its field, its words and its file."""

import json

import numpy as np
import pytest

import pacband
from pacband import CertificateError, InvalidInput

RNG = np.random.default_rng(0)
Y = RNG.exponential(size=600)
PROMISE = {"eps": 0.1, "delta": 0.01}
ASSUMED = "the target y never leaves [0, ∞), to which the ends of the band are clipped"


def certificate(**options):
    return pacband.certify(Y, np.full(600, 0.5), **PROMISE, **options)


def test_the_range_is_a_field_and_an_assumption(tmp_path):
    cert = certificate(clip=(0, None))
    assert cert.clip == (0.0, None)
    assert cert.assumptions[-1] == ASSUMED
    assert ASSUMED in str(cert)
    assert ASSUMED in cert._repr_html_()
    assert cert.interval([0.5])[0, 0] == 0.0
    path = cert.save(tmp_path / "cert.json")
    assert json.loads(path.read_text("utf-8"))["content"]["clip"] == [0.0, None]
    loaded = pacband.load(path)
    assert loaded == cert
    assert loaded.interval([0.5])[0, 0] == 0.0
    again = pacband.recalibrate(loaded, RNG.exponential(size=900), np.full(900, 0.5))
    assert again.clip == (0.0, None)
    assert again.assumptions[-1] == ASSUMED


def test_a_certificate_without_a_range_states_none():
    assert certificate().clip is None
    assert "clip" not in certificate().to_dict()


def test_every_door_takes_the_range():
    guess = np.full(600, 0.5)
    site = np.repeat(["a", "b"], 300)
    options = {**PROMISE, "clip": (0, None)}
    family = pacband.certify_family(Y, {"one": guess, "two": guess + 1}, **options)
    groups = pacband.certify_groups(Y, guess, site, **options)
    given = pacband.certify_tolerance(Y, guess, 3.0, delta=0.01, clip=(0, None))
    chunks = pacband.certify_chunks([(Y[:300], guess[:300]), (Y[300:], guess[300:])], **options)
    for ends in (family.interval([0.5]), groups.interval([0.5], ["a"]), given.interval([0.5]), chunks.interval([0.5])):
        assert ends[0, 0] == 0.0
    assert {cert.clip for cert in (family, groups, given, chunks)} == {(0.0, None)}


def test_targets_outside_the_range_are_refused_at_every_door():
    bad = np.r_[Y[:-1], -1.0]
    guess = np.full(600, 0.5)
    message = r"y must lie in \[0, ∞\), the range of clip: it does not in .*599"
    options = {**PROMISE, "clip": (0, None)}
    for call in (
        lambda: pacband.certify(bad, guess, **options),
        lambda: pacband.certify_family(bad, {"one": guess}, **options),
        lambda: pacband.certify_groups(bad, guess, np.repeat(["a"], 600), **options),
        lambda: pacband.certify_tolerance(bad, guess, 3.0, delta=0.01, clip=(0, None)),
        lambda: pacband.recalibrate(certificate(clip=(0, None)), bad, guess),
    ):
        with pytest.raises(InvalidInput, match=message):
            call()
    # Once the promise is made, such a row breaks it.
    inside, verdict = (pacband.check(certificate(clip=(0, None)), y, guess) for y in (Y, bad))
    assert (inside.out_of_range, verdict.out_of_range) == (0, 1)
    assert verdict.counts[""].violations == pacband.check(certificate(), Y[:-1], guess[:-1]).counts[""].violations + 1
    assert "left its declared range" in str(verdict)
    assert "left its declared range" not in str(inside)


@pytest.mark.parametrize("clip", [[1.0, 0.0], [0.0], ["0", None], [None, None, None]])
def test_a_file_with_another_range_is_refused(clip):
    content = certificate(clip=(0, None)).to_dict()
    with pytest.raises(CertificateError):
        pacband.Certificate.from_dict({**content, "clip": clip})
