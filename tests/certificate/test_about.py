"""`About`: who issued a certificate and what it is about, in every kind of certificate and in its file."""

import copy
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import pacband
from pacband import About, AboutModel, CertificateError, InvalidInput
from pacband.certificate import Promise
from pacband.certificate.about import as_about
from support.certificates import PROMISE, SITES, P, S, Y
from support.rewriting import redigested
from support.twins import put_in_place

FULL = {
    "name": "seal wear <b>",
    "target": "wear",
    "unit": "mm",
    "model": {"name": "forest", "version": "3.1", "digest": "ab" * 32},
    "issued_by": "Test bench 7",
    "scope": "pumps of series A",
    "note": "first issue",
}
FRAME = pd.DataFrame({"y": Y, "p": P})
WAYS = {
    "certify": lambda **o: pacband.certify(Y, P, **PROMISE, **o),
    "family": lambda **o: pacband.certify_family(Y, {"one": P, "two": (P, S)}, **PROMISE, **o),
    "groups": lambda **o: pacband.certify_groups(Y, P, SITES, **PROMISE, **o),
    "tolerance": lambda **o: pacband.certify_tolerance(Y, P, 4.0, delta=0.01, **o),
    "scores": lambda **o: pacband.certify_scores(np.abs(Y - P), **PROMISE, **o),
    "tolerance of scores": lambda **o: pacband.certify_scores(np.abs(Y - P), tolerance=4.0, delta=0.01, **o),
    "frame": lambda **o: pacband.certify_frame(FRAME, target="y", prediction="p", **PROMISE, **o),
    "tolerance of a frame": lambda **o: pacband.certify_frame(FRAME, target="y", prediction="p", tolerance=4.0, delta=0.01, **o),
    "score of a frame": lambda **o: pacband.certify_frame(FRAME, score="y", **PROMISE, **o),
    "chunks": lambda **o: pacband.certify_chunks([(Y[:200], P[:200]), (Y[200:], P[200:])], **PROMISE, **o),
    "curve": lambda **o: pacband.certify_curve(Y, P, delta=0.01, **o).certificate(0.2),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_certify_states_it_and_its_file_does(way, tmp_path):
    cert, plain = WAYS[way](about=FULL), WAYS[way]()
    assert cert.about == About(**FULL)
    assert cert.about.to_dict() == FULL
    loaded = pacband.load(cert.save(tmp_path / "cert.json"))
    assert loaded == cert
    assert (loaded.about, loaded.digest) == (cert.about, cert.digest)
    for text in ("Seal wear <b>", "Test bench 7", "forest 3.1, SHA-256 abab", "pumps of series A", "first issue"):
        assert text[1:] in str(cert)
    html = cert._repr_html_()
    assert "seal wear &lt;b&gt;" in html
    assert "<b>" not in html
    # Whoever states nothing has the file of before.
    assert plain.about == About()
    assert not plain.about
    assert "about" not in str(plain.to_dict())
    assert cert.digest != plain.digest


@pytest.mark.parametrize("way", ["certify", "family", "groups", "tolerance", "scores"])
def test_a_successor_keeps_it_or_states_its_own(way):
    rng = np.random.default_rng(9)
    rows = (
        (np.abs(rng.standard_normal(2000)),) if way == "scores" else (rng.standard_normal(2000), rng.standard_normal(2000))
    )  # fmt: skip
    groups = {"groups": np.where(np.arange(2000) % 2, "north", "south")} if way == "groups" else {}
    cert = WAYS[way](about=FULL)
    assert pacband.recalibrate(cert, *rows, **groups).about == cert.about.for_new_model()
    assert pacband.recalibrate(cert, *rows, **groups, about={"name": "new"}).about == About(name="new")


def test_a_file_without_what_it_is_about_would_be_noticed(tmp_path, monkeypatch):
    wrong = Promise.to_dict

    def forgetful(self):
        return {key: value for key, value in wrong(self).items() if key != "about"}

    monkeypatch.setattr(Promise, "to_dict", forgetful)
    with pytest.raises(AssertionError):
        test_every_way_to_certify_states_it_and_its_file_does("certify", tmp_path)


def test_the_unit_follows_a_bound_that_is_in_it():
    cert = WAYS["certify"](about={"unit": "m3"})
    assert cert.promise.endswith(f"{cert.inequality}.")
    assert cert.inequality.endswith(" m3")
    assert WAYS["scores"](about={"unit": "s"}).promise.endswith(" s.")
    assert all(part.inequality.endswith(" K") for part in WAYS["groups"](about={"unit": "K"}).groups.values())
    # With a scale or a matrix, the bound is a factor.
    assert " mm" not in pacband.certify(Y, P, S, about={"unit": "mm"}, **PROMISE).promise
    matrix = pacband.certify(np.c_[Y, P], np.zeros((400, 2)), gauge=np.eye(2), about={"unit": "mm"}, **PROMISE)
    assert " mm" not in matrix.promise
    assert "Unit: mm" in str(matrix)
    assert "Target: wear, in mm" in str(WAYS["certify"](about={"unit": "mm", "target": "wear"}))


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"name": ""}, "name must be a text that is not empty, got ''"),
        ({"name": "  "}, "name must be a text that is not empty"),
        ({"note": 3}, "note must be a text that is not empty, got 3"),
        ({"name": "a\nb"}, r"name must be one line without control characters, got U\+000A at position 1"),
        ({"scope": "\x1b[2J"}, r"scope must be one line without control characters, got U\+001B at position 0"),
        ({"issued_by": "x\u202ey"}, r"issued_by must be .* got U\+202E"),
        ({"target": "\ud800"}, r"target must be .* got U\+D800"),
        ({"model": {"version": "\x00"}}, r"model version must be .* got U\+0000"),
        ({"name": "forest\u200b"}, r"name must be .* got U\+200B at position 6, which cannot be seen"),
        ({"scope": "a\u00adb"}, r"scope must be .* got U\+00AD"),
        ({"note": "a\ufeff"}, r"note must be .* got U\+FEFF"),
        ({"note": "a\U000e0041"}, r"note must be .* got U\+E0041"),
        ({"note": "a\ufe0f"}, r"note must be .* got U\+FE0F"),
        ({"note": "a\u3164"}, r"note must be .* got U\+3164"),
        ({"unit": "×0.001 mm"}, "unit must not start like a part of the number before it, got '×0.001 mm'"),
        ({"unit": " 000 mm"}, "unit must not start like a part"),
        ({"unit": "1/h"}, "unit must not start .* write 'per h' for '1/h'"),
        ({"unit": "²"}, "unit must not start"),
        ({"unit": "e-3 mm"}, "unit must not start"),
        ({"unit": ".5 mm"}, "unit must not start"),
        ({"unit": "x 10 mm"}, "unit must not start"),
        ({"name": "a" * 201}, "name must have at most 200 characters, got 201"),
        ({"unit": "a" * 41}, "unit must have at most 40 characters, got 41"),
        ({"note": "a" * 2001}, "note must have at most 2000 characters, got 2001"),
        ({"model": {"name": "a" * 201}}, "model name must have at most 200 characters"),
        ({"model": {"digest": "abc"}}, "model digest must be 64 hexadecimal digits, a SHA-256, got 'abc'"),
        ({"model": {"digest": "a" * 64 + "\n"}}, "model digest must be 64 hexadecimal digits"),
        ({"model": {"hash": "abc"}}, "model has the fields name, version, digest, got 'hash'"),
        ({"model": 3}, "model must be AboutModel or a mapping of name, version, digest, got 3"),
        ({"colour": "red"}, "about has the fields name, target, unit, model, issued_by, scope, note, got 'colour'"),
        ("pump", "about must be About or a mapping of name, .* got 'pump'"),
    ],
)
def test_what_is_refused(about, message):
    with pytest.raises(InvalidInput, match=message):
        WAYS["certify"](about=about)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "a\nb"},
        {"name": "a\u202eb"},
        {"name": "a\u200bb"},
        {"unit": "·10 mm"},
        {"note": "a" * 2001},
        {"unit": "a" * 41},
        {"name": ""},
        {"colour": "red"},
        {"model": {"digest": "A" * 64}},
        {"model": "forest"},
    ],
)
def test_a_file_that_states_what_cannot_be_stated_is_refused(change, tmp_path):
    path = WAYS["certify"](about=FULL).save(tmp_path / "cert.json")
    redigested(path, lambda content: content["about"].update(change))
    with pytest.raises(CertificateError, match=r"cert\.json"):
        pacband.load(path)


def test_the_words_of_a_file_must_have_the_unit_of_its_fields(tmp_path):
    path = WAYS["certify"](about={"unit": "m3"}).save(tmp_path / "cert.json")
    redigested(path, lambda content: content["about"].update(unit="m2"))
    with pytest.raises(CertificateError, match="promise in words does not agree"):
        pacband.load(path)


UNITS = ["mm", "%", "‰", "°C", "µm", "Ω", "€", "e", "eV", "x", "kg/m³", "per h", "h⁻¹", "Stück", "個"]


@pytest.mark.parametrize("unit", UNITS)
def test_units_of_all_kinds_are_taken(unit):
    assert WAYS["certify"](about={"unit": unit}).promise.endswith(f" {unit}.")


# Fillers and variation selectors are invisible, although they are letters and marks.
LETTERS = st.characters(codec="utf-8", exclude_categories=("C", "Zl", "Zp", "Mn", "Lo"))
TEXTS = st.none() | st.text(LETTERS, min_size=1, max_size=40).filter(str.strip)
NAMES = ("name", "target", "issued_by", "scope", "note")


@given(st.fixed_dictionaries({**dict.fromkeys(NAMES, TEXTS), "unit": st.none() | st.sampled_from(UNITS)}), TEXTS)
def test_any_printable_text_survives(texts, version):
    about = About(**texts, model=AboutModel(version=version))
    assert as_about(about.to_dict()) == about
    assert bool(about) == any((*texts.values(), version))
    basis = Promise(eps=0.1, delta=0.1, about=about)
    assert Promise.from_dict(basis.to_dict()) == basis


def test_a_model_may_be_a_name_and_an_empty_one_is_none():
    assert About(model="forest").model == AboutModel(name="forest")
    assert About(model={}).model is None
    assert About(model=AboutModel()).model is None
    assert str(AboutModel(version="3")) == "3"
    assert as_about(None) == as_about({}) == About()


def test_the_digest_of_a_model_is_added_but_never_replaced():
    about = About(model={"name": "forest"})
    assert about.with_digest("ab" * 32).model == AboutModel(name="forest", digest="ab" * 32)
    assert about.with_digest(None) is about
    stated = About(**FULL)
    assert stated.with_digest("cd" * 32) is stated


def test_it_is_immutable_and_can_be_copied():
    about = About(**FULL)
    assert copy.deepcopy(about) == about
    assert clone(pacband.CertifiedRegressor(None, about=about)).about == about
    with pytest.raises(AttributeError):
        about.name = "other"


def test_a_bound_without_its_unit_would_be_noticed(monkeypatch):
    from pacband.certificate.inequality import limit_of
    from pacband.core.wording import bound

    put_in_place(monkeypatch, limit_of, lambda promise, gamma: bound(gamma))
    with pytest.raises(AssertionError):
        test_the_unit_follows_a_bound_that_is_in_it()


def test_the_unit_follows_the_names_of_quantities():
    assert pacband.About().in_unit("half-width") == "half-width"
    assert pacband.About(unit="mm").in_unit("half-width") == "half-width, in mm"
    assert [about.axis for about in (pacband.About(), pacband.About(target="wear", unit="mm"))] == ["y", "wear, in mm"]


def test_a_new_model_keeps_the_name_and_the_unit_stands_with_the_target():
    about = as_about(FULL)
    assert about.for_new_model().model == AboutModel(name="forest")
    assert ("target", "wear, in mm") in about.facts()
    assert "unit" not in dict(about.facts())
    assert dict(About(unit="mm").facts())["unit"] == "mm"


def test_all_that_is_known_is_stated_in_the_order_of_reading():
    about = About(name="n", target="wear", unit="mm", model="forest", issued_by="us", scope="pumps", note="as agreed")
    assert about.facts() == [
        ("name", "n"), ("target", "wear, in mm"), ("model", "forest"), ("issued by", "us"), ("scope", "pumps"), ("note", "as agreed"),
    ]  # fmt: skip
    assert About().facts() == []


@pytest.mark.parametrize("name", ["name", "unit", "note"])
def test_a_text_may_be_as_long_as_the_error_says(name):
    with pytest.raises(InvalidInput, match=f"{name} must have at most") as refused:
        About(**{name: "x" * 10**5})
    most = int(re.search(r"at most (\d+)", str(refused.value))[1])
    assert len(getattr(About(**{name: "x" * most}), name)) == most
    with pytest.raises(InvalidInput, match=f"at most {most} characters, got {most + 1}"):
        About(**{name: "x" * (most + 1)})


def test_what_is_known_already_stays_as_it_is():
    about = About(**FULL)
    assert as_about(about) is about
    assert as_about(None) == About()


@pytest.mark.parametrize("way", ["certify", "family", "groups"])
def test_no_line_of_a_card_ends_between_a_bound_and_its_unit(way):
    html = WAYS[way](about={"unit": "mm"})._repr_html_()
    assert re.search(r"\d(</span>)?\u00a0mm", html)
    assert not re.search(r"\d(</span>)? mm", html)
